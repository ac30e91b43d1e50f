//! The rules of queues and turns, one by one.

use super::*;

fn seconds(s: u64) -> Duration {
    Duration::from_secs(s)
}

#[test]
fn a_batch_is_the_longest_run_of_one_sender_in_one_conversation() {
    let mut s = Scheduler::new(policy());
    let by_person = |entry: Entry| Entry {
        key: QueueKey {
            conversation: 0,
            ..entry.key
        },
        ..entry
    };
    for (id, conversation) in [(1, 1), (2, 1), (3, 2), (4, 1)] {
        s.push(0, by_person(message(id, 7, conversation)));
    }
    s.push(0, by_person(command(5, 7, 1, Kind::InOrder)));
    s.push(0, by_person(message(6, 7, 1)));
    s.push(
        0,
        by_person(Entry {
            single: true,
            ..message(7, 7, 1)
        }),
    );
    for id in 8..15 {
        s.push(0, by_person(message(id, 7, 1)));
    }
    let turns: Vec<_> = (0..8).map(|_| turn(&mut s, 0)).collect();
    let expected: [&[i64]; 8] = [
        &[1, 2],
        &[3],
        &[4],
        &[5],
        &[6],
        &[7],
        &[8, 9, 10, 11, 12],
        &[13, 14],
    ];
    assert_eq!(turns, expected);
}

#[test]
fn messages_of_different_people_never_share_a_turn() {
    let mut s = Scheduler::new(policy());
    s.push(0, shared(message(1, 7, 1)));
    s.push(300_000, shared(command(2, 8, 1, Kind::InOrder)));
    s.push(300_000, shared(message(3, 9, 1)));
    for (id, person) in [(1, 7), (2, 8), (3, 9)] {
        let batch = run(&mut s, SECOND);
        assert_eq!((ids(&batch), batch.person), (vec![id], person));
        assert_eq!(waits(&mut s, SECOND), None, "one turn of a queue at a time");
        s.done(batch.token, SECOND);
    }
}

#[test]
fn a_slow_conversation_holds_up_no_other_and_keeps_its_order() {
    let mut s = Scheduler::new(policy());
    s.push(0, message(1, 1, 1));
    let slow = run(&mut s, 0);
    s.push(100_000, message(2, 2, 2));
    s.push(100_000, message(3, 1, 1));
    s.push(100_000, message(4, 1, 1));
    assert_eq!(turn(&mut s, 100_000), [2]);
    assert_eq!(waits(&mut s, 100_000), None);
    assert!(s.done(slow.token, 30 * SECOND));
    assert_eq!(turn(&mut s, 30 * SECOND), [3, 4]);
}

#[test]
fn a_late_or_second_completion_is_ignored() {
    let mut s = Scheduler::new(policy());
    s.push(0, message(1, 1, 1));
    let first = run(&mut s, 0);
    s.push(0, message(2, 1, 1));
    s.push(0, command(3, 1, 1, Kind::InOrder));
    assert!(s.done(first.token, 1));
    let second = run(&mut s, 1);
    assert!(!s.done(first.token, 2), "the first turn has ended long ago");
    assert_eq!(waits(&mut s, 2), None, "the second still runs");
    assert!(s.done(second.token, 3));
    assert_eq!(turn(&mut s, 3), [3]);
    assert!(!s.done(second.token, 4));
}

#[test]
fn a_command_in_its_own_slot_runs_beside_a_turn_and_in_order() {
    let mut s = Scheduler::new(policy());
    s.push(0, message(1, 1, 1));
    let turn_of_messages = run(&mut s, 0);
    for id in [2, 3] {
        s.push(0, command(id, 1, 1, Kind::Now));
    }
    s.push(0, command(4, 1, 1, Kind::InOrder));
    let second = run(&mut s, 0);
    assert_eq!((ids(&second), second.kind), (vec![2], Kind::Now));
    assert_eq!(waits(&mut s, 0), None);
    s.done(second.token, 1);
    assert_eq!(turn(&mut s, 1), [3]);
    assert_eq!(
        waits(&mut s, 1),
        None,
        "an ordered command waits for the turn"
    );
    s.done(turn_of_messages.token, 2);
    assert_eq!(turn(&mut s, 2), [4]);
}

