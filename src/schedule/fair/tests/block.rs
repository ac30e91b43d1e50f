//! `block`, as its caller lives with it: a journal beside the scheduler.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What was accepted and has not been taken, in order, as the journal knows it.
#[derive(Debug, Default)]
struct Journal {
    open: BTreeMap<i64, Entry>,
}

impl Journal {
    fn push(&mut self, s: &mut Scheduler, entry: Entry) -> Pushed {
        self.open.insert(entry.id, entry.clone());
        s.push(s.now, entry)
    }

    /// Reads on as asked, at most `most`.
    fn answer(&self, s: &mut Scheduler, wanted: Wanted, most: usize) {
        let all = self.open.range(wanted.after + 1..).map(|(_, entry)| entry);
        let all = all.filter(|entry| entry.key == wanted.key && entry.kind != Kind::Now);
        let mut rest = all.cloned();
        let read: Vec<Entry> = rest.by_ref().take(most).collect();
        let more = rest.next().is_some();
        s.refill(s.now, wanted.key, read, more);
    }
}

fn blocking(max_queue_size: u32, max_total: u32) -> Scheduler {
    let policy = Policy {
        max_queue_size,
        max_total,
        overflow: Overflow::Block,
        ..policy()
    };
    Scheduler::new(policy)
}

#[test]
fn nothing_is_dropped_and_order_is_kept() {
    let mut s = blocking(4, 100);
    let mut journal = Journal::default();
    for id in 1..=20 {
        let expected = if id <= 4 {
            Pushed::Queued
        } else {
            Pushed::Held
        };
        assert_eq!(journal.push(&mut s, message(id, 1, 1)), expected);
    }
    assert_eq!(s.refill_wanted(), None, "no room yet");
    let key = message(1, 1, 1).key;
    let held: Vec<i64> = (1..=20).filter(|id| s.holds(&key, *id)).collect();
    assert_eq!(held, (5..=20).collect::<Vec<_>>());
    assert_eq!(
        journal.push(&mut s, message(21, 2, 2)),
        Pushed::Queued,
        "nobody else waits"
    );
    let mut order = Vec::new();
    while let Next::Run(batch) = s.next(0, true) {
        if batch.person == 1 {
            order.extend(ids(&batch));
        }
        s.done(batch.token, 0);
        while let Some(wanted) = s.refill_wanted() {
            assert!(
                wanted.room <= 4 && s.refill_wanted().is_none(),
                "asked once"
            );
            journal.answer(&mut s, wanted, wanted.room as usize);
        }
    }
    assert_eq!(order, (1..=20).collect::<Vec<_>>());
    assert!(!s.holds(&key, 21));
    assert_eq!(journal.push(&mut s, message(22, 1, 1)), Pushed::Queued);
    assert_eq!(s.stats(0).queues, 1);
}

#[test]
fn what_is_held_while_the_journal_is_read_is_not_forgotten() {
    let mut s = blocking(1, 100);
    s.push(0, message(1, 1, 1));
    assert_eq!(s.push(0, message(2, 1, 1)), Pushed::Held);
    assert_eq!(turn(&mut s, 0), [1]);
    let wanted = s.refill_wanted().unwrap();
    assert_eq!((wanted.after, wanted.room), (1, 1));
    // 3 arrives after the question; the answer does not know it and says "no more".
    assert_eq!(s.push(0, message(3, 1, 1)), Pushed::Held);
    s.refill(0, wanted.key, vec![message(2, 1, 1)], false);
    assert_eq!(turn(&mut s, 0), [2]);
    let wanted = s.refill_wanted().unwrap();
    assert_eq!(wanted.after, 2);
    // Reading fails once; then 3 was recalled meanwhile, and the queue is free again.
    s.refill(0, wanted.key, vec![], true);
    let wanted = s.refill_wanted().unwrap();
    s.refill(0, wanted.key, vec![], false);
    assert_eq!(s.refill_wanted(), None);
    assert_eq!(s.stats(0).queues, 0);
    assert_eq!(s.push(0, message(4, 1, 1)), Pushed::Queued);
}

