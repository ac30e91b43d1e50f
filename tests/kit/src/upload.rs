//! Files that are sent: forms with them (RFC 7578), read as services read them, and files for tests to send.
//!
//! Owns the reading. What is no such form is none.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream;
use serde_json::{Value, json};
use weirgate_sdk::{Content, Download, DownloadError, MediaKind, OutgoingFile, Source};

/// A file in a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// The field's name.
    pub field: String,
    /// The file's name.
    pub name: String,
    /// Its content.
    pub content: Bytes,
}

/// What a form holds: its fields by name, and its files.
pub type Form = (Vec<(String, String)>, Vec<Upload>);

/// The fields and files of a form, by the value of its header `Content-Type`.
#[must_use]
pub fn read(content_type: &str, body: &Bytes) -> Option<Form> {
    let boundary = content_type.strip_prefix("multipart/form-data; boundary=")?;
    let (mut fields, mut files) = (Vec::new(), Vec::new());
    let mut rest = body.slice_ref(body.strip_prefix(format!("--{boundary}").as_bytes())?);
    let end = format!("\r\n--{boundary}");
    loop {
        if rest.starts_with(b"--\r\n") {
            return Some((fields, files));
        }
        let part = rest.slice_ref(rest.strip_prefix(b"\r\n")?);
        let split = find(&part, b"\r\n\r\n")?;
        let head = std::str::from_utf8(part.get(..split)?).ok()?;
        let content = part.slice(split + 4..);
        let length = find(&content, end.as_bytes())?;
        let value = content.slice(..length);
        let name = attribute(head, "name")?;
        match attribute(head, "filename") {
            Some(file) => files.push(Upload {
                field: name,
                name: file,
                content: value,
            }),
            None => fields.push((name, String::from_utf8(value.to_vec()).ok()?)),
        }
        rest = content.slice(length + end.len()..);
    }
}

/// Fields as the JSON that they hold; what is none is a text.
#[must_use]
pub fn as_json(fields: &[(String, String)]) -> Value {
    let value = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(value) if !value.is_string() => value,
        _ => text.into(),
    };
    let mut all = json!({});
    for (name, text) in fields {
        all[name] = value(text);
    }
    all
}

fn attribute(head: &str, name: &str) -> Option<String> {
    let (_, value) = head.split_once(&format!("; {name}=\""))?;
    Some(value.split('"').next()?.to_owned())
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

/// A file to be saved on its way out, with its content in memory.
#[must_use]
pub fn file(name: &str, content: &[u8]) -> OutgoingFile {
    shown(MediaKind::File, "text/plain", name, content)
}

/// A file that is shown as something, with its content in memory.
#[must_use]
pub fn shown(kind: MediaKind, mime: &str, name: &str, content: &[u8]) -> OutgoingFile {
    OutgoingFile {
        kind,
        reference: String::new(),
        name: name.to_owned(),
        mime: mime.to_owned(),
        size: u64::try_from(content.len()).unwrap_or(u64::MAX),
        source: Arc::new(InMemory(Bytes::copy_from_slice(content))),
    }
}

struct InMemory(Bytes);

#[async_trait]
impl Source for InMemory {
    async fn open(&self) -> Result<Box<dyn Content>, DownloadError> {
        // In pieces, as from a disk.
        let middle = self.0.len() / 2;
        let pieces = [self.0.slice(..middle), self.0.slice(middle..)];
        Ok(Download::of(None, stream::iter(pieces.map(Ok))).content)
    }
}
