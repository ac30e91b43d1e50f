//! What of a history is summarised: the middle, between its beginning and what was said last.
//!
//! Owns when that is due and where it is cut: between turns, never inside of one. Pure: sizes and the time are arguments.

use std::ops::Range;

use weirgate_sdk::Timestamp;

/// A row as it is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Its turn; rows of one turn stay together.
    pub turn: i64,
    /// When it was said.
    pub at: Timestamp,
    /// Its tokens, about.
    pub cost: usize,
    /// It is a person's: a round begins.
    pub asks: bool,
    /// It is a summary itself.
    pub summary: bool,
}

/// The rules.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Tokens from which on there is to be less.
    pub threshold: usize,
    /// The newest rows that stay as they are.
    pub keep_recent: usize,
    /// Rounds from which on there are to be fewer.
    pub rounds: usize,
    /// Rows from which on the oldest would not be read any more.
    pub rows: usize,
    /// What is older goes first.
    pub old: Timestamp,
    /// What is older goes without any other need.
    pub by_age: bool,
}

/// Rows of the beginning that stay, if they are one turn and small.
const KEEP_FIRST: usize = 2;
/// The beginning is small up to this part of the threshold.
const SMALL: usize = 8;
/// Fewer rows are not worth a summary.
const LEAST: usize = 4;
/// Old rows that are worth one by their age alone.
const LEAST_OLD: usize = 20;
/// What a summary takes itself, about, and at most this part of the threshold.
const SUMMARY: usize = 1_000;

/// The rows that are to give way to a summary; `None` while there is no need, or nothing that can.
#[must_use]
pub fn middle(rows: &[Measured], rules: &Rules) -> Option<Range<usize>> {
    let total: usize = rows.iter().map(|row| row.cost).sum();
    let start = head(rows, rules);
    let end = tail(rows, rules, start);
    let whole = start..end;
    let old = rows.iter().take(end).take_while(|row| row.at < rules.old);
    let old = start..boundary_before(rows, old.count()).max(start);
    let rounds = rows.iter().filter(|row| row.asks && !row.summary).count();
    let wanted = if total >= rules.threshold {
        // Only what is old, if that is enough to last for a while.
        let cost = |range: &Range<usize>| -> usize {
            let rows = rows.get(range.clone()).unwrap_or_default();
            rows.iter().map(|row| row.cost).sum()
        };
        let left = total.saturating_sub(cost(&old)) + SUMMARY.min(rules.threshold / SMALL);
        if worth(rows, &old, LEAST) && left <= rules.threshold / 4 * 3 {
            old
        } else {
            whole
        }
    } else if rounds >= rules.rounds || rows.len() >= rules.rows {
        whole
    } else if rules.by_age && worth(rows, &old, LEAST_OLD) {
        old
    } else {
        return None;
    };
    worth(rows, &wanted, LEAST).then_some(wanted)
}

/// Whether a range is worth a summary: it has rows enough, of which most are no summary.
fn worth(rows: &[Measured], range: &Range<usize>, least: usize) -> bool {
    let rows = rows.get(range.clone()).unwrap_or_default();
    rows.iter().filter(|row| !row.summary).count() >= least
}

/// Where the beginning that stays ends.
fn head(rows: &[Measured], rules: &Rules) -> usize {
    let first = rows
        .iter()
        .take_while(|row| !row.summary && rows.first().is_some_and(|first| first.turn == row.turn));
    let (count, cost) = first.fold((0, 0), |(count, cost), row| (count + 1, cost + row.cost));
    let small = count <= KEEP_FIRST && cost <= rules.threshold / SMALL;
    if small { count } else { 0 }
}

/// Where what stays at the end begins: so many rows, or fewer if they alone are too much, but always the last turn.
fn tail(rows: &[Measured], rules: &Rules, start: usize) -> usize {
    let wished = rows.len().saturating_sub(rules.keep_recent.max(1));
    let wished = boundary_before(rows, wished);
    let mut end = rows.len();
    let mut cost = 0;
    while end > wished.max(start) {
        let before = boundary_before(rows, end - 1);
        let turn = rows.get(before..end).unwrap_or_default();
        cost += turn.iter().map(|row| row.cost).sum::<usize>();
        if end < rows.len() && cost > rules.threshold / 2 {
            break;
        }
        end = before;
    }
    end.max(start)
}

