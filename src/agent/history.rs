//! What is remembered of a turn: typed parts as versioned JSON.
//!
//! Owns the format of the history rows' `parts`. New kinds of parts are added, none is ever changed;
//! a reader skips what it does not know, so that an older version still reads what it can.

use serde::{Deserialize, Serialize};

use super::{
    model::{Sealed, ToolCall},
    skill::template::progress::Progress,
};
use crate::store::ReplyFile;

/// One step of a turn in which the model called tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Step {
    /// What it said beside that; may be empty.
    pub text: String,
    /// Its reasoning, as in [`Content::reasoning`].
    pub reasoning: Option<String>,
    /// Its reasoning that only it can read; kept as long as the turn goes on.
    pub sealed: Option<Sealed>,
    /// What it called, in order.
    pub calls: Vec<ToolCall>,
    /// What each call gave; `None` while there is nothing.
    pub results: Vec<Option<String>>,
    /// Files that go out with the answer, each with the place of its call, in the order of the calls.
    pub files: Vec<(usize, ReplyFile)>,
    /// How far calls have come that have steps of their own, each with its place; kept as long as they go on.
    pub progress: Vec<(usize, Progress)>,
}

/// The content of one history row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The version of the format.
    pub v: u8,
    /// The speaker's name in a group; empty in private and for the model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The parts in order.
    pub parts: Vec<Part>,
}

/// One part. Unknown kinds of a later version are read as [`Part::Unknown`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// The model's reasoning, word for word as it came; replayed to models that want it, never
    /// part of the words.
    Reasoning {
        /// The reasoning; may be empty.
        text: String,
    },
    /// Reasoning that only the model that gave it can read. Only steps of a turn that goes on have it.
    Sealed(Sealed),
    /// A file that was sent.
    Media {
        /// What it is: `image`, `audio`, `video`, `file`.
        kind: String,
        /// Its name in the media store, which may be gone by now.
        reference: String,
    },
    /// A tool that the model called.
    Call {
        /// Names the call among those of the row.
        id: String,
        /// The tool.
        name: String,
        /// The arguments, a JSON object as the model wrote it.
        arguments: String,
    },
    /// What a call gave. It stands in the row of its call, so that no limit of rows parts them.
    Result {
        /// The call.
        id: String,
        /// What the model was told.
        text: String,
    },
    /// A file that a call gave to go out with the answer.
    Sent {
        /// The call.
        id: String,
        /// The file.
        file: ReplyFile,
    },
    /// How far a call has come that has steps of its own. Only steps of a turn that goes on have it.
    Progress {
        /// The call.
        id: String,
        /// How far.
        progress: Progress,
    },
    /// What the turn cost; it stands in the row of its last answer.
    Cost(Cost),
    /// A part of a later version.
    #[serde(other)]
    Unknown,
}

/// What a turn cost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// The model that answered last, as `provider/model`.
    pub model: String,
    /// Requests to models.
    pub requests: u32,
    /// Tokens of all requests, as far as providers counted them.
    pub prompt: u64,
    /// Tokens of all answers.
    pub completion: u64,
    /// Milliseconds from the beginning of the turn to its answer.
    pub millis: u64,
    /// What that cost, in millionths of the currency; 0 without prices.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub price: u64,
}

impl Cost {
    /// Adds what another request took; its time is part of the turn's.
    pub fn add(&mut self, other: &Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.prompt = self.prompt.saturating_add(other.prompt);
        self.completion = self.completion.saturating_add(other.completion);
        self.price = self.price.saturating_add(other.price);
        if self.model.is_empty() {
            self.model.clone_from(&other.model);
        }
    }
}

fn is_nothing(number: &u64) -> bool {
    *number == 0
}

/// The version that is written.
const VERSION: u8 = 1;

impl Content {
    /// Words of a person.
    #[must_use]
    pub fn person(name: &str, text: String) -> Self {
        Self {
            v: VERSION,
            name: name.to_owned(),
            parts: vec![Part::Text { text }],
        }
    }

    /// The same with references to what was sent beside the words.
    #[must_use]
    pub fn with(mut self, media: Vec<Part>) -> Self {
        self.parts.extend(media);
        self
    }

