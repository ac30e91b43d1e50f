//! The body of an answer, as it is kept until it is sent.
//!
//! Owns its versioned JSON with short keys: absent keys are defaults, a new key is optional, and a key never changes
//! its meaning. It never touches a database.

use serde::{Deserialize, Serialize};
use weirgate_sdk::{Button, MediaKind, ReplyContext, answer::Format};

/// The body of an answer, as versioned JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyBody {
    /// The whole text.
    #[serde(rename = "t")]
    pub text: String,
    /// How the text is to be read: `plain`, `markdown` or `html`.
    #[serde(rename = "f", with = "format_name")]
    pub format: Format,
    /// The parts, if there is more than one.
    #[serde(rename = "p", default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// The platform ids of the messages that it answers, oldest first.
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
    /// The author of the last of them, as an encoded user key.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// What answering needs.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub reply_context: Option<ReplyContext>,
    /// Seconds of pause before each part after the first, in tenths, for the natural pace.
    #[serde(rename = "w", default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<u32>,
    /// Buttons under the last part.
    #[serde(rename = "k", default, skip_serializing_if = "Vec::is_empty")]
    pub buttons: Vec<Button>,
    /// The whole answer as a file, which takes the place of all parts but the first.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub file: Option<ReplyFile>,
    /// Files that follow the words.
    #[serde(rename = "x", default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<ReplyFile>,
    /// Only whom it answers is to see it, where that can be.
    #[serde(rename = "v", default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
}

/// A file of the media store that goes out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyFile {
    /// Its name in the store.
    #[serde(rename = "i")]
    pub id: String,
    /// What people see it called.
    #[serde(rename = "n")]
    pub name: String,
    /// Its media type.
    #[serde(rename = "t")]
    pub mime: String,
    /// Its size in bytes.
    #[serde(rename = "s")]
    pub size: u64,
    /// As what it is shown.
    #[serde(rename = "k", default = "saved", skip_serializing_if = "is_saved")]
    pub kind: MediaKind,
    /// What its conversation can ask for it by; see [`weirgate_sdk::OutgoingFile::reference`].
    #[serde(rename = "r", default, skip_serializing_if = "String::is_empty")]
    pub reference: String,
    /// What is said in its place where it cannot be sent.
    #[serde(rename = "w", default, skip_serializing_if = "String::is_empty")]
    pub words: String,
    /// It is one message with the file before it.
    #[serde(rename = "j", default, skip_serializing_if = "std::ops::Not::not")]
    pub joined: bool,
}

fn saved() -> MediaKind {
    MediaKind::File
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_saved(kind: &MediaKind) -> bool {
    *kind == MediaKind::File
}

impl ReplyBody {
    /// The files in groups that are one message each.
    #[must_use]
    pub fn albums(&self) -> Vec<&[ReplyFile]> {
        self.media.chunk_by(|_, next| next.joined).collect()
    }
}

/// One part of an answer: a range of the text with the marks that close and reopen what it cuts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// First byte of the text.
    #[serde(rename = "s")]
    pub start: usize,
    /// The byte after the last.
    #[serde(rename = "e")]
    pub end: usize,
    /// Put before it.
    #[serde(rename = "b", default, skip_serializing_if = "String::is_empty")]
    pub before: String,
    /// Put after it.
    #[serde(rename = "a", default, skip_serializing_if = "String::is_empty")]
    pub after: String,
}

mod format_name {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use weirgate_sdk::answer::Format;

    pub(super) fn serialize<S: Serializer>(format: &Format, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(match format {
            Format::Plain => "plain",
            Format::Markdown => "markdown",
            Format::Html => "html",
        })
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Format, D::Error> {
        match &*String::deserialize(input)? {
            "plain" => Ok(Format::Plain),
            "markdown" => Ok(Format::Markdown),
            "html" => Ok(Format::Html),
            other => Err(D::Error::custom(format!("unknown format {other:?}"))),
        }
    }
}
