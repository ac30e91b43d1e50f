//! Rows as columns: each becomes one array argument of a multi-row statement.
//!
//! Owns the shapes. It never runs a statement.

use std::{borrow::Cow, collections::HashSet};

use super::clean;
use crate::store::{
    Accept, Accepted, Begin, Deferred, Finish, History, HistoryScope, NewReply, Receipt,
    ReceiptOutcome, sqlite::code,
};

/// A small stored number as a column has it. All of them are far below the bound.
fn small(code: i64) -> i16 {
    i16::try_from(code).unwrap_or(i16::MAX)
}

/// A number of a part as a column has it; there are never so many.
fn part(part: u32) -> i32 {
    i32::try_from(part).unwrap_or(i32::MAX)
}

/// A message to be inserted unless its event is there already.
#[derive(Debug)]
pub struct Inbox<'a> {
    /// Which operation of the batch, and which message of it.
    pub place: (usize, usize),
    /// Its numbers.
    pub row: Accepted,
    /// The lease to which it belongs.
    pub lease: i64,
    /// The message.
    pub message: &'a Accept,
}

/// Turns that begin.
#[derive(Debug, Default)]
pub struct Begins {
    /// Which operation of the batch, and which turn.
    pub operations: Vec<(usize, i64)>,
    /// The turns.
    pub turns: Vec<i64>,
    /// When.
    pub at: Vec<i64>,
}

impl Begins {
    /// Adds one.
    pub fn push(&mut self, operation: usize, begin: &Begin) {
        self.operations.push((operation, begin.turn));
        self.turns.push(begin.turn);
        self.at.push(begin.at);
    }
}

/// Steps of turns.
#[derive(Debug, Default)]
pub struct Steps<'a> {
    /// The turns.
    pub turns: Vec<i64>,
    /// Which of their steps.
    pub steps: Vec<i32>,
    /// What they are.
    pub contents: Vec<Cow<'a, str>>,
}

impl<'a> Steps<'a> {
    /// Adds one.
    pub fn push(&mut self, turn: i64, step: u32, content: &'a str) {
        self.turns.push(turn);
        self.steps.push(part(step));
        self.contents.push(clean(content));
    }
}

/// New answers and notices.
#[derive(Debug, Default)]
pub struct Replies<'a> {
    /// Their ids.
    pub ids: Vec<i64>,
    /// Where to.
    pub conversations: Vec<i64>,
    /// The turns that made them.
    pub turns: Vec<Option<i64>>,
    /// Messages that they are about: they belong to the same leases.
    pub about: Vec<Option<i64>>,
    /// `READY` or `SENDING`.
    pub states: Vec<i16>,
    /// Not before.
    pub due_at: Vec<i64>,
    /// When they were made.
    pub created_at: Vec<i64>,
    /// Shown from the store.
    pub shown: Vec<bool>,
    /// The bodies.
    pub bodies: Vec<Cow<'a, str>>,
    /// `MESSAGE` or `ACTION`.
    pub kinds: Vec<i16>,
    /// What actions are about.
    pub subjects: Vec<Option<Cow<'a, str>>>,
}

impl<'a> Replies<'a> {
    /// Adds one.
    pub fn push(&mut self, id: i64, reply: &'a NewReply, about: Option<i64>, at: i64) {
        let state = if reply.sending {
            code::SENDING
        } else {
            code::READY
        };
        self.ids.push(id);
        self.conversations.push(reply.conversation);
        self.turns.push(reply.turn);
        self.about.push(about);
        self.states.push(small(state));
        self.due_at.push(reply.due_at);
        self.created_at.push(at);
        self.shown.push(reply.shown);
        self.bodies.push(clean(&reply.body));
        self.kinds.push(small(code::MESSAGE));
        self.subjects.push(None);
    }

    /// Adds something that is to be done later.
    pub fn defer(&mut self, id: i64, deferred: &'a Deferred, at: i64) {
        self.ids.push(id);
        self.conversations.push(deferred.conversation);
        self.turns.push(Some(deferred.turn));
        self.about.push(Some(deferred.turn));
        self.states.push(small(code::READY));
        self.due_at.push(deferred.due_at);
        self.created_at.push(at);
        self.shown.push(false);
        self.bodies.push(clean(&deferred.body));
        self.kinds.push(small(code::ACTION));
        self.subjects.push(Some(clean(&deferred.subject)));
    }
}

/// Messages that end without an outbox row.
#[derive(Debug, Default)]
pub struct Ends<'a> {
    seen: HashSet<i64>,
    /// The messages, none twice.
    pub ids: Vec<i64>,
    /// How.
    pub states: Vec<i16>,
    /// The reason codes.
    pub reasons: Vec<Option<&'a str>>,
    /// The turns that took them.
    pub turns: Vec<Option<i64>>,
    /// When.
    pub at: Vec<i64>,
}

