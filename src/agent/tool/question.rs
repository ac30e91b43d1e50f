//! The tool `ask_person`: asks the person who asked, in the middle of a turn, and goes on with what he says.
//!
//! Owns the form of a question. It asks nobody itself: the turn ends with the question and waits as a stored row
//! (`crate::pending`), and is made again with the answer.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{Call, Fault, Given, Spec, Tool};
use crate::{
    pending::{Elicited, MAX_CHOICES},
    security::guard::Verdict,
};

/// Its name.
pub const NAME: &str = "ask_person";
/// Longest question, in characters.
const MAX_QUESTION: usize = 1_000;
/// Longest choice, in characters: as much as a button shows everywhere.
const MAX_CHOICE: usize = 40;

/// The tool.
#[derive(Debug)]
pub struct AskPerson(Spec);

impl Default for AskPerson {
    fn default() -> Self {
        let about = "Asks the person a question and waits for the answer, which may take hours. Only when you cannot go \
                     on without it and cannot find it out: a choice that is his to make, or something that he alone knows. \
                     Ask one thing at once.";
        let parameters = json!({
            "type": "object",
            "properties": {
                "question": {"type": "string", "minLength": 1, "maxLength": MAX_QUESTION,
                    "description": "the question, in the person's language"},
                "choices": {"type": "array", "maxItems": MAX_CHOICES, "uniqueItems": true,
                    "items": {"type": "string", "minLength": 1, "maxLength": MAX_CHOICE},
                    "description": "answers to choose from; the person may say something else as well"}
            },
            "required": ["question"],
            "additionalProperties": false
        });
        Self(Spec::reading(NAME, about, parameters))
    }
}

#[async_trait]
impl Tool for AskPerson {
    fn spec(&self) -> &Spec {
        &self.0
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        match call.consent.filter(|asked| asked.choices.is_some()) {
            Some(answered) => told(&answered.content, &call),
            None => Err(Fault {
                asks: Some(Box::new(asked(&call))),
                ..Fault::lasting("")
            }),
        }
    }
}

fn asked(call: &Call<'_>) -> Elicited {
    let choices = call.arguments.get("choices").and_then(Value::as_array);
    let choices = choices.into_iter().flatten().filter_map(Value::as_str);
    let choices = choices.take(MAX_CHOICES).map(str::to_owned).collect();
    Elicited::question(call.text("question").to_owned(), choices)
}

/// The answer, looked at like any other message of his.
fn told(answer: &str, call: &Call<'_>) -> Result<Given, Fault> {
    let checked = call.rules.guard.check(answer.to_owned());
    if checked.verdict == Verdict::Blocked || checked.forbidden().next().is_some() {
        return Err(Fault::lasting(
            "The person's answer was withheld: it goes against the rules here.",
        ));
    }
    Ok(Given::own(format!("The person answers: {}", checked.text)))
}
