//! The exact order between people, against a scan over all of them.

use super::*;
use crate::schedule::lane::level;
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug, Default)]
struct Person {
    waiting: VecDeque<(i64, Lane, i8, Kind)>,
    /// When he (re-)entered, and a running number for equal times.
    since: (Tick, u64),
    running: Option<TurnToken>,
}

#[derive(Debug, Clone)]
enum Step {
    Push {
        person: i64,
        lane: usize,
        priority: i8,
        command: bool,
    },
    Next {
        model_free: bool,
    },
    Done {
        nth: usize,
    },
    Pass {
        ticks: Tick,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0_i64..8, 0_usize..5, -9_i8..10, prop::bool::weighted(0.2)).prop_map(
            |(person, lane, priority, command)| Step::Push { person, lane, priority, command }
        ),
        4 => prop::bool::weighted(0.8).prop_map(|model_free| Step::Next { model_free }),
        3 => (0_usize..8).prop_map(|nth| Step::Done { nth }),
        2 => (0_u64..40).prop_map(|ticks| Step::Pass { ticks }),
    ];
    prop::collection::vec(step, 1..300)
}

proptest! {
    #[test]
    fn the_smallest_claim_is_next(aging in 0_u64..30, steps in steps()) {
        let mut s = Scheduler::new(Policy {
            messages_per_request: 1,
            aging_interval: Duration::from_micros(aging),
            ..policy()
        });
        let mut people: BTreeMap<i64, Person> = BTreeMap::new();
        let (mut now, mut serial) = (0, 0);
        for (id, step) in (1_i64..).zip(steps) {
            serial += 1;
            match step {
                Step::Pass { ticks } => now += ticks,
                Step::Push { person, lane, priority, command } => {
                    let lane = Lane::ALL[lane];
                    let kind = if command { Kind::InOrder } else { Kind::Message };
                    s.push(now, Entry { lane, priority, kind, ..message(id, person, person) });
                    let person = people.entry(person).or_default();
                    if person.waiting.is_empty() {
                        person.since = (now, serial);
                    }
                    person.waiting.push_back((id, lane, priority, kind));
                }
                Step::Done { nth } => {
                    let running = people.values_mut().filter(|person| person.running.is_some());
                    let Some(person) = running.into_iter().nth(nth) else { continue };
                    prop_assert!(s.done(person.running.take().unwrap(), now));
                    person.since = (now, serial);
                }
                Step::Next { model_free } => {
                    let best = people.values_mut().filter(|person| person.running.is_none());
                    let best = best.filter_map(|person| {
                        let &(_, lane, priority, kind) = person.waiting.front()?;
                        let rung = 84 - level(lane, priority);
                        let claim = person.since.0 + u64::from(rung) * aging;
                        let usable = model_free || kind != Kind::Message;
                        let order = (claim, kind == Kind::Message, rung, person.since.1);
                        usable.then_some((order, person))
                    });
                    let best = best.min_by_key(|(order, _)| *order);
                    match (s.next(now, model_free), best) {
                        (Next::Wait(None), None) => {}
                        (Next::Run(batch), Some((_, person))) => {
                            prop_assert_eq!(ids(&batch), [person.waiting[0].0]);
                            person.waiting.pop_front();
                            person.running = Some(batch.token);
                        }
                        (next, best) => prop_assert!(false, "{next:?} but {best:?}"),
                    }
                }
            }
        }
    }
}
