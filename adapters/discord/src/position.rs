//! How far events were read.
//!
//! Owns the form in which a position is stored: the session and the number of its last event, and what is needed when
//! the session is gone, which is the newest message and the direct conversations of late. A position is stored with
//! the events before it, so it never tells of more than the gateway has.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use weirgate_net::session::Session;
use weirgate_sdk::{BotId, Cursor};

use crate::places::Snowflake;

/// Direct conversations that are remembered: the platform lists none at the start.
const MAX_DIRECT: usize = 32;

/// How far events were read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Of each connection, in order.
    #[serde(default)]
    lines: Vec<Line>,
    /// Direct conversations, those of late first.
    #[serde(default)]
    pub direct: VecDeque<Snowflake>,
}

/// How far the events of one connection were read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    /// The session, while there is one.
    session: Option<Session>,
    /// The newest message; everything up to here was read.
    newest: Option<Snowflake>,
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

    /// There are so many connections. Where there were others, servers belong to other ones: no session goes on, and
    /// each has read as far as the one that read least.
    pub fn divide(&mut self, count: u16) {
        if self.lines.len() == usize::from(count) {
            return;
        }
        let newest = self.lines.iter().map(|line| line.newest).min().flatten();
        let session = None;
        self.lines = vec![Line { session, newest }; usize::from(count)];
    }

    /// The sessions of all connections.
    #[must_use]
    pub fn sessions(&self) -> Vec<Option<Session>> {
        let lines = self.lines.iter();
        lines.map(|line| line.session.clone()).collect()
    }

    /// The session of a connection is read up to here.
    pub fn read(&mut self, shard: u16, session: Option<Session>) {
        if let Some(line) = self.lines.get_mut(usize::from(shard)) {
            line.session = session;
        }
    }

    /// The newest message of a connection.
    #[must_use]
    pub fn newest(&self, shard: u16) -> Option<Snowflake> {
        self.lines.get(usize::from(shard))?.newest
    }

    /// A message was read.
    pub fn heard(&mut self, shard: u16, message: Snowflake) {
        if let Some(line) = self.lines.get_mut(usize::from(shard)) {
            line.newest = line.newest.max(Some(message));
        }
    }

    /// What came over a connection after a message may have been missed.
    pub fn back_to(&mut self, shard: u16, message: Snowflake) {
        if let Some(line) = self.lines.get_mut(usize::from(shard)) {
            line.newest = Some(message);
        }
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
        let mut position = Position::default();
        position.divide(2);
        let session = Session {
            id: "abc".into(),
            url: "wss://gateway.example".into(),
            sequence: 7,
        };
        position.read(1, Some(session.clone()));
        position.heard(1, 9);
        position.heard(1, 5);
        position.heard(0, 8);
        assert_eq!((position.newest(0), position.newest(1)), (Some(8), Some(9)));
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
        position.divide(2);
        assert_eq!(position.sessions(), [None, Some(session)]);
        position.divide(3);
        assert_eq!(position.sessions(), [None, None, None]);
        assert_eq!(
            position.newest(2),
            Some(8),
            "as far as the one that read least"
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
