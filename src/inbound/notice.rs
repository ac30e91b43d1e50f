//! Notices about messages that are not answered: at most one a burst, with exact counts.
//!
//! Owns the bursts of dropped, refused and expired messages. The messages end in the store in the same
//! transaction that holds the notice, so a crash in between leaves them waiting and not lost. It never
//! decides what is dropped.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::{
    clock::{Clock, Tick},
    reason::Reason,
    store::{End, EndState},
    trace::Traces,
};

/// A burst is over when nothing was added for so long.
const QUIET: Tick = 2_000_000;
/// A burst that does not end is reported after so long.
const LONGEST: Tick = 15_000_000;
/// Bursts at once; a new one beyond that reports the oldest.
const MAX_BURSTS: usize = 4_096;
/// Ids of a burst in memory; beyond that they are written without waiting for the notice.
const MAX_IDS: usize = 1_024;

/// What bursts are about.
const BURSTS: [Reason; 4] = [
    Reason::QueueFullDroppedOldest,
    Reason::QueueFullRefused,
    Reason::TotalFull,
    Reason::Expired,
];

/// Whom and what a burst concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Subject {
    /// The conversation's number.
    pub conversation: i64,
    /// The person's number.
    pub person: i64,
    /// What happened.
    pub reason: Reason,
}

#[derive(Debug)]
struct Burst {
    ids: Vec<i64>,
    total: usize,
    first: Tick,
    last: Tick,
}

/// A burst that is to be written: messages that end and, unless it goes on, the notice.
#[derive(Debug, PartialEq, Eq)]
pub struct Report {
    /// Whom and what it concerns.
    pub subject: Subject,
    /// The messages that end.
    pub ids: Vec<i64>,
    /// How many messages the notice is to name; `None` while the burst goes on.
    pub total: Option<usize>,
}

impl Report {
    /// The end of each message.
    #[must_use]
    pub fn ends(&self, at: i64) -> Vec<End> {
        let state = match self.subject.reason {
            Reason::Expired => EndState::Expired,
            Reason::QueueFullRefused | Reason::TotalFull => EndState::Refused,
            _ => EndState::Dropped,
        };
        let reason = self.subject.reason.code();
        self.ids
            .iter()
            .map(|id| End {
                id: *id,
                state,
                reason,
                at,
            })
            .collect()
    }
}

#[derive(Debug, Default)]
struct Bursts {
    open: HashMap<Subject, Burst>,
    /// Parts of bursts that are due because memory is bounded.
    overflow: Vec<Report>,
}

/// The bursts under way.
#[derive(Debug)]
pub struct Notices {
    bursts: Mutex<Bursts>,
    traces: std::sync::Arc<Traces>,
    clock: Clock,
}

impl Notices {
    /// No bursts yet.
    #[must_use]
    pub fn new(traces: std::sync::Arc<Traces>, clock: Clock) -> Self {
        Self {
            bursts: Mutex::default(),
            traces,
            clock,
        }
    }

    /// Adds messages that will not be answered.
    pub fn add(&self, subject: Subject, ids: &[i64]) {
        let (now, at) = (self.clock.tick(), self.clock.now());
        for id in ids {
            self.traces.note(*id, subject.reason, at);
        }
        self.bursts.lock().add(subject, ids, now);
    }

    /// Takes a message out of its burst, because it ended in another way: its author took it back.
    pub fn forget(&self, conversation: i64, person: i64, id: i64) {
        self.bursts.lock().forget(conversation, person, id);
    }

    /// The bursts that are to be written now; all of them if `all`.
    pub fn due(&self, all: bool) -> Vec<Report> {
        self.bursts.lock().due(self.clock.tick(), all)
    }

    /// Puts a report back whose writing failed. Its messages were counted when they were added.
    pub fn put_back(&self, report: Report) {
        self.bursts.lock().put_back(report, self.clock.tick());
    }
}

impl Bursts {
    fn add(&mut self, subject: Subject, ids: &[i64], now: Tick) {
        if !self.open.contains_key(&subject) && self.open.len() >= MAX_BURSTS {
            let oldest = self.open.iter().min_by_key(|(_, burst)| burst.first);
            if let Some(oldest) = oldest.map(|(subject, _)| *subject) {
                self.close(oldest);
            }
        }
        let new = || Burst {
            ids: Vec::new(),
            total: 0,
            first: now,
            last: now,
        };
        let burst = self.open.entry(subject).or_insert_with(new);
        burst.total += ids.len();
        burst.last = now;
        burst.ids.extend(ids);
        if burst.ids.len() >= MAX_IDS {
            let ids = std::mem::take(&mut burst.ids);
            self.overflow.push(Report {
                subject,
                ids,
                total: None,
            });
        }
    }

    fn forget(&mut self, conversation: i64, person: i64, id: i64) {
        for reason in BURSTS {
            let subject = Subject {
                conversation,
                person,
                reason,
            };
            let Some(burst) = self.open.get_mut(&subject) else {
                continue;
            };
            let before = burst.ids.len();
            burst.ids.retain(|counted| *counted != id);
            burst.total -= before - burst.ids.len();
            if burst.total == 0 {
                self.open.remove(&subject);
            }
        }
    }

