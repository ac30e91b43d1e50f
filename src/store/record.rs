//! What is written to and read from the store, as values.
//!
//! Owns the shapes of rows and of the versioned JSON inside them. It never touches a database.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use weirgate_sdk::{
    ChatKind, ConversationKey, PlatformRole, ReplyContext, Segment, SenderKind, ThreadId,
    Timestamp, UserKey,
};

use super::{Audit, Deferred, Forget, Pending, Place};

/// The body of a waiting message: compact JSON with short keys, because it stays in memory while the
/// message waits. Absent keys are defaults. A new key is optional; a key never changes its meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    /// The platform's message id.
    #[serde(rename = "i")]
    pub message: String,
    /// The sender's name.
    #[serde(rename = "n", default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The text, if the message is nothing but text.
    #[serde(rename = "t", default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The segments, if it is more than text.
    #[serde(rename = "s", default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<Segment>,
    /// The chat is a group.
    #[serde(rename = "g", default, skip_serializing_if = "std::ops::Not::not")]
    pub group: bool,
    /// The sender's standing on the platform.
    #[serde(rename = "r", default, skip_serializing_if = "is_default")]
    pub role: PlatformRole,
    /// What stands behind the sender.
    #[serde(rename = "k", default, skip_serializing_if = "is_default")]
    pub kind: SenderKind,
    /// The id of the message that it answers.
    #[serde(rename = "q", default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The author of that message, where the platform says so.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub reply_author: Option<String>,
    /// What answering it needs.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub reply_context: Option<ReplyContext>,
    /// It is no message but a press: the text is the button's id, and `reply_to` the message it stands under.
    #[serde(rename = "b", default, skip_serializing_if = "std::ops::Not::not")]
    pub pressed: bool,
    /// It is no message but a request to the account, which an owner is asked about here: the text is the request.
    #[serde(rename = "w", default, skip_serializing_if = "std::ops::Not::not")]
    pub request: bool,
    /// The message was too long to be kept; only this fact and its sender are.
    #[serde(rename = "x", default, skip_serializing_if = "std::ops::Not::not")]
    pub too_large: bool,
    /// It is no message but an answer: the turn that waits under this number goes on.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<i64>,
    /// It is no message but a task that the sender had put off until this time.
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// The marks of the gateways through which a task came, the oldest first.
    #[serde(rename = "p", default, skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<String>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Body {
    /// The kind of chat.
    #[must_use]
    pub fn chat(&self) -> ChatKind {
        if self.group {
            ChatKind::Group
        } else {
            ChatKind::Private
        }
    }
}

/// A message to be accepted.
#[derive(Debug, Clone)]
pub struct Accept {
    /// Where.
    pub conversation: ConversationKey,
    /// Who.
    pub person: UserKey,
    /// The adapter's dedupe key.
    pub event: Box<str>,
    /// Until when an equal key is the same event.
    pub event_until: Timestamp,
    /// When it was received.
    pub at: Timestamp,
    /// How it is queued: kind and lane as [`crate::inbound::route::Route::code`] writes them.
    pub route: u8,
    /// Priority inside the lane, -8 to 8.
    pub priority: i8,
    /// The conversation is shown from the store, so the row must be findable by conversation.
    pub shown: bool,
    /// The [`Body`] as JSON.
    pub body: Box<str>,
}

/// What became of one message of an accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// The journal id: its own, or that of the row accepted earlier if `duplicate`.
    pub id: i64,
    /// The account's number.
    pub account: u32,
    /// The conversation's number.
    pub conversation: i64,
    /// The person's number.
    pub person: i64,
    /// The person was not known to the store until now, so nothing is stored about him.
    pub new_person: bool,
    /// An equal event was accepted before; nothing was written.
    pub duplicate: bool,
}

/// A message that was accepted and has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The journal id.
    pub id: i64,
    /// The account's number.
    pub account: u32,
    /// The conversation's number.
    pub conversation: i64,
    /// The person's number.
    pub person: i64,
    /// When it was received.
    pub at: Timestamp,
    /// As in [`Accept::route`].
    pub route: u8,
    /// As in [`Accept::priority`].
    pub priority: i8,
    /// How often a turn for it has begun.
    pub attempts: u32,
    /// The [`Body`] as JSON.
    pub body: Box<str>,
}

