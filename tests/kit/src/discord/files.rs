//! Files of messages, under addresses that are signed for a while.
//!
//! Owns their content, and which signature is good now.

use bytes::Bytes;
use serde_json::{Value, json};

/// The files of a service.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Where the service is.
    base: String,
    /// Path without a signature, and content.
    kept: Vec<(String, Bytes)>,
    /// Counts the times that all signatures ended.
    round: u64,
}

impl Files {
    pub(super) fn at(base: String) -> Self {
        Self {
            base,
            ..Self::default()
        }
    }

    /// Keeps a file; gives it as a message has it.
    pub(super) fn keep(&mut self, channel: u64, name: &str, kind: &str, content: &[u8]) -> Value {
        let id = 5_000 + self.kept.len();
        let path = format!("/attachments/{channel}/{id}/{name}");
        self.kept
            .push((path.clone(), Bytes::copy_from_slice(content)));
        let mut file = json!([{
            "id": id.to_string(), "filename": name, "size": content.len(), "content_type": kind,
            "url": format!("{}{path}", self.base),
        }]);
        self.sign(&mut file);
        file[0].take()
    }

    /// All signatures end.
    pub(super) fn expire(&mut self) {
        self.round += 1;
    }

    /// Puts good signatures to the addresses of files.
    pub(super) fn sign(&self, files: &mut Value) {
        for file in files.as_array_mut().into_iter().flatten() {
            let url = file["url"].as_str().unwrap_or_default();
            let bare = url.split('?').next().unwrap_or_default();
            file["url"] = format!("{bare}?ex=7fffffff&is=1&hm={}", self.round).into();
        }
    }

    /// The content at an address, if its signature is good.
    pub(super) fn content(&self, uri: &str) -> Option<Bytes> {
        let (path, query) = uri.split_once('?')?;
        let signed = query.ends_with(&format!("&hm={}", self.round));
        let found = self.kept.iter().find(|(known, _)| known == path);
        found.filter(|_| signed).map(|(_, content)| content.clone())
    }
}
