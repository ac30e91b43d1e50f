//! What came back.
//!
//! Owns the count of answered, missing, duplicated, misordered and misrouted messages, the latencies and
//! their percentiles. Pure: times are arguments.

use std::time::Duration;

use serde::Serialize;

use crate::tag;

/// The state of one run. User `u` sends the messages whose number is `u` modulo the number of users.
#[derive(Debug)]
pub struct Tally {
    run: String,
    seen: Vec<bool>,
    last: Vec<Option<usize>>,
    latencies: Vec<Duration>,
    counts: Counts,
}

/// Faults and strays of a run, in messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Sent and never answered.
    pub missing: usize,
    /// Answers to a message that had one.
    pub duplicated: usize,
    /// Answers that came after that to a later message of the same user.
    pub out_of_order: usize,
    /// Answers that went to another user.
    pub misrouted: usize,
    /// What was sent to users without a tag: notices, and the rest of answers in several messages.
    pub untagged: usize,
}

impl Counts {
    /// Whether every message was answered once, in order, to its user.
    #[must_use]
    pub fn faultless(&self) -> bool {
        self.missing + self.duplicated + self.out_of_order + self.misrouted == 0
    }
}

/// Latencies in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Latency {
    /// Half of the messages were answered within this.
    pub p50: f64,
    /// 95 of 100.
    pub p95: f64,
    /// 99 of 100.
    pub p99: f64,
    /// All.
    pub max: f64,
}

impl Tally {
    /// Expects answers to `messages` messages of `users` users.
    #[must_use]
    pub fn new(run: &str, users: usize, messages: usize) -> Self {
        Self {
            run: run.to_owned(),
            seen: vec![false; messages],
            last: vec![None; users.max(1)],
            latencies: Vec::with_capacity(messages),
            counts: Counts::default(),
        }
    }

    /// Takes what was sent to a user, and gives the numbers of the messages that it answers first.
    /// `latency` is how long ago a message was sent; none if it was not.
    pub fn reply(
        &mut self,
        user: usize,
        text: &str,
        latency: impl Fn(usize) -> Option<Duration>,
    ) -> Vec<usize> {
        let mut answered = Vec::new();
        let mut tagged = false;
        for number in tag::words(text).filter_map(|word| tag::sequence(&self.run, word)) {
            let Some(latency) = latency(number) else {
                continue;
            };
            let Some(seen) = self.seen.get_mut(number) else {
                continue;
            };
            tagged = true;
            let owner = number % self.last.len();
            if owner != user {
                self.counts.misrouted += 1;
            } else if *seen {
                self.counts.duplicated += 1;
            } else {
                *seen = true;
                self.latencies.push(latency);
                answered.push(number);
                let last = self.last.get_mut(owner);
                if let Some(last) = last {
                    self.counts.out_of_order += usize::from(last.is_some_and(|last| last > number));
                    *last = Some(last.map_or(number, |last| last.max(number)));
                }
            }
        }
        self.counts.untagged += usize::from(!tagged);
        answered
    }

    /// How many messages were answered.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.latencies.len()
    }

    /// Whether each message was answered.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.answered() == self.seen.len()
    }

    /// The result.
    #[must_use]
    pub fn finish(mut self) -> (Latency, Counts) {
        self.counts.missing = self.seen.len() - self.latencies.len();
        self.latencies.sort_unstable();
        let at = |thousandths| percentile(&self.latencies, thousandths).as_secs_f64() * 1_000.0;
        let latency = Latency {
            p50: at(500),
            p95: at(950),
            p99: at(990),
            max: at(1_000),
        };
        (latency, self.counts)
    }
}

/// The smallest value that so many thousandths of the sorted values do not exceed; zero without values.
#[must_use]
pub fn percentile(sorted: &[Duration], thousandths: usize) -> Duration {
    let rank = sorted.len().saturating_mul(thousandths).div_ceil(1_000);
    let last = sorted.len().saturating_sub(1);
    let index = rank.saturating_sub(1).min(last);
    sorted.get(index).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
