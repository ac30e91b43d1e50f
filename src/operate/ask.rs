//! The protocol: one JSON object a line, a request and its response.
//!
//! Owns the words. A key never changes its meaning; what an older side does not know is refused by it. A
//! request is at most [`LONGEST_REQUEST`] bytes, a response at most [`LONGEST_RESPONSE`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    audit::AuditRow,
    row::{FailedRow, ReplyRow, SetRow, WaitingRow},
};

/// The version of the protocol.
pub const VERSION: u32 = 1;
/// Bytes of a request's line.
pub const LONGEST_REQUEST: usize = 4 << 10;
/// Bytes of a response's line.
pub const LONGEST_RESPONSE: usize = 4 << 20;
/// Rows of one page at most.
pub const PAGE: usize = 200;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Ask {
    /// Who is there.
    Hello,
    /// Messages that wait for their turn, or whose turn runs.
    Waiting {
        /// Journal ids above this.
        after: i64,
        /// Rows at most; at most [`PAGE`].
        limit: usize,
    },
    /// Replies by state.
    Replies {
        /// Outbox ids above this.
        after: i64,
        /// Rows at most; at most [`PAGE`].
        limit: usize,
        /// Those that are to be sent.
        waiting: bool,
        /// Those that were given up, or of which nobody knows.
        given_up: bool,
    },
    /// Messages whose turn failed.
    Failed {
        /// Journal ids above this.
        after: i64,
        /// Rows at most; at most [`PAGE`].
        limit: usize,
    },
    /// Records of the audit log.
    Audit {
        /// Ids above this.
        after: i64,
        /// Rows at most; at most [`PAGE`].
        limit: usize,
    },
    /// What was set at run time, of the whole gateway.
    Settings,
    /// What was set in conversations.
    SettingsThere {
        /// Conversations with numbers above this.
        after: i64,
        /// Conversations at most; at most [`PAGE`].
        limit: usize,
    },
    /// Send a reply that was given up.
    RetryReply {
        /// The outbox id.
        id: i64,
    },
    /// Do not send a reply.
    DropReply {
        /// The outbox id.
        id: i64,
    },
    /// Accept the messages of a failed turn anew.
    RetryMessage {
        /// The journal id.
        id: i64,
    },
    /// Take a failed message off the list.
    DropMessage {
        /// The journal id.
        id: i64,
    },
}

/// A page of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sheet<T> {
    /// The rows, oldest first; there may be none although there is a next page.
    pub rows: Vec<T>,
    /// After which id the next page begins; `None` if this was the last one.
    pub next: Option<i64>,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Answer {
    /// To [`Ask::Hello`].
    Hello {
        /// The gateway's version.
        version: String,
        /// Its process id.
        process: u32,
    },
    /// To [`Ask::Waiting`].
    Waiting(Sheet<WaitingRow>),
    /// To [`Ask::Replies`].
    Replies(Sheet<ReplyRow>),
    /// To [`Ask::Failed`].
    Failed(Sheet<FailedRow>),
    /// To [`Ask::Audit`].
    Audit {
        /// The records, oldest first; none behind the last one.
        rows: Vec<AuditRow>,
        /// The number of the newest record.
        seq: i64,
        /// Its hash.
        head: String,
    },
    /// To [`Ask::Settings`].
    Settings {
        /// Keys of agent.yaml and their values, in order.
        set: BTreeMap<String, String>,
    },
    /// To [`Ask::SettingsThere`].
    SettingsThere(Sheet<SetRow>),
    /// The reply waits to be sent again.
    Ready {
        /// It is in its queue; else it leaves after the next start.
        now: bool,
    },
    /// The messages wait under these ids.
    Accepted {
        /// Their new journal ids.
        ids: Vec<i64>,
        /// They are in their queue; else they are answered after the next start.
        now: bool,
    },
    /// It is settled.
    Dropped,
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Refusal {
    /// There is nothing of this id.
    NotFound,
    /// What there is is in another state.
    State {
        /// The state.
        state: String,
    },
    /// The reply is being sent right now.
    Sending,
    /// It belongs to another gateway that is at work on the database.
    Elsewhere,
    /// The conversation's queue of replies is full: a retry would push others out.
    Full,
    /// The store failed.
    Store {
        /// What it said.
        error: String,
    },
    /// The request could not be understood, or took too long.
    Protocol {
        /// What was wrong.
        error: String,
    },
}

/// A request's line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The version of the protocol.
    pub v: u32,
    /// What is asked.
    pub ask: Ask,
}

/// A response's line: one of both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// The version of the protocol.
    pub v: u32,
    /// What is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<Answer>,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Refusal>,
}

impl From<Result<Answer, Refusal>> for Response {
    fn from(result: Result<Answer, Refusal>) -> Self {
        let (ok, error) = match result {
            Ok(answer) => (Some(answer), None),
            Err(refusal) => (None, Some(refusal)),
        };
        Self {
            v: VERSION,
            ok,
            error,
        }
    }
}
