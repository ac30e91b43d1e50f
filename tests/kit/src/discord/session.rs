//! The session of one of the bot's connections.
//!
//! Owns its events and their numbers, which of them the bot says to have, and what a connection is to do.

use serde_json::{Value, json};

/// The sessions of a connection, of which at most one is alive.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    alive: bool,
    /// The number of the last event of the session.
    sequence: u64,
    /// Everything that is to be sent, of all sessions.
    items: Vec<Item>,
    /// Where the present session begins among them.
    first: usize,
    close: Option<u16>,
    pub(crate) begun: usize,
    pub(crate) resumed: usize,
    /// Which of the bot's connections it is for.
    pub(crate) shard: usize,
}

#[derive(Debug)]
struct Item {
    /// The number of an event; raw frames have none.
    sequence: Option<u64>,
    user: Option<u64>,
    frame: Vec<u8>,
    acknowledged: bool,
}

impl Sessions {
    /// Those of a connection.
    pub(crate) fn of(shard: usize) -> Self {
        Self {
            shard,
            ..Self::default()
        }
    }

    /// The name of the session.
    pub(crate) fn name(&self) -> String {
        format!("session-{}-{}", self.shard, self.begun)
    }

    /// A new session. Gives the place of its first event.
    pub(crate) fn begin(&mut self) -> usize {
        self.alive = true;
        self.begun += 1;
        self.sequence = 0;
        self.first = self.items.len();
        self.first
    }

    /// The session goes on behind this event: the place of the next one, if the session and the event are known.
    pub(crate) fn resume(&mut self, name: &str, sequence: u64) -> Option<usize> {
        if !self.alive || name != self.name() || sequence > self.sequence {
            return None;
        }
        self.resumed += 1;
        let later = |item: &Item| item.sequence.is_some_and(|number| number > sequence);
        let place = self.items.iter().skip(self.first).position(later);
        Some(place.map_or(self.items.len(), |place| self.first + place))
    }

    pub(crate) fn forget(&mut self) {
        self.alive = false;
    }

    /// Adds an event, if there is a session.
    pub(crate) fn push(&mut self, kind: &str, data: Value, user: Option<u64>) {
        self.push_frame(json!({ "op": 0, "t": kind, "d": data }), user);
    }

    /// The same with a frame that lacks nothing but the number.
    pub(crate) fn push_frame(&mut self, mut frame: Value, user: Option<u64>) {
        if !self.alive {
            return;
        }
        self.sequence += 1;
        frame["s"] = self.sequence.into();
        self.items.push(Item {
            sequence: Some(self.sequence),
            user,
            frame: frame.to_string().into_bytes(),
            acknowledged: false,
        });
    }

    pub(crate) fn raw(&mut self, frame: Vec<u8>) {
        self.items.push(Item {
            sequence: None,
            user: None,
            frame,
            acknowledged: false,
        });
    }

    /// The newest event about a person comes again.
    pub(crate) fn repeat(&mut self, user: u64) {
        let found = self.items.iter().rev().find(|item| item.user == Some(user));
        let frame: Option<Value> = found.and_then(|item| serde_json::from_slice(&item.frame).ok());
        if let Some(mut frame) = frame {
            let data = frame["d"].take();
            self.push(frame["t"].as_str().unwrap_or_default(), data, None);
        }
    }

    pub(crate) fn close(&mut self, code: u16) {
        self.close = Some(code);
    }

    pub(crate) fn take_close(&mut self) -> Option<u16> {
        self.close.take()
    }

    /// What is to be sent at a place.
    pub(crate) fn at(&self, place: usize) -> Option<Vec<u8>> {
        self.items.get(place).map(|item| item.frame.clone())
    }

    /// The bot says to have everything up to here. Whether it can have.
    pub(crate) fn heard(&mut self, sequence: u64) -> bool {
        for item in self.items.iter_mut().skip(self.first) {
            item.acknowledged |= item.sequence.is_some_and(|number| number <= sequence);
        }
        sequence <= self.sequence
    }

    pub(crate) fn acknowledged(&self, user: u64) -> usize {
        let of = |item: &&Item| item.acknowledged && item.user == Some(user);
        self.items.iter().filter(of).count()
    }
}
