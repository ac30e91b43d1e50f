//! What a request says, in whatever of the three formats it is written.
//!
//! A body with `input` is one of responses, one with `system` or with blocks for contents is one of messages.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

/// Nothing.
const NULL: &Value = &Value::Null;

/// The text of the last user message; empty if there is none.
pub(super) fn last_user_text(body: &Value) -> &str {
    let asked = |one: &&Value| one["role"] == "user" && !words(&one["content"]).is_empty();
    let last = entries(body).into_iter().rev().find(asked);
    last.map_or("", |one| words(&one["content"]))
}

/// Messages as `role: text`.
pub(super) fn spoken(body: &Value) -> Vec<String> {
    let system = [&body["system"], &body["instructions"]];
    let system = system.into_iter().map(words);
    let system = system.filter(|text| !text.is_empty());
    let system = system.map(|text| format!("system: {text}"));
    let entries = entries(body).into_iter();
    let said = entries.filter(|one| one["role"].is_string() && one["role"] != "tool");
    let said = said.map(|one| format!("{}: {}", text(one, "role"), words(&one["content"])));
    system.chain(said).collect()
}

/// Results as `id: text`.
pub(super) fn results(body: &Value) -> Vec<String> {
    let mut results = Vec::new();
    for one in entries(body) {
        if one["role"] == "tool" {
            results.push(format!(
                "{}: {}",
                text(one, "tool_call_id"),
                words(&one["content"])
            ));
        }
        if one["type"] == "function_call_output" {
            results.push(format!("{}: {}", text(one, "call_id"), text(one, "output")));
        }
        for block in parts(&one["content"], "tool_result") {
            results.push(format!(
                "{}: {}",
                text(block, "tool_use_id"),
                text(block, "content")
            ));
        }
    }
    results
}

/// Calls as `id: name arguments`.
pub(super) fn called(body: &Value) -> Vec<String> {
    let mut calls = Vec::new();
    for one in entries(body) {
        for call in one["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let (name, arguments) = (text(function, "name"), text(function, "arguments"));
            calls.push(format!("{}: {name} {arguments}", text(call, "id")));
        }
        if one["type"] == "function_call" {
            let (name, arguments) = (text(one, "name"), text(one, "arguments"));
            calls.push(format!("{}: {name} {arguments}", text(one, "call_id")));
        }
        for block in parts(&one["content"], "tool_use") {
            let (id, name) = (text(block, "id"), text(block, "name"));
            calls.push(format!("{id}: {name} {}", block["input"]));
        }
    }
    calls
}

/// Files with their media types.
pub(super) fn files(body: &Value) -> Vec<(String, Vec<u8>)> {
    let entries = entries(body).into_iter();
    let parts = entries.flat_map(|one| one["content"].as_array().into_iter().flatten());
    parts.filter_map(file).collect()
}

fn file(part: &Value) -> Option<(String, Vec<u8>)> {
    let url = [
        &part["image_url"]["url"],
        &part["image_url"],
        &part["file"]["file_data"],
        &part["file_data"],
    ];
    let url = url.into_iter().find_map(Value::as_str);
    let (mime, data) = match (url, &part["source"], &part["input_audio"]) {
        (Some(url), ..) => url.strip_prefix("data:")?.split_once(";base64,")?,
        (None, source, _) if source.is_object() => {
            (text(source, "media_type"), text(source, "data"))
        }
        (None, _, sound) if sound.is_object() => (text(sound, "format"), text(sound, "data")),
        _ => return None,
    };
    let bytes = STANDARD.decode(data).expect("base64");
    assert!(!bytes.is_empty(), "an empty file");
    Some((mime.to_owned(), bytes))
}

/// The tools that may be called.
pub(super) fn offered(body: &Value) -> Vec<String> {
    if body["tool_choice"] == "none" || body["tool_choice"]["type"] == "none" {
        return Vec::new();
    }
    let tools = body["tools"].as_array().into_iter().flatten();
    let name = |tool: &Value| {
        let name = tool["name"].as_str().or(tool["function"]["name"].as_str());
        name.unwrap_or_default().to_owned()
    };
    tools.map(name).collect()
}

/// The messages or items of a request.
fn entries(body: &Value) -> Vec<&Value> {
    let list = match &body["messages"] {
        Value::Array(list) => Some(list),
        _ => body["input"].as_array(),
    };
    list.into_iter().flatten().collect()
}

/// The words of a content: all of it, or its last part of text.
fn words(content: &Value) -> &str {
    let kinds = ["text", "input_text", "output_text"];
    let parts = content.as_array().into_iter().flatten();
    let mut texts = parts.filter(|part| kinds.iter().any(|kind| part["type"] == *kind));
    let part = texts.next_back().map_or(NULL, |part| &part["text"]);
    content.as_str().or(part.as_str()).unwrap_or_default()
}

fn parts<'a>(content: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let parts = content.as_array().into_iter().flatten();
    parts.filter(move |part| part["type"] == kind)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}
