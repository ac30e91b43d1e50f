//! What an entry is worth, and what becomes of it.
//!
//! Owns the score, the promotion and the end of entries. Pure: the time is an argument. "When in doubt keep": what is
//! important is never removed, and what is old is put aside before it goes.

use std::time::Duration;

use weirgate_sdk::Timestamp;

use super::config::Retention;
use crate::{
    clock::millis,
    store::{MemoryKind, MemoryRow, MemoryTier},
};

/// Parts of relevance, importance and freshness.
const PARTS: (f64, f64, f64) = (0.4, 0.3, 0.3);
/// The relevance of an entry that nobody has recalled yet.
const NEW: f64 = 0.5;
/// Under this an entry is put aside.
const ASIDE: f64 = 0.4;
/// Under this it goes.
const GONE: f64 = 0.2;
/// Recalls from which on a passing entry is kept.
const RECALLS: u32 = 3;
/// Importance from which on it is, in thousandths.
const IMPORTANT: u16 = 700;
/// How long a passing entry lives.
const MISC: Duration = Duration::from_hours(24);
/// Recalls of which the relevance is kept.
pub const LAST: usize = 10;

/// What becomes of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It stays as it is.
    Stays,
    /// It is kept for good from now on.
    Rises,
    /// It is no longer recalled by itself.
    Aside,
    /// It goes.
    Goes,
}

/// What an entry is worth, from 0 to 1. `relevance` is how well it fits what is asked; else what it was worth lately.
#[must_use]
pub fn score(row: &MemoryRow, relevance: Option<f64>, now: Timestamp, long_term: Duration) -> f64 {
    let best = row
        .relevance
        .iter()
        .max()
        .map(|best| f64::from(*best) / 1_000.0);
    let relevance = relevance.or(best).unwrap_or(NEW);
    let importance = f64::from(row.importance) / 1_000.0;
    PARTS.0 * relevance + PARTS.1 * importance + PARTS.2 * freshness(row, now, long_term)
}

/// 1 for what was said or recalled just now; it halves in every `long_term`.
fn freshness(row: &MemoryRow, now: Timestamp, long_term: Duration) -> f64 {
    let last = row.updated_at.max(row.recalled_at);
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of centuries fit")]
    let age = now.saturating_sub(last).max(0) as f64 / 1_000.0;
    0.5_f64.powf(age / long_term.as_secs_f64().max(1.0))
}

/// What becomes of an entry now.
#[must_use]
pub fn fate(row: &MemoryRow, now: Timestamp, retention: &Retention) -> Fate {
    let age = now.saturating_sub(row.updated_at.max(row.recalled_at));
    let matters = row.recalls >= RECALLS || row.importance >= IMPORTANT;
    let lives = match row.tier {
        MemoryTier::System | MemoryTier::Important => None,
        MemoryTier::Daily | MemoryTier::Misc if matters => return Fate::Rises,
        MemoryTier::Daily => Some(retention.working_memory),
        MemoryTier::Misc => Some(MISC),
    };
    let over = |lives: Duration| age >= millis(lives);
    if lives.is_some_and(over) {
        return Fate::Goes;
    }
    if lives.is_none() {
        // What only mattered while it was done is not for good, however it was filed.
        let done = row.kind == MemoryKind::Working && row.tier == MemoryTier::Important;
        let aside = done && over(retention.working_memory);
        let aside = aside || score(row, None, now, retention.long_term) < ASIDE;
        return if aside && row.tier == MemoryTier::Important && !row.archived {
            Fate::Aside
        } else {
            Fate::Stays
        };
    }
    match score(row, None, now, retention.long_term) {
        score if score < GONE => Fate::Goes,
        score if score < ASIDE && !row.archived => Fate::Aside,
        _ => Fate::Stays,
    }
}

