//! Many people, long times: nothing stays behind.

use super::*;

/// Records and table slots that hold memory.
fn footprint(s: &Scheduler) -> usize {
    s.backlog.nodes.capacity()
        + s.backlog.queues.capacity()
        + s.people.users.capacity()
        + s.people.lines.capacity()
        + s.turns.capacity()
        + s.slots.capacity()
        + s.expired.capacity()
        + s.wanted.capacity()
        + s.backlog.tables()
        + s.people.tables()
        + s.short.len()
        + s.idle.len()
        + s.quiet.len()
}

/// A tenth where it is to be quick.
fn people() -> i64 {
    let long = std::env::var_os("WEIRGATE_LONG").is_some_and(|value| value == "1");
    if long { 1_000_000 } else { 100_000 }
}

#[test]
fn many_people_who_came_once_leave_nothing_behind() {
    let user = Rate {
        per_second: 0.1,
        burst: 5,
    };
    let mut s = Scheduler::new(Policy {
        user,
        max_total: 2_000_000,
        ..policy()
    });
    let mut now = 0;
    let mut most = 0;
    for id in 0..people() {
        now += 1_000;
        let body = None;
        s.push(
            now,
            Entry {
                body,
                ..message(id, id, id)
            },
        );
        assert_eq!(turn(&mut s, now), [id]);
        if id % 1_000 == 0 {
            s.take_expired(now, 1_500);
            most = most.max(s.users());
        }
    }
    // A token is back after 10 s: only those of the last 10 s are remembered.
    assert!((10_000..12_000).contains(&most), "{most}");
    while s.users() > 0 {
        now += SECOND;
        s.take_expired(now, 5_000);
    }
    assert!(footprint(&s) < 2_000, "{} in {s:?}", footprint(&s));
}

#[test]
fn a_burst_of_everybody_at_once_leaves_nothing_behind() {
    let user = Rate {
        per_second: 1.0,
        burst: 2,
    };
    let max_age = Duration::from_secs(3_600);
    let debounce = Duration::from_secs(1);
    let mut s = Scheduler::new(Policy {
        user,
        max_age,
        debounce,
        debounce_max: debounce,
        ..policy()
    });
    for id in 0..30_000 {
        s.push(0, message(3 * id, id, id));
        s.push(0, command(3 * id + 1, id, id, Kind::Now));
        s.push(0, shared(message(3 * id + 2, id, id)));
    }
    assert!(footprint(&s) > 90_000);
    // A third is served, the others wait for a model that never comes back.
    for _ in 0..30_000 {
        turn(&mut s, SECOND);
    }
    let mut expired = 0;
    let mut now = 3_600 * SECOND;
    loop {
        let swept = s.take_expired(now, 4_096).len();
        expired += swept;
        now += SECOND;
        if swept == 0 && s.users() == 0 {
            break;
        }
    }
    assert_eq!(expired, 60_000);
    // What idle queues lost is remembered, up to a bound.
    assert!(footprint(&s) < 4_096 * 4, "{}", footprint(&s));
    assert_eq!(s.stats(now), Stats::default());
}

#[test]
fn a_turn_that_runs_keeps_its_person_and_his_bucket() {
    let user = Rate {
        per_second: 1.0,
        burst: 1,
    };
    let mut s = Scheduler::new(Policy { user, ..policy() });
    s.push(0, message(1, 1, 1));
    let running = run(&mut s, 0);
    s.take_expired(100 * SECOND, 100);
    assert_eq!(s.users(), 1);
    s.push(100 * SECOND, message(2, 1, 2));
    assert_eq!(waits(&mut s, 100 * SECOND), None, "one turn at a time");
    s.done(running.token, 100 * SECOND);
    assert_eq!(turn(&mut s, 100 * SECOND), [2]);
    s.push(100 * SECOND, message(3, 1, 1));
    assert_eq!(waits(&mut s, 100 * SECOND), Some(101 * SECOND));
}