    fn put_back(&mut self, report: Report, now: Tick) {
        let new = || Burst {
            ids: Vec::new(),
            total: 0,
            first: now,
            last: now,
        };
        let burst = self.open.entry(report.subject).or_insert_with(new);
        // Of a burst that goes on, the total is still in the burst.
        burst.total += report.total.unwrap_or(0);
        burst.ids.splice(0..0, report.ids);
        burst.last = now;
    }

    fn due(&mut self, now: Tick, all: bool) -> Vec<Report> {
        let over = |burst: &Burst| {
            all || now.saturating_sub(burst.last) >= QUIET
                || now.saturating_sub(burst.first) >= LONGEST
        };
        let subjects: Vec<Subject> = self
            .open
            .iter()
            .filter(|(_, burst)| over(burst))
            .map(|(subject, _)| *subject)
            .collect();
        for subject in subjects {
            self.close(subject);
        }
        self.open.shrink_to(64);
        std::mem::take(&mut self.overflow)
    }

    fn close(&mut self, subject: Subject) {
        if let Some(burst) = self.open.remove(&subject) {
            let total = Some(burst.total);
            self.overflow.push(Report {
                subject,
                ids: burst.ids,
                total,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(person: i64) -> Subject {
        Subject {
            conversation: 1,
            person,
            reason: Reason::QueueFullDroppedOldest,
        }
    }

    #[test]
    fn one_report_a_burst_with_the_exact_count() {
        let mut bursts = Bursts::default();
        bursts.add(subject(1), &[1], 0);
        bursts.add(subject(1), &[2, 3], QUIET - 1);
        bursts.add(subject(2), &[4], 0);
        assert_eq!(bursts.due(QUIET - 1, false), []);
        let due = bursts.due(QUIET, false);
        assert_eq!(
            due,
            [Report {
                subject: subject(2),
                ids: vec![4],
                total: Some(1)
            }]
        );
        let due = bursts.due(2 * QUIET, false);
        assert_eq!(
            due,
            [Report {
                subject: subject(1),
                ids: vec![1, 2, 3],
                total: Some(3)
            }]
        );
        assert!(bursts.open.is_empty());
    }

    #[test]
    fn an_endless_burst_is_bounded_and_counted_exactly() {
        let mut bursts = Bursts::default();
        let mut ended = 0;
        let mut told = 0;
        for id in 0..5_000 {
            let now = u64::try_from(id).unwrap() * 10_000;
            bursts.add(subject(1), &[id], now);
            for report in bursts.due(now, false) {
                ended += report.ids.len();
                told += report.total.unwrap_or(0);
            }
            assert!(bursts.open.values().all(|burst| burst.ids.len() < MAX_IDS));
        }
        for report in bursts.due(u64::MAX, true) {
            ended += report.ids.len();
            told += report.total.unwrap_or(0);
        }
        assert_eq!((ended, told), (5_000, 5_000));
    }

    #[test]
    fn what_was_taken_back_is_not_counted() {
        let mut bursts = Bursts::default();
        bursts.add(subject(1), &[1, 2, 3], 0);
        bursts.add(subject(2), &[4], 0);
        for (person, id) in [(1, 2), (1, 2), (1, 4), (2, 4)] {
            bursts.forget(1, person, id);
        }
        let expected = Report {
            subject: subject(1),
            ids: vec![1, 3],
            total: Some(2),
        };
        assert_eq!(
            bursts.due(QUIET, false),
            [expected],
            "and nothing is told of none"
        );
    }

    #[test]
    fn what_could_not_be_written_is_counted_once() {
        let mut bursts = Bursts::default();
        bursts.add(subject(1), &[1, 2], 0);
        let failed = bursts.due(QUIET, false).remove(0);
        bursts.add(subject(1), &[3], QUIET + 1);
        bursts.put_back(failed, QUIET + 2);
        let expected = Report {
            subject: subject(1),
            ids: vec![1, 2, 3],
            total: Some(3),
        };
        assert_eq!(bursts.due(u64::MAX, true), [expected]);
        let many: Vec<i64> = (0..1_500).collect();
        bursts.add(subject(1), &many, 0);
        let partial = bursts.due(0, false).remove(0);
        assert_eq!(partial.total, None);
        bursts.put_back(partial, 1);
        let reports = bursts.due(u64::MAX, true);
        let told: usize = reports.iter().filter_map(|report| report.total).sum();
        assert_eq!(told, 1_500);
    }

    #[test]
    fn the_number_of_bursts_is_bounded() {
        let mut bursts = Bursts::default();
        for person in 0..10_000 {
            bursts.add(subject(person), &[person], 0);
        }
        assert!(bursts.open.len() <= MAX_BURSTS);
        let reported = bursts.due(0, false).len();
        assert_eq!(reported + bursts.open.len(), 10_000);
    }
}
