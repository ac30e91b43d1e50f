//! The responses format, `POST /v1/responses`: what a request must be, and the events of an answer.
//!
//! It refuses what the service refuses: parameters and items of other formats, calls and results that do not belong
//! together, reasoning that it did not seal itself, pictures and files that are none.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde_json::{Value, json};

use super::script::Called;

/// What stands before reasoning that only this provider can read.
const SEAL: &str = "sealed:";
/// Parameters that are known.
const PARAMETERS: [&str; 10] = [
    "model",
    "instructions",
    "input",
    "tools",
    "stream",
    "store",
    "include",
    "reasoning",
    "max_output_tokens",
    "temperature",
];

/// Why a request is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) message: String,
    pub(super) param: String,
    pub(super) code: Option<&'static str>,
}

fn refuse<T>(param: &str, message: String) -> Result<T, Refusal> {
    Err(Refusal {
        message,
        param: param.to_owned(),
        code: None,
    })
}

/// Whether reasoning is to come sealed.
pub(super) fn wants_sealed(body: &Value) -> bool {
    let wanted = body["include"].as_array().into_iter().flatten();
    wanted
        .into_iter()
        .any(|one| one == "reasoning.encrypted_content")
}

/// Looks at a request as the service does.
pub(super) fn check(body: &Value) -> Result<(), Refusal> {
    let Some(object) = body.as_object() else {
        return refuse(
            "body",
            "We could not parse the JSON body of your request.".into(),
        );
    };
    for key in object.keys() {
        if !PARAMETERS.contains(&key.as_str()) {
            return Err(Refusal {
                message: format!("Unknown parameter: '{key}'."),
                param: key.clone(),
                code: Some("unknown_parameter"),
            });
        }
    }
    if body["model"].as_str().is_none_or(str::is_empty) {
        return refuse("model", "Missing required parameter: 'model'.".into());
    }
    if body["max_output_tokens"]
        .as_u64()
        .is_some_and(|most| most < 16)
    {
        return refuse("max_output_tokens", "Expected a value >= 16.".into());
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        let named = tool["name"].as_str().is_some_and(|name| !name.is_empty());
        if tool["type"] != "function" || !named || !tool["parameters"].is_object() {
            return refuse("tools", format!("Invalid tool: {tool}"));
        }
        if tool["strict"] != false {
            return refuse("tools", "Invalid schema for a strict function.".into());
        }
    }
    let Some(input) = body["input"].as_array().filter(|input| !input.is_empty()) else {
        return refuse("input", "Missing required parameter: 'input'.".into());
    };
    check_items(input, body["store"] == false)
}

fn check_items(input: &[Value], stateless: bool) -> Result<(), Refusal> {
    let mut open: Vec<&str> = Vec::new();
    let mut answered: Vec<&str> = Vec::new();
    for (at, item) in input.iter().enumerate() {
        let place = format!("input[{at}]");
        let word = |key: &str| item[key].as_str().filter(|word| !word.is_empty());
        let missing = |key: &str| {
            refuse(
                &format!("{place}.{key}"),
                format!("Missing required parameter: '{place}.{key}'."),
            )
        };
        match item["type"].as_str().unwrap_or("message") {
            "message" => check_message(item, &place)?,
            "function_call" => {
                for key in ["call_id", "name", "arguments"] {
                    if word(key).is_none() {
                        return missing(key);
                    }
                }
                open.extend(word("call_id"));
            }
            "function_call_output" => {
                let Some(call) = word("call_id") else {
                    return missing("call_id");
                };
                if !item["output"].is_string() {
                    return missing("output");
                }
                if !open.contains(&call) || answered.contains(&call) {
                    let message =
                        format!("No tool call found for function call output with call_id {call}.");
                    return refuse("input", message);
                }
                answered.push(call);
            }
            "reasoning" => {
                if word("id").is_none() || !item["summary"].is_array() {
                    return missing("id");
                }
                let sealed = word("encrypted_content");
                if stateless && !sealed.is_some_and(|sealed| sealed.starts_with(SEAL)) {
                    return Err(Refusal {
                        message: "The encrypted content could not be verified.".into(),
                        param: place,
                        code: Some("invalid_encrypted_content"),
                    });
                }
                let next = input.get(at + 1).map(|next| &next["type"]);
                if !next.is_some_and(|next| {
                    ["message", "function_call", "reasoning"]
                        .iter()
                        .any(|kind| next == kind)
                }) {
                    let message = "Item of type 'reasoning' was provided without its required following item.";
                    return refuse("input", message.into());
                }
            }
            other => {
                return refuse(
                    &format!("{place}.type"),
                    format!("Invalid value: '{other}'."),
                );
            }
        }
    }
    match open.iter().find(|call| !answered.contains(call)) {
        Some(call) => refuse(
            "input",
            format!("No tool output found for function call {call}."),
        ),
        None => Ok(()),
    }
}

