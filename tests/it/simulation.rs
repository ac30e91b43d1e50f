//! The whole core under virtual time: real journal, scheduler, turns and delivery between scripted
//! people, platforms and models, with faults, crashes and stops wherever a seed puts them.
//!
//! Owns which seeds run. `WEIRGATE_SEED=n` runs one seed; `WEIRGATE_LONG=1` runs many, with thousands of
//! people. What the gateway's own hash maps decide is not part of a seed, so a rare failure may need
//! some runs of its seed to come again.

#![cfg(test)]

mod changes;
mod check;
mod dice;
mod fault;
mod model;
mod people;
mod starve;
mod store;
mod world;

use std::time::Duration;

use check::Figures;
use dice::Dice;
pub use fault::base;
use people::Size;
use world::{End, World};

/// Some small worlds, each with a few crashes.
#[test]
fn whatever_happens_every_message_is_answered_or_its_end_is_told() {
    let long = std::env::var_os("WEIRGATE_LONG").is_some();
    let chosen = std::env::var("WEIRGATE_SEED")
        .ok()
        .and_then(|seed| seed.parse::<u64>().ok());
    let seeds: Vec<u64> = match chosen {
        Some(seed) => vec![seed],
        None => (1..=if long { 100 } else { 6 }).collect(),
    };
    let mut sum = Figures::default();
    for seed in seeds {
        let (users, deeds) = match seed {
            20 | 40 | 60 => (3_000, 2),
            _ if seed.is_multiple_of(5) => (200, 5),
            _ => (50, 5),
        };
        let size = Size {
            users,
            deeds,
            span: 90_000,
        };
        sum = sum.and(run(seed, size));
    }
    tell(&format!("{sum:?}"));
    if chosen.is_none() {
        let rare = [sum.told, sum.recalled, sum.unanswered, sum.repeats];
        assert!(
            rare.iter().all(|count| *count > 0),
            "not everything happened: {sum:?}"
        );
    }
}

/// Runs one world to its end and checks it.
fn run(seed: u64, size: Size) -> Figures {
    // A panic in the middle names its seed as well.
    let named = Named(seed);
    let mut dice = Dice::new(seed ^ 0x5eed);
    let mut world = World::new(seed, size);
    for _ in 0..dice.within(0, 5) {
        let after = Duration::from_millis(dice.within(100, 30_000));
        let end = match dice.below(4) {
            0 => End::Stopped(after),
            1 => End::Killed(after, dice.below(60)),
            _ => End::KilledAt(dice.within(1, size.users * 6), dice.chance(500)),
        };
        world.live(end);
    }
    let rests = [world.rest(), world.rest()];
    let figures = check::check(&world, &rests);
    std::mem::forget(named);
    figures
}

/// Names the seed if dropped by a panic.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        let seed = self.0;
        tell(&format!(
            "the seed was {seed}: run it again with WEIRGATE_SEED={seed}"
        ));
    }
}

/// Says something to whoever looks at a failed run.
#[expect(
    clippy::print_stderr,
    reason = "the test runner shows it when a test fails"
)]
fn tell(text: &str) {
    eprintln!("{text}");
}
