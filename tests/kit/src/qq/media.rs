//! Files that the bot hands over, and those that people sent.
//!
//! Owns which were handed over where, and what is served to whoever asks.

use std::collections::HashMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde_json::{Value, json};

use super::{FakeQq, State, rest::Refusal};

/// Files of both ways.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// What was handed over: where, which kind, its name and its content, by the name that the platform gave it.
    handed: HashMap<String, (String, HandedFile)>,
    /// What is served, by path.
    served: HashMap<String, Bytes>,
}

/// A file that the bot handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedFile {
    /// Its kind: 1 picture, 2 film, 3 voice, 4 any other.
    pub kind: u64,
    /// Its name, where it has one.
    pub name: String,
    /// Its content.
    pub content: Vec<u8>,
}

impl FakeQq {
    /// Serves a file; gives its address.
    pub fn serve(&self, name: &str, content: &[u8]) -> String {
        let path = format!("/download/{name}");
        let address = format!("{}{path}", self.url());
        let content = Bytes::copy_from_slice(content);
        self.change(|state| state.files.served.insert(path, content));
        address
    }

    /// The file that a message shows.
    #[must_use]
    pub fn file_of(&self, said: &Value) -> Option<HandedFile> {
        let info = said["media"]["file_info"].as_str()?;
        let state = self.shared.state.lock();
        let (_, file) = state.files.handed.get(info)?;
        Some(file.clone())
    }
}

impl State {
    /// A file is handed over for a place.
    pub(super) fn take_file(&mut self, to: &str, said: &Value) -> Result<Value, Refusal> {
        self.only(
            said,
            &["file_type", "srv_send_msg", "file_data", "file_name"],
        );
        if said["srv_send_msg"] != false {
            self.violations.push("srv_send_msg is a push".into());
        }
        let kind = said["file_type"].as_u64().unwrap_or(0);
        let content = STANDARD.decode(said["file_data"].as_str().unwrap_or_default());
        let content = match content {
            Ok(content) if !content.is_empty() && (1..=4).contains(&kind) => content,
            _ => return Err((400, 304_082, "upload media info fail")),
        };
        let png = content.starts_with(b"\x89PNG") || content.starts_with(b"\xff\xd8\xff");
        if kind == 1 && !png {
            return Err((400, 304_083, "convert media info fail"));
        }
        let info = format!("info-{}", self.files.handed.len());
        let file = HandedFile {
            kind,
            name: said["file_name"].as_str().unwrap_or_default().to_owned(),
            content,
        };
        self.files
            .handed
            .insert(info.clone(), (to.to_owned(), file));
        Ok(json!({ "file_uuid": "u", "file_info": info, "ttl": 3_600 }))
    }

    /// Whether a file was handed over for a place.
    pub(super) fn has_file(&self, to: &str, info: &str) -> bool {
        self.files
            .handed
            .get(info)
            .is_some_and(|(place, _)| place == to)
    }

    pub(super) fn served(&self, path: &str) -> Option<Bytes> {
        self.files.served.get(path).cloned()
    }
}
