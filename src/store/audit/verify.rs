//! Whether a chain is whole: told record by record, in the order of their ids.
//!
//! Owns what counts as a fault. It keeps little more than the last record in memory, and never reads a store.

use std::collections::BTreeMap;

use super::{CHECKPOINT, Checkpoint, ERASED, Hash, Head, StoredAudit};

/// Faults that are told at most: who looks at so many looks at the log itself.
pub const MOST_FAULTS: usize = 50;

/// What is wrong with a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The record, or its place, was changed; or the one before it was changed with its hash.
    Changed {
        /// Its number.
        seq: i64,
    },
    /// The personal fields of the record were changed, or half removed.
    PersonalChanged {
        /// Its number.
        seq: i64,
    },
    /// Records are missing, swapped or there twice.
    Gap {
        /// The number that should be here.
        expected: i64,
        /// The one that is.
        found: i64,
    },
    /// The oldest records are gone, and retention did not remove them.
    StartCut {
        /// The first that is there.
        found: i64,
    },
    /// The newest records are gone, or were replaced.
    EndCut {
        /// The number of the newest record that was written.
        expected: i64,
        /// That of the newest that is there.
        found: i64,
    },
    /// Personal fields were removed without a record of it.
    Erased {
        /// The newest such record.
        seq: i64,
    },
    /// The chain does not go through the head that the caller knows.
    HeadMissing,
}

/// What verification came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Records that were looked at.
    pub records: u64,
    /// The newest record.
    pub head: Head,
    /// What is wrong; at most [`MOST_FAULTS`].
    pub faults: Vec<Fault>,
}

/// Verifies a chain.
#[derive(Debug)]
pub struct Verifier {
    /// The head that must be on the way.
    wanted: Option<Hash>,
    records: u64,
    last: Option<Head>,
    /// The first record, as long as the hash of the one before it is not known.
    first: Option<StoredAudit>,
    /// Of each conversation, the newest record whose personal fields are gone.
    erased: BTreeMap<i64, i64>,
    faults: Vec<Fault>,
}

impl Verifier {
    /// A verifier; `wanted` is the hash of a record that was the newest once.
    #[must_use]
    pub fn new(wanted: Option<Hash>) -> Self {
        Self {
            wanted,
            records: 0,
            last: None,
            first: None,
            erased: BTreeMap::new(),
            faults: Vec::new(),
        }
    }

    fn fault(&mut self, fault: Fault) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(fault);
        }
    }

    /// The next record in the order of ids.
    pub fn record(&mut self, record: &StoredAudit) {
        self.records += 1;
        let hash = record.hash.parse().unwrap_or_default();
        match self.last {
            Some(last) => self.follows(record, last),
            None if record.seq == 1 => self.follows(record, Head::default()),
            None => self.first = Some(record.clone()),
        }
        self.personal(record);
        self.own_records(record);
        if self.wanted == Some(hash) {
            self.wanted = None;
        }
        self.last = Some(Head {
            seq: record.seq,
            hash,
        });
    }

    fn follows(&mut self, record: &StoredAudit, before: Head) {
        let expected = before.seq.saturating_add(1);
        if record.seq != expected {
            self.fault(Fault::Gap {
                expected,
                found: record.seq,
            });
        } else if record.hash != record.hash_after(before.hash).to_string() {
            self.fault(Fault::Changed { seq: record.seq });
        }
    }

    fn personal(&mut self, record: &StoredAudit) {
        let seq = record.seq;
        match &record.salt {
            Some(salt) if record.personal == record.hash_personal(salt).to_string() => {}
            None if record.is_erased() => {
                self.erased.insert(record.conversation, seq);
            }
            _ => self.fault(Fault::PersonalChanged { seq }),
        }
    }

    /// What the store says of the chain in the chain.
    fn own_records(&mut self, record: &StoredAudit) {
        if record.event == ERASED {
            let of = record.conversation;
            if self.erased.get(&of).is_some_and(|last| *last < record.seq) {
                self.erased.remove(&of);
            }
        }
        if record.event != CHECKPOINT {
            return;
        }
        let Ok(checkpoint) = serde_json::from_str::<Checkpoint>(&record.details) else {
            return;
        };
        let Ok(hash) = checkpoint.hash.parse::<Hash>() else {
            return;
        };
        if self.wanted == Some(hash) {
            self.wanted = None;
        }
        if let Some(first) = self.first.take_if(|first| first.seq == checkpoint.seq + 1) {
            let before = Head {
                seq: checkpoint.seq,
                hash,
            };
            self.follows(&first, before);
        }
    }

    /// There are no more records, and the store says that `head` is the newest.
    #[must_use]
    pub fn end(mut self, head: Head) -> Verdict {
        let last = self.last.unwrap_or_default();
        if let Some(first) = self.first.take() {
            self.fault(Fault::StartCut { found: first.seq });
        }
        if last != head {
            self.fault(Fault::EndCut {
                expected: head.seq,
                found: last.seq,
            });
        }
        let erased: Vec<i64> = self.erased.values().copied().collect();
        for seq in erased {
            self.fault(Fault::Erased { seq });
        }
        if self.wanted.is_some() {
            self.fault(Fault::HeadMissing);
        }
        Verdict {
            records: self.records,
            head: last,
            faults: self.faults,
        }
    }
}
