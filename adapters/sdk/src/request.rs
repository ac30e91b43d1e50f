//! Requests to the account itself: somebody wants to be its friend, or to have it in a group.
//!
//! Owns their form and the ability to answer them. An adapter that is to ask the gateway's owners hands one in as a message
//! with [`crate::Via::Request`]: the sender is whoever asks, the conversation is the one in which an owner is asked, and the
//! words are [`Request::encode`]. It decides nothing.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::moderation::ModerationError;

/// The longest words of a request that are handed in, in characters.
pub const MAX_WORDS: usize = 300;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// To be the account's friend.
    Friend,
    /// To take the account into a group.
    Invite,
    /// To join a group in which the account is an admin.
    Join,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// What is asked for.
    pub kind: RequestKind,
    /// What the platform knows it by; opaque, at most 1,024 bytes.
    pub mark: String,
    /// The group that it is about, as the platform shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// What whoever asks says to it; untrusted, one line of at most [`MAX_WORDS`] characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
}

impl Request {
    /// As the words of a message.
    #[must_use]
    pub fn encode(&self) -> String {
        // Strings and enums always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads them back; `None` if they are none.
    #[must_use]
    pub fn decode(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Answers requests.
#[async_trait]
pub trait Requests: Send + Sync {
    /// Says yes or no. Bounded in time by the adapter.
    ///
    /// # Errors
    /// Why it was not answered; [`ModerationError::NotConfirmed`] if nobody knows.
    async fn answer(&self, request: &Request, approve: bool) -> Result<(), ModerationError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_comes_back_as_it_went() {
        let request = Request {
            kind: RequestKind::Join,
            mark: "f\"1".into(),
            group: Some("30001".into()),
            words: "let me in".into(),
        };
        assert_eq!(Request::decode(&request.encode()), Some(request));
        assert_eq!(Request::decode("/approve"), None);
    }
}
