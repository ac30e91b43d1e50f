//! What lines mean, and how answers are written.
//!
//! Owns the form of requests and their bounds. Pure.

use serde_json::{Map, Value, json};

use crate::{fault::Fault, passed::passed};

/// The longest line of a caller, in bytes.
pub(crate) const MAX_LINE: usize = 1024 * 1024;
/// The longest line before he is known, in bytes.
pub(crate) const MAX_FIRST: usize = 16 * 1024;
/// Longest session or message, in bytes.
const MAX_LABEL: usize = 64;
/// Longest number of a request that is a text, in bytes.
const MAX_ID: usize = 128;

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Request {
    /// Who it is.
    Auth(String),
    /// Which agents there are.
    List,
    /// Something is to be done.
    Call(Asked),
    /// The call of this number is given up.
    Cancel(Value),
    /// What is said in this session is told.
    Watch(String),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    /// By whom; empty for whoever is there.
    pub(crate) agent: String,
    /// The task, in words.
    pub(crate) task: String,
    /// The answer is told piece by piece.
    pub(crate) stream: bool,
    /// The session that it belongs to, if the caller says so.
    pub(crate) session: Option<String>,
    /// The message that it is, if the caller says so.
    pub(crate) message: Option<String>,
    /// Through which gateways it came.
    pub(crate) passed: Vec<String>,
}

/// Reads a line: the number of the request, null for one that wants no answer, and what it asks.
pub(crate) fn read(line: &[u8], max_task: usize) -> (Value, Result<Request, Fault>) {
    let Ok(said) = serde_json::from_slice::<Value>(line) else {
        let fault = Fault::new(Fault::NOT_JSON, "this is no JSON");
        return (Value::Null, Err(fault));
    };
    let no_request = |what: &str| Fault::new(Fault::NO_REQUEST, what);
    let id = match &said["id"] {
        id @ Value::Null => id.clone(),
        Value::String(id) if id.len() > MAX_ID => {
            return (Value::Null, Err(no_request("the id is too long")));
        }
        id @ (Value::Number(_) | Value::String(_)) => id.clone(),
        _ => return (Value::Null, Err(no_request("an id is a number or a text"))),
    };
    let Some(method) = said["method"].as_str() else {
        return (id, Err(no_request("there is no method")));
    };
    let empty = Map::new();
    let params = match &said["params"] {
        Value::Null => &empty,
        Value::Object(params) => params,
        _ => return (id, Err(Fault::params("params is no object"))),
    };
    let request = request(method, params, max_task);
    (id, request)
}

fn request(method: &str, params: &Map<String, Value>, max_task: usize) -> Result<Request, Fault> {
    match method {
        "auth" => Ok(Request::Auth(text(params, "token")?.unwrap_or_default())),
        "agent/list" => Ok(Request::List),
        "agent/call" => asked(params, max_task).map(Request::Call),
        "agent/cancel" => match params.get("id") {
            Some(id) => Ok(Request::Cancel(id.clone())),
            None => Err(Fault::params("id is missing")),
        },
        "agent/watch" => match label(params, "session")? {
            Some(session) => Ok(Request::Watch(session)),
            None => Err(Fault::params("session is missing")),
        },
        _ => Err(Fault::new(Fault::NO_METHOD, "there is no such method")),
    }
}

fn asked(params: &Map<String, Value>, max_task: usize) -> Result<Asked, Fault> {
    if text(params, "action")?.is_some_and(|action| !action.is_empty()) {
        return Err(Fault::params(
            "this agent has no actions: leave action empty",
        ));
    }
    let args = match params.get("args") {
        None | Some(Value::Null) => return Err(Fault::params("args.task is missing")),
        Some(Value::Object(args)) => args,
        Some(_) => return Err(Fault::params("args is no object")),
    };
    let task = text(args, "task")?.unwrap_or_default();
    if task.trim().is_empty() {
        return Err(Fault::params("args.task is missing"));
    }
    let more: Map<String, Value> = args
        .iter()
        .filter(|(name, _)| *name != "task")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let task = if more.is_empty() {
        task
    } else {
        format!("{task}\n\n{}", Value::Object(more))
    };
    if task.chars().nth(max_task).is_some() {
        let what = format!("the task has more than {max_task} characters");
        return Err(Fault::params(what));
    }
    Ok(Asked {
        agent: text(params, "agent")?.unwrap_or_default(),
        task,
        stream: params.get("stream").and_then(Value::as_bool) == Some(true),
        session: label(params, "session")?,
        message: label(params, "message")?,
        passed: passed(params.get("passed").unwrap_or(&Value::Null))?,
    })
}

