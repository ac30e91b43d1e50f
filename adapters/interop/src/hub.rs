//! The calls under way, and who else reads a session.
//!
//! Owns which answer belongs to which call, and that a part which is sent again is seen once. Bounded: a further call is
//! refused, and of what was sent only the newest is remembered.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::mpsc;
use weirgate_sdk::{ConversationKey, MessageId, Outgoing};

use crate::{
    acp::wire,
    call::{Call, Stage},
};

/// Most calls under way.
const MAX_CALLS: usize = 10_000;
/// Parts of a session that are known when they come again.
const MAX_SENT: usize = 256;
/// Calls that were given up and are known as such.
const MAX_CANCELLED: usize = 256;
/// Most readers of one session.
const MAX_READERS: usize = 16;

/// The sessions in which something is under way.
#[derive(Debug, Default)]
pub(crate) struct Hub(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    rooms: HashMap<ConversationKey, Room>,
    calls: usize,
    /// What was given up, as far as it is remembered: the store knows only that nothing was answered.
    cancelled: VecDeque<(ConversationKey, MessageId)>,
}

#[derive(Debug, Default)]
struct Room {
    calls: Vec<Arc<Call>>,
    /// Each with the number of its connection.
    readers: Vec<(u64, mpsc::Sender<String>)>,
    sent: VecDeque<(i64, u32)>,
}

impl Room {
    fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.readers.is_empty()
    }
}

/// How a call begins.
#[derive(Debug)]
pub(crate) enum Begun {
    /// It is a new one.
    New(Arc<Call>),
    /// It is under way already.
    Known(Arc<Call>),
    /// There are too many.
    Full,
}

impl Hub {
    /// Begins a call, or finds the one of the same message.
    pub(crate) fn begin(&self, conversation: &ConversationKey, message: &MessageId) -> Begun {
        let mut state = self.0.lock();
        let is_full = state.calls >= MAX_CALLS;
        let room = state.rooms.entry(conversation.clone()).or_default();
        if let Some(call) = room.calls.iter().find(|call| call.message == *message) {
            return Begun::Known(Arc::clone(call));
        }
        if is_full {
            state.tidy(conversation);
            return Begun::Full;
        }
        let call = Call::new(conversation.clone(), message.clone());
        room.calls.push(Arc::clone(&call));
        state.calls += 1;
        Begun::New(call)
    }

    /// Ends a call, and forgets it.
    pub(crate) fn end(&self, call: &Call, stage: Stage) {
        call.end(stage);
        self.forget(&call.conversation, std::slice::from_ref(&call.message));
    }

    /// A message was given up by its caller.
    pub(crate) fn cancel(&self, conversation: &ConversationKey, message: &MessageId) {
        for call in self.find(conversation, std::slice::from_ref(message)) {
            self.end(&call, Stage::Cancelled);
        }
        let mut state = self.0.lock();
        if state.cancelled.len() >= MAX_CANCELLED {
            state.cancelled.pop_front();
        }
        state
            .cancelled
            .push_back((conversation.clone(), message.clone()));
    }

    /// Whether a message is known to have been given up.
    pub(crate) fn was_cancelled(
        &self,
        conversation: &ConversationKey,
        message: &MessageId,
    ) -> bool {
        let state = self.0.lock();
        let mut cancelled = state.cancelled.iter();
        cancelled.any(|(key, id)| key == conversation && id == message)
    }

    /// Passes a part on to whoever waits for it.
    pub(crate) fn deliver(&self, outgoing: &Outgoing) {
        let mut state = self.0.lock();
        let Some(room) = state.rooms.get_mut(&outgoing.conversation) else {
            return;
        };
        let part = (outgoing.id, outgoing.part);
        if room.sent.contains(&part) {
            return;
        }
        if room.sent.len() >= MAX_SENT {
            room.sent.pop_front();
        }
        room.sent.push_back(part);
        if !room.readers.is_empty() {
            let line = wire::notification("agent/message", &message(outgoing));
            // Who does not read is read no more; his connection ends by itself.
            room.readers
                .retain(|(_, reader)| reader.try_send(line.clone()).is_ok());
        }
        let last = outgoing.part.saturating_add(1) >= outgoing.parts;
        for call in &room.calls {
            if outgoing.answers.contains(&call.message) {
                call.part(&outgoing.rendered.text, last);
            }
        }
        drop(state);
        if last {
            self.forget(&outgoing.conversation, &outgoing.answers);
        }
    }

    /// The calls of these messages.
    pub(crate) fn find(
        &self,
        conversation: &ConversationKey,
        messages: &[MessageId],
    ) -> Vec<Arc<Call>> {
        let state = self.0.lock();
        let calls = state.rooms.get(conversation).map(|room| &room.calls);
        let calls = calls.into_iter().flatten();
        calls
            .filter(|call| messages.contains(&call.message))
            .cloned()
            .collect()
    }

    /// These messages have ended without an answer.
    pub(crate) fn ended(&self, conversation: &ConversationKey, messages: &[MessageId]) {
        for call in self.find(conversation, messages) {
            call.end(Stage::Silent);
        }
        self.forget(conversation, messages);
    }