#[test]
fn commands_start_without_a_free_model_and_pass_full_queues() {
    let policy = Policy {
        max_queue_size: 3,
        ..policy()
    };
    let mut s = Scheduler::new(policy);
    for id in 1..=6 {
        s.push(0, message(id, 1, 1));
    }
    assert_eq!(s.push(0, command(7, 1, 1, Kind::Now)), Pushed::Queued);
    s.push(0, command(8, 2, 1, Kind::InOrder));
    for id in [7, 8] {
        let Next::Run(batch) = s.next(0, false) else {
            panic!("commands need no model")
        };
        assert_eq!(ids(&batch), [id]);
        s.done(batch.token, 0);
    }
    assert_eq!(s.next(0, false), Next::Wait(None));
    assert_eq!(turn(&mut s, 0), [4, 5, 6]);
}

#[test]
fn a_person_cannot_pile_up_commands() {
    let mut s = Scheduler::new(Policy {
        max_queue_size: 16,
        ..policy()
    });
    for id in 0..16 {
        assert_eq!(s.push(0, command(id, 1, id, Kind::Now)), Pushed::Queued);
    }
    let refused = s.push(0, command(90, 1, 1, Kind::Now));
    assert_eq!(refused, Pushed::Refused(Full::Queue));
    assert_eq!(s.push(0, command(91, 2, 1, Kind::Now)), Pushed::Queued);
}

#[test]
fn dropping_the_oldest_tells_exactly_what_was_lost_once() {
    let mut s = Scheduler::new(Policy {
        max_queue_size: 3,
        ..policy()
    });
    s.push(0, message(1, 1, 1));
    let running = run(&mut s, 0);
    for id in 2..=4 {
        assert_eq!(s.push(0, message(id, 1, 1)), Pushed::Queued);
    }
    assert_eq!(displaced(s.push(5, message(5, 1, 1))), [2]);
    assert_eq!(displaced(s.push(9, message(6, 1, 1))), [3]);
    s.done(running.token, 10);
    let next = run(&mut s, 10);
    assert_eq!(
        ids(&next),
        [4, 5, 6],
        "what was taken is never dropped, order is kept"
    );
    assert_eq!(
        next.dropped,
        Some(Dropped {
            count: 2,
            first: 5,
            last: 9
        })
    );
    s.push(11, message(7, 1, 1));
    s.done(next.token, 11);
    assert_eq!(run(&mut s, 11).dropped, None);
}

#[test]
fn dropping_the_newest_refuses_and_counts_nothing() {
    let policy = Policy {
        max_queue_size: 2,
        overflow: Overflow::DropNewest,
        ..policy()
    };
    let mut s = Scheduler::new(policy);
    let pushed: Vec<_> = (1..=4).map(|id| s.push(0, message(id, 1, 1))).collect();
    assert_eq!(
        pushed,
        [
            Pushed::Queued,
            Pushed::Queued,
            Pushed::Refused(Full::Queue),
            Pushed::Refused(Full::Queue)
        ]
    );
    let batch = run(&mut s, 0);
    assert_eq!((ids(&batch), batch.dropped), (vec![1, 2], None));
}

#[test]
fn a_full_gateway_drops_from_the_same_queue_or_refuses() {
    let mut s = Scheduler::new(Policy {
        max_total: 3,
        ..policy()
    });
    for id in 1..=3 {
        s.push(0, message(id, 1, 1));
    }
    let refused = Pushed::Refused(Full::Total);
    assert_eq!(s.push(0, message(4, 2, 2)), refused);
    assert_eq!(s.push(0, command(5, 2, 2, Kind::Now)), refused);
    assert_eq!(displaced(s.push(0, message(6, 1, 1))), [1]);
    assert_eq!(s.len(), 3);
}

#[test]
fn bodies_beyond_the_limit_stay_in_the_journal() {
    let mut s = Scheduler::new(Policy {
        max_bytes: 14,
        messages_per_request: 2,
        ..policy()
    });
    for id in 1..=3 {
        s.push(0, message(id, 1, 1));
    }
    assert_eq!(s.bytes(), 12);
    assert!(s.replace(&message(1, 1, 1).key, 1, "shorter".into()));
    assert!(
        s.replace(&message(1, 1, 1).key, 3, "x".into()),
        "still read from the journal"
    );
    assert_eq!(s.bytes(), 13);
    let batch = run(&mut s, 5);
    let bodies: Vec<_> = batch
        .entries
        .iter()
        .map(|entry| entry.body.as_deref())
        .collect();
    assert_eq!(bodies, [Some("shorter"), Some("body 2")]);
    s.done(batch.token, 5);
    assert_eq!(run(&mut s, 7).entries[0].body, None);
    assert_eq!(s.bytes(), 0);
}

