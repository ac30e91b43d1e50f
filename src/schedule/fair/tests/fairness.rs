//! Who waits for whom: floods, lanes, ageing.

use super::*;

#[test]
fn a_flood_delays_another_person_by_one_turn() {
    let mut s = Scheduler::new(Policy {
        max_queue_size: 5_000,
        ..policy()
    });
    for id in 0..2_000 {
        s.push(0, message(id, 1, id % 50));
    }
    let flooding = run(&mut s, 0);
    assert_eq!(flooding.person, 1);
    s.push(1, message(9_000, 2, 99));
    s.done(flooding.token, SECOND);
    assert_eq!(turn(&mut s, SECOND), [9_000]);
    let mut flood = ids(&flooding).len();
    while flood < 2_000 {
        flood += turn(&mut s, SECOND).len();
    }
}

#[test]
fn queues_of_one_person_are_served_in_turn() {
    let mut s = Scheduler::new(Policy {
        messages_per_request: 1,
        ..policy()
    });
    for id in 0..9 {
        s.push(0, message(id, 1, id % 3));
    }
    let order: Vec<i64> = (0..9).flat_map(|_| turn(&mut s, 0)).collect();
    assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn background_jobs_do_not_hold_back_a_person() {
    let mut s = Scheduler::new(policy());
    for id in 0..500 {
        let job = message(id, 1_000 + id, id);
        s.push(
            0,
            Entry {
                lane: Lane::Background,
                priority: 8,
                ..job
            },
        );
    }
    let mut running: Vec<_> = (0..4).map(|_| run(&mut s, 0).token).collect();
    let mut background = 4;
    // Four at a time, a second each; a person speaks in the middle of the 41st second.
    for second in 1..=125 {
        let now = second * SECOND;
        for token in running.drain(..) {
            s.done(token, now);
        }
        if second == 41 {
            s.push(now - SECOND / 2, message(9_000, 1, 9_000));
            let person = run(&mut s, now);
            assert_eq!(ids(&person), [9_000], "with the next free slot");
            running.push(person.token);
        }
        while running.len() < 4
            && let Next::Run(batch) = s.next(now, true)
        {
            background += 1;
            running.push(batch.token);
        }
    }
    assert_eq!(background, 500, "and the jobs all ran");
}

#[test]
fn jobs_of_a_person_wait_for_his_words_but_not_for_ever() {
    let mut s = Scheduler::new(Policy {
        messages_per_request: 1,
        ..policy()
    });
    s.push(
        0,
        Entry {
            lane: Lane::Background,
            ..message(1, 1, 1)
        },
    );
    for (id, second) in (10..).zip(0..10_000) {
        // He speaks all the time, in a conversation beside.
        s.push(second * SECOND, message(id, 1, 2));
        if turn(&mut s, second * SECOND) == [1] {
            let lanes_apart = 2 * 17 * 10;
            assert!(
                (lanes_apart..=lanes_apart + 20).contains(&second),
                "{second}"
            );
            return;
        }
    }
    panic!("starved");
}

#[test]
fn the_lowest_is_served_under_a_stream_of_the_highest() {
    for overload in [1, 2] {
        let mut s = Scheduler::new(policy());
        s.push(
            0,
            Entry {
                lane: Lane::Background,
                priority: -8,
                ..message(1, 1, 1)
            },
        );
        let mut id = 10;
        let mut served = None;
        for second in 0..2_000 {
            for _ in 0..overload {
                let urgent = Entry {
                    lane: Lane::Control,
                    priority: 8,
                    ..message(id, id, id)
                };
                s.push(second * SECOND, urgent);
                id += 1;
            }
            if turn(&mut s, second * SECOND) == [1] {
                served = Some(second);
                break;
            }
        }
        // 84 rungs of ten seconds; before it go those who came until then.
        let bound = 841 * overload;
        assert!(
            served.is_some_and(|served| served <= bound),
            "{served:?} {bound}"
        );
        assert!(
            served.is_some_and(|served| served >= 840),
            "lanes count: {served:?}"
        );
    }
}

#[test]
fn a_turn_that_needs_many_tokens_is_not_starved_by_small_ones_of_the_same_person() {
    let user = Rate {
        per_second: 1.0,
        burst: 5,
    };
    let mut s = Scheduler::new(Policy { user, ..policy() });
    for id in 0..10 {
        s.push(0, message(id, 1, 1));
    }
    assert_eq!(turn(&mut s, 0).len(), 5);
    for (id, second) in (100..).zip(1..1_000) {
        // One job a second would take each token as it comes.
        let job = Entry {
            lane: Lane::Background,
            ..message(id, 1, id)
        };
        s.push(second * SECOND, job);
        if let Next::Run(batch) = s.next(second * SECOND, true) {
            s.done(batch.token, second * SECOND);
            if batch.entries.len() == 5 {
                assert!(second <= 6, "{second}");
                return;
            }
        }
    }
    panic!("starved");
}

#[test]
fn a_person_without_tokens_gains_no_age_on_the_others() {
    let user = Rate {
        per_second: 0.1,
        burst: 1,
    };
    let mut s = Scheduler::new(Policy {
        user,
        messages_per_request: 1,
        ..policy()
    });
    s.push(0, message(1, 1, 1));
    s.push(0, message(2, 1, 1));
    assert_eq!(turn(&mut s, 0), [1]);
    // The next token comes at 10 s. Until then another has become ready.
    s.push(9 * SECOND, message(3, 2, 2));
    assert_eq!(
        turn(&mut s, 30 * SECOND),
        [3],
        "ready since 9 s, the first only now"
    );
    assert_eq!(turn(&mut s, 30 * SECOND), [2]);
}

#[test]
fn a_line_that_gives_way_to_another_of_its_person_keeps_its_age_among_all() {
    let mut s = Scheduler::new(Policy {
        messages_per_request: 1,
        ..policy()
    });
    s.push(
        0,
        Entry {
            lane: Lane::Ambient,
            ..message(1, 1, 1)
        },
    );
    s.push(0, message(2, 1, 2));
    let direct = run(&mut s, 0);
    assert_eq!(ids(&direct), [2]);
    // While his turn runs, a long one, other ambient chatter comes in.
    s.push(
        100 * SECOND,
        Entry {
            lane: Lane::Ambient,
            ..message(3, 3, 3)
        },
    );
    s.done(direct.token, 110 * SECOND);
    assert_eq!(turn(&mut s, 110 * SECOND), [1], "it has waited since 0 s");
    assert_eq!(turn(&mut s, 110 * SECOND), [3]);
}

#[test]
fn a_better_priority_of_a_later_message_never_costs_the_place() {
    let mut s = Scheduler::new(policy());
    s.push(0, message(1, 1, 1));
    s.push(SECOND, message(2, 2, 2));
    s.push(
        50 * SECOND,
        Entry {
            priority: 1,
            ..message(3, 1, 1)
        },
    );
    assert_eq!(turn(&mut s, 50 * SECOND), [1, 3]);
    // And a mention lifts the run that it belongs to at once.
    s.push(
        60 * SECOND,
        Entry {
            lane: Lane::Ambient,
            ..message(4, 4, 4)
        },
    );
    s.push(61 * SECOND, message(5, 4, 4));
    let batch = run(&mut s, 61 * SECOND);
    assert_eq!(ids(&batch), [2]);
    let batch = run(&mut s, 61 * SECOND);
    assert_eq!((ids(&batch), batch.lane), (vec![4, 5], Lane::Direct));
}

#[test]
fn a_recall_takes_the_urgency_of_the_recalled_message_with_it() {
    let mut s = Scheduler::new(policy());
    s.push(0, message(1, 1, 1));
    s.push(
        0,
        Entry {
            priority: 8,
            ..message(2, 1, 1)
        },
    );
    s.push(
        SECOND,
        Entry {
            priority: 4,
            ..message(3, 2, 2)
        },
    );
    assert!(s.remove(&message(2, 1, 1).key, 2));
    assert_eq!(turn(&mut s, SECOND), [3]);
    assert_eq!(turn(&mut s, SECOND), [1]);
}

#[test]
fn a_recall_shortens_the_wait_for_tokens() {
    let user = Rate {
        per_second: 1.0,
        burst: 5,
    };
    let mut s = Scheduler::new(Policy { user, ..policy() });
    for id in 1..=4 {
        s.push(0, message(id, 1, 1));
    }
    assert_eq!(turn(&mut s, 0).len(), 4);
    for id in 5..=7 {
        s.push(0, message(id, 1, 1));
    }
    assert_eq!(waits(&mut s, 0), Some(2 * SECOND));
    assert!(s.remove(&message(6, 1, 1).key, 6));
    assert_eq!(waits(&mut s, 0), Some(SECOND));
    assert_eq!(turn(&mut s, SECOND), [5, 7]);
}

#[test]
fn a_served_line_of_many_queues_goes_to_the_end() {
    let mut s = Scheduler::new(policy());
    s.push(0, message(1, 1, 1));
    s.push(0, message(2, 1, 2));
    s.push(50 * SECOND, message(3, 2, 3));
    let order: Vec<i64> = (0..3).flat_map(|_| turn(&mut s, 100 * SECOND)).collect();
    assert_eq!(order, [1, 3, 2]);
}

#[test]
fn many_busy_queues_do_not_keep_the_tokens_from_a_large_turn_of_the_same_person() {
    let user = Rate {
        per_second: 1.0,
        burst: 5,
    };
    let mut s = Scheduler::new(Policy { user, ..policy() });
    for id in 0..5 {
        s.push(0, message(id, 1, 0));
    }
    s.push(0, command(5, 1, 1, Kind::InOrder));
    assert_eq!(
        turn(&mut s, 0),
        [5],
        "now the five tokens of the messages are not there"
    );
    for (id, second) in (10..).zip(0..1_000) {
        // Commands in three conversations by turns, more than there are tokens for.
        s.push(
            second * SECOND,
            command(2 * id, 1, 1 + id % 3, Kind::InOrder),
        );
        s.push(
            second * SECOND,
            command(2 * id + 1, 1, 1 + (id + 1) % 3, Kind::InOrder),
        );
        if let Next::Run(batch) = s.next(second * SECOND, true) {
            s.done(batch.token, second * SECOND);
            if batch.conversation == 0 {
                assert!((165..200).contains(&second), "{second}");
                return;
            }
        }
    }
    panic!("starved");
}
