//! `flow_control`: the pace of model requests, and how users share it.
//!
//! Owns the section's keys, defaults and limits. It never reads a file.

use std::time::Duration;

use weirgate_sdk::settings::Fields;

/// How the pace is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// From the provider's limit of requests.
    Auto,
    /// A fixed number of messages a second.
    Manual,
}

/// The section `flow_control`.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowControl {
    /// How the pace is found.
    pub mode: Mode,
    /// With [`Mode::Manual`]: messages a second. A turn takes as many as it has messages.
    pub manual_rate: f64,
    /// With [`Mode::Auto`]: what the pace is made from.
    pub auto: Auto,
    /// How long a conversation must be silent before its messages become a turn; zero is not at all.
    pub debounce: Duration,
    /// Longest wait for that silence, from the first message on.
    pub debounce_max: Duration,
    /// Longest time of a turn; time in which it waits for a person does not count.
    pub turn_timeout: Duration,
    /// Most turns of one user at once.
    pub max_turns_per_user: usize,
    /// Most turns at once, in all.
    pub max_turns_in_flight: usize,
    /// How much waiting is worth one step of priority.
    pub aging_interval: Duration,
    /// How many messages one user may send.
    pub user: UserRate,
}

/// The section `flow_control.auto`.
#[derive(Debug, Clone, PartialEq)]
pub struct Auto {
    /// Requests a minute that a provider allows, unless it has its own `rpm`; 0 is no limit.
    pub api_rpm_limit: u32,
    /// Most messages in one turn.
    pub messages_per_request: usize,
    /// The part of the provider's limit that is used, over 0 up to 1.
    pub safety_margin: f64,
    /// Least time between two requests.
    pub min_interval: Duration,
    /// The most that slowing down after refusals may add up to.
    pub max_interval: Duration,
}

/// The section `flow_control.user`: no stretch of T seconds lets through more than burst + rate × T.
#[derive(Debug, Clone, PartialEq)]
pub struct UserRate {
    /// Messages a second; 0 is no limit.
    pub rate: f64,
    /// Messages at once before the rate holds.
    pub burst: u32,
}

impl Default for FlowControl {
    fn default() -> Self {
        Self {
            mode: Mode::Auto,
            manual_rate: 10.0,
            auto: Auto::default(),
            debounce: Duration::ZERO,
            debounce_max: Duration::from_secs(4),
            turn_timeout: Duration::from_secs(300),
            max_turns_per_user: 1,
            max_turns_in_flight: 256,
            aging_interval: Duration::from_secs(5),
            user: UserRate::default(),
        }
    }
}

impl Default for Auto {
    fn default() -> Self {
        Self {
            api_rpm_limit: 60,
            messages_per_request: 5,
            safety_margin: 0.8,
            min_interval: Duration::from_millis(500),
            max_interval: Duration::from_secs(10),
        }
    }
}

impl Default for UserRate {
    fn default() -> Self {
        Self {
            rate: 1.0,
            burst: 5,
        }
    }
}

impl FlowControl {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let modes = [("auto", Mode::Auto), ("manual", Mode::Manual)];
        let read = Self {
            mode: fields.choice("mode", default.mode, &modes),
            manual_rate: fields.f64("manual_rate", default.manual_rate, 0.001..=100_000.0),
            auto: Auto::read(fields.section("auto")),
            debounce: fields.seconds("debounce", default.debounce, 0.0..=60.0),
            debounce_max: fields.seconds("debounce_max", default.debounce_max, 0.0..=300.0),
            turn_timeout: fields.seconds("turn_timeout", default.turn_timeout, 1.0..=86_400.0),
            max_turns_per_user: fields.usize(
                "max_turns_per_user",
                default.max_turns_per_user,
                1..=1000,
            ),
            max_turns_in_flight: fields.usize(
                "max_turns_in_flight",
                default.max_turns_in_flight,
                1..=100_000,
            ),
            aging_interval: fields.seconds("aging_interval", default.aging_interval, 0.1..=3600.0),
            user: UserRate::read(fields.section("user")),
        };
        if read.debounce > read.debounce_max {
            let (silence, most) = (read.debounce.as_secs_f64(), read.debounce_max.as_secs_f64());
            fields.invalid(
                "debounce",
                format!("debounce ({silence}) is longer than debounce_max ({most})"),
                Some("the wait ends at debounce_max: raise it too"),
            );
        }
        if read.max_turns_per_user > read.max_turns_in_flight {
            let (one, all) = (read.max_turns_per_user, read.max_turns_in_flight);
            fields.invalid(
                "max_turns_per_user",
                format!("max_turns_per_user ({one}) is over max_turns_in_flight ({all})"),
                None,
            );
        }
        fields.finish();
        read
    }
}

impl Auto {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            api_rpm_limit: fields.u32("api_rpm_limit", default.api_rpm_limit, 0..=10_000_000),
            messages_per_request: fields.usize(
                "messages_per_request",
                default.messages_per_request,
                1..=256,
            ),
            safety_margin: fields.f64("safety_margin", default.safety_margin, 0.01..=1.0),
            min_interval: fields.seconds("min_interval", default.min_interval, 0.0..=3600.0),
            max_interval: fields.seconds("max_interval", default.max_interval, 0.0..=3600.0),
        };
        if read.min_interval > read.max_interval {
            let (least, most) = (
                read.min_interval.as_secs_f64(),
                read.max_interval.as_secs_f64(),
            );
            let key = if fields.has("min_interval") {
                "min_interval"
            } else {
                "max_interval"
            };
            fields.invalid(
                key,
                format!("min_interval ({least}) is longer than max_interval ({most})"),
                None,
            );
        }
        fields.finish();
        read
    }
}

impl UserRate {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            rate: fields.f64("rate", default.rate, 0.0..=1_000_000.0),
            burst: fields.u32("burst", default.burst, 1..=1_000_000),
        };
        fields.finish();
        read
    }
}
