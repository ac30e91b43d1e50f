//! What is remembered of a turn: typed parts as versioned JSON.
//!
//! Owns the format of the history rows' `parts`. New kinds of parts are added, none is ever changed;
//! a reader skips what it does not know, so that an older version still reads what it can.

use serde::{Deserialize, Serialize};

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
    /// The model's reasoning, word for word as it came; replayed to models that want it, never shown.
    Reasoning {
        /// The reasoning; may be empty.
        text: String,
    },
    /// A file that was sent.
    Media {
        /// What it is: `image`, `audio`, `video`, `file`.
        kind: String,
        /// Its name in the media store, which may be gone by now.
        reference: String,
    },
    /// A part of a later version.
    #[serde(other)]
    Unknown,
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

    /// The names of the pictures that were sent, in order.
    pub fn pictures(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Media { kind, reference } if kind == "image" => Some(reference.as_str()),
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