impl<'a> Ends<'a> {
    /// Adds one; of two of one message the first stands.
    pub fn push(
        &mut self,
        id: i64,
        state: i64,
        reason: Option<&'a str>,
        turn: Option<i64>,
        at: i64,
    ) {
        if self.seen.insert(id) {
            self.ids.push(id);
            self.states.push(small(state));
            self.reasons.push(reason);
            self.turns.push(turn);
            self.at.push(at);
        }
    }
}

/// Turns that end.
#[derive(Debug, Default)]
pub struct TurnEnds<'a> {
    /// The turns.
    pub ids: Vec<i64>,
    /// How.
    pub states: Vec<i16>,
    /// The reason codes.
    pub reasons: Vec<Option<&'a str>>,
    /// When.
    pub at: Vec<i64>,
}

impl TurnEnds<'_> {
    /// Adds one.
    pub fn push(&mut self, finish: &Finish) {
        self.ids.push(finish.turn);
        self.states.push(small(code::turn(finish.state)));
        self.reasons.push(finish.reason);
        self.at.push(finish.at);
    }
}

/// Parts that are about to be sent.
#[derive(Debug, Default)]
pub struct Intents {
    /// The answers.
    pub ids: Vec<i64>,
    /// The parts.
    pub parts: Vec<i32>,
}

impl Intents {
    /// Adds one.
    pub fn push(&mut self, id: i64, number: u32) {
        self.ids.push(id);
        self.parts.push(part(number));
    }
}

/// What became of parts.
#[derive(Debug, Default)]
pub struct Receipts<'a> {
    /// The answers.
    pub ids: Vec<i64>,
    /// The part is over: doubts begin anew.
    pub sent: Vec<bool>,
    /// The new states.
    pub states: Vec<i16>,
    /// The parts that are next.
    pub parts: Vec<i32>,
    /// Not before; absent where it stays.
    pub due_at: Vec<Option<i64>>,
    /// The reason codes.
    pub reasons: Vec<Option<&'a str>>,
    /// The platform's ids.
    pub messages: Vec<Option<Cow<'a, str>>>,
    /// Nobody knows whether the part was delivered, and the next one follows.
    pub doubtful: Vec<bool>,
}

impl<'a> Receipts<'a> {
    /// Adds one.
    pub fn push(&mut self, receipt: &'a Receipt) {
        let mut next = receipt.part;
        let (mut due, mut message) = (None, None);
        let (state, why) = match &receipt.outcome {
            ReceiptOutcome::Sent { message: id, last } => {
                message = id.as_deref().map(clean);
                if *last {
                    (code::SENT, None)
                } else {
                    next = next.saturating_add(1);
                    (code::READY, None)
                }
            }
            ReceiptOutcome::Doubtful => {
                next = next.saturating_add(1);
                (code::READY, None)
            }
            ReceiptOutcome::Retry { due_at, reason } => {
                due = Some(*due_at);
                (code::READY, Some(*reason))
            }
            ReceiptOutcome::Unknown { reason } => (code::UNKNOWN, Some(*reason)),
            ReceiptOutcome::Failed { reason } => (code::FAILED, Some(*reason)),
            ReceiptOutcome::Expired { reason } => (code::EXPIRED, Some(*reason)),
        };
        self.ids.push(receipt.id);
        let doubtful = receipt.outcome == ReceiptOutcome::Doubtful;
        let sent = matches!(receipt.outcome, ReceiptOutcome::Sent { .. });
        self.sent.push(sent || doubtful);
        self.doubtful.push(doubtful);
        self.states.push(small(state));
        self.parts.push(part(next));
        self.due_at.push(due);
        self.reasons.push(why);
        self.messages.push(message);
    }
}

/// New rows of history.
#[derive(Debug, Default)]
pub struct HistoryRows<'a> {
    /// Where.
    pub conversations: Vec<i64>,
    /// Whose.
    pub persons: Vec<i64>,
    /// Their ids.
    pub ids: Vec<i64>,
    /// Who speaks.
    pub roles: Vec<i16>,
    /// The turns.
    pub turns: Vec<i64>,
    /// When.
    pub at: Vec<i64>,
    /// What was said.
    pub parts: Vec<Cow<'a, str>>,
}

impl<'a> HistoryRows<'a> {
    /// Adds one.
    pub fn push(&mut self, conversation: i64, person: i64, id: i64, role: i64, row: &'a History) {
        self.conversations.push(conversation);
        self.persons.push(person);
        self.ids.push(id);
        self.roles.push(small(role));
        self.turns.push(row.turn);
        self.at.push(row.at);
        self.parts.push(clean(&row.parts));
    }

    /// Adds the end of a scope's history.
    pub fn reset(&mut self, scope: &HistoryScope, id: i64, at: i64) {
        self.conversations.push(scope.conversation);
        self.persons.push(scope.person);
        self.ids.push(id);
        self.roles.push(small(code::RESET));
        self.turns.push(0);
        self.at.push(at);
        self.parts.push(Cow::Borrowed(""));
    }
}
