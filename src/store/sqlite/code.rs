//! The small numbers that stand for states and roles in the tables.
//!
//! They are stored: a number never changes its meaning. It never touches a database.

use crate::store::{EndState, PendingKind, PendingState, Role, TurnState};

/// Outbox: to be sent when due.
pub const READY: i64 = 0;
/// Outbox: a part is under way.
pub const SENDING: i64 = 1;
/// Outbox: all parts are delivered.
pub const SENT: i64 = 2;
/// Outbox: nobody knows whether a part was delivered.
pub const UNKNOWN: i64 = 3;
/// Outbox: given up.
pub const FAILED: i64 = 4;
/// Outbox: waited too long.
pub const EXPIRED: i64 = 5;
/// Outbox: an operator does not want it sent any more.
pub const REPLY_DROPPED: i64 = 6;

/// Turn: begun and not ended.
pub const RUNNING: i64 = 0;
/// Turn: failed.
pub const TURN_FAILED: i64 = 2;
/// Turn: failed, and an operator took its messages up again or needs them no more.
pub const TURN_SETTLED: i64 = 4;

/// End: failed.
pub const END_FAILED: i64 = 1;
/// End: failed, and settled by an operator.
pub const END_SETTLED: i64 = 6;

/// The kind of an outbox row that is a message.
pub const MESSAGE: i64 = 0;

/// The kind of an outbox row that is something to be done later.
pub const ACTION: i64 = 1;

/// History: the scope ends here.
pub const RESET: i64 = 3;
/// History: stands for rows that were before it.
pub const SUMMARY: i64 = 4;
/// The `person` under which a conversation's ambient messages are kept.
pub const AMBIENT_PERSON: i64 = -1;

/// The number of a pending action's kind.
pub fn pending_kind(kind: PendingKind) -> i64 {
    match kind {
        PendingKind::Confirmation => 0,
        PendingKind::Approval => 1,
        PendingKind::Choice => 2,
        PendingKind::Question => 3,
    }
}

/// The kind behind a number; `None` for one that this version does not know.
pub fn pending_kind_of(code: i64) -> Option<PendingKind> {
    match code {
        0 => Some(PendingKind::Confirmation),
        1 => Some(PendingKind::Approval),
        2 => Some(PendingKind::Choice),
        3 => Some(PendingKind::Question),
        _ => None,
    }
}

/// The number of a pending action's state.
pub fn pending(state: PendingState) -> i64 {
    match state {
        PendingState::Open => 0,
        PendingState::Approved => 1,
        PendingState::Denied => 2,
        PendingState::Expired => 3,
        PendingState::Withdrawn => 4,
    }
}

/// The state behind a number; `None` for one that this version does not know.
pub fn pending_of(code: i64) -> Option<PendingState> {
    match code {
        0 => Some(PendingState::Open),
        1 => Some(PendingState::Approved),
        2 => Some(PendingState::Denied),
        3 => Some(PendingState::Expired),
        4 => Some(PendingState::Withdrawn),
        _ => None,
    }
}

/// The number of a finished turn's state.
pub fn turn(state: TurnState) -> i64 {
    match state {
        TurnState::Done => 1,
        TurnState::Failed => TURN_FAILED,
        TurnState::Cancelled => 3,
    }
}

/// The number of an end.
pub fn end(state: EndState) -> i64 {
    match state {
        EndState::Done => 0,
        EndState::Failed => END_FAILED,
        EndState::Dropped => 2,
        EndState::Expired => 3,
        EndState::Recalled => 4,
        EndState::Refused => 5,
    }
}

/// The end of a turn's member that has no outbox row.
pub fn member(state: TurnState) -> i64 {
    end(match state {
        TurnState::Failed => EndState::Failed,
        TurnState::Done | TurnState::Cancelled => EndState::Done,
    })
}

/// The name of an end, as in [`crate::store::Fate::state`].
pub fn end_name(code: i64) -> &'static str {
    match code {
        END_FAILED | END_SETTLED => "failed",
        2 => "dropped",
        3 => "expired",
        4 => "recalled",
        5 => "refused",
        _ => "done",
    }
}

/// The name of an outbox state, as in [`crate::store::Fate::answer`].
pub fn answer_name(code: i64) -> &'static str {
    match code {
        READY => "ready",
        SENDING => "sending",
        SENT => "sent",
        UNKNOWN => "unknown",
        EXPIRED => "expired",
        REPLY_DROPPED => "dropped",
        _ => "failed",
    }
}

/// The number of a role.
pub fn role(role: Role) -> i64 {
    match role {
        Role::User => 0,
        Role::Assistant => 1,
        Role::Ambient => 2,
        Role::Summary => SUMMARY,
    }
}

/// The role of a number; a number of no role is read as the person's.
pub fn role_of(code: i64) -> Role {
    match code {
        1 => Role::Assistant,
        2 => Role::Ambient,
        SUMMARY => Role::Summary,
        _ => Role::User,
    }
}
