//! What the platform's events need on their way in.
//!
//! Owns how far a session was read, the form in which that is stored, and who is told that an event is durable.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use weirgate_sdk::{AccountName, Cursor, Event, Platform};

use super::bot::Shared;
use crate::intake::{self, Source};

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

impl Session {
    /// What was stored for this bot, if it can be read.
    #[must_use]
    pub fn from_cursor(cursor: &Cursor, app_id: &str) -> Option<Self> {
        let of_bot = cursor.bot.as_str() == app_id;
        serde_json::from_str(&cursor.value).ok().filter(|_| of_bot)
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
    /// The session was read up to there.
    Read(Session),
}

/// Events that go in together.
pub type Parcel = intake::Parcel<Mark>;

/// The events of one account.
pub struct Stream(pub Arc<Shared>);

#[async_trait]
impl Source for Stream {
    type Mark = Mark;

    fn platform(&self) -> &Platform {
        &self.0.platform
    }

    fn account(&self) -> &AccountName {
        &self.0.account
    }

    async fn complete(&mut self, _: &mut [Event]) {}

    fn cursor(&mut self, _: &[Event], marks: &[Mark]) -> Option<Cursor> {
        let read = marks.iter().rev().find_map(|mark| match mark {
            Mark::Read(session) => Some(session),
            Mark::Posted(_) => None,
        });
        read?.cursor(&self.0.settings.app_id)
    }

    fn durable(&self, mark: Mark) {
        match mark {
            // Who no longer waits misses nothing.
            Mark::Posted(waiting) => {
                let _ = waiting.send(());
            }
            Mark::Read(session) => self.0.accepted(session),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_comes_back_for_its_bot_alone() {
        let session = Session {
            id: "abc".into(),
            url: "wss://gateway.example".into(),
            sequence: 7,
        };
        let cursor = session.cursor("102").expect("a cursor");
        assert_eq!(Session::from_cursor(&cursor, "102"), Some(session));
        assert_eq!(Session::from_cursor(&cursor, "103"), None);
        let odd = Cursor {
            bot: "102".into(),
            value: "odd".into(),
        };
        assert_eq!(Session::from_cursor(&odd, "102"), None);
    }
}
