//! Files: what the implementation knows of those in messages, and those that are sent.
//!
//! Owns the calls about them. A file that is sent comes in the call itself; nothing is read from a disk.

use std::collections::HashMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{FakeOneBot, Reply, Shared, Target, api::id};

/// The files of an implementation.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) known: HashMap<String, Value>,
    pub(super) sent: Vec<(String, String, Vec<u8>)>,
    pub(super) refuses: bool,
}

impl FakeOneBot {
    /// What the implementation says of a file that is known by this name.
    pub fn file(&self, name: &str, told: Value) {
        self.shared.media.lock().known.insert(name.to_owned(), told);
    }

    /// The implementation takes no files.
    pub fn refuse_files(&self) {
        self.shared.media.lock().refuses = true;
    }

    /// To whom it showed that the bot is typing, in order.
    #[must_use]
    pub fn typing(&self) -> Vec<String> {
        self.shared.typing.lock().clone()
    }

    /// The files that were sent: where to, name, content.
    #[must_use]
    pub fn files(&self) -> Vec<(String, String, Vec<u8>)> {
        self.shared.media.lock().sent.clone()
    }
}

/// Answers a call about a file; `None` for any other action.
pub(super) fn call(
    shared: &Shared,
    action: &str,
    params: &Value,
) -> Option<Result<Value, (i64, String)>> {
    let mut files = shared.media.lock();
    let by = match action {
        "get_image" | "get_record" => "file",
        "get_file" | "get_group_file_url" => "file_id",
        "upload_group_file" | "upload_private_file" if !files.refuses => {
            let taken = take(&mut files, action, params);
            drop(files);
            if taken.is_ok() {
                shared.record(shown(shared, action, params));
            }
            return Some(taken);
        }
        _ => return None,
    };
    let name = params[by].as_str().unwrap_or_default();
    let known = files.known.get(name).cloned();
    Some(known.ok_or_else(|| (1200, "file not found".into())))
}

/// A file that was given, as people see it: a message of its own.
fn shown(shared: &Shared, action: &str, params: &Value) -> Reply {
    let target = match id(&params["group_id"]) {
        Some(group) => Target::Group(group),
        None => Target::Private {
            user: id(&params["user_id"]).unwrap_or_default(),
            group: None,
        },
    };
    let data = json!({ "file": params["file"], "name": params["name"] });
    Reply {
        action: action.to_owned(),
        target,
        segments: vec![json!({ "type": "file", "data": data })],
        params: params.clone(),
        message_id: shared.new_id(),
    }
}

fn take(files: &mut Files, action: &str, params: &Value) -> Result<Value, (i64, String)> {
    let bad = |why: &str| (1400, why.to_owned());
    let to = match action {
        "upload_group_file" => ("group", &params["group_id"]),
        _ => ("private", &params["user_id"]),
    };
    let to = id(to.1).map(|number| format!("{} {number}", to.0));
    let to = to.ok_or_else(|| bad("nobody is named"))?;
    let name = params["name"].as_str().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| bad("name is missing"))?;
    let encoded = params["file"].as_str().unwrap_or_default();
    let encoded = encoded.strip_prefix("base64://");
    let content = encoded.and_then(|encoded| STANDARD.decode(encoded).ok());
    let content = content.ok_or_else(|| bad("the file cannot be found"))?;
    files.sent.push((to, name.to_owned(), content));
    Ok(json!({ "file_id": "/1" }))
}

/// What is wrong with the media of a message: a file that is not in it, or what has to stand alone and does not.
pub(super) fn wrong(segments: &[Value]) -> Option<&'static str> {
    for segment in segments {
        let kind = segment["type"].as_str().unwrap_or_default();
        if !matches!(kind, "image" | "record" | "video") {
            continue;
        }
        let file = segment["data"]["file"].as_str().unwrap_or_default();
        let content = file.strip_prefix("base64://").map(|it| STANDARD.decode(it));
        if !matches!(content, Some(Ok(content)) if !content.is_empty()) {
            return Some("the file cannot be found");
        }
        if kind != "image" && segments.len() > 1 {
            return Some("a recording or video stands alone");
        }
    }
    None
}