fn check_message(item: &Value, place: &str) -> Result<(), Refusal> {
    let role = item["role"].as_str().unwrap_or_default();
    if !["user", "assistant", "system", "developer"].contains(&role) {
        return refuse(
            &format!("{place}.role"),
            format!("Invalid value: '{role}'."),
        );
    }
    if item["content"].is_string() {
        return Ok(());
    }
    let Some(parts) = item["content"].as_array().filter(|parts| !parts.is_empty()) else {
        return refuse(
            &format!("{place}.content"),
            "Invalid type for content.".into(),
        );
    };
    for part in parts {
        let kind = part["type"].as_str().unwrap_or_default();
        let fine = match (role, kind) {
            ("assistant", "output_text") => part["text"].is_string(),
            ("assistant", _) => false,
            (_, "input_text") => part["text"].is_string(),
            (_, "input_image") => {
                let pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"];
                is_data(&part["image_url"], &pictures)
            }
            (_, "input_file") => {
                part["filename"].is_string() && is_data(&part["file_data"], &["application/pdf"])
            }
            _ => false,
        };
        if !fine {
            return refuse(
                &format!("{place}.content"),
                format!("Invalid value: '{kind}'."),
            );
        }
    }
    Ok(())
}

/// Whether a value is a `data:` URL in base64 of one of these types.
fn is_data(url: &Value, types: &[&str]) -> bool {
    let url = url.as_str().unwrap_or_default().strip_prefix("data:");
    let Some((mime, data)) = url.and_then(|url| url.split_once(";base64,")) else {
        return false;
    };
    types.contains(&mime) && STANDARD.decode(data).is_ok_and(|bytes| !bytes.is_empty())
}

/// An answer that is to be told.
pub(super) struct Answer<'a> {
    pub(super) thought: &'a [String],
    /// The thought comes sealed, too.
    pub(super) sealed: bool,
    pub(super) words: &'a [String],
    pub(super) calls: &'a [Called],
}

impl Answer<'_> {
    /// The items, each as it is in the end.
    fn items(&self) -> Vec<Value> {
        let mut items = Vec::new();
        if !self.thought.is_empty() {
            let thought = self.thought.concat();
            let mut item = json!({"type": "reasoning", "id": "rs_0",
                "summary": [{"type": "summary_text", "text": thought}]});
            if self.sealed {
                item["encrypted_content"] = format!("{SEAL}{thought}").into();
            }
            items.push(item);
        }
        if !self.words.is_empty() {
            items.push(json!({"type": "message", "id": "msg_0", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": self.words.concat(), "annotations": []}]}));
        }
        items.extend(self.calls.iter().map(|call| {
            json!({"type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id,
                "status": "completed", "name": call.name, "arguments": call.arguments})
        }));
        items
    }

    fn response(&self) -> Value {
        let told = self.words.len();
        json!({"id": "resp", "object": "response", "status": "completed", "error": null,
            "incomplete_details": null, "output": self.items(), "usage": {"input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 4}, "output_tokens": told, "total_tokens": 10 + told}})
    }

    /// As one JSON object.
    pub(super) fn whole(&self) -> Bytes {
        Bytes::from(self.response().to_string())
    }

    /// As events; without the end if it is not `complete`.
    pub(super) fn events(&self, complete: bool) -> Vec<Bytes> {
        let started =
            json!({"id": "resp", "object": "response", "status": "in_progress", "output": []});
        let mut slices = vec![
            event(json!({"type": "response.created", "response": started})),
            event(json!({"type": "response.in_progress", "response": started})),
            Bytes::from_static(b": keep-alive\n\n"),
        ];
        for (at, item) in self.items().into_iter().enumerate() {
            let mut begun = item.clone();
            begun["status"] = "in_progress".into();
            for key in ["content", "summary", "encrypted_content"] {
                if begun[key].is_array() {
                    begun[key] = json!([]);
                }
            }
            if begun["arguments"].is_string() {
                begun["arguments"] = "".into();
            }
            slices.push(event(
                json!({"type": "response.output_item.added", "output_index": at, "item": begun}),
            ));
            slices.extend(self.deltas(at, &item));
            slices.push(event(
                json!({"type": "response.output_item.done", "output_index": at, "item": item}),
            ));
        }
        if complete {
            slices.push(event(
                json!({"type": "response.completed", "response": self.response()}),
            ));
        }
        slices
    }

    /// The pieces of an item.
    fn deltas(&self, at: usize, item: &Value) -> Vec<Bytes> {
        let piece = |kind: &str, delta: &str| {
            event(
                json!({"type": format!("response.{kind}.delta"), "item_id": item["id"],
                "output_index": at, "content_index": 0, "summary_index": 0, "delta": delta}),
            )
        };
        match item["type"].as_str().unwrap_or_default() {
            "reasoning" => {
                let thought = self.thought.iter();
                thought
                    .map(|more| piece("reasoning_summary_text", more))
                    .collect()
            }
            "message" => {
                let words = self.words.iter();
                words.map(|word| piece("output_text", word)).collect()
            }
            _ => {
                let arguments = item["arguments"].as_str().unwrap_or_default();
                let signs: Vec<char> = arguments.chars().collect();
                let halves = signs.chunks(signs.len().div_ceil(2).max(1));
                let halves = halves.map(|half| half.iter().collect::<String>());
                let mut pieces: Vec<Bytes> = halves
                    .map(|half| piece("function_call_arguments", &half))
                    .collect();
                pieces.push(event(
                    json!({"type": "response.function_call_arguments.done",
                    "item_id": item["id"], "output_index": at, "arguments": arguments}),
                ));
                pieces
            }
        }
    }
}

fn event(value: Value) -> Bytes {
    let name = value["type"].as_str().unwrap_or_default();
    Bytes::from(format!("event: {name}\ndata: {value}\n\n"))
}
