//! One function for each thing that is measured in several places, so that label values are spelt
//! once and are closed sets.

use super::names::Metric;
use super::queues::Queue;
use super::{count, gauge, observe};
use std::time::{Duration, Instant};
use weirgate_sdk::{AccountName, Connection, Platform, SendError};

/// Names of the lanes as label values, in the order of their index, highest first.
const LANES: [&str; 5] = ["control", "command", "direct", "ambient", "background"];

/// An event that a platform delivered; `outcome` is what became of it.
pub fn event(platform: &Platform, outcome: &'static str) {
    count(Metric::InboundEvents, &[platform.as_str(), outcome], 1);
}

/// A message was taken into the journal.
pub fn accepted() {
    count(Metric::AcceptedMessages, &[], 1);
}

/// An account's connection is in this state now; `changed` if it was in another before.
pub fn adapter_state(
    platform: &Platform,
    account: &AccountName,
    state: &Connection,
    changed: bool,
) {
    let (value, word) = match state {
        Connection::Up => (1.0, "up"),
        Connection::Degraded(_) => (0.0, "degraded"),
        Connection::Down(_) => (0.0, "down"),
        Connection::Waiting => (0.0, "waiting"),
    };
    let (platform, account) = (platform.as_str(), account.as_str());
    gauge(Metric::AdaptersUp, &[platform, account], value);
    if changed {
        count(Metric::AdapterChanges, &[platform, account, word], 1);
    }
}

/// An account was taken; `before` says how the process ended that had it.
pub fn lease_taken(before: &'static str) {
    count(Metric::LeasesTaken, &[before], 1);
}

/// How many accounts this process has.
pub fn leases_held(accounts: usize) {
    gauge(Metric::LeasesHeld, &[], accounts as f64);
}

/// How many messages wait in a lane, by its index. An unknown lane is not shown.
pub fn queue_depth(lane: usize, waiting: usize) {
    if let Some(name) = LANES.get(lane) {
        let queue = Queue::Inbound.name();
        gauge(Metric::QueueDepth, &[queue, name], waiting as f64);
    }
}

/// Size of all waiting messages, in bytes.
pub fn queue_bytes(bytes: usize) {
    gauge(Metric::QueueBytes, &[], bytes as f64);
}

/// How long a turn took, in microseconds (ticks of the clock).
pub fn turn_seconds(micros: u64) {
    observe(
        Metric::TurnTime,
        &[],
        Duration::from_micros(micros).as_secs_f64(),
    );
}

/// A turn ended in this way.
pub fn turn_ended(outcome: &'static str) {
    count(Metric::Turns, &[outcome], 1);
}

/// Turns that run now.
pub fn turns_in_flight(turns: usize) {
    gauge(Metric::TurnsInFlight, &[], turns as f64);
}

/// A request to a model ended in this way after so long.
pub fn model_request(provider: &str, outcome: &'static str, took: Duration) {
    count(Metric::ModelRequests, &[provider, outcome], 1);
    observe(Metric::ModelTime, &[provider], took.as_secs_f64());
}

/// One call of a tool, by how it ended; `tool` is a name of the registry.
pub fn tool_call(tool: &str, outcome: &'static str, took: Duration) {
    count(Metric::ToolCalls, &[tool, outcome], 1);
    observe(Metric::ToolTime, &[tool], took.as_secs_f64());
}

/// How long the first piece of an answer took.
pub fn first_token(after: Duration) {
    observe(Metric::ModelFirstToken, &[], after.as_secs_f64());
}

/// One commit of the journal: how long it took, and its operations by kind.
pub fn journal_commit(took: Duration, operations: &[(&'static str, u64)]) {
    observe(Metric::JournalCommit, &[], took.as_secs_f64());
    let total: u64 = operations.iter().map(|(_, count)| count).sum();
    observe(Metric::JournalBatch, &[], total as f64);
    for (kind, operations) in operations.iter().filter(|(_, operations)| *operations > 0) {
        count(Metric::JournalOperations, &[kind], *operations);
    }
}

/// A commit of the journal failed.
pub fn journal_failed() {
    count(Metric::JournalFailures, &[], 1);
}

/// A secret was replaced in so many places.
pub fn redacted(places: usize) {
    count(
        Metric::Redactions,
        &[],
        u64::try_from(places).unwrap_or(u64::MAX),
    );
}

/// Tokens that a model counted for one answer.
pub fn tokens(provider: &str, prompt: u64, completion: u64) {
    count(Metric::ModelTokens, &[provider, "prompt"], prompt);
    count(Metric::ModelTokens, &[provider, "completion"], completion);
}

/// What an answer cost, in millionths of the currency; nothing without prices.
pub fn cost(provider: &str, micros: u64) {
    if micros > 0 {
        count(Metric::ModelCost, &[provider], micros);
    }
}

/// The shortest interval between two requests that a limiter allows now.
pub fn rate_interval(provider: &str, interval: Duration) {
    gauge(
        Metric::ModelRateInterval,
        &[provider],
        interval.as_secs_f64(),
    );
}

/// The size of all files in the media store.
pub fn media_bytes(bytes: u64) {
    gauge(Metric::MediaBytes, &[], bytes as f64);
}

/// What became of a file that somebody sent, or why one went.
pub fn media_file(outcome: &'static str) {
    count(Metric::MediaFiles, &[outcome], 1);
}

/// One attempt to send a part ended; says how, in a word. An edit that changed nothing counts as sent.
pub fn sent(platform: &Platform, result: Result<(), &SendError>) -> &'static str {
    let outcome = match result {
        Ok(()) | Err(SendError::NotModified) => "sent",
        Err(SendError::RateLimited { .. }) => "rate_limited",
        Err(SendError::TooLong) => "too_long",
        Err(SendError::BadFormat(_)) => "bad_format",
        Err(SendError::Forbidden(_)) => "forbidden",
        Err(SendError::Gone(_)) => "gone",
        Err(SendError::Migrated { .. }) => "migrated",
        Err(SendError::Expired) => "expired",
        Err(SendError::Ambiguous(_)) => "unknown",
        Err(SendError::Unavailable(_)) => "unavailable",
        Err(SendError::Rejected(_)) => "rejected",
    };
    count(Metric::OutboxSends, &[platform.as_str(), outcome], 1);
    outcome
}

/// A part is sent again whose earlier send may have arrived.
pub fn resent() {
    count(Metric::OutboxResends, &[], 1);
}

/// Measures one attempt to send a part, from now.
#[must_use]
pub fn send_timer() -> SendTimer {
    SendTimer(Instant::now())
}

/// A running measurement of a send. Dropped without [`SendTimer::observe`] it measures nothing.
#[derive(Debug)]
pub struct SendTimer(Instant);

impl SendTimer {
    /// Ends the measurement, and says how long it took.
    pub fn observe(self) -> Duration {
        let took = self.0.elapsed();
        observe(Metric::SendTime, &[], took.as_secs_f64());
        took
    }
}
