//! The limiter of one model provider: a smallest interval between requests that widens when the
//! provider says "too many" and narrows again while it does not.
//! Owns the pace of one provider. Never queues, sleeps or sends, and never counts messages: the
//! provider counts requests, however many messages one carries.

use super::bucket::{Tick, ticks};
use std::time::Duration;

/// What is left of the rate after one freeze.
const CUT: f64 = 0.8;
/// The share of the configured rate that each clean interval gives back.
const RECOVERY: f64 = 0.02;
/// The shortest freeze when the provider does not say how long.
const BACKOFF: Duration = Duration::from_secs(1);
/// A freeze without Retry-After doubles at most so often.
const MAX_DOUBLINGS: u32 = 16;

/// The configured pace of one provider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimiterPolicy {
    /// Requests a minute that the provider allows. Zero: no interval at all.
    pub api_rpm_limit: u32,
    /// The share of the limit that is used, above 0 and up to 1.
    pub safety_margin: f64,
    /// Never less than this between two requests (unless there is no limit at all).
    pub min_interval: Duration,
    /// Adaptation never widens the interval beyond this; a configured interval that is longer
    /// stays as it is. Also the longest freeze when the provider does not say how long.
    pub max_interval: Duration,
}

impl LimiterPolicy {
    /// The interval without adaptation: max(`min_interval`, 60 s / (limit × margin)).
    fn configured(&self) -> Tick {
        if self.api_rpm_limit == 0 {
            return 0;
        }
        let used = f64::from(self.api_rpm_limit) * self.safety_margin;
        // A margin of nothing gives "never" (the cast saturates), not a division by zero.
        let interval = (60e6 / used.max(0.0)).ceil() as Tick;
        interval.max(ticks(self.min_interval))
    }
}

/// Grants one provider's requests one at a time.
#[derive(Debug, Clone)]
pub struct ProviderLimiter {
    policy: LimiterPolicy,
    /// The present share of the configured rate, above 0 and up to 1.
    share: f64,
    /// The next request may not start before this.
    next: Tick,
    /// Nothing may start before this.
    frozen_until: Tick,
    /// Whether a request was granted after the last freeze. While not, a refusal can only come
    /// from a request that was already under way, so it belongs to the same freeze.
    granted_since: bool,
    /// Freezes in a row without a success.
    freezes: u32,
    /// The present interval counts as clean once it has passed since this moment.
    clean_from: Tick,
}

impl ProviderLimiter {
    /// A limiter at the configured rate whose first request may start at once.
    #[must_use]
    pub fn new(policy: LimiterPolicy) -> Self {
        Self {
            policy,
            share: 1.0,
            next: 0,
            frozen_until: 0,
            granted_since: true,
            freezes: 0,
            clean_from: 0,
        }
    }

    /// Takes over a reloaded configuration; a freeze and what adaptation learned stay.
    pub fn set_policy(&mut self, policy: LimiterPolicy) {
        self.policy = policy;
        self.share = self.share.max(self.smallest_share());
    }

    /// The present smallest interval between two requests.
    #[must_use]
    pub fn interval(&self) -> Duration {
        Duration::from_micros(self.interval_ticks())
    }

    /// The first tick, not before `now`, at which a request may start.
    #[must_use]
    pub fn earliest(&self, now: Tick) -> Tick {
        now.max(self.next).max(self.frozen_until)
    }

    /// Takes the permit for one request if it may start now, and says whether it did.
    #[must_use]
    pub fn take(&mut self, now: Tick) -> bool {
        if self.earliest(now) > now {
            return false;
        }
        self.next = now.saturating_add(self.interval_ticks());
        self.granted_since = true;
        true
    }

    /// The provider refused a request for its rate. Freezes everybody for `retry_after`, or for a
    /// time that doubles with each freeze when the provider named none. The rate is cut once for
    /// each freeze, however many calls meet it.
    pub fn rate_limited(&mut self, now: Tick, retry_after: Option<Duration>) {
        let same_freeze = now < self.frozen_until || !self.granted_since;
        if !same_freeze {
            self.share = (self.share * CUT).max(self.smallest_share());
            self.freezes = self.freezes.saturating_add(1);
            self.granted_since = false;
        }
        let pause = match retry_after {
            Some(named) => ticks(named),
            None if same_freeze => 0,
            None => self.backoff(),
        };
        self.frozen_until = self.frozen_until.max(now.saturating_add(pause));
        self.clean_from = self.frozen_until.max(now);
    }

    /// A request went through. Once for each interval that passed without a refusal a part of the
    /// rate comes back, until the configured rate is reached.
    pub fn succeeded(&mut self, now: Tick) {
        if now < self.frozen_until || !self.granted_since {
            return;
        }
        self.freezes = 0;
        let interval = self.interval_ticks();
        if self.share < 1.0 && now >= self.clean_from.saturating_add(interval) {
            self.share = (self.share + RECOVERY).min(1.0);
            self.clean_from = now;
        }
    }

    fn interval_ticks(&self) -> Tick {
        let configured = self.policy.configured();
        let widest = configured.max(ticks(self.policy.max_interval));
        let adapted = (configured as f64 / self.share).round() as Tick;
        adapted.clamp(configured, widest)
    }

    /// Below this share the interval would not widen any more, so the rate must not sink further:
    /// it would only take longer to come back.
    fn smallest_share(&self) -> f64 {
        let configured = self.policy.configured();
        let widest = configured.max(ticks(self.policy.max_interval)).max(1);
        if configured == 0 {
            1.0
        } else {
            configured as f64 / widest as f64
        }
    }

    fn backoff(&self) -> Tick {
        let doublings = self.freezes.saturating_sub(1).min(MAX_DOUBLINGS);
        let longest = ticks(self.policy.max_interval).max(ticks(BACKOFF));
        ticks(BACKOFF).saturating_mul(1 << doublings).min(longest)
    }
}

#[cfg(test)]
mod tests;
