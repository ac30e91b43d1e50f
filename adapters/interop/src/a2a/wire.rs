//! What requests of A2A mean, and how answers are written: JSON-RPC with the protocol's JSON inside.
//!
//! Owns the methods that are there, the bounds of a message, and the words for tasks. Pure.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    acp::wire::is_label,
    call::{Progress, Stage},
    fault::Fault,
    passed::{METADATA, passed},
    said::label,
};

/// The longest number of a request that is a text, in bytes.
const MAX_ID: usize = 128;
/// Most parts of a message.
const MAX_PARTS: usize = 64;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Request {
    /// A message, answered when the task is over.
    Send(Asked),
    /// A message, answered by events.
    Stream(Asked),
    /// How far a task is.
    Get(TaskId),
    /// A task is given up.
    Cancel(TaskId),
    /// The events of a task from now on.
    Subscribe(TaskId),
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    /// The conversation.
    pub(super) context: String,
    /// The message in it.
    pub(super) message: String,
    /// What is to be done.
    pub(super) text: String,
    /// Nobody waits for the end.
    pub(super) at_once: bool,
    /// Through which gateways it came.
    pub(super) passed: Vec<String>,
}

/// A task by its id: the message in its conversation, so that it can be found in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskId {
    pub(super) context: String,
    pub(super) message: String,
}

impl TaskId {
    fn text(&self) -> String {
        format!("{}.{}", self.context, self.message)
    }
}

/// Reads a request: its number, and what it asks.
pub(super) fn read(
    body: &[u8],
    version: Option<&str>,
    max_task: usize,
) -> (Value, Result<Request, Fault>) {
    let Ok(said) = serde_json::from_slice::<Value>(body) else {
        let fault = Fault::new(Fault::NOT_JSON, "this is no JSON");
        return (Value::Null, Err(fault));
    };
    let id = match &said["id"] {
        Value::String(id) if id.len() > MAX_ID => Value::Null,
        id @ (Value::Number(_) | Value::String(_)) => id.clone(),
        _ => Value::Null,
    };
    let no_request = |what: &str| Err(Fault::new(Fault::NO_REQUEST, what));
    if said["jsonrpc"] != "2.0" || id.is_null() {
        return (id, no_request("a request has jsonrpc 2.0 and an id"));
    }
    let Some(method) = said["method"].as_str() else {
        return (id, no_request("there is no method"));
    };
    let empty = Map::new();
    let params = match &said["params"] {
        Value::Null => &empty,
        Value::Object(params) => params,
        _ => return (id, Err(Fault::params("params is no object"))),
    };
    (id, request(method, params, version, max_task))
}

fn request(
    method: &str,
    params: &Map<String, Value>,
    version: Option<&str>,
    max_task: usize,
) -> Result<Request, Fault> {
    let known = [
        "SendMessage",
        "SendStreamingMessage",
        "GetTask",
        "CancelTask",
        "SubscribeToTask",
        "ListTasks",
        "GetExtendedAgentCard",
    ];
    let push = method.ends_with("TaskPushNotificationConfig")
        || method == "ListTaskPushNotificationConfigs";
    if !push && !known.contains(&method) {
        return Err(Fault::new(Fault::NO_METHOD, "there is no such method"));
    }
    if !version.is_some_and(|version| version == "1" || version.starts_with("1.")) {
        let what = "only version 1.0 is spoken: send it as A2A-Version";
        return Err(Fault::new(Fault::VERSION, what));
    }
    if push {
        let what = "nobody is told by push notifications: ask for the task";
        return Err(Fault::new(Fault::NO_PUSH, what));
    }
    match method {
        "SendMessage" => asked(params, max_task).map(Request::Send),
        "SendStreamingMessage" => asked(params, max_task).map(Request::Stream),
        "GetTask" => task_id(params).map(Request::Get),
        "CancelTask" => task_id(params).map(Request::Cancel),
        "SubscribeToTask" => task_id(params).map(Request::Subscribe),
        _ => Err(Fault::new(
            Fault::NOT_SUPPORTED,
            "this agent does not do that",
        )),
    }
}