fn text(params: &Map<String, Value>, name: &str) -> Result<Option<String>, Fault> {
    match params.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Fault::params(format!("{name} is no text"))),
    }
}

/// A text that a key of the store can hold.
fn label(params: &Map<String, Value>, name: &str) -> Result<Option<String>, Fault> {
    let label = text(params, name)?.filter(|label| !label.is_empty());
    match label {
        Some(label) if !is_label(&label) => {
            let what = format!("{name} has letters, digits, _ and -, at most {MAX_LABEL} of them");
            Err(Fault::params(what))
        }
        label => Ok(label),
    }
}

/// Whether a text may be the name of a session or a message.
pub(crate) fn is_label(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=MAX_LABEL).contains(&text.len()) && text.bytes().all(fits)
}

/// The line of an answer.
pub(crate) fn reply(id: &Value, result: &Value) -> String {
    line(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// The line of a refusal.
pub(crate) fn refusal(id: &Value, fault: &Fault) -> String {
    let error = json!({ "code": fault.code, "message": fault.message });
    line(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}

/// The line of something that nobody asked.
pub(crate) fn notification(method: &str, params: &Value) -> String {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

fn line(value: &Value) -> String {
    let mut line = value.to_string();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn code(line: &str) -> i32 {
        read(line.as_bytes(), 100).1.unwrap_err().code
    }

    #[test]
    fn a_call_is_words_with_what_is_given_beside() {
        let line = r#"{"jsonrpc":"2.0","id":7,"method":"agent/call","params":{"agent":"a","action":"",
            "args":{"task":"add","b":2},"stream":true,"session":"s-1","passed":["g"]}}"#;
        let (id, request) = read(line.as_bytes(), 100);
        assert_eq!(id, json!(7));
        let asked = Asked {
            agent: "a".into(),
            task: "add\n\n{\"b\":2}".into(),
            stream: true,
            session: Some("s-1".into()),
            message: None,
            passed: vec!["g".into()],
        };
        assert_eq!(request, Ok(Request::Call(asked)));
    }

    #[test]
    fn what_is_no_request_is_told_why() {
        assert_eq!(code("nonsense"), Fault::NOT_JSON);
        for line in ["null", "[]", "{}", r#"{"id":{},"method":"agent/list"}"#] {
            assert_eq!(code(line), Fault::NO_REQUEST, "{line}");
        }
        assert_eq!(code(r#"{"id":1,"method":"x"}"#), Fault::NO_METHOD);
        for params in [
            "7",
            "{}",
            r#"{"args":7}"#,
            r#"{"args":{}}"#,
            r#"{"args":{"task":" "}}"#,
            r#"{"args":{"task":7}}"#,
            r#"{"args":{"task":"x"},"session":"../x"}"#,
            r#"{"args":{"task":"x"},"message":7}"#,
            r#"{"args":{"task":"x"},"action":"fly"}"#,
            r#"{"args":{"task":"x"},"passed":"g"}"#,
        ] {
            let line = format!(r#"{{"id":1,"method":"agent/call","params":{params}}}"#);
            assert_eq!(code(&line), Fault::BAD_PARAMS, "{params}");
        }
        let long = format!(
            r#"{{"id":1,"method":"agent/call","params":{{"args":{{"task":"{}"}}}}}}"#,
            "x".repeat(101)
        );
        assert_eq!(code(&long), Fault::BAD_PARAMS);
    }

    proptest! {
        #[test]
        fn no_line_is_a_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&line, 100);
        }

        #[test]
        fn no_json_is_a_panic(id in "[0-9\"a]{0,3}", method in "(auth|agent/(list|call|cancel|watch))",
            params in r#"(\{("(task|args|session|id|token)":(1|"x"|\{"task":"y"\}),?){0,3}\}|7|null)"#) {
            let line = format!(r#"{{"id":{id},"method":"{method}","params":{params}}}"#);
            let _ = read(line.as_bytes(), 100);
        }
    }
}