/// A turn begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begin {
    /// The turn: the journal id of its first message.
    pub turn: i64,
    /// Now.
    pub at: Timestamp,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnState {
    /// It did what was asked.
    Done,
    /// It failed; the person was told.
    Failed,
    /// It was stopped.
    Cancelled,
}

/// A turn ends.
#[derive(Debug, Clone)]
pub struct Finish {
    /// The turn: the journal id of its first message.
    pub turn: i64,
    /// A [`Begin`] was written for it, so its row is to be closed.
    pub begun: bool,
    /// The messages that it took, oldest first.
    pub members: Vec<i64>,
    /// How it ended.
    pub state: TurnState,
    /// The reason code if it did not end well.
    pub reason: Option<&'static str>,
    /// History rows to append, in order.
    pub history: Vec<History>,
    /// Where the history belongs.
    pub scope: HistoryScope,
    /// Answers, in order. The first gets the turn's id.
    pub replies: Vec<NewReply>,
    /// Everything else that it changes, after the history was appended: a reset hides this turn too.
    pub effects: Vec<Effect>,
    /// Now.
    pub at: Timestamp,
}

/// An answer or notice to be sent.
#[derive(Debug, Clone)]
pub struct NewReply {
    /// Where to.
    pub conversation: i64,
    /// The turn that made it; `None` for a notice.
    pub turn: Option<i64>,
    /// Its first part is sent right after the commit (T4 together with T3).
    pub sending: bool,
    /// The conversation is shown from the store.
    pub shown: bool,
    /// Not before this.
    pub due_at: Timestamp,
    /// The [`ReplyBody`] as JSON.
    pub body: Box<str>,
}

/// What became of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The outbox row.
    pub id: i64,
    /// The part.
    pub part: u32,
    /// The outcome.
    pub outcome: ReceiptOutcome,
    /// Now.
    pub at: Timestamp,
}

/// The outcomes of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptOutcome {
    /// Delivered.
    Sent {
        /// The platform's id of the message.
        message: Option<String>,
        /// It was the last part: the answer is sent.
        last: bool,
    },
    /// Nobody knows whether it was delivered; the next part follows all the same. Never the last part.
    Doubtful,
    /// Certainly not delivered; it is sent again at this time.
    Retry {
        /// When.
        due_at: Timestamp,
        /// The reason code.
        reason: &'static str,
    },
    /// Nobody knows; it is held.
    Unknown {
        /// The reason code.
        reason: &'static str,
    },
    /// Given up.
    Failed {
        /// The reason code.
        reason: &'static str,
    },
    /// It waited too long.
    Expired {
        /// The reason code.
        reason: &'static str,
    },
}

/// A message ends without a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// The journal id.
    pub id: i64,
    /// How.
    pub state: EndState,
    /// The reason code.
    pub reason: &'static str,
    /// Now.
    pub at: Timestamp,
}

/// How a message ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndState {
    /// Processed, without an outbox row of the same id.
    Done,
    /// Processed, and failed.
    Failed,
    /// Fell out of a full queue.
    Dropped,
    /// Waited too long.
    Expired,
    /// Taken back by its sender.
    Recalled,
    /// Not let in.
    Refused,
}

/// Whose memory a history row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HistoryScope {
    /// The conversation's number.
    pub conversation: i64,
    /// The person's number where each person has a history of his own in a conversation; else 0.
    pub person: i64,
}

/// Who speaks in a history row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A person.
    User,
    /// The model.
    Assistant,
    /// A person who did not address the bot.
    Ambient,
    /// Nobody: what was said before, in short.
    Summary,
}

/// One history row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// Who speaks.
    pub role: Role,
    /// The turn, or 0.
    pub turn: i64,
    /// When.
    pub at: Timestamp,
    /// Typed parts as versioned JSON, see [`crate::agent::history`].
    pub parts: String,
}

/// An unaddressed message that is kept as context.
#[derive(Debug, Clone)]
pub struct Ambient {
    /// Where.
    pub conversation: ConversationKey,
    /// The row.
    pub row: History,
}

