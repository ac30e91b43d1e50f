//! How far events were read.
//!
//! Owns the form in which a position is stored: the session and the number of its last event, and what is needed when
//! the session is gone, which is the newest message and the direct conversations of late. A position is stored with
//! the events before it, so it never tells of more than the gateway has.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use weirgate_sdk::{BotId, Cursor};

use crate::places::Snowflake;

/// Direct conversations that are remembered: the platform lists none at the start.
const MAX_DIRECT: usize = 32;

/// A session and how far it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The platform's name for it.
    pub id: String,
    /// Where it is resumed.
    pub url: String,
    /// The number of its last event.
    pub sequence: u64,
}

/// How far events were read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The session, while there is one.
    pub session: Option<Session>,
    /// The newest message; everything up to here was read.
    pub newest: Option<Snowflake>,
    /// Direct conversations, those of late first.
    #[serde(default)]
    pub direct: VecDeque<Snowflake>,
}

impl Position {
    /// Reads what was stored for this bot; the beginning if there is nothing, or something odd.
    #[must_use]
    pub fn from_cursor(cursor: Option<&Cursor>, bot: &BotId) -> Self {
        let of_bot = cursor.filter(|cursor| cursor.bot == *bot);
        let read = of_bot.and_then(|cursor| serde_json::from_str(&cursor.value).ok());
        let mut position: Self = read.unwrap_or_default();
        position.direct.truncate(MAX_DIRECT);
        position
    }

    /// The form in which it is stored.
    #[must_use]
    pub fn cursor(&self, bot: &BotId) -> Option<Cursor> {
        let value = serde_json::to_string(self).ok()?;
        Some(Cursor {
            bot: bot.clone(),
            value,
        })
    }

    /// A message was read.
    pub fn heard(&mut self, message: Snowflake) {
        self.newest = self.newest.max(Some(message));
    }

    /// Somebody wrote in a direct conversation.
    pub fn heard_in_direct(&mut self, channel: Snowflake) {
        if self.direct.front() != Some(&channel) {
            self.direct.retain(|known| *known != channel);
            self.direct.push_front(channel);
            self.direct.truncate(MAX_DIRECT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_comes_back_for_its_bot_alone() {
        let mut position = Position {
            session: Some(Session {
                id: "abc".into(),
                url: "wss://gateway.example".into(),
                sequence: 7,
            }),
            ..Position::default()
        };
        position.heard(9);
        position.heard(5);
        assert_eq!(position.newest, Some(9));
        for channel in [1, 2, 1] {
            position.heard_in_direct(channel);
        }
        assert_eq!(position.direct, [1, 2]);
        let cursor = position.cursor(&"10".into()).expect("a cursor");
        assert_eq!(Position::from_cursor(Some(&cursor), &"10".into()), position);
        assert_eq!(
            Position::from_cursor(Some(&cursor), &"11".into()),
            Position::default()
        );
        let odd = Cursor {
            bot: "10".into(),
            value: "nonsense".into(),
        };
        assert_eq!(
            Position::from_cursor(Some(&odd), &"10".into()),
            Position::default()
        );
        assert_eq!(
            Position::from_cursor(None, &"10".into()),
            Position::default()
        );
    }

    #[test]
    fn only_so_many_direct_conversations_are_kept() {
        let mut position = Position::default();
        for channel in 1..=100 {
            position.heard_in_direct(channel);
        }
        assert_eq!(position.direct.len(), MAX_DIRECT);
        assert_eq!(position.direct.front(), Some(&100));
        let cursor = position.cursor(&"1".into()).expect("a cursor");
        assert!(cursor.value.len() < 1_000, "{}", cursor.value.len());
    }
}
