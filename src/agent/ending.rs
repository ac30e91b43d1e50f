//! How a turn ends: what is said, remembered and changed.
//!
//! Owns the value that `finish` writes. It never writes anything itself.

use weirgate_sdk::{Button, answer::Format};

use crate::{
    command::alone::Alone,
    outbound::strategy::Strategy,
    reason::Reason,
    store::{Effect, History, ReplyFile, TurnState},
};

/// How a turn ends.
#[derive(Debug)]
pub struct Ending {
    /// The state.
    pub state: TurnState,
    /// Why, if it did not end well.
    pub reason: Option<Reason>,
    /// The answer; empty for none.
    pub text: String,
    /// How the answer is to be read.
    pub format: Format,
    /// The answer has gone through the output filter.
    pub filtered: bool,
    /// It concerns its person alone.
    pub private: bool,
    /// How it is shown; see [`crate::outbound::strategy::choose`].
    pub strategy: Option<Strategy>,
    /// What is remembered.
    pub history: Vec<History>,
    /// What else changes.
    pub effects: Vec<Effect>,
    /// Platform ids of further messages that end with this turn, such as those that /cancel dropped.
    pub also_ends: Vec<String>,
    /// Buttons under the answer.
    pub buttons: Vec<Button>,
    /// Files that follow the answer.
    pub files: Vec<ReplyFile>,
    /// Whom nobody else deals with before this is written.
    pub alone: Option<Alone>,
}

impl Ending {
    /// A turn that did what was asked.
    #[must_use]
    pub fn done(text: String) -> Self {
        Self {
            state: TurnState::Done,
            reason: None,
            text,
            format: Format::Plain,
            filtered: false,
            private: false,
            strategy: None,
            history: Vec::new(),
            effects: Vec::new(),
            also_ends: Vec::new(),
            buttons: Vec::new(),
            files: Vec::new(),
            alone: None,
        }
    }

    /// A turn that did not, with what the person is told.
    #[must_use]
    pub fn failed(text: String, reason: Reason) -> Self {
        Self {
            state: TurnState::Failed,
            reason: Some(reason),
            ..Self::done(text)
        }
    }
}

/// A text with a mark behind it; the mark alone if there is no text.
pub(super) fn marked(text: String, mark: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() {
        mark.to_owned()
    } else {
        format!("{text}\n\n{mark}")
    }
}