    /// Reads along what is said in a session; says whether there was room.
    pub(crate) fn read(
        &self,
        conversation: &ConversationKey,
        connection: u64,
        reader: mpsc::Sender<String>,
    ) -> bool {
        let mut state = self.0.lock();
        let room = state.rooms.entry(conversation.clone()).or_default();
        room.readers.retain(|(other, _)| *other != connection);
        if room.readers.len() >= MAX_READERS {
            return false;
        }
        room.readers.push((connection, reader));
        true
    }

    /// A connection reads nothing any more.
    pub(crate) fn left(&self, connection: u64, conversations: &[ConversationKey]) {
        let mut state = self.0.lock();
        for conversation in conversations {
            if let Some(room) = state.rooms.get_mut(conversation) {
                room.readers.retain(|(other, _)| *other != connection);
            }
            state.tidy(conversation);
        }
    }

    fn forget(&self, conversation: &ConversationKey, messages: &[MessageId]) {
        let mut state = self.0.lock();
        let Some(room) = state.rooms.get_mut(conversation) else {
            return;
        };
        let before = room.calls.len();
        room.calls.retain(|call| !messages.contains(&call.message));
        let gone = before - room.calls.len();
        state.calls -= gone;
        state.tidy(conversation);
    }
}

impl State {
    fn tidy(&mut self, conversation: &ConversationKey) {
        if self.rooms.get(conversation).is_some_and(Room::is_empty) {
            self.rooms.remove(conversation);
        }
    }
}

/// A part as readers are told of it.
fn message(outgoing: &Outgoing) -> serde_json::Value {
    let session = outgoing.conversation.thread.as_ref();
    let answers: Vec<&str> = outgoing.answers.iter().map(MessageId::as_str).collect();
    json!({
        "session": session.map(|thread| thread.as_str()),
        "id": outgoing.id,
        "part": outgoing.part,
        "parts": outgoing.parts,
        "answers": answers,
        "text": outgoing.rendered.text,
    })
}

#[cfg(test)]
mod tests {
    use weirgate_sdk::answer::Rendered;

    use super::*;

    fn key(name: &str) -> ConversationKey {
        ConversationKey {
            platform: "interop".into(),
            account: "a".into(),
            conversation: name.into(),
            thread: Some("s".into()),
        }
    }

    fn part(name: &str, id: i64, text: &str, of: (u32, u32)) -> Outgoing {
        Outgoing {
            id,
            part: of.0,
            parts: of.1,
            conversation: key(name),
            turn: None,
            answers: vec!["m".into()],
            rendered: Rendered {
                text: text.into(),
                marks: Vec::new(),
            },
            reply: None,
            files: Vec::new(),
            reply_context: None,
            buttons: Vec::new(),
            private: false,
        }
    }

    #[test]
    fn an_answer_ends_its_call_and_nothing_stays() {
        let hub = Hub::default();
        let Begun::New(call) = hub.begin(&key("a"), &"m".into()) else {
            panic!("a new call");
        };
        assert!(matches!(hub.begin(&key("a"), &"m".into()), Begun::Known(_)));
        hub.deliver(&part("b", 1, "for another", (0, 1)));
        hub.deliver(&part("a", 1, "one", (0, 2)));
        hub.deliver(&part("a", 1, "one", (0, 2)));
        hub.deliver(&part("a", 1, "two", (1, 2)));
        assert_eq!(&*call.follow().borrow().text, "one\n\ntwo");
        assert_eq!(call.follow().borrow().stage, Stage::Done);
        let state = hub.0.lock();
        assert!(state.rooms.is_empty() && state.calls == 0);
    }

    #[test]
    fn a_session_is_read_along_until_its_reader_has_left() {
        let hub = Hub::default();
        let (reader, mut lines) = mpsc::channel(2);
        assert!(hub.read(&key("a"), 1, reader.clone()));
        for id in 0..3 {
            hub.deliver(&part("a", id, "x", (0, 1)));
        }
        assert!(lines.try_recv().unwrap().contains("\"id\":0"));
        assert!(lines.try_recv().unwrap().contains("\"id\":1"));
        assert!(
            lines.try_recv().is_err(),
            "who does not read is not waited for"
        );
        for connection in 0..u64::try_from(MAX_READERS).unwrap() {
            assert!(hub.read(&key("b"), connection, reader.clone()));
        }
        assert!(!hub.read(&key("b"), 99, reader));
        for connection in 0..u64::try_from(MAX_READERS).unwrap() {
            hub.left(connection, &[key("a"), key("b")]);
        }
        assert!(hub.0.lock().rooms.is_empty());
    }

    #[test]
    fn further_calls_than_can_be_kept_are_refused() {
        let hub = Hub::default();
        for number in 0..MAX_CALLS {
            let begun = hub.begin(&key("a"), &number.to_string().into());
            assert!(matches!(begun, Begun::New(_)));
        }
        assert!(matches!(hub.begin(&key("b"), &"m".into()), Begun::Full));
        assert_eq!(hub.0.lock().rooms.len(), 1);
        hub.ended(&key("a"), &["7".into()]);
        assert!(matches!(hub.begin(&key("b"), &"m".into()), Begun::New(_)));
    }
}