    /// The names in the media store of the files that were sent, in order.
    pub fn media(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Media { reference, .. } => Some(reference.as_str()),
            _ => None,
        })
    }

    /// Words of the model, with its reasoning if it gave any.
    #[must_use]
    pub fn model(text: String, reasoning: Option<String>) -> Self {
        let mut parts: Vec<Part> = reasoning
            .map(|text| Part::Reasoning { text })
            .into_iter()
            .collect();
        parts.push(Part::Text { text });
        Self {
            v: VERSION,
            name: String::new(),
            parts,
        }
    }

    /// A step of the model: what it called, and what that gave.
    #[must_use]
    pub fn step(step: &Step) -> Self {
        let mut content = Self::model(step.text.clone(), step.reasoning.clone());
        if step.text.is_empty() {
            content.parts.pop();
        }
        content.parts.extend(step.sealed.clone().map(Part::Sealed));
        for call in &step.calls {
            content.parts.push(Part::Call {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            });
        }
        for (call, result) in step.calls.iter().zip(&step.results) {
            if let Some(text) = result {
                content.parts.push(Part::Result {
                    id: call.id.clone(),
                    text: text.clone(),
                });
            }
        }
        for (at, file) in &step.files {
            if let Some(call) = step.calls.get(*at) {
                content.parts.push(Part::Sent {
                    id: call.id.clone(),
                    file: file.clone(),
                });
            }
        }
        for (at, progress) in &step.progress {
            if let Some(call) = step.calls.get(*at) {
                content.parts.push(Part::Progress {
                    id: call.id.clone(),
                    progress: progress.clone(),
                });
            }
        }
        content
    }

    /// The step that a row of calls remembers; without calls if it is none.
    #[must_use]
    pub fn as_step(&self) -> Step {
        let calls: Vec<ToolCall> = self
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Call {
                    id,
                    name,
                    arguments,
                } => Some(ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: arguments.clone(),
                }),
                _ => None,
            })
            .collect();
        let result = |call: &ToolCall| {
            self.parts.iter().find_map(|part| match part {
                Part::Result { id, text } if *id == call.id => Some(text.clone()),
                _ => None,
            })
        };
        let files = self.parts.iter().filter_map(|part| match part {
            Part::Sent { id, file } => {
                let at = calls.iter().position(|call| call.id == *id)?;
                Some((at, file.clone()))
            }
            _ => None,
        });
        let progress = self.parts.iter().filter_map(|part| match part {
            Part::Progress { id, progress } => {
                let at = calls.iter().position(|call| call.id == *id)?;
                Some((at, progress.clone()))
            }
            _ => None,
        });
        let sealed = self.parts.iter().find_map(|part| match part {
            Part::Sealed(sealed) => Some(sealed.clone()),
            _ => None,
        });
        Step {
            text: self.text(),
            reasoning: self.reasoning(),
            sealed,
            results: calls.iter().map(result).collect(),
            files: files.collect(),
            progress: progress.collect(),
            calls,
        }
    }

    /// As JSON for the store.
    #[must_use]
    pub fn encode(&self) -> String {
        // Strings and numbers always serialise; an empty text is what a reader makes of the impossible.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what [`Content::encode`] wrote.
    #[must_use]
    pub fn decode(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// All words in order.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// What the turn cost, if the row says so.
    #[must_use]
    pub fn cost(&self) -> Option<&Cost> {
        self.parts.iter().find_map(|part| match part {
            Part::Cost(cost) => Some(cost),
            _ => None,
        })
    }

    /// The reasoning, if there was any: empty stays empty, absent stays absent.
    #[must_use]
    pub fn reasoning(&self) -> Option<String> {
        self.parts.iter().find_map(|part| match part {
            Part::Reasoning { text } => Some(text.clone()),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use weirgate_sdk::MediaKind;

    use super::*;

    #[test]
    fn content_comes_back_as_it_went() {
        let contents = [
            Content::person("小明", "hi\n\"there\"".into()),
            Content::model("answer".into(), None),
            Content::model("answer".into(), Some(String::new())),
        ];
        for content in contents {
            assert_eq!(Content::decode(&content.encode()), Some(content));
        }
    }

    #[test]
    fn a_step_comes_back_with_each_result_beside_its_call() {
        let call = |id: &str| ToolCall {
            id: id.into(),
            name: "f".into(),
            arguments: r#"{"x":1}"#.into(),
        };
        let file = ReplyFile {
            id: "f".into(),
            name: "cat.png".into(),
            mime: "image/png".into(),
            size: 5,
            kind: MediaKind::Image,
            reference: "r".into(),
            words: "(no cat)".into(),
            joined: false,
        };
        let step = Step {
            text: String::new(),
            reasoning: Some("why".into()),
            sealed: Some(Sealed {
                model: "p/m".into(),
                items: "[{}]".into(),
            }),
            calls: vec![call("a"), call("b")],
            results: vec![None, Some("two".into())],
            files: vec![(1, file.clone())],
            progress: vec![(
                0,
                Progress {
                    digest: "d".into(),
                    begun: true,
                    files: vec![file],
                    ..Progress::default()
                },
            )],
        };
        let stored = Content::step(&step).encode();
        assert_eq!(
            Content::decode(&stored).map(|content| content.as_step()),
            Some(step)
        );
    }

    #[test]
    fn empty_reasoning_stays_and_absent_reasoning_stays_absent() {
        assert_eq!(
            Content::model("a".into(), Some(String::new()))
                .reasoning()
                .as_deref(),
            Some("")
        );
        assert_eq!(Content::model("a".into(), None).reasoning(), None);
    }

    #[test]
    fn parts_of_a_later_version_are_skipped() {
        let json = r#"{"v":9,"parts":[{"type":"hologram","x":1},{"type":"text","text":"a"}]}"#;
        assert_eq!(
            Content::decode(json)
                .map(|content| content.text())
                .as_deref(),
            Some("a")
        );
    }
}
