//! A task of A2A as it is told, piece by piece.
//!
//! Owns how artifacts and messages become one text, and when a task is over. Pure.

use serde_json::Value;

use super::{heard::Heard, remote::Failed};

/// Most artifacts that are kept apart; what comes for others joins the last.
const MAX_ARTIFACTS: usize = 32;

/// What is known of a task.
#[derive(Debug, Default)]
pub(super) struct Followed {
    id: Option<String>,
    state: State,
    artifacts: Vec<(String, Heard)>,
    /// What was said outside of artifacts.
    said: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    Done,
    /// It wants to be told something; that takes another call.
    Asks,
    Failed,
    Cancelled,
}

impl State {
    fn of(name: &str) -> Self {
        match name {
            "TASK_STATE_COMPLETED" => Self::Done,
            "TASK_STATE_INPUT_REQUIRED" | "TASK_STATE_AUTH_REQUIRED" => Self::Asks,
            "TASK_STATE_FAILED" | "TASK_STATE_REJECTED" => Self::Failed,
            "TASK_STATE_CANCELED" => Self::Cancelled,
            _ => Self::Open,
        }
    }
}

impl Followed {
    /// Takes what was told: a task, a message, or what is new of a task.
    pub(super) fn take(&mut self, told: &Value) {
        if let Some(task) = told.get("task") {
            self.id(&task["id"]);
            let artifacts = task["artifacts"].as_array();
            if let Some(artifacts) = artifacts.filter(|artifacts| !artifacts.is_empty()) {
                self.artifacts.clear();
                for artifact in artifacts {
                    self.artifact(artifact, false);
                }
            }
            self.status(&task["status"]);
        } else if let Some(update) = told.get("statusUpdate") {
            self.id(&update["taskId"]);
            self.status(&update["status"]);
        } else if let Some(update) = told.get("artifactUpdate") {
            self.id(&update["taskId"]);
            self.artifact(&update["artifact"], update["append"] == true);
        } else if let Some(message) = told.get("message") {
            // An agent that makes no task of it.
            self.said = words(&message["parts"], "\n");
            self.state = State::Done;
        }
    }

    fn id(&mut self, id: &Value) {
        if let Some(id) = id.as_str().filter(|id| !id.is_empty()) {
            self.id = Some(id.to_owned());
        }
    }

    fn status(&mut self, status: &Value) {
        self.state = State::of(status["state"].as_str().unwrap_or_default());
        let said = words(&status["message"]["parts"], "\n");
        if !said.is_empty() {
            self.said = said;
        }
    }

    fn artifact(&mut self, artifact: &Value, append: bool) {
        let id = artifact["artifactId"].as_str().unwrap_or_default();
        // What was added to an artifact stands as parts of it later.
        let words = words(&artifact["parts"], "");
        let full = self.artifacts.len() >= MAX_ARTIFACTS;
        let known = self.artifacts.iter().position(|(known, _)| known == id);
        let place = known.or_else(|| full.then_some(MAX_ARTIFACTS - 1));
        match place.and_then(|place| self.artifacts.get_mut(place)) {
            Some((_, heard)) if append || known.is_none() => heard.push(&words),
            Some((_, heard)) => heard.replace(&words),
            None => {
                let mut heard = Heard::default();
                heard.push(&words);
                self.artifacts.push((id.to_owned(), heard));
            }
        }
    }

    /// Its id, while it is under way.
    pub(super) fn open(&self) -> Option<&str> {
        let is_open = self.state == State::Open;
        self.id.as_deref().filter(|_| is_open)
    }

    /// Nothing comes any more.
    pub(super) fn is_over(&self) -> bool {
        self.state != State::Open
    }