/// The last place at or before `place` where a turn begins.
fn boundary_before(rows: &[Measured], place: usize) -> usize {
    let mut place = place.min(rows.len());
    while place > 0
        && let (Some(before), Some(here)) = (rows.get(place - 1), rows.get(place))
        && before.turn == here.turn
        && !before.summary
    {
        place -= 1;
    }
    place
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RULES: Rules = Rules {
        threshold: 1_000,
        keep_recent: 4,
        rounds: 50,
        rows: 150,
        old: 0,
        by_age: false,
    };

    /// Turns of a question and an answer each, an hour after the other.
    fn talk(turns: usize, cost: usize) -> Vec<Measured> {
        let row = |number: usize| Measured {
            turn: i64::try_from(number / 2).unwrap(),
            at: i64::try_from(number / 2).unwrap() * 3_600_000,
            cost,
            asks: number.is_multiple_of(2),
            summary: false,
        };
        (0..turns * 2).map(row).collect()
    }

    #[test]
    fn the_first_and_the_last_stay_and_the_middle_goes_when_it_is_too_much() {
        assert_eq!(middle(&talk(9, 50), &RULES), None, "900 of 1000 tokens");
        assert_eq!(middle(&talk(10, 50), &RULES), Some(2..16));
        assert_eq!(
            middle(&talk(4, 500), &RULES),
            Some(0..6),
            "a first turn that is large goes too"
        );
        assert_eq!(middle(&talk(2, 900), &RULES), None, "nothing is worth it");
    }

    #[test]
    fn many_rounds_are_too_much_however_short() {
        assert_eq!(middle(&talk(49, 1), &RULES), None);
        assert_eq!(middle(&talk(50, 1), &RULES), Some(2..96));
        let few_rows = Rules { rows: 40, ..RULES };
        assert_eq!(middle(&talk(20, 1), &few_rows), Some(2..36));
    }

    #[test]
    fn what_is_old_goes_first_and_if_wanted_without_need() {
        let old = Rules {
            old: 15 * 3_600_000,
            ..RULES
        };
        assert_eq!(middle(&talk(20, 26), &old), Some(2..30));
        assert_eq!(middle(&talk(20, 20), &old), None);
        let by_age = Rules {
            by_age: true,
            ..old
        };
        assert_eq!(middle(&talk(20, 20), &by_age), Some(2..30));
    }

    #[test]
    fn a_summary_is_part_of_the_next_one_and_never_the_reason_for_it() {
        let mut rows = talk(12, 50);
        rows[2].summary = true;
        rows[2].cost = 300;
        let range = middle(&rows, &RULES).unwrap();
        assert!(range.contains(&2));
        for row in &mut rows[2..20] {
            row.summary = true;
        }
        assert_eq!(middle(&rows, &RULES), None);
    }

    proptest! {
        #[test]
        fn no_turn_is_cut(
            turns in prop::collection::vec((1..6_usize, 1..400_usize), 0..60),
            keep_recent in 0..30_usize,
            threshold in 1..5_000_usize,
        ) {
            let mut rows = Vec::new();
            for (turn, (count, cost)) in turns.into_iter().enumerate() {
                for place in 0..count {
                    rows.push(Measured {
                        turn: i64::try_from(turn).unwrap(),
                        at: 0,
                        cost,
                        asks: place == 0,
                        summary: false,
                    });
                }
            }
            let rules = Rules { threshold, keep_recent, ..RULES };
            if let Some(range) = middle(&rows, &rules) {
                let whole = |place: usize| place == 0 || rows[place - 1].turn != rows[place].turn;
                prop_assert!(range.end < rows.len(), "the last turn stays");
                prop_assert!(whole(range.start) && whole(range.end));
                prop_assert!(range.len() >= LEAST);
            }
        }
    }
}
