//! How far the account has read.
//!
//! Owns which updates were handed in and which the platform may forget. What is handed in and not accepted stays with
//! the platform: it is asked for again, and passed over here until it is clear what became of it. Pure.

use serde_json::Value;
use weirgate_sdk::{BotId, Cursor};

use crate::{moves::Moves, receive::update_id};

/// After a week without updates their numbers begin anew anywhere (Bot API, type Update); a position that is nearly as
/// old is not used.
const FRESH: i64 = 6 * 24 * 3_600;

/// The position in the stream of updates.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The first update that the platform must keep, and when that was known, in seconds since the epoch.
    confirmed: Option<(i64, i64)>,
    /// The first update that was not handed in.
    handed: Option<i64>,
}

impl Window {
    /// Goes on where a stored cursor says, if it is this bot's.
    #[must_use]
    pub fn from_cursor(cursor: Option<&Cursor>, bot: &BotId) -> Self {
        let own = cursor.filter(|cursor| cursor.bot == *bot);
        let position = own.and_then(|cursor| {
            let mut parts = cursor.value.splitn(3, '@');
            Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
        });
        Self {
            confirmed: position,
            handed: None,
        }
    }

    /// The cursor that stands behind the update `last`, with the moves that are known.
    #[must_use]
    pub fn cursor(bot: &BotId, last: i64, clock: i64, moves: &Moves) -> Cursor {
        let next = last.saturating_add(1);
        Cursor {
            bot: bot.clone(),
            value: format!("{next}@{clock}@{}", moves.write()),
        }
    }

    /// The cursor that stands where the platform may forget everything before, with the moves that are known.
    #[must_use]
    pub fn here(&self, bot: &BotId, moves: &Moves) -> Cursor {
        // A position of long ago is not used.
        let (next, clock) = self.confirmed.unwrap_or((0, 0));
        Self::cursor(bot, next.saturating_sub(1), clock, moves)
    }

    /// The moves in a cursor of this bot.
    pub fn read_moves(cursor: Option<&Cursor>, bot: &BotId, moves: &Moves) {
        let own = cursor.filter(|cursor| cursor.bot == *bot);
        if let Some(text) = own.and_then(|cursor| cursor.value.splitn(3, '@').nth(2)) {
            moves.read(text);
        }
    }

    /// From which update on to ask; none asks for whatever the platform keeps.
    #[must_use]
    pub fn offset(&self, clock: i64) -> Option<i64> {
        let (next, at) = self.confirmed?;
        (clock - at < FRESH).then_some(next)
    }

    /// Takes those out of an answer that were not handed in. The platform gives none before the offset unless it numbers
    /// anew; then they count.
    #[must_use]
    pub fn fresh(&self, updates: Vec<Value>) -> Vec<Value> {
        let confirmed = self.confirmed.map(|(next, _)| next);
        let is_known = |update: &Value| match (update_id(update), self.handed) {
            (Some(id), Some(handed)) => id < handed && confirmed.is_none_or(|next| id >= next),
            _ => false,
        };
        updates
            .into_iter()
            .filter(|update| !is_known(update))
            .collect()
    }

    /// Everything up to `last` was handed in.
    pub fn hand_in(&mut self, last: i64) {
        self.handed = Some(last.saturating_add(1));
    }

    /// Everything up to `last` is accepted.
    pub fn accept(&mut self, last: i64, clock: i64) {
        self.confirmed = Some((last.saturating_add(1), clock));
    }

    /// What was handed in and not accepted is to be handed in again.
    pub fn again(&mut self) {
        self.handed = None;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_790_000_000;

    fn updates(ids: &[i64]) -> Vec<Value> {
        ids.iter().map(|id| json!({ "update_id": id })).collect()
    }

    fn fresh(window: &Window, ids: &[i64]) -> Vec<i64> {
        let found = window.fresh(updates(ids));
        found.iter().filter_map(update_id).collect()
    }

    #[test]
    fn what_is_under_way_is_passed_over_until_it_is_settled() {
        let mut window = Window::default();
        assert_eq!(window.offset(NOW), None);
        assert_eq!(fresh(&window, &[5, 6]), [5, 6]);
        window.hand_in(6);
        assert_eq!(fresh(&window, &[5, 6, 7]), [7]);
        window.hand_in(7);
        window.accept(6, NOW);
        assert_eq!(window.offset(NOW), Some(7));
        assert_eq!(fresh(&window, &[7, 8]), [8]);
        window.again();
        assert_eq!(fresh(&window, &[7, 8]), [7, 8]);
    }

    #[test]
    fn numbers_that_begin_anew_are_heard() {
        let mut window = Window::default();
        window.hand_in(600_000_000);
        window.accept(600_000_000, NOW);
        assert_eq!(fresh(&window, &[1_042]), [1_042]);
        window.hand_in(1_042);
        window.accept(1_042, NOW);
        assert_eq!(window.offset(NOW), Some(1_043));
        // After a week of silence nobody knows where they begin.
        assert_eq!(window.offset(NOW + FRESH), None);
    }

    #[test]
    fn a_cursor_is_used_by_its_bot_while_it_is_young() {
        let bot = BotId::from("111");
        let moves = Moves::default();
        moves.learn(-42, -1_007);
        let cursor = Window::cursor(&bot, 600_000_000, NOW, &moves);
        let again = Moves::default();
        Window::read_moves(Some(&cursor), &"222".into(), &again);
        assert_eq!(again.present(-42), -42, "another bot is in other groups");
        Window::read_moves(Some(&cursor), &bot, &again);
        assert_eq!(again.present(-42), -1_007);
        let window = Window::from_cursor(Some(&cursor), &bot);
        assert_eq!(window.offset(NOW + 1), Some(600_000_001));
        assert_eq!(window.offset(NOW + FRESH), None);
        let other = Window::from_cursor(Some(&cursor), &"222".into());
        assert_eq!(other, Window::default());
        let here = window.here(&bot, &moves);
        assert_eq!(here, cursor, "it stands where it stood");
        let nowhere = Window::default().here(&bot, &moves);
        let window = Window::from_cursor(Some(&nowhere), &bot);
        assert_eq!(window.offset(NOW), None, "whatever the platform keeps");
        let odd = Cursor {
            value: "x".into(),
            ..cursor
        };
        assert_eq!(Window::from_cursor(Some(&odd), &bot), Window::default());
    }
}