fn asked(params: &Map<String, Value>, max_task: usize) -> Result<Asked, Fault> {
    let message = params.get("message").unwrap_or(&Value::Null);
    if !message.is_object() {
        return Err(Fault::params("message is missing"));
    }
    let configuration = params.get("configuration").unwrap_or(&Value::Null);
    if !configuration["taskPushNotificationConfig"].is_null() {
        let what = "nobody is told by push notifications: ask for the task";
        return Err(Fault::new(Fault::NO_PUSH, what));
    }
    if message["taskId"]
        .as_str()
        .is_some_and(|task| !task.is_empty())
    {
        let what = "a task takes no further message: send one in its context";
        return Err(Fault::new(Fault::NOT_SUPPORTED, what));
    }
    let Some(own) = message["messageId"].as_str().filter(|id| !id.is_empty()) else {
        return Err(Fault::params("message.messageId is missing"));
    };
    let context = match message["contextId"].as_str().filter(|id| !id.is_empty()) {
        Some(context) => short(context),
        None => label(),
    };
    let text = words(&message["parts"])?;
    if text.trim().is_empty() {
        return Err(Fault::params("message.parts says nothing"));
    }
    if text.chars().nth(max_task).is_some() {
        let what = format!("the message has more than {max_task} characters");
        return Err(Fault::params(what));
    }
    Ok(Asked {
        context,
        message: short(own),
        text,
        at_once: configuration["returnImmediately"] == true,
        passed: passed(&message["metadata"][METADATA])?,
    })
}

/// An id that a key of the store can hold: itself where it is one, else what stands for it.
fn short(id: &str) -> String {
    if is_label(id) {
        return id.to_owned();
    }
    let digest = Sha256::digest(id.as_bytes());
    let digits = digest.iter().take(16).map(|byte| format!("{byte:02x}"));
    digits.collect()
}

fn words(parts: &Value) -> Result<String, Fault> {
    let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
    if parts.len() > MAX_PARTS {
        return Err(Fault::params(format!("more than {MAX_PARTS} parts")));
    }
    let mut words = Vec::new();
    for part in parts {
        if let Some(text) = part["text"].as_str() {
            words.push(text.to_owned());
        } else if !part["data"].is_null() {
            words.push(part["data"].to_string());
        } else {
            let what = "this agent takes text and data, and no files";
            return Err(Fault::new(Fault::CONTENT, what));
        }
    }
    Ok(words.join("\n"))
}

fn task_id(params: &Map<String, Value>) -> Result<TaskId, Fault> {
    let id = params.get("id").and_then(Value::as_str);
    let id = id.filter(|id| !id.is_empty());
    let Some(id) = id else {
        return Err(Fault::params("id is missing"));
    };
    match id.split_once('.') {
        Some((context, message)) if is_label(context) && is_label(message) => Ok(TaskId {
            context: context.to_owned(),
            message: message.to_owned(),
        }),
        _ => Err(Fault::new(Fault::UNKNOWN_TASK, "there is no such task")),
    }
}

/// A stage in the protocol's words.
pub(super) fn state(stage: Stage) -> &'static str {
    match stage {
        Stage::HandedIn => "TASK_STATE_SUBMITTED",
        Stage::Accepted | Stage::Working => "TASK_STATE_WORKING",
        Stage::Done | Stage::Silent => "TASK_STATE_COMPLETED",
        Stage::Refused(_) => "TASK_STATE_REJECTED",
        Stage::Cancelled => "TASK_STATE_CANCELED",
    }
}

fn status(task: &TaskId, stage: Stage) -> Value {
    let mut status = json!({ "state": state(stage) });
    if let (Stage::Refused(why), Some(status)) = (stage, status.as_object_mut()) {
        let message = json!({ "messageId": format!("{}.why", task.message), "contextId": task.context,
            "taskId": task.text(), "role": "ROLE_AGENT", "parts": [{ "text": why }] });
        status.insert("message".to_owned(), message);
    }
    status
}

fn artifact(text: &str) -> Value {
    json!({ "artifactId": "answer", "name": "answer",
        "parts": [{ "text": text, "mediaType": "text/markdown" }] })
}

/// A task as it is.
pub(super) fn task(task: &TaskId, progress: &Progress) -> Value {
    let mut value = json!({ "id": task.text(), "contextId": task.context,
        "status": status(task, progress.stage) });
    let shown = progress.stage == Stage::Done && !progress.text.is_empty();
    if let (true, Some(value)) = (shown, value.as_object_mut()) {
        value.insert("artifacts".to_owned(), json!([artifact(&progress.text)]));
    }
    value
}