#[test]
fn a_message_waits_for_a_pause_but_not_for_ever() {
    let debounced = Policy {
        debounce: seconds(2),
        debounce_max: seconds(5),
        ..policy()
    };
    let mut s = Scheduler::new(debounced.clone());
    s.push(0, message(1, 1, 1));
    assert_eq!(waits(&mut s, 0), Some(2 * SECOND));
    s.push(60_000, message(2, 1, 1));
    assert_eq!(waits(&mut s, 2 * SECOND), Some(2_060_000));
    assert_eq!(turn(&mut s, 2_060_000), [1, 2]);
    // Somebody who never pauses.
    for (id, at) in [(3, 10), (4, 11), (5, 12), (6, 14)] {
        s.push(at * SECOND, message(id, 1, 1));
        assert!(waits(&mut s, at * SECOND).is_some());
    }
    assert_eq!(turn(&mut s, 15 * SECOND), [3, 4, 5, 6]);
    // A full run, a command behind it, another sender: nothing more can join.
    for id in 10..15 {
        assert_eq!(waits(&mut s, 20 * SECOND).is_some(), id > 10);
        s.push(20 * SECOND, message(id, 1, 1));
    }
    assert_eq!(turn(&mut s, 20 * SECOND).len(), 5);
    s.push(20 * SECOND, message(20, 1, 1));
    s.push(20 * SECOND, command(21, 1, 1, Kind::InOrder));
    assert_eq!(turn(&mut s, 20 * SECOND), [20]);
    assert_eq!(turn(&mut s, 20 * SECOND), [21]);
    s.push(20 * SECOND, shared(message(30, 1, 9)));
    s.push(20 * SECOND, shared(message(31, 2, 9)));
    assert_eq!(turn(&mut s, 20 * SECOND), [30]);
    assert_eq!(waits(&mut s, 20 * SECOND), Some(22 * SECOND));
    // A reload without a pause lets it go.
    s.set_policy(
        20 * SECOND,
        Policy {
            debounce: Duration::ZERO,
            ..debounced
        },
    );
    assert_eq!(turn(&mut s, 20 * SECOND), [31]);
}

#[test]
fn a_flood_into_a_small_queue_does_not_keep_the_pause_open() {
    let mut s = Scheduler::new(Policy {
        debounce: seconds(2),
        debounce_max: seconds(10),
        max_queue_size: 3,
        ..policy()
    });
    for id in 0..3 {
        s.push(u64::try_from(id).unwrap() * SECOND, message(id, 1, 1));
    }
    assert_eq!(turn(&mut s, 2 * SECOND), [0, 1, 2]);
}

#[test]
fn old_entries_leave_when_their_turn_comes_and_by_the_sweep() {
    let mut s = Scheduler::new(Policy {
        max_age: seconds(60),
        ..policy()
    });
    s.push(0, message(1, 1, 1));
    s.push(0, message(2, 2, 2));
    s.push(0, command(3, 3, 3, Kind::InOrder));
    s.push(0, command(4, 4, 4, Kind::Now));
    s.push(30 * SECOND, message(5, 1, 1));
    assert!(s.take_expired(60 * SECOND - 1, 10).is_empty());
    let batch = run(&mut s, 60 * SECOND);
    assert_eq!(ids(&batch), [5], "all the others are too old");
    let lost = Dropped {
        count: 1,
        first: 60 * SECOND,
        last: 60 * SECOND,
    };
    assert_eq!(batch.dropped, Some(lost));
    let mut expired = s.take_expired(60 * SECOND, 3);
    assert_eq!(expired.len(), 3, "bounded work");
    expired.extend(s.take_expired(60 * SECOND, 3));
    expired.sort_by_key(|expired| expired.id);
    let kinds: Vec<_> = expired
        .iter()
        .map(|expired| (expired.id, expired.kind))
        .collect();
    let kinds_expected = [
        (1, Kind::Message),
        (2, Kind::Message),
        (3, Kind::InOrder),
        (4, Kind::Now),
    ];
    assert_eq!(kinds, kinds_expected);
    assert!(expired.iter().all(|expired| expired.waited == seconds(60)));
    // The queue of 2 has gone; what it lost is told to its next turn.
    assert_eq!(s.depth(&message(2, 2, 2).key), 0);
    s.push(61 * SECOND, message(6, 2, 2));
    assert_eq!(run(&mut s, 61 * SECOND).dropped, Some(lost));
}

