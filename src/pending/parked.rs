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
    /// The step of a skill that calls it. The call at the place is then the one that runs the skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// The message that is answered, without its words: who asked, and with which standing.
    pub body: Body,
}

impl Parked {
    /// What a person may choose from, if it waits for his words.
    #[must_use]
    pub fn choices(&self) -> Option<&[String]> {
        self.elicited.as_ref()?.choices.as_deref()
    }
}

/// A step of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Within {
    /// The skill.
    pub skill: String,
    /// The place of the step.
    pub step: usize,
    /// Its name among the steps.
    pub id: String,
    /// Why it does not run, once somebody has answered.
    #[serde(skip)]
    pub refused: Option<&'static str>,
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
    /// It wants words of the person, not a yes: what he may choose from, if he does not say something else. The words
    /// stand in `content` then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<String>>,
}

/// Most choices of a question: as many as fit under a message on every platform that has buttons, with one for none of
/// them.
pub const MAX_CHOICES: usize = 8;

impl Elicited {
    /// What a tool asks.
    #[must_use]
    pub fn new(message: String, content: String) -> Self {
        let digest = hex(&Sha256::digest(format!("{message}\0{content}")));
        Self {
            message,
            content,
            digest,
            choices: None,
        }
    }

    /// A question to a person.
    #[must_use]
    pub fn question(message: String, choices: Vec<String>) -> Self {
        Self {
            choices: Some(choices),
            ..Self::new(message, "{}".to_owned())
        }
    }

    /// What is meant by an answer: one of the choices, by its number or its words, or what was said.
    #[must_use]
    pub fn meant(&self, answer: &str) -> String {
        let answer = answer.trim();
        let choices = self.choices.as_deref().unwrap_or_default();
        let number = answer.parse::<usize>().ok();
        let chosen = number.and_then(|number| choices.get(number.checked_sub(1)?));
        chosen.map_or_else(|| answer.to_owned(), Clone::clone)
    }

    /// Whether it is the same question.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_means_a_choice_and_all_else_itself() {
        let choices = ["red", "blue"].map(str::to_owned).to_vec();
        let question = Elicited::question("Which?".into(), choices);
        for (answer, meant) in [
            ("2", "blue"),
            (" 1 ", "red"),
            ("blue", "blue"),
            ("0", "0"),
            ("3", "3"),
            ("neither, green", "neither, green"),
        ] {
            assert_eq!(question.meant(answer), meant);
        }
        let open = Elicited::question("How many?".into(), Vec::new());
        assert_eq!(open.meant("2"), "2");
    }

    #[test]
    fn what_was_stored_before_there_were_questions_wants_a_yes() {
        let stored = r#"{"message":"Sure?","content":"{}","digest":"x"}"#;
        let elicited: Elicited = serde_json::from_str(stored).unwrap();
        assert_eq!(elicited.choices, None);
        assert!(
            !serde_json::to_string(&elicited)
                .unwrap()
                .contains("choices")
        );
    }
}
