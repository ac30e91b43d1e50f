//! The scheduler with 100,000 queues and a million waiting messages: push, one whole step
//! (next, done, push), drain, and the resident memory of a waiting message.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::io::Write;
use std::time::Duration;
use weirgate::inbound::queue::{Entry, Kind, QueueKey};
use weirgate::schedule::bucket::{Rate, Tick};
use weirgate::schedule::fair::{Next, Overflow, Policy, Scheduler};
use weirgate::schedule::lane::Lane;

const QUEUES: i64 = 100_000;
const MESSAGES: i64 = 1_000_000;
const BODY: usize = 200;

fn policy(user: Rate) -> Policy {
    Policy {
        max_queue_size: 1_000,
        max_total: 4_000_000,
        max_bytes: 1 << 30,
        overflow: Overflow::DropOldest,
        max_age: Duration::from_secs(3_600),
        messages_per_request: 1,
        user,
        manual: None,
        max_turns_per_user: 1,
        aging_interval: Duration::from_secs(10),
        debounce: Duration::ZERO,
        debounce_max: Duration::ZERO,
    }
}

fn entry(id: i64) -> Entry {
    // Spread over the queues without order.
    let person = id.wrapping_mul(7_919).rem_euclid(QUEUES);
    let lane = Lane::ALL[usize::try_from(person % 4).unwrap_or(0) + 1];
    Entry {
        id,
        key: QueueKey {
            account: 1,
            conversation: person,
            person,
        },
        account: 1,
        conversation: person,
        person,
        kind: Kind::Message,
        lane,
        priority: 0,
        single: false,
        body: Some("x".repeat(BODY).into()),
    }
}

fn filled(user: Rate) -> Scheduler {
    let mut scheduler = Scheduler::new(policy(user));
    for id in 0..MESSAGES {
        scheduler.push(0, entry(id));
    }
    scheduler
}

/// Serves one message and says whether there was one.
fn step(scheduler: &mut Scheduler, now: Tick) -> bool {
    match scheduler.next(now, true) {
        Next::Run(batch) => scheduler.done(black_box(batch).token, now),
        Next::Wait(_) => false,
    }
}

/// Resident bytes of this process, where the system tells.
fn resident() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1_024)
}

fn memory(_: &mut Criterion) {
    let before = resident();
    let scheduler = filled(Rate::UNLIMITED);
    if let (Some(before), Some(after)) = (before, resident()) {
        let mut out = std::io::stdout().lock();
        let each = (after - before) / MESSAGES;
        let written = writeln!(
            out,
            "memory: {each} bytes for a message of {BODY}, all included"
        );
        drop(written);
    }
    drop(black_box(scheduler));
}

fn speed(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("schedule");
    let limited = Rate {
        per_second: 1.0,
        burst: 5,
    };
    for (name, user) in [("step", Rate::UNLIMITED), ("step, rate", limited)] {
        let mut scheduler = filled(user);
        let (mut id, mut now) = (MESSAGES, 0);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                // Fast enough that nearly every person has his token when his turn comes.
                now += 12;
                scheduler.push(now, entry(id));
                id += 1;
                step(&mut scheduler, now)
            });
        });
    }
    group.sample_size(10);
    group.bench_function("push of 100,000", |bencher| {
        bencher.iter_batched(
            || {
                let more = (MESSAGES..MESSAGES + 100_000)
                    .map(entry)
                    .collect::<Vec<_>>();
                (filled(Rate::UNLIMITED), more)
            },
            |(mut scheduler, entries)| {
                for entry in entries {
                    scheduler.push(0, entry);
                }
                scheduler
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function("drain of a million", |bencher| {
        bencher.iter_batched(
            || filled(Rate::UNLIMITED),
            |mut scheduler| while step(&mut scheduler, 0) {},
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, memory, speed);
criterion_main!(benches);
