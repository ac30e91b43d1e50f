//! Pending actions: what waits until somebody says yes or no, as values.
//!
//! Owns the shape of a row, how it is asked for and how it ends. It never decides who may answer.

use async_trait::async_trait;
use weirgate_sdk::{Timestamp, UserKey};

use super::{NewReply, StoreError};
use crate::permission::Capability;

/// What kind of answer is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingKind {
    /// Whether somebody really wants what he asked for, or consents to what another one asked for.
    Confirmation,
    /// Whether somebody with the right lets it happen.
    Approval,
    /// One of several.
    Choice,
    /// What somebody says in his own words.
    Question,
}

/// Who may answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answerer {
    /// This person alone, known or not.
    Person(UserKey),
    /// Whoever has this capability in the conversation.
    Capability(Capability),
    /// An owner of the gateway.
    GlobalOwner,
}

impl Answerer {
    /// The stored text.
    #[must_use]
    pub fn encode(&self) -> String {
        match self {
            Self::Person(key) => format!("person:{}", key.encode()),
            Self::Capability(capability) => format!("capability:{:o}", capability.bits()),
            Self::GlobalOwner => "owner".to_owned(),
        }
    }

    /// Reads the stored text; `None` for anything else.
    #[must_use]
    pub fn decode(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if text == "owner" => Some(Self::GlobalOwner),
            Some(("person", key)) => UserKey::decode(key).map(Self::Person),
            Some(("capability", bits)) => {
                let bits = u16::from_str_radix(bits, 8).ok()?;
                Capability::from_bits(bits).map(Self::Capability)
            }
            _ => None,
        }
    }
}

/// Something that waits for an answer, as it is written with the end of the turn that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The turn that asks: one asks once.
    pub id: i64,
    /// Where, and where alone it can be answered.
    pub conversation: i64,
    /// The person who asked.
    pub asker: i64,
    /// What kind of answer.
    pub kind: PendingKind,
    /// Who may give it.
    pub answerer: Answerer,
    /// The asker may not, although he has the right himself.
    pub four_eyes: bool,
    /// What is done then, with its exact arguments, as versioned JSON; see [`crate::pending`].
    pub action: String,
    /// The SHA-256 of `action` in hexadecimal: an answer names it.
    pub hash: String,
    /// When it was asked.
    pub created_at: Timestamp,
    /// Until when it can be answered.
    pub expires_at: Timestamp,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingState {
    /// It waits.
    Open,
    /// Somebody said yes, or chose.
    Approved,
    /// Somebody said no, the asker himself among them.
    Denied,
    /// Nobody answered in time.
    Expired,
    /// What it was about is gone.
    Withdrawn,
}

/// A row as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPending {
    /// What was asked.
    pub pending: Pending,
    /// How far it is.
    pub state: PendingState,
    /// What was answered, if it was more than yes or no.
    pub answer: Option<String>,
    /// Who answered, by number; 0 for nobody.
    pub answered_by: i64,
    /// The platform's ids of the messages that ask, one a line.
    pub shown_as: Option<String>,
}

/// Which rows are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingFilter {
    /// The one of this turn.
    Id(i64),
    /// Those of a conversation that can be answered at this time.
    Open {
        /// The conversation's number.
        conversation: i64,
        /// Now.
        at: Timestamp,
    },
    /// Those of this process whose time was over by then.
    Due(Timestamp),
    /// Those that this turn answered with more than no.
    AnsweredIn(i64),
}

/// An end of a pending action. It happens only to a row that is open, and to one alone however many are tried at once.
#[derive(Debug, Clone)]
pub struct Settle {
    /// The row.
    pub id: i64,
    /// The conversation from which it is answered; in another one there is no such row.
    pub conversation: i64,
    /// What is answered: a row about something else is another one.
    pub hash: String,
    /// How it ends; never [`PendingState::Open`]. It expires only when its time is over, and is answered only before.
    pub state: PendingState,
    /// What was answered, if it is more than yes or no.
    pub answer: Option<String>,
    /// Who answers, by number; 0 for nobody.
    pub by: i64,
    /// The turn that answers, or 0. The same turn may settle it again in the same way, so that one that is taken up
    /// after a crash goes on.
    pub turn: i64,
    /// The reason code, if it ends without an answer.
    pub reason: Option<&'static str>,
    /// Now.
    pub at: Timestamp,
    /// Notices that go out if it ends by this.
    pub notices: Vec<NewReply>,
}

/// What is asked of the store about pending actions.
#[async_trait]
pub trait PendingStore {
    /// Rows, oldest first, at most `limit`.
    ///
    /// # Errors
    /// The store's.
    async fn pendings(
        &self,
        which: PendingFilter,
        limit: usize,
    ) -> Result<Vec<StoredPending>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_answer_comes_back_as_it_went() {
        let key = UserKey {
            platform: "p".into(),
            realm: "".into(),
            id: "a/b:c".into(),
        };
        let capability = Capability::SEND_COMMAND | Capability::MANAGE_MEMBER;
        for who in [
            Answerer::Person(key),
            Answerer::Capability(capability),
            Answerer::GlobalOwner,
        ] {
            assert_eq!(Answerer::decode(&who.encode()), Some(who));
        }
        for text in [
            "",
            "person:",
            "capability:9",
            "capability:7777",
            "owner:1",
            "x",
        ] {
            assert_eq!(Answerer::decode(text), None, "{text}");
        }
    }
}
