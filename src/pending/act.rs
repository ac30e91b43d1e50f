//! What is done when the answer is yes.
//!
//! Owns the stored form of it. A key never changes its meaning; a row of a version that knew more is not carried out.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use weirgate_sdk::{Request, Timestamp, UserKey, text::line};

use super::{MAX_CHOICES, Parked};
use crate::{
    clock::millis,
    hex::hex,
    i18n::{
        Language,
        consent::{Consent, What},
        moderation::Deed,
    },
    store::{Answerer, Pending, PendingKind},
};

/// What waits, with its exact arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Act {
    /// The conversation gets another owner.
    Transfer {
        /// The new owner, as an encoded user key.
        to: String,
        /// How he was called.
        shown: String,
    },
    /// What the gateway keeps of the conversation is deleted; how much is the answer.
    Delete,
    /// The bot leaves the conversation.
    Leave,
    /// Something is done to a member.
    Moderate {
        /// What.
        deed: Deed,
        /// His id on the platform.
        user: String,
        /// How he was called.
        shown: String,
        /// How long, in seconds.
        seconds: Option<u64>,
        /// Why.
        reason: String,
    },
    /// A request to the account is granted; the answer no refuses it on the platform as well.
    Admit {
        /// The request.
        request: Request,
        /// Who asks, as he is called, and his id.
        shown: String,
    },
    /// A turn goes on with the call of a tool.
    Tool(Box<Parked>),
}

/// How much of a question stands in a list, in characters.
const MAX_QUESTION: usize = 80;

/// The answer that means yes where there is nothing to choose.
const YES: &[&str] = &["yes"];
/// How much `/delete` deletes.
const DELETE: &[&str] = &["history", "all"];
/// How the choices of a question are answered.
const NUMBERS: [&str; MAX_CHOICES] = ["1", "2", "3", "4", "5", "6", "7", "8"];

impl Act {
    /// What can be answered besides no. One alone need not be named.
    #[must_use]
    pub fn options(&self) -> &'static [&'static str] {
        match self {
            Self::Delete => DELETE,
            Self::Tool(parked) => match parked.choices() {
                Some(choices) => NUMBERS.get(..choices.len()).unwrap_or_default(),
                None => YES,
            },
            Self::Transfer { .. } | Self::Leave | Self::Moderate { .. } | Self::Admit { .. } => YES,
        }
    }

    /// What people read for one of the [`Self::options`].
    #[must_use]
    pub fn label(&self, option: &'static str, language: Language) -> String {
        let choices = match self {
            Self::Tool(parked) => parked.choices().unwrap_or_default(),
            _ => &[],
        };
        let place = self.options().iter().position(|other| *other == option);
        let choice = place.and_then(|place| choices.get(place)).cloned();
        choice.unwrap_or_else(|| Consent::Yes(option).render(language))
    }

    /// It is a question that a person answers in his own words.
    #[must_use]
    pub fn is_question(&self) -> bool {
        matches!(self, Self::Tool(parked) if parked.choices().is_some())
    }

    /// In a few words, for people.
    #[must_use]
    pub fn what(&self) -> What {
        match self {
            Self::Transfer { shown, .. } => What::Transfer { to: shown.clone() },
            Self::Delete => What::Delete,
            Self::Leave => What::Leave,
            Self::Moderate {
                deed,
                shown,
                seconds,
                ..
            } => What::Moderate {
                deed: *deed,
                who: shown.clone(),
                time: seconds.map(Duration::from_secs),
            },
            Self::Admit { request, shown } => What::Admit {
                kind: request.kind,
                who: shown.clone(),
                group: request.group.clone(),
            },
            Self::Tool(parked) => match &parked.elicited {
                Some(asked) if asked.choices.is_some() => What::Answer {
                    question: line(&asked.message, MAX_QUESTION),
                },
                _ => What::Tool {
                    name: parked.tool.clone(),
                },
            },
        }
    }

    /// Reads what is stored; `None` if this version does not know it, or if it is not what was hashed.
    #[must_use]
    pub fn read(pending: &Pending) -> Option<Self> {
        let is_whole = hash(&pending.action) == pending.hash;
        is_whole.then(|| serde_json::from_str(&pending.action).ok())?
    }
}

/// The SHA-256 of a stored action, in hexadecimal.
fn hash(action: &str) -> String {
    hex(&Sha256::digest(action.as_bytes()))
}

/// A question that a turn ends with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// What is done then.
    pub act: Act,
    /// What kind of answer.
    pub kind: PendingKind,
    /// Who may give it.
    pub answerer: Answerer,
    /// The asker may not, although he has the right himself.
    pub four_eyes: bool,
    /// How long it can be answered.
    pub time: Duration,
}

/// Where and by whom something is asked.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// The turn.
    pub turn: i64,
    /// The conversation's number.
    pub conversation: i64,
    /// The person's number.
    pub asker: i64,
    /// Now.
    pub at: Timestamp,
}

impl Ask {
    /// The row.
    #[must_use]
    pub fn row(&self, asked: Asked) -> Pending {
        // Strings, numbers and enums always serialise.
        let action = serde_json::to_string(&self.act).unwrap_or_default();
        Pending {
            id: asked.turn,
            conversation: asked.conversation,
            asker: asked.asker,
            kind: self.kind,
            answerer: self.answerer.clone(),
            four_eyes: self.four_eyes,
            hash: hash(&action),
            action,
            created_at: asked.at,
            expires_at: asked.at.saturating_add(millis(self.time)),
        }
    }
}

impl Act {
    /// Consent to the transfer of a conversation.
    #[must_use]
    pub fn transfer(to: &UserKey, shown: String) -> Self {
        Self::Transfer {
            to: to.encode(),
            shown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(act: Act) -> Pending {
        let ask = Ask {
            act,
            kind: PendingKind::Approval,
            answerer: Answerer::GlobalOwner,
            four_eyes: false,
            time: Duration::from_secs(60),
        };
        ask.row(Asked {
            turn: 7,
            conversation: 1,
            asker: 2,
            at: 1_000,
        })
    }

    #[test]
    fn what_is_stored_is_what_was_asked_and_nothing_else() {
        let act = Act::Moderate {
            deed: Deed::Ban,
            user: "9".into(),
            shown: "Bob".into(),
            seconds: Some(60),
            reason: String::new(),
        };
        let mut stored = row(act.clone());
        assert_eq!(stored.expires_at, 61_000);
        assert_eq!(Act::read(&stored), Some(act));
        // Somebody else's id in the same row has another hash.
        stored.action = stored.action.replace("\"9\"", "\"8\"");
        assert_eq!(Act::read(&stored), None);
        stored.action = r#"{"do":"fly"}"#.into();
        stored.hash = hash(&stored.action);
        assert_eq!(Act::read(&stored), None, "a later version's");
        assert_eq!(row(Act::Delete).action, r#"{"do":"delete"}"#);
    }
}