/// Who is where, as the platform names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meeting {
    /// Where.
    pub conversation: ConversationKey,
    /// Who.
    pub person: UserKey,
}

/// A change that belongs to a turn or to a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// A preference or setting; `None` removes it.
    Set {
        /// Whose.
        of: Place,
        /// The key.
        key: Cow<'static, str>,
        /// The value.
        value: Option<String>,
    },
    /// The history of a scope ends here: later turns do not see what is before.
    Reset(HistoryScope),
    /// What is kept of a conversation is deleted.
    Forget(Forget),
    /// Something waits for an answer from now on.
    Ask(Box<Pending>),
    /// Something is to be done later.
    Defer(Deferred),
    /// What was put off under this subject is not to be done any more.
    Withdraw {
        /// The conversation's number.
        conversation: i64,
        /// The subject.
        subject: Cow<'static, str>,
    },
    /// A record for the audit log.
    Audit(Audit),
    /// The steps that were kept of a turn are not needed any more.
    StepsDone {
        /// The turn.
        turn: i64,
    },
    /// What is personal in the audit log's records of a conversation until now goes, and a record says so.
    EraseAudit {
        /// The conversation's number.
        conversation: i64,
    },
}

impl Finish {
    /// Changes of a conversation that belong to the end of no turn.
    #[must_use]
    pub fn of_no_turn(conversation: i64, effects: Vec<Effect>, at: Timestamp) -> Self {
        Self {
            turn: 0,
            begun: false,
            members: Vec::new(),
            state: TurnState::Done,
            reason: None,
            history: Vec::new(),
            scope: HistoryScope {
                conversation,
                person: 0,
            },
            replies: Vec::new(),
            effects,
            at,
        }
    }
}

/// An answer that is not sent yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingReply {
    /// The outbox id.
    pub id: i64,
    /// Where to.
    pub conversation: i64,
    /// The turn.
    pub turn: Option<i64>,
    /// The next part to send.
    pub part: u32,
    /// The part may have been sent already: an earlier process died while it was under way.
    pub in_doubt: bool,
    /// How often this part was in doubt after a crash, this time included. The next intent or receipt
    /// for it keeps the count; a start that does nothing with it adds none, and the next part begins at 0.
    pub attempts: u32,
    /// An earlier part was [`ReceiptOutcome::Doubtful`].
    pub doubtful: bool,
    /// Held because nobody knows whether it was delivered.
    pub unknown: bool,
    /// Not before this.
    pub due_at: Timestamp,
    /// When it was made.
    pub created_at: Timestamp,
    /// The [`ReplyBody`] as JSON.
    pub body: Box<str>,
}

/// What became of a message, for /why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fate {
    /// The journal id of the message (its turn may be another).
    pub id: i64,
    /// Whose message it was.
    pub person: i64,
    /// The turn that took it.
    pub turn: Option<i64>,
    /// When it was received.
    pub received_at: Timestamp,
    /// How it ended: `waiting`, `running`, `done`, `failed`, `dropped`, `expired`, `recalled`, `refused`.
    pub state: &'static str,
    /// The reason code, if it has one.
    pub reason: Option<String>,
    /// How often its turn began.
    pub attempts: u32,
    /// The state of the answer: `ready`, `sending`, `sent`, `unknown`, `failed`, `expired`, `dropped`.
    pub answer: Option<&'static str>,
    /// The reason code of the answer.
    pub answer_reason: Option<String>,
}

/// One thread of a conversation that is shown from the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownThread {
    /// The thread.
    pub thread: ThreadId,
    /// The first message of it that is left: [`Body`] as JSON.
    pub first: Box<str>,
    /// When its last message was accepted.
    pub at: Timestamp,
}

/// One past message of a conversation that is shown from the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Journal or outbox id.
    pub id: i64,
    /// An answer or notice; else a person's message.
    pub answer: bool,
    /// The turn of an answer.
    pub turn: Option<i64>,
    /// When.
    pub at: Timestamp,
    /// A person's message that has not ended.
    pub pending: bool,
    /// [`Body`] or [`ReplyBody`] as JSON.
    pub body: Box<str>,
}
