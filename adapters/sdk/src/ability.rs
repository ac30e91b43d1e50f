//! Abilities beyond sending: each a small trait that an adapter offers when its platform has it.
//!
//! Owns streaming previews, signs of activity and the transcript of past messages. Previews are never the answer: they
//! may be dropped at any moment, and the final text always goes through [`crate::Adapter::send`].

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;

use crate::{
    answer::Block,
    button::Button,
    error::SendError,
    id::{ConversationKey, MessageId, ThreadId},
    media::SentFile,
    message::{Attachment, ReplyContext, Timestamp},
};

/// What a preview belongs to.
#[derive(Debug, Clone)]
pub struct PreviewStart {
    /// Where.
    pub conversation: ConversationKey,
    /// The turn, as text; the same id stands in the final [`crate::Outgoing`].
    pub turn: Arc<str>,
    /// Counts the attempts of a turn from 1. A new attempt replaces whatever an earlier one showed.
    pub attempt: u32,
    /// The messages that the turn answers, oldest first.
    pub answers: Vec<MessageId>,
    /// What answering needs.
    pub reply_context: Option<ReplyContext>,
}

/// Shows text that is still being written.
#[async_trait]
pub trait Streams: Send + Sync {
    /// Begins a preview. Must not block on a slow client.
    ///
    /// # Errors
    /// A [`SendError`] means that there is no preview for this turn; the final text is sent anyway.
    async fn open(&self, start: PreviewStart) -> Result<Box<dyn Preview>, SendError>;

    /// Whether previews show which tools a turn runs ([`Preview::tools`]). Only then is a preview opened for that alone.
    fn shows_tools(&self) -> bool {
        false
    }
}

/// How far a call of a tool has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolUseState {
    /// It runs, or is about to.
    Running,
    /// It gave something.
    Done,
    /// It was refused or failed.
    Failed,
}

/// A call of a tool, as it is shown: free of secrets and bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// What tells it from the other calls of the turn.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The beginning of its arguments, as JSON text, at most [`ToolUse::ARGUMENTS`] characters.
    pub arguments: String,
    /// How far it has come.
    pub state: ToolUseState,
}

impl ToolUse {
    /// The longest arguments that are shown, in characters.
    pub const ARGUMENTS: usize = 300;
}

/// One preview of one attempt.
#[async_trait]
pub trait Preview: Send {
    /// Shows the whole answer so far, as blocks. Only the last block of an earlier push may differ from
    /// the same block now. The gateway calls it no faster than the capabilities' pace and may leave
    /// states of the text out.
    ///
    /// # Errors
    /// After an error other than a rate limit the preview is given up.
    async fn push(&mut self, blocks: &[Block]) -> Result<(), SendError>;

    /// Shows which tools the turn runs, apart from the text, where the platform has a place for that. Quick; what
    /// comes of it is not asked.
    async fn tools(&mut self, _calls: &[ToolUse]) {}

    /// Ends the preview; the final text is on its way through [`crate::Adapter::send`] and replaces it.
    /// Dropping a preview without this abandons it: nothing more will come under this attempt.
    async fn finish(self: Box<Self>);
}

/// Shows that an answer is being written.
#[async_trait]
pub trait Indicates: Send + Sync {
    /// How long one indication is shown, if nothing takes its place.
    fn lasts(&self) -> Duration;

    /// Shows it. Bounded in time by the adapter.
    ///
    /// # Errors
    /// After an error other than a rate limit it is not tried again for this answer.
    async fn indicate(&self, conversation: &ConversationKey) -> Result<(), SendError>;
}

/// One past message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptEntry {
    /// Journal id; grows with time within a conversation.
    pub id: i64,
    /// The platform's id of a person's message; `None` for the gateway's.
    pub message: Option<MessageId>,
    /// The turn that an answer belongs to; `None` for a person's message.
    pub turn: Option<Arc<str>>,
    /// The ids of the messages that an answer answers.
    pub answers: Vec<MessageId>,
    /// The text as blocks: a person's own words (one plain paragraph, none for a press of a button), or the answer.
    pub blocks: Vec<Block>,
    /// The files that belong to an answer.
    pub files: Vec<SentFile>,
    /// The files that came with a person's message, as they were described; they may be gone by now.
    pub brought: Vec<Attachment>,
    /// It was a press of a button, see [`crate::Via::Button`].
    pub pressed: bool,
    /// What an answer asked.
    pub choice: Option<Choice>,
    /// When it was received or made.
    pub at: Timestamp,
    /// Whether a person's message still waits for its end.
    pub pending: bool,
}

/// Buttons that stood under a past answer, and what became of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The buttons.
    pub buttons: Vec<Button>,
    /// They can still be pressed.
    pub open: bool,
    /// The id of the one that was chosen, in whatever way it was said; `None` while it is open, and for a question whose
    /// time is over.
    pub chosen: Option<String>,
}

/// One thread of a conversation, for a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSummary {
    /// The thread.
    pub thread: ThreadId,
    /// How the first message that is left begins: one line of at most [`ThreadSummary::TITLE`] characters.
    pub title: String,
    /// When a message was last accepted in it.
    pub at: Timestamp,
}

impl ThreadSummary {
    /// The longest title in characters.
    pub const TITLE: usize = 80;
}

/// Past messages, read from the gateway's store.
#[async_trait]
pub trait Transcript: Send + Sync {
    /// The newest `limit` (at most 200) messages of a conversation before the journal id `before`, or the
    /// newest of all, oldest first.
    ///
    /// # Errors
    /// The store's error, for the operator.
    async fn read(
        &self,
        conversation: &ConversationKey,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<TranscriptEntry>, String>;

    /// Whether a person's message that was accepted has ended. A message that is not found has: it was so long ago that
    /// its row is gone, or that no queue can hold it any more.
    ///
    /// # Errors
    /// The store's error, for the operator.
    async fn has_ended(
        &self,
        conversation: &ConversationKey,
        message: &MessageId,
    ) -> Result<bool, String>;

    /// The thread of `conversation` (whose own thread is ignored) in which a message was last accepted.
    ///
    /// # Errors
    /// The store's error, for the operator.
    async fn newest_thread(
        &self,
        conversation: &ConversationKey,
    ) -> Result<Option<ThreadId>, String>;

    /// The threads of `conversation` (whose own thread is ignored) in which messages were accepted that are
    /// still kept, at most `limit`, the one that was written to last first.
    ///
    /// # Errors
    /// The store's error, for the operator.
    async fn threads(
        &self,
        conversation: &ConversationKey,
        limit: usize,
    ) -> Result<Vec<ThreadSummary>, String>;
}
