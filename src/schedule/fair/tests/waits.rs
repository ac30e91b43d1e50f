//! Why entries wait: each kind once, and nothing for what runs at once.

use super::*;

fn noted(scheduler: &mut Scheduler) -> Vec<(i64, Wait)> {
    scheduler.take_waits()
}

#[test]
fn what_runs_at_once_has_no_note() {
    let mut s = Scheduler::new(policy());
    s.push(0, message(1, 1, 1));
    let first = run(&mut s, 0);
    s.push(0, command(2, 1, 1, Kind::Now));
    let second = run(&mut s, 0);
    waits(&mut s, 0);
    s.done(first.token, 0);
    s.done(second.token, 0);
    waits(&mut s, 0);
    assert_eq!(noted(&mut s), []);
}

#[test]
fn what_is_behind_an_earlier_turn_says_so_once() {
    let mut s = Scheduler::new(Policy {
        messages_per_request: 1,
        ..policy()
    });
    s.push(0, message(1, 1, 1));
    s.push(0, message(2, 1, 1));
    assert_eq!(noted(&mut s), [(2, Wait::Turn)], "the first goes before it");
    let first = run(&mut s, 0);
    s.push(1, message(3, 1, 1));
    s.push(1, message(4, 1, 2));
    assert_eq!(
        noted(&mut s),
        [(3, Wait::Turn), (4, Wait::Turn)],
        "behind it, and in another conversation of the same person"
    );
    s.done(first.token, 2);
    let second = run(&mut s, 2);
    waits(&mut s, 2);
    s.done(second.token, 3);
    turn(&mut s, 3);
    turn(&mut s, 3);
    assert_eq!(noted(&mut s), [], "each was noted before");
}

#[test]
fn messages_of_one_turn_have_the_notes_of_the_first() {
    let mut s = Scheduler::new(policy());
    assert_eq!(s.next(0, false), Next::Wait(None));
    s.push(0, message(1, 1, 1));
    s.push(0, message(2, 1, 1));
    assert_eq!(s.next(0, false), Next::Wait(None));
    assert_eq!(s.next(1, false), Next::Wait(None));
    assert_eq!(noted(&mut s), [(1, Wait::Model)]);
    assert_eq!(turn(&mut s, 2), [1, 2]);
    assert_eq!(noted(&mut s), []);
}

#[test]
fn commands_of_one_person_wait_for_each_other() {
    let mut s = Scheduler::new(policy());
    for id in 1..=3 {
        s.push(0, command(id, 1, 1, Kind::Now));
    }
    assert_eq!(noted(&mut s), [(2, Wait::Turn), (3, Wait::Turn)]);
    let first = run(&mut s, 0);
    s.done(first.token, 0);
    turn(&mut s, 0);
    assert_eq!(noted(&mut s), []);
}

#[test]
fn too_few_tokens_are_noted_when_they_begin_to_be_missed() {
    let mut s = Scheduler::new(Policy {
        user: Rate {
            per_second: 1.0,
            burst: 1,
        },
        messages_per_request: 1,
        ..policy()
    });
    s.push(0, message(1, 1, 1));
    let first = run(&mut s, 0);
    s.push(0, message(2, 1, 1));
    s.push(0, command(3, 1, 1, Kind::Now));
    assert_eq!(noted(&mut s), [(2, Wait::Turn), (3, Wait::Token)]);
    s.done(first.token, SECOND / 2);
    assert_eq!(noted(&mut s), [(2, Wait::Token)]);
    assert_eq!(turn(&mut s, SECOND).len(), 1);
    assert_eq!(noted(&mut s), [], "the other one is known to wait");
}

#[test]
fn the_gateways_own_tokens_are_noted_too() {
    let mut s = Scheduler::new(Policy {
        manual: Some(Rate {
            per_second: 1.0,
            burst: 1,
        }),
        ..policy()
    });
    s.push(0, message(1, 1, 1));
    s.push(0, message(2, 2, 2));
    turn(&mut s, 0);
    assert_eq!(waits(&mut s, 0), Some(SECOND));
    assert_eq!(noted(&mut s), [(2, Wait::Token)]);
}

#[test]
fn a_pause_is_noted_once_however_often_it_is_prolonged() {
    let mut s = Scheduler::new(Policy {
        debounce: Duration::from_secs(1),
        debounce_max: Duration::from_secs(10),
        ..policy()
    });
    for (id, at) in [(1, 0), (2, SECOND / 2), (3, SECOND)] {
        s.push(at, message(id, 1, 1));
    }
    assert_eq!(noted(&mut s), [(1, Wait::Pause)]);
    assert_eq!(turn(&mut s, 2 * SECOND), [1, 2, 3]);
}

#[test]
fn notes_that_nobody_takes_are_bounded() {
    let mut s = Scheduler::new(Policy {
        max_queue_size: 100_000,
        messages_per_request: 1,
        ..policy()
    });
    for id in 1..20_000 {
        s.push(0, message(id, 1, 1));
    }
    assert!(noted(&mut s).len() < 5_000);
    for person in 2..20_000 {
        s.push(0, message(20_000 + person, person, 1));
    }
    assert_eq!(s.next(0, false), Next::Wait(None));
    assert!(noted(&mut s).len() < 5_000);
}
