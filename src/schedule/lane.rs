//! Lanes and priorities, and the ladder on which those who can run now wait for their turn: one
//! first-in-first-out list for each (lane, priority), compared at the heads.
//! Owns the order between waiters. Never knows who they are or whether they may run.

use super::bucket::Tick;
use crate::inbound::queue::slab::{NONE, Slab};

/// How urgent an entry is, highest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    /// Stops and cancels.
    Control,
    /// Commands.
    Command,
    /// A private chat, or a message that addresses the bot.
    #[default]
    Direct,
    /// Group messages that do not address the bot.
    Ambient,
    /// Reminders, summaries, extraction.
    Background,
}

/// The number of lanes.
pub const LANES: usize = 5;

impl Lane {
    /// All lanes, highest first.
    pub const ALL: [Self; LANES] = [
        Self::Control,
        Self::Command,
        Self::Direct,
        Self::Ambient,
        Self::Background,
    ];

    /// The place in [`Lane::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }
}

/// The highest priority inside a lane; the lowest is its negative.
pub const MAX_PRIORITY: i8 = 8;
const PRIORITIES: u8 = 17;
const LEVELS: usize = 85;
/// The highest level.
pub(crate) const TOP: u8 = 84;

/// The rung of a lane and a priority, 0 to 84. Lanes lie seventeen rungs apart, so that a priority
/// orders inside its lane and only age leads from one lane into the next.
pub(crate) fn level(lane: Lane, priority: i8) -> u8 {
    let inside = priority.clamp(-MAX_PRIORITY, MAX_PRIORITY) + MAX_PRIORITY;
    let rank = Lane::Background as u8 - lane as u8;
    rank * PRIORITIES + inside.unsigned_abs()
}

/// What decides between two waiters, smallest first: when it came, less `aging` for each rung.
/// Counted from the top, so that it never falls below zero. It does not change while one waits.
pub(crate) fn claim(came: Tick, level: u8, aging: Tick) -> Tick {
    came.saturating_add(aging.saturating_mul(Tick::from(TOP - level.min(TOP))))
}

/// The rung on which one who has waited since `came` on rung `level` enters again: one higher for
/// each whole `aging` interval, which keeps his claim to within one interval.
pub(crate) fn aged(level: u8, came: Tick, now: Tick, aging: Tick) -> u8 {
    let steps = now.saturating_sub(came).checked_div(aging).unwrap_or(0);
    u8::try_from(steps).map_or(TOP, |steps| level.saturating_add(steps).min(TOP))
}

/// Those who can run now, in the order of their claims. The time of entry must not go back.
#[derive(Debug)]
pub(crate) struct Ladder {
    places: Slab<Place>,
    rungs: [Rung; LEVELS],
    /// One bit for each rung that has somebody on it.
    used: u128,
}

#[derive(Debug, Default)]
struct Place {
    entered: Tick,
    item: u32,
    before: u32,
    after: u32,
    level: u8,
}

#[derive(Debug, Clone, Copy)]
struct Rung {
    head: u32,
    tail: u32,
}

impl Default for Ladder {
    fn default() -> Self {
        let rungs = [Rung {
            head: NONE,
            tail: NONE,
        }; LEVELS];
        Self {
            places: Slab::default(),
            rungs,
            used: 0,
        }
    }
}

impl Ladder {
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Puts `item` at the end of its rung; the answer is its place.
    pub(crate) fn enter(&mut self, item: u32, level: u8, now: Tick) -> u32 {
        let level = level.min(TOP);
        let rung = &mut self.rungs[usize::from(level)];
        let place = Place {
            entered: now,
            item,
            before: rung.tail,
            after: NONE,
            level,
        };
        let place = self.places.insert(place);
        match rung.tail {
            NONE => rung.head = place,
            tail => self.places[tail].after = place,
        }
        rung.tail = place;
        self.used |= 1 << level;
        place
    }

    /// Takes a place out.
    pub(crate) fn leave(&mut self, place: u32) {
        let gone = self.places.remove(place);
        let rung = &mut self.rungs[usize::from(gone.level)];
        match gone.before {
            NONE => rung.head = gone.after,
            before => self.places[before].after = gone.after,
        }
        match gone.after {
            NONE => rung.tail = gone.before,
            after => self.places[after].before = gone.before,
        }
        if rung.head == NONE {
            self.used &= !(1 << gone.level);
        }
    }

    /// The item with the smallest claim, and the claim. Equal claims: the higher rung.
    pub(crate) fn best(&self, aging: Tick) -> Option<(Tick, u32)> {
        let mut best: Option<(Tick, u32)> = None;
        let mut left = self.used;
        while left != 0 {
            let level = (u128::BITS - 1 - left.leading_zeros()) as u8;
            left &= !(1 << level);
            let head = &self.places[self.rungs[usize::from(level)].head];
            let claim = claim(head.entered, level, aging);
            if best.is_none_or(|(smallest, _)| claim < smallest) {
                best = Some((claim, head.item));
            }
        }
        best
    }
}

#[cfg(test)]
mod tests;
