//! Permits for model requests: one limiter for each provider, shared by everything that asks it.
//!
//! Owns the waiting for a permit. Requests inside turns (retries, fallbacks) go before new turns, in the
//! order in which they came. What the limiter decides is in `limiter`, without any clock.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::limiter::{LimiterPolicy, ProviderLimiter};
use crate::{
    agent::model::Permits,
    clock::{Clock, Tick},
    telemetry::metrics,
};

struct Provider {
    limiter: Mutex<ProviderLimiter>,
    /// Whoever holds this is the next to get a permit; the others wait in order.
    line: tokio::sync::Mutex<()>,
    waiting: AtomicUsize,
}

impl Provider {
    fn new(policy: LimiterPolicy) -> Self {
        Self {
            limiter: Mutex::new(ProviderLimiter::new(policy)),
            line: tokio::sync::Mutex::default(),
            waiting: AtomicUsize::new(0),
        }
    }
}

/// The limiters of all providers.
pub struct ProviderPermits {
    clock: Clock,
    providers: BTreeMap<String, Arc<Provider>>,
    changed: Arc<Notify>,
}

impl std::fmt::Debug for ProviderPermits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderPermits").finish_non_exhaustive()
    }
}

/// Counts a waiting request for as long as it waits, also when it is cancelled.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ProviderPermits {
    /// Limiters with these policies. `changed` is notified when a pause may have ended early.
    #[must_use]
    pub fn new(
        clock: Clock,
        policies: impl IntoIterator<Item = (String, LimiterPolicy)>,
        changed: Arc<Notify>,
    ) -> Self {
        let providers = policies
            .into_iter()
            .map(|(name, policy)| (name, Arc::new(Provider::new(policy))))
            .collect();
        Self {
            clock,
            providers,
            changed,
        }
    }

    /// The limiters after a reload. A provider that stays (`stays` says so) keeps its limiter, which
    /// obeys its new policy at once, for whoever has these permits or those before; the others begin anew.
    #[must_use]
    pub fn renewed(
        &self,
        policies: impl IntoIterator<Item = (String, LimiterPolicy)>,
        stays: impl Fn(&str) -> bool,
    ) -> Self {
        let renewed = |(name, policy): (String, LimiterPolicy)| {
            let kept = self.providers.get(&name).filter(|_| stays(&name));
            let provider = match kept {
                Some(kept) => {
                    kept.limiter.lock().set_policy(policy);
                    Arc::clone(kept)
                }
                None => Arc::new(Provider::new(policy)),
            };
            (name, provider)
        };
        Self {
            clock: self.clock,
            providers: policies.into_iter().map(renewed).collect(),
            changed: Arc::clone(&self.changed),
        }
    }

    /// When a new turn could get its first permit, `now` or later. Turns under way that wait for one go
    /// first.
    #[must_use]
    pub fn earliest(&self, provider: &str, now: Tick) -> Tick {
        let Some(provider) = self.providers.get(provider) else {
            return now;
        };
        let earliest = provider.limiter.lock().earliest(now);
        if provider.waiting.load(Ordering::Relaxed) > 0 {
            earliest.max(now + 1_000)
        } else {
            earliest
        }
    }

    /// Takes the first permit of a new turn, if it is there.
    #[must_use]
    pub fn try_take(&self, provider: &str) -> bool {
        let now = self.clock.tick();
        self.providers
            .get(provider)
            .is_none_or(|provider| provider.limiter.lock().take(now))
    }
}

#[async_trait]
impl Permits for ProviderPermits {
    async fn acquire(&self, provider: &str) {
        let Some(provider) = self.providers.get(provider) else {
            return;
        };
        provider.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&provider.waiting);
        let _first = provider.line.lock().await;
        loop {
            let now = self.clock.tick();
            let earliest = {
                let mut limiter = provider.limiter.lock();
                if limiter.take(now) {
                    break;
                }
                limiter.earliest(now)
            };
            // At least a millisecond, so that rounding cannot make this spin.
            let at = self.clock.instant(earliest.max(now + 1_000));
            tokio::time::sleep_until(at).await;
        }
        self.changed.notify_one();
    }

    fn wait(&self, name: &str) -> Duration {
        let now = self.clock.tick();
        let earliest = self
            .providers
            .get(name)
            .map_or(now, |provider| provider.limiter.lock().earliest(now));
        Duration::from_micros(earliest.saturating_sub(now))
    }

    fn rate_limited(&self, name: &str, retry_after: Option<Duration>) {
        if let Some(provider) = self.providers.get(name) {
            let mut limiter = provider.limiter.lock();
            limiter.rate_limited(self.clock.tick(), retry_after);
            metrics::rate_interval(name, limiter.interval());
        }
    }

    fn succeeded(&self, name: &str) {
        if let Some(provider) = self.providers.get(name) {
            let mut limiter = provider.limiter.lock();
            limiter.succeeded(self.clock.tick());
            metrics::rate_interval(name, limiter.interval());
        }
    }
}
