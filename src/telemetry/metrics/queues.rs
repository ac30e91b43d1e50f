//! The figures that every queue of the gateway reports: what came in, what went on, what was dropped and
//! why, and how long it waited.
//!
//! Owns the list of queues and the handles of their series, made once, so that a call costs an atomic
//! addition and no look-up. Depths are gauges that whoever owns the queue sets now and then.

use super::names::Metric;
use super::registry::Registry;
use super::{REGISTRY, count, gauge};
use crate::reason::Reason;
use metrics::{Counter, Histogram};
use std::sync::OnceLock;
use std::time::Duration;

/// A queue of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Queue {
    /// Events whose receipts are open: handed in by an adapter and not yet durable.
    Intake,
    /// Messages that wait for a turn.
    Inbound,
    /// Answers that wait to be sent.
    Outbound,
    /// Lines that wait for the log file.
    Log,
    /// Spans that wait for the trace collector.
    Traces,
}

impl Queue {
    /// All queues, in the order of [`Queue::index`].
    pub const ALL: [Self; 5] = [
        Self::Intake,
        Self::Inbound,
        Self::Outbound,
        Self::Log,
        Self::Traces,
    ];

    /// The value of the label `queue`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Intake => "intake",
            Self::Inbound => "inbound",
            Self::Outbound => "outbound",
            Self::Log => "log",
            Self::Traces => "traces",
        }
    }

    const fn index(self) -> usize {
        self as usize
    }

    /// `n` things were put in.
    pub fn received(self, n: u64) {
        self.with(|series| series.received.increment(n));
    }

    /// `n` things went on to whoever works on them.
    pub fn sent(self, n: u64) {
        self.with(|series| series.sent.increment(n));
    }

    /// One thing went on after it had waited for so long.
    pub fn waited(self, waited: Duration) {
        self.with(|series| series.wait.record(waited.as_secs_f64()));
        if let Some(registry) = REGISTRY.get() {
            registry.observed();
        }
    }

    /// `n` things left without being worked on.
    pub fn dropped(self, reason: Reason, n: u64) {
        if let Some(registry) = REGISTRY.get()
            && let Some(series) = registry.queues.get(self.index())
            && let Some(counter) = series.dropped.get(reason.index())
        {
            let make =
                || registry.make_counter(Metric::QueueDropped, &[self.name(), reason.code()]);
            counter.get_or_init(make).increment(n);
        }
    }

    /// As [`Queue::dropped`], for queues of things that are no messages: `why` is one of a closed set.
    pub fn lost(self, why: &'static str, n: u64) {
        count(Metric::QueueDropped, &[self.name(), why], n);
    }

    /// How many things wait now.
    pub fn depth(self, depth: usize) {
        gauge(Metric::QueueDepth, &[self.name(), ""], depth as f64);
    }

    fn with(self, apply: impl FnOnce(&Series)) {
        if let Some(series) = REGISTRY
            .get()
            .and_then(|registry| registry.queues.get(self.index()))
        {
            apply(series);
        }
    }
}

/// The series of one queue.
pub(super) struct Series {
    received: Counter,
    sent: Counter,
    wait: Histogram,
    /// By [`Reason::index`], made when first needed: most pairs never are.
    dropped: Vec<OnceLock<Counter>>,
}

impl Series {
    /// Registers the series of all queues, in the order of [`Queue::index`].
    pub(super) fn all(registry: &Registry) -> Vec<Self> {
        let series = |queue: &Queue| Self {
            received: registry.make_counter(Metric::QueueReceived, &[queue.name()]),
            sent: registry.make_counter(Metric::QueueSent, &[queue.name()]),
            wait: registry.make_histogram(Metric::QueueWait, &[queue.name()]),
            dropped: Reason::ALL.iter().map(|_| OnceLock::new()).collect(),
        };
        Queue::ALL.iter().map(series).collect()
    }
}