#[test]
fn recalls_and_edits_reach_only_what_waits() {
    let mut s = Scheduler::new(policy());
    let key = message(1, 1, 1).key;
    s.push(0, message(1, 1, 1));
    let running = run(&mut s, 0);
    for id in 2..=5 {
        s.push(0, message(id, 1, 1));
    }
    s.push(0, command(6, 1, 1, Kind::Now));
    assert!(!s.remove(&key, 1), "it runs");
    assert!(s.remove(&key, 3));
    assert!(!s.remove(&key, 3));
    assert!(!s.remove(&message(1, 2, 2).key, 6), "another queue");
    assert!(s.replace(&key, 6, "/status now".into()));
    assert!(s.remove(&key, 6));
    for id in [2, 4, 5] {
        assert!(s.remove(&key, id));
    }
    assert_eq!((s.len(), s.bytes(), s.depth(&key)), (0, 0, 0));
    s.push(1, message(7, 1, 1));
    s.done(running.token, 1);
    assert_eq!(turn(&mut s, 1), [7]);
    assert_eq!((s.stats(1).queues, s.users()), (0, 0));
}

#[test]
fn a_turn_takes_as_many_tokens_as_it_has_messages() {
    let rate = Rate {
        per_second: 1.0,
        burst: 5,
    };
    let mut s = Scheduler::new(Policy {
        user: rate,
        ..policy()
    });
    for id in 1..=3 {
        s.push(0, message(id, 1, 1));
    }
    assert_eq!(turn(&mut s, 0).len(), 3);
    s.push(0, command(4, 1, 1, Kind::Now));
    assert_eq!(turn(&mut s, 0), [4]);
    s.push(0, message(5, 1, 1));
    s.push(0, message(6, 1, 1));
    assert_eq!(
        waits(&mut s, 0),
        Some(SECOND),
        "one token is left, two are needed"
    );
    assert_eq!(turn(&mut s, SECOND), [5, 6]);
    assert_eq!(s.users(), 1, "his empty bucket is remembered");
    s.take_expired(6 * SECOND - 1, 10);
    assert_eq!(s.users(), 1);
    s.take_expired(6 * SECOND, 10);
    assert_eq!(s.users(), 0);
}

#[test]
fn the_whole_gateway_can_have_a_rate_that_commands_do_not_need() {
    let manual = Some(Rate {
        per_second: 2.0,
        burst: 2,
    });
    let mut s = Scheduler::new(Policy { manual, ..policy() });
    for id in 1..=4 {
        s.push(0, message(id, id, id));
    }
    assert_eq!(turn(&mut s, 0), [1]);
    assert_eq!(turn(&mut s, 0), [2]);
    assert_eq!(waits(&mut s, 0), Some(SECOND / 2));
    s.push(0, command(5, 5, 5, Kind::InOrder));
    assert_eq!(turn(&mut s, 0), [5]);
    assert_eq!(turn(&mut s, SECOND / 2), [3]);
    assert_eq!(turn(&mut s, SECOND), [4]);
}

#[test]
fn several_turns_of_one_person_when_allowed() {
    let mut s = Scheduler::new(Policy {
        max_turns_per_user: 2,
        ..policy()
    });
    for id in 1..=3 {
        s.push(0, message(id, 1, id));
    }
    let (first, second) = (run(&mut s, 0), run(&mut s, 0));
    assert_eq!((ids(&first), ids(&second)), (vec![1], vec![2]));
    assert_eq!(waits(&mut s, 0), None);
    s.done(second.token, 1);
    assert_eq!(turn(&mut s, 1), [3]);
}

#[test]
fn a_clock_that_steps_back_changes_nothing() {
    let rate = Rate {
        per_second: 1.0,
        burst: 1,
    };
    let mut s = Scheduler::new(Policy {
        user: rate,
        ..policy()
    });
    s.push(100 * SECOND, message(1, 1, 1));
    assert_eq!(turn(&mut s, 100 * SECOND), [1]);
    s.push(50 * SECOND, message(2, 1, 1));
    assert_eq!(waits(&mut s, 50 * SECOND), Some(101 * SECOND));
    assert_eq!(turn(&mut s, 101 * SECOND), [2]);
}