#[test]
fn answers_that_nobody_asked_for_and_repeated_entries_change_nothing() {
    let mut s = blocking(2, 100);
    let key = message(1, 1, 1).key;
    s.push(0, message(1, 1, 1));
    s.refill(0, key, vec![message(9, 1, 1)], true);
    assert_eq!(s.depth(&key), 1);
    s.push(0, message(2, 1, 1));
    s.push(0, message(3, 1, 1));
    assert_eq!(turn(&mut s, 0), [1, 2]);
    let wanted = s.refill_wanted().unwrap();
    let read = vec![
        message(2, 1, 1),
        message(3, 1, 1),
        message(3, 1, 1),
        message(4, 2, 2),
        command(5, 1, 1, Kind::Now),
    ];
    s.refill(0, wanted.key, read, false);
    assert_eq!(turn(&mut s, 0), [3]);
    assert!(s.is_empty());
}

#[test]
fn a_full_gateway_holds_new_queues_up_to_a_bound() {
    let mut s = blocking(5, 3);
    for id in 1..=3 {
        assert_eq!(s.push(0, message(id, id, id)), Pushed::Queued);
    }
    for id in 4..=6 {
        assert_eq!(s.push(0, message(id, id, id)), Pushed::Held);
    }
    let refused = s.push(0, message(7, 7, 7));
    assert_eq!(refused, Pushed::Refused(Full::Total));
    assert_eq!(s.refill_wanted(), None, "no room at all");
    assert_eq!(turn(&mut s, 0), [1]);
    let wanted = s.refill_wanted().unwrap();
    assert_eq!((wanted.after, wanted.room), (3, 1));
    s.refill(0, wanted.key, vec![message(4, 4, 4)], false);
    assert_eq!(s.refill_wanted(), None, "full again");
    assert_eq!(
        (turn(&mut s, 0), turn(&mut s, 0), turn(&mut s, 0)),
        (vec![2], vec![3], vec![4])
    );
}

proptest! {
    #[test]
    fn every_message_comes_once_and_in_order(
        size in 1_u32..6,
        total in 2_u32..12,
        steps in prop::collection::vec((0_u8..8, 0_i64..4, 0_usize..4), 1..300),
    ) {
        let mut s = blocking(size, total);
        let mut journal = Journal::default();
        let mut accepted = BTreeSet::new();
        let mut last: BTreeMap<i64, i64> = BTreeMap::new();
        let mut running: Vec<TurnToken> = Vec::new();
        let mut questions: Vec<Wanted> = Vec::new();
        let drain = std::iter::repeat_n([(4, 0, 0), (5, 0, 0), (6, 0, 9), (7, 0, 9)], 600);
        for (id, (action, person, most)) in (1_i64..).zip(steps.into_iter().chain(drain.flatten())) {
            match action {
                0..=3 => match journal.push(&mut s, message(id, person, person)) {
                    Pushed::Refused(_) => {
                        journal.open.remove(&id);
                    }
                    _ => {
                        accepted.insert(id);
                    }
                },
                4 => {
                    if let Next::Run(batch) = s.next(0, true) {
                        for id in ids(&batch) {
                            prop_assert!(accepted.remove(&id), "{id} twice");
                            prop_assert!(journal.open.remove(&id).is_some());
                            prop_assert!(last.insert(batch.person, id) < Some(id), "order");
                        }
                        running.push(batch.token);
                    }
                }
                5 => {
                    if let Some(token) = running.pop() {
                        s.done(token, 0);
                    }
                }
                6 => questions.extend(s.refill_wanted()),
                _ => {
                    if !questions.is_empty() {
                        journal.answer(&mut s, questions.remove(0), most);
                    }
                }
            }
            prop_assert!(s.len() <= total as usize);
        }
        prop_assert!(accepted.is_empty(), "left behind: {accepted:?}");
        prop_assert_eq!((s.len(), s.users(), s.stats(0).queues), (0, 0, 0));
    }
}
