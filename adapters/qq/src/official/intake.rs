//! What the platform's events need on their way in.
//!
//! Owns how far a session was read, the form in which that is stored, and who is told that an event is durable.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use weirgate_net::session::Session;
use weirgate_sdk::{AccountName, Cursor, Event, Platform};

use super::{bot::Shared, standing};
use crate::intake::{self, Source};

/// How far the sessions of a bot's connections were read, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position(Vec<Option<Session>>);

impl Position {
    /// What was stored for this bot, if it can be read; else the beginning.
    #[must_use]
    pub fn from_cursor(cursor: Option<&Cursor>, app_id: &str) -> Self {
        let of_bot = cursor.filter(|cursor| cursor.bot.as_str() == app_id);
        let read = of_bot.and_then(|cursor| serde_json::from_str(&cursor.value).ok());
        read.unwrap_or_default()
    }

    /// There are so many connections. Where there were others, what they hear is divided otherwise: no session goes on.
    pub fn divide(&mut self, count: u16) {
        if self.0.len() != usize::from(count) {
            self.0 = vec![None; usize::from(count)];
        }
    }

    /// The session of each connection.
    #[must_use]
    pub fn sessions(&self) -> Vec<Option<Session>> {
        self.0.clone()
    }

    fn read(&mut self, shard: u16, session: &Session) {
        if let Some(known) = self.0.get_mut(usize::from(shard)) {
            *known = Some(session.clone());
        }
    }

    fn cursor(&self, app_id: &str) -> Option<Cursor> {
        Some(Cursor {
            bot: app_id.into(),
            value: serde_json::to_string(self).ok()?,
        })
    }
}

/// What follows when events are durable.
#[derive(Debug)]
pub enum Mark {
    /// The platform, which posted them, is told.
    Posted(oneshot::Sender<()>),
    /// The session of a connection was read up to there.
    Read(u16, Session),
}

/// Events that go in together.
pub type Parcel = intake::Parcel<Mark>;

/// The events of one account.
pub struct Stream {
    /// What receiving and sending share.
    pub shared: Arc<Shared>,
    /// How far events were handed in.
    pub position: Position,
}

#[async_trait]
impl Source for Stream {
    type Mark = Mark;

    fn platform(&self) -> &Platform {
        &self.shared.platform
    }

    fn account(&self) -> &AccountName {
        &self.shared.account
    }

    async fn complete(&mut self, events: &mut [Event]) {
        standing::complete(&self.shared, events).await;
    }

    fn cursor(&mut self, _: &[Event], marks: &[Mark]) -> Option<Cursor> {
        let mut any = false;
        for mark in marks {
            if let Mark::Read(shard, session) = mark {
                self.position.read(*shard, session);
                any = true;
            }
        }
        any.then(|| self.position.cursor(&self.shared.settings.app_id))?
    }

    fn durable(&self, mark: Mark) {
        match mark {
            // Who no longer waits misses nothing.
            Mark::Posted(waiting) => {
                let _ = waiting.send(());
            }
            Mark::Read(shard, session) => self.shared.accepted.advance(shard, session),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_come_back_for_their_bot_and_as_many_connections_alone() {
        let session = Session {
            id: "abc".into(),
            url: "wss://gateway.example".into(),
            sequence: 7,
        };
        let mut position = Position::default();
        position.divide(2);
        position.read(1, &session);
        position.read(2, &session);
        let cursor = position.cursor("102").expect("a cursor");
        let mut back = Position::from_cursor(Some(&cursor), "102");
        assert_eq!(back.sessions(), [None, Some(session)]);
        back.divide(2);
        assert_eq!(back, position);
        back.divide(3);
        assert_eq!(back.sessions(), [None, None, None]);
        let none = Position::default();
        assert_eq!(Position::from_cursor(Some(&cursor), "103"), none);
        let odd = Cursor {
            bot: "102".into(),
            value: "odd".into(),
        };
        assert_eq!(Position::from_cursor(Some(&odd), "102"), none);
        assert_eq!(Position::from_cursor(None, "102"), none);
    }
}
