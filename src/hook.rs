//! Hook points: the places in the pipeline where later parts plug in.
//!
//! Owns the list of hooks and the order in which they are asked. Without hooks every point costs one
//! comparison. A hook never blocks and never waits; it sees and may change what is handed to it.
//! `examples/plugins.rs` is a gateway with hooks of its own; docs/extending.md tells of it.

use std::sync::Arc;

use weirgate_sdk::{ConversationKey, InboundMessage, Outgoing, UserKey};

use crate::schedule::lane::MAX_PRIORITY;

/// A plug-in. Every method has a default that changes nothing.
pub trait Hook: Send + Sync {
    /// Before an addressed message is journaled. `None` leaves it out: only the cursor moves.
    fn before_queue(&self, message: InboundMessage) -> Option<InboundMessage> {
        Some(message)
    }

    /// Where a message stands among those of its lane, from -8 (last) to 8; only age leads past it. Of several hooks
    /// the sum counts. What one person says in one place stays in its order.
    fn priority(&self, _message: &InboundMessage) -> i8 {
        0
    }

    /// After a message was journaled and queued.
    fn after_queue(&self, _id: i64, _conversation: i64, _person: i64) {}

    /// The words of a turn before they are used: findings of a security check, for the log and the turn.
    fn check_security(&self, _text: &str) -> Vec<String> {
        Vec::new()
    }

    /// The words of a turn, filtered.
    fn filter_content(&self, text: String) -> String {
        text
    }

    /// A turn was chosen to run next.
    fn next_message(&self, _turn: i64, _person: &UserKey) {}

    /// A person's queue has nothing left.
    fn queue_empty(&self, _conversation: &ConversationKey, _person: &UserKey) {}

    /// Before a part is sent. `None` leaves it out; it counts as sent.
    fn before_send(&self, outgoing: Outgoing) -> Option<Outgoing> {
        Some(outgoing)
    }

    /// After the platform took a part.
    fn after_send(&self, _id: i64, _part: u32) {}
}

/// All hooks, in order.
#[derive(Clone, Default)]
pub struct Hooks(Arc<Vec<Box<dyn Hook>>>);

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hooks({})", self.0.len())
    }
}

impl Hooks {
    /// Hooks, asked in this order.
    #[must_use]
    pub fn new(hooks: Vec<Box<dyn Hook>>) -> Self {
        Self(Arc::new(hooks))
    }

    /// See [`Hook::before_queue`].
    #[must_use]
    pub fn before_queue(&self, message: InboundMessage) -> Option<InboundMessage> {
        self.0
            .iter()
            .try_fold(message, |message, hook| hook.before_queue(message))
    }

    /// See [`Hook::priority`].
    #[must_use]
    pub fn priority(&self, message: &InboundMessage) -> i8 {
        let sum = self
            .0
            .iter()
            .fold(0_i8, |sum, hook| sum.saturating_add(hook.priority(message)));
        sum.clamp(-MAX_PRIORITY, MAX_PRIORITY)
    }

    /// See [`Hook::after_queue`].
    pub fn after_queue(&self, id: i64, conversation: i64, person: i64) {
        self.0
            .iter()
            .for_each(|hook| hook.after_queue(id, conversation, person));
    }

    /// See [`Hook::check_security`].
    #[must_use]
    pub fn check_security(&self, text: &str) -> Vec<String> {
        self.0
            .iter()
            .flat_map(|hook| hook.check_security(text))
            .collect()
    }

    /// See [`Hook::filter_content`].
    #[must_use]
    pub fn filter_content(&self, text: String) -> String {
        self.0
            .iter()
            .fold(text, |text, hook| hook.filter_content(text))
    }

    /// See [`Hook::next_message`].
    pub fn next_message(&self, turn: i64, person: &UserKey) {
        self.0
            .iter()
            .for_each(|hook| hook.next_message(turn, person));
    }

    /// See [`Hook::queue_empty`].
    pub fn queue_empty(&self, conversation: &ConversationKey, person: &UserKey) {
        self.0
            .iter()
            .for_each(|hook| hook.queue_empty(conversation, person));
    }

    /// See [`Hook::before_send`].
    #[must_use]
    pub fn before_send(&self, outgoing: Outgoing) -> Option<Outgoing> {
        self.0
            .iter()
            .try_fold(outgoing, |outgoing, hook| hook.before_send(outgoing))
    }

    /// See [`Hook::after_send`].
    pub fn after_send(&self, id: i64, part: u32) {
        self.0.iter().for_each(|hook| hook.after_send(id, part));
    }
}