/// Notes that an entry was recalled and how well it fitted.
pub fn recalled(row: &mut MemoryRow, relevance: f64, now: Timestamp) {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between 0 and 1000"
    )]
    let thousandths = (relevance.clamp(0.0, 1.0) * 1_000.0).round() as u16;
    row.relevance.push(thousandths);
    let surplus = row.relevance.len().saturating_sub(LAST);
    row.relevance.drain(..surplus);
    row.recalls = row.recalls.saturating_add(1);
    row.recalled_at = now;
    row.archived = false;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::memory::tests::entry;

    const DAY: i64 = 86_400_000;

    fn of(tier: MemoryTier, change: impl FnOnce(&mut MemoryRow)) -> MemoryRow {
        let mut row = entry("x");
        row.tier = tier;
        change(&mut row);
        row
    }

    fn becomes(row: &MemoryRow, days: i64) -> Fate {
        fate(row, days * DAY, &Retention::default())
    }

    #[test]
    fn the_score_is_made_of_three_parts() {
        let row = of(MemoryTier::Misc, |row| row.importance = 1_000);
        let month = Duration::from_hours(30 * 24);
        let close = |one: f64, other: f64| (one - other).abs() < 1e-9;
        assert!(close(score(&row, Some(1.0), 0, month), 1.0));
        assert!(close(score(&row, None, 0, month), 0.2 + 0.3 + 0.3));
        assert!(close(score(&row, Some(0.0), 30 * DAY, month), 0.3 + 0.15));
        let recalled = of(MemoryTier::Misc, |row| row.relevance = vec![200, 900, 100]);
        assert!(close(score(&recalled, None, 0, month), 0.36 + 0.15 + 0.3));
    }

    #[test]
    fn what_passes_goes_after_a_day_unless_it_turned_out_to_matter() {
        assert_eq!(becomes(&of(MemoryTier::Misc, |_| {}), 0), Fate::Stays);
        assert_eq!(becomes(&of(MemoryTier::Misc, |_| {}), 1), Fate::Goes);
        let matters = of(MemoryTier::Misc, |row| row.importance = 700);
        assert_eq!(becomes(&matters, 0), Fate::Rises);
        let used = of(MemoryTier::Misc, |row| row.recalls = 3);
        assert_eq!(becomes(&used, 9), Fate::Rises);
        let twice = of(MemoryTier::Misc, |row| row.recalls = 2);
        assert_eq!(becomes(&twice, 1), Fate::Goes);
    }

    #[test]
    fn what_is_daily_goes_after_some_days() {
        assert_eq!(becomes(&of(MemoryTier::Daily, |_| {}), 6), Fate::Stays);
        assert_eq!(becomes(&of(MemoryTier::Daily, |_| {}), 7), Fate::Goes);
    }

    #[test]
    fn what_is_important_is_put_aside_and_never_removed() {
        let row = of(MemoryTier::Important, |_| {});
        assert_eq!(becomes(&row, 10), Fate::Stays);
        assert_eq!(becomes(&row, 90), Fate::Aside);
        assert_eq!(
            becomes(&of(MemoryTier::Important, |row| row.archived = true), 9_999),
            Fate::Stays
        );
        let forgotten = |row: &mut MemoryRow| {
            row.importance = 0;
            row.relevance = vec![0; 10];
        };
        assert_eq!(
            becomes(&of(MemoryTier::Important, forgotten), 9_999),
            Fate::Aside
        );
        assert_eq!(
            becomes(&of(MemoryTier::System, forgotten), 9_999),
            Fate::Stays
        );
    }

    #[test]
    fn what_is_recalled_is_fresh_again_and_ten_times_are_kept() {
        let mut row = of(MemoryTier::Important, |row| row.archived = true);
        for number in 0..12_u8 {
            recalled(&mut row, f64::from(number) / 10.0, 5 * DAY);
        }
        assert_eq!(
            row.relevance,
            [200, 300, 400, 500, 600, 700, 800, 900, 1_000, 1_000]
        );
        assert_eq!(
            (row.recalls, row.recalled_at, row.archived),
            (12, 5 * DAY, false)
        );
    }
}