/// The answer to a message.
pub(super) fn sent(id: &TaskId, progress: &Progress) -> Value {
    json!({ "task": task(id, progress) })
}

/// How a task is now.
pub(super) fn status_update(task: &TaskId, stage: Stage) -> Value {
    json!({ "statusUpdate": { "taskId": task.text(), "contextId": task.context,
        "status": status(task, stage) } })
}

/// What is new of an answer.
pub(super) fn artifact_update(task: &TaskId, text: &str, append: bool, last: bool) -> Value {
    json!({ "artifactUpdate": { "taskId": task.text(), "contextId": task.context,
        "artifact": artifact(text), "append": append, "lastChunk": last } })
}

/// An answer.
pub(super) fn reply(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// A refusal.
pub(super) fn refusal(id: &Value, fault: &Fault) -> Value {
    let error = json!({ "code": fault.code, "message": fault.message });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(method: &str, params: &Value) -> Result<Request, i32> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let (_, request) = read(body.to_string().as_bytes(), Some("1.0"), 100);
        request.map_err(|fault| fault.code)
    }

    fn message(more: &Value) -> Value {
        let mut message = json!({ "messageId": "m", "contextId": "c", "role": "ROLE_USER",
            "parts": [{ "text": "a" }, { "data": { "b": 1 } }] });
        for (key, value) in more.as_object().unwrap() {
            message[key] = value.clone();
        }
        json!({ "message": message })
    }

    #[test]
    fn a_message_is_its_words_in_its_conversation() {
        let asked = Asked {
            context: "c".into(),
            message: "m".into(),
            text: "a\n{\"b\":1}".into(),
            at_once: false,
            passed: vec!["g".into()],
        };
        let metadata = json!({ "metadata": { METADATA: ["g"], "other": 1 } });
        let got = one("SendMessage", &message(&metadata));
        assert_eq!(got, Ok(Request::Send(asked)));
        let odd = one("SendMessage", &message(&json!({ "contextId": "../好" })));
        let Ok(Request::Send(asked)) = odd else {
            panic!("{odd:?}");
        };
        assert!(is_label(&asked.context));
        let task = TaskId {
            context: "c".into(),
            message: "m".into(),
        };
        let got = one("GetTask", &json!({ "id": task.text() }));
        assert_eq!(got, Ok(Request::Get(task)));
    }

    #[test]
    fn what_is_not_there_is_told_by_its_code() {
        for (method, params, code) in [
            ("message/send", json!({}), Fault::NO_METHOD),
            ("ListTasks", json!({}), Fault::NOT_SUPPORTED),
            ("GetExtendedAgentCard", json!({}), Fault::NOT_SUPPORTED),
            (
                "CreateTaskPushNotificationConfig",
                json!({}),
                Fault::NO_PUSH,
            ),
            ("ListTaskPushNotificationConfigs", json!({}), Fault::NO_PUSH),
            ("SendMessage", json!({}), Fault::BAD_PARAMS),
            (
                "SendMessage",
                message(&json!({ "messageId": "" })),
                Fault::BAD_PARAMS,
            ),
            (
                "SendMessage",
                message(&json!({ "parts": [] })),
                Fault::BAD_PARAMS,
            ),
            (
                "SendMessage",
                message(&json!({ "parts": [{ "url": "x" }] })),
                Fault::CONTENT,
            ),
            (
                "SendMessage",
                message(&json!({ "metadata": { METADATA: 7 } })),
                Fault::BAD_PARAMS,
            ),
            (
                "SendMessage",
                message(&json!({ "taskId": "c.m" })),
                Fault::NOT_SUPPORTED,
            ),
            ("GetTask", json!({}), Fault::BAD_PARAMS),
            ("GetTask", json!({ "id": "../x" }), Fault::UNKNOWN_TASK),
        ] {
            assert_eq!(one(method, &params), Err(code), "{method} {params}");
        }
        let body =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": { "id": "a.b" } });
        for version in [None, Some("0.3"), Some("10.0")] {
            let (_, old) = read(body.to_string().as_bytes(), version, 100);
            assert_eq!(old.unwrap_err().code, Fault::VERSION);
        }
        let (id, broken) = read(b"{", Some("1.0"), 100);
        assert_eq!(
            (id, broken.unwrap_err().code),
            (Value::Null, Fault::NOT_JSON)
        );
    }

    proptest! {
        #[test]
        fn no_body_is_a_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&body, Some("1.0"), 100);
        }
    }
}