    /// What it came to.
    ///
    /// # Errors
    /// It failed, in its own words.
    pub(super) fn ended(self) -> Result<String, Failed> {
        let mut whole = Heard::default();
        for (at, (_, heard)) in self.artifacts.into_iter().enumerate() {
            if at > 0 {
                whole.push("\n\n");
            }
            whole.push(&heard.whole());
        }
        let text = whole.whole();
        let with = |text: String| match (text.is_empty(), self.said.is_empty()) {
            (_, true) => text,
            (true, false) => self.said.clone(),
            (false, false) => format!("{text}\n\n{}", self.said),
        };
        match self.state {
            State::Done if text.is_empty() => Ok(self.said),
            State::Done => Ok(text),
            State::Asks => Ok(with(text)),
            State::Failed => Err(Failed::said(&with(text))),
            State::Cancelled => Err(Failed::said("the task was cancelled")),
            State::Open if text.is_empty() && self.said.is_empty() => {
                Err(Failed::broken("it ended before its answer"))
            }
            State::Open => Ok(with(text)),
        }
    }
}

/// The words of parts; of anything else what it is.
fn words(parts: &Value, between: &str) -> String {
    let mut out = Heard::default();
    for (at, part) in parts.as_array().into_iter().flatten().enumerate() {
        if at > 0 {
            out.push(between);
        }
        if let Some(text) = part["text"].as_str() {
            out.push(text);
        } else if !part["data"].is_null() {
            out.push(&part["data"].to_string());
        } else {
            let name = part["filename"].as_str().or(part["url"].as_str());
            out.push(&format!("[file {}]", name.unwrap_or("without a name")));
        }
    }
    out.whole()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn ended(told: &[Value]) -> Result<String, Failed> {
        let mut followed = Followed::default();
        for one in told {
            followed.take(one);
        }
        followed.ended()
    }

    fn status(state: &str) -> Value {
        json!({ "statusUpdate": { "taskId": "t", "status": { "state": state } } })
    }

    fn artifact(id: &str, text: &str, append: bool) -> Value {
        json!({ "artifactUpdate": { "taskId": "t", "append": append,
            "artifact": { "artifactId": id, "parts": [{ "text": text }] } } })
    }

    #[test]
    fn artifacts_grow_and_the_final_state_counts() {
        let told = [
            json!({ "task": { "id": "t", "status": { "state": "TASK_STATE_SUBMITTED" } } }),
            status("TASK_STATE_WORKING"),
            artifact("a", "one ", false),
            artifact("a", "two", true),
            artifact("b", "more", false),
            status("TASK_STATE_COMPLETED"),
        ];
        assert_eq!(ended(&told), Ok("one two\n\nmore".into()));
        let mut followed = Followed::default();
        followed.take(&told[0]);
        assert_eq!(followed.open(), Some("t"));
        followed.take(&told[5]);
        assert_eq!(followed.open(), None);
    }

    #[test]
    fn a_task_may_ask_or_fail_in_its_own_words() {
        let with = |state: &str| {
            json!({ "task": { "id": "t", "status": { "state": state,
                "message": { "parts": [{ "text": "why" }] } } } })
        };
        assert_eq!(
            ended(&[with("TASK_STATE_INPUT_REQUIRED")]),
            Ok("why".into())
        );
        assert_eq!(
            ended(&[with("TASK_STATE_REJECTED")]),
            Err(Failed::said("why"))
        );
        let message = json!({ "message": { "parts": [{ "text": "a" }, { "data": { "b": 1 } },
            { "url": "http://x/y", "filename": "y.png" }] } });
        assert_eq!(ended(&[message]), Ok("a\n{\"b\":1}\n[file y.png]".into()));
        assert!(matches!(ended(&[]), Err(Failed::Broken(_))));
    }

    proptest! {
        #[test]
        fn artifacts_are_bounded(ids in prop::collection::vec("[a-z]{0,3}", 0..200)) {
            let mut followed = Followed::default();
            for id in &ids {
                followed.take(&artifact(id, "x", true));
            }
            prop_assert!(followed.artifacts.len() <= MAX_ARTIFACTS);
            let kept: usize = followed.ended().unwrap_or_default().matches('x').count();
            prop_assert_eq!(kept, ids.len());
        }
    }
}
