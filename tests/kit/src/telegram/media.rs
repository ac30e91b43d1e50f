//! Files that the bot sends.
//!
//! Owns what the service takes as what: kinds, sizes, and albums.

use serde_json::Value;

use super::{State, answer::Refusal, api::told, text::Message};
use crate::upload::Upload;

/// The largest file that a bot can send, in bytes, and the largest photo and sticker.
const LARGEST: usize = 50 << 20;
const LARGEST_PHOTO: usize = 10 << 20;
const LARGEST_STICKER: usize = 512 << 10;

/// The field that has the file of a call; `None` if the call sends none.
pub(super) fn field(method: &str) -> Option<&'static str> {
    Some(match method {
        "sendDocument" => "document",
        "sendPhoto" => "photo",
        "sendAnimation" => "animation",
        "sendSticker" => "sticker",
        "sendVoice" => "voice",
        "sendAudio" => "audio",
        "sendVideo" => "video",
        _ => return None,
    })
}

/// Whether a file can be shown as what it is said to be, by its first bytes.
fn check(shown: &str, file: &Upload) -> Result<(), Refusal> {
    let content = &file.content;
    if content.is_empty() {
        return Err(Refusal::bad("file must be non-empty"));
    }
    let largest = match shown {
        "photo" => LARGEST_PHOTO,
        "sticker" => LARGEST_STICKER,
        _ => LARGEST,
    };
    if content.len() > largest {
        return Err(Refusal {
            code: 413,
            description: "Request Entity Too Large".into(),
            parameters: Value::Null,
        });
    }
    let begins = |with: &[u8]| content.starts_with(with);
    let is_webp = begins(b"RIFF") && content.get(8..12) == Some(b"WEBP".as_slice());
    let fits = match shown {
        "photo" => begins(b"\x89PNG") || begins(b"\xff\xd8\xff") || is_webp,
        "animation" => begins(b"GIF8"),
        "sticker" => is_webp,
        "voice" => begins(b"OggS") || begins(b"ID3"),
        "audio" => begins(b"ID3") || begins(b"\xff\xfb"),
        "video" => content.get(4..8) == Some(b"ftyp".as_slice()),
        _ => true,
    };
    if fits {
        Ok(())
    } else {
        Err(Refusal::bad("IMAGE_PROCESS_FAILED"))
    }
}

impl State {
    /// A message that is one file.
    pub(super) fn media(
        &mut self,
        method: &str,
        chat: i64,
        parameters: &Value,
    ) -> Result<Value, Refusal> {
        let shown = field(method).unwrap_or("document");
        self.chats
            .writable(chat, parameters["message_thread_id"].as_i64())?;
        let file = self.uploaded.remove(shown);
        let file = file.ok_or_else(|| Refusal::bad("wrong file identifier/HTTP URL specified"))?;
        check(shown, &file)?;
        let reply_to = self.replied(parameters)?;
        Ok(self.shown(chat, parameters, (shown, file), (None, reply_to)))
    }

    /// Messages that are shown as one: photos and videos, or documents alone.
    pub(super) fn album(&mut self, chat: i64, parameters: &Value) -> Result<Value, Refusal> {
        self.chats
            .writable(chat, parameters["message_thread_id"].as_i64())?;
        let items = parameters["media"].as_array().cloned().unwrap_or_default();
        if !(2..=10).contains(&items.len()) {
            return Err(Refusal::bad("wrong number of media in the album"));
        }
        let documents = items.iter().filter(|item| item["type"] == "document");
        if ![0, items.len()].contains(&documents.count()) {
            return Err(Refusal::bad(
                "documents can't be mixed with other media types",
            ));
        }
        let reply_to = self.replied(parameters)?;
        let mut files = Vec::new();
        for item in &items {
            let shown = match item["type"].as_str() {
                Some("photo") => "photo",
                Some("video") => "video",
                Some("document") => "document",
                _ => return Err(Refusal::bad("type of file mismatch")),
            };
            let named = item["media"].as_str().unwrap_or_default();
            let file = named
                .strip_prefix("attach://")
                .and_then(|name| self.uploaded.remove(name));
            let file = file.ok_or_else(|| Refusal::bad("wrong file identifier specified"))?;
            check(shown, &file)?;
            files.push((shown, file));
        }
        let first = self.last_message + 1;
        let told = files
            .into_iter()
            .map(|file| self.shown(chat, parameters, file, (Some(first), reply_to)));
        Ok(told.collect())
    }

    fn shown(
        &mut self,
        chat: i64,
        parameters: &Value,
        (shown, file): (&'static str, Upload),
        (album, reply_to): (Option<i64>, Option<i64>),
    ) -> Value {
        self.last_message += 1;
        let message = Message {
            id: self.last_message,
            chat,
            topic: parameters["message_thread_id"].as_i64(),
            text: String::new(),
            entities: Vec::new(),
            buttons: Vec::new(),
            file: Some((file.name, file.content)),
            shown: Some(shown),
            album,
            reply_to,
            edits: 0,
            deleted: false,
        };
        let told = told(&message);
        self.messages.push(message);
        told
    }
}
