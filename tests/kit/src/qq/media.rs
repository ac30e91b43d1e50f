//! Files that the bot hands over, and those that people sent.
//!
//! Owns which were handed over where, and what is served to whoever asks.

use std::collections::HashMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use md5::{Digest as _, Md5};
use serde_json::{Value, json};
use sha1::Sha1;

use super::{FakeQq, State, rest::Refusal};

/// Files of both ways.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// What was handed over: where, which kind, its name and its content, by the name that the platform gave it.
    handed: HashMap<String, (String, HandedFile)>,
    /// What is served, by path.
    served: HashMap<String, Bytes>,
    /// What is handed over in parts, by its number: where, what was said of it, and the parts that came and were told of.
    planned: Vec<(String, Value, Vec<Part>)>,
}

/// A part of a file.
#[derive(Debug, Clone, Default)]
struct Part {
    content: Bytes,
    told: bool,
}

/// Bytes of a part.
const BLOCK: usize = 2 * 1024 * 1024;
/// Bytes at the beginning of a file that have a digest of their own.
const HEAD: usize = 10_002_432;

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
    /// A large file is announced for a place.
    pub(super) fn plan_file(
        &mut self,
        address: &str,
        to: &str,
        said: &Value,
    ) -> Result<Value, Refusal> {
        let known = [
            "file_type",
            "file_name",
            "file_size",
            "md5",
            "sha1",
            "md5_10m",
        ];
        self.only(said, &known);
        let texts = known.iter().skip(1).all(|name| said[name].is_string());
        let size = said["file_size"]
            .as_str()
            .and_then(|size| size.parse().ok());
        let Some(size) = size.filter(|size: &usize| *size > 0 && texts) else {
            return Err((400, 304_082, "upload media info fail"));
        };
        let (upload, count) = (self.files.planned.len(), size.div_ceil(BLOCK));
        let parts = vec![Part::default(); count];
        self.files
            .planned
            .push((to.to_owned(), said.clone(), parts));
        let described = |index: usize| {
            json!({
                "index": index + 1, "block_size": BLOCK.to_string(),
                "presigned_url": format!("http://{address}/parts/{upload}/{index}?sign=secret"),
            })
        };
        let parts: Vec<Value> = (0..count).map(described).collect();
        Ok(json!({
            "upload_id": upload.to_string(), "block_size": BLOCK.to_string(), "parts": parts,
            "upload_config": { "concurrency": 1, "retry_timeout": 60, "retry_delay": 1 },
        }))
    }

    /// A part comes.
    pub(super) fn take_part(&mut self, path: &str, content: Bytes) -> bool {
        let mut numbers = path.rsplit('/').map(str::parse::<usize>);
        let (Some(Ok(index)), Some(Ok(upload))) = (numbers.next(), numbers.next()) else {
            return false;
        };
        let planned = self.files.planned.get_mut(upload);
        match planned.and_then(|(_, _, parts)| parts.get_mut(index)) {
            Some(part) => part.content = content,
            None => return false,
        }
        true
    }

    /// A part is there.
    pub(super) fn finish_part(&mut self, to: &str, said: &Value) -> Result<Value, Refusal> {
        self.only(said, &["upload_id", "part_index", "block_size", "md5"]);
        let part = self.planned(to, said).and_then(|(_, parts)| {
            let index = usize::try_from(said["part_index"].as_u64()?).ok()?;
            parts.get_mut(index.checked_sub(1)?)
        });
        let Some(part) = part else {
            return Err((400, 304_082, "no such part"));
        };
        let size = part.content.len().to_string();
        let same = said["md5"] == hex(&Md5::digest(&part.content)) && said["block_size"] == size;
        part.told = same;
        if same {
            Ok(json!({}))
        } else {
            Err((400, 304_082, "the part is another one"))
        }
    }

    fn planned(&mut self, to: &str, said: &Value) -> Option<(&Value, &mut Vec<Part>)> {
        let upload: usize = said["upload_id"].as_str()?.parse().ok()?;
        let (place, said, parts) = self.files.planned.get_mut(upload)?;
        (place == to).then_some((&*said, parts))
    }

    /// The parts of a file are put together.
    fn whole_file(&mut self, to: &str, said: &Value) -> Result<Value, Refusal> {
        const FAILED: Refusal = (400, 304_082, "upload media info fail");
        self.only(
            said,
            &["file_type", "srv_send_msg", "file_name", "upload_id"],
        );
        let (announced, parts) = self.planned(to, said).ok_or(FAILED)?;
        let content: Vec<u8> = parts.iter().flat_map(|part| part.content.clone()).collect();
        let size = content.len().to_string();
        let head = content.get(..HEAD).unwrap_or(&content);
        let is_it = parts.iter().all(|part| part.told)
            && announced["file_size"] == size
            && announced["md5"] == hex(&Md5::digest(&content))
            && announced["sha1"] == hex(&Sha1::digest(&content))
            && announced["md5_10m"] == hex(&Md5::digest(head))
            && announced["file_name"] == said["file_name"]
            && announced["file_type"] == said["file_type"];
        if !is_it {
            return Err(FAILED);
        }
        Ok(self.keep_file(to, said, content))
    }

    /// A file is handed over for a place.
    pub(super) fn take_file(&mut self, to: &str, said: &Value) -> Result<Value, Refusal> {
        if said["upload_id"].is_string() {
            return self.whole_file(to, said);
        }
        self.only(
            said,
            &["file_type", "srv_send_msg", "file_data", "file_name"],
        );
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
        Ok(self.keep_file(to, said, content))
    }

    fn keep_file(&mut self, to: &str, said: &Value, content: Vec<u8>) -> Value {
        if said["srv_send_msg"] != false {
            self.violations.push("srv_send_msg is a push".into());
        }
        let info = format!("info-{}", self.files.handed.len());
        let file = HandedFile {
            kind: said["file_type"].as_u64().unwrap_or(0),
            name: said["file_name"].as_str().unwrap_or_default().to_owned(),
            content,
        };
        self.files
            .handed
            .insert(info.clone(), (to.to_owned(), file));
        json!({ "file_uuid": "u", "file_info": info, "ttl": 3_600 })
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

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
