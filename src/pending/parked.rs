//! A turn that waits for a yes, as it is stored with its question.
//!
//! Owns what must be known to go on: the call with its exact arguments, the step that it belongs to, and whose turn
//! it was. A key never changes its meaning.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{hex::hex, store::Body};

/// What goes on when somebody has answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parked {
    /// The tool.
    pub tool: String,
    /// Its exact arguments, a JSON object: nothing else is run.
    pub arguments: String,
    /// The place of the call in its step.
    pub place: usize,
    /// The step, as [`crate::agent::history::Content`].
    pub step: String,
    /// What a tool that was running asks, and what it is told if the answer is yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elicited: Option<Elicited>,
    /// The message that is answered, without its words: who asked, and with which standing.
    pub body: Body,
}

/// What a tool asks in the middle of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elicited {
    /// What it asks, in its own words.
    pub message: String,
    /// What it is told if the answer is yes, a JSON object.
    pub content: String,
    /// The digest of both as the tool said them; what is shown and kept of them may have had something taken out.
    #[serde(default)]
    pub digest: String,
}

impl Elicited {
    /// What a tool asks.
    #[must_use]
    pub fn new(message: String, content: String) -> Self {
        let digest = hex(&Sha256::digest(format!("{message}\0{content}")));
        Self {
            message,
            content,
            digest,
        }
    }

    /// Whether it is the same question.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}
