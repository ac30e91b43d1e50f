//! The actions that the gateway may call.
//!
//! Owns checking a call, the record of sends and the scripted faults. A message that comes as a string
//! is parsed for codes, as the standard says.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Shared, events, history, media, members};

/// What happens at a send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// Nothing is delivered, and the answer says so.
    Fail {
        /// Result code.
        retcode: i64,
        /// Error text.
        message: String,
    },
    /// It is delivered; the answer comes so much later. Other calls are answered meanwhile.
    Delay(Duration),
    /// It is delivered and never answered.
    Silent,
    /// It is delivered, but the answer says that it timed out.
    TimeOut,
    /// It is delivered and the connection breaks before the answer.
    Drop,
    /// Nothing is delivered, and the connection breaks.
    Cut,
    /// Nothing is delivered, and the answer cannot be read.
    Garbled,
    /// Nothing is delivered, and by HTTP this status says nothing of why; over a socket no answer comes.
    Status(u16),
}

/// Where a send goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A group.
    Group(String),
    /// A person, perhaps through a common group.
    Private {
        /// The person.
        user: String,
        /// The common group.
        group: Option<String>,
    },
}

/// One send that the gateway asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The action.
    pub action: String,
    /// Where to.
    pub target: Target,
    /// What, as segments.
    pub segments: Vec<Value>,
    /// The parameters as they came.
    pub params: Value,
    /// The id that the new message got; 0 if it was not delivered.
    pub message_id: i64,
}

impl Reply {
    /// The visible text.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.data("text", "text");
        texts.iter().filter_map(|text| text.as_str()).collect()
    }

    /// The message that it quotes, as the value that came.
    #[must_use]
    pub fn quotes(&self) -> Option<Value> {
        self.data("reply", "id").first().map(|id| (*id).clone())
    }

    /// Whom it mentions.
    #[must_use]
    pub fn mentions(&self) -> Vec<String> {
        self.data("at", "qq").into_iter().filter_map(id).collect()
    }

    /// Whether people see it.
    #[must_use]
    pub fn delivered(&self) -> bool {
        self.message_id != 0
    }

    fn data(&self, kind: &str, name: &str) -> Vec<&Value> {
        let of_kind = self
            .segments
            .iter()
            .filter(|segment| segment["type"] == kind);
        of_kind.map(|segment| &segment["data"][name]).collect()
    }
}

/// What the client does after a call.
pub(super) enum Then {
    /// Answer, perhaps later.
    Answer(Value, Duration),
    /// Say nothing.
    Nothing,
    /// Break the connection.
    Break,
    /// Answer with what is no answer.
    Garble,
    /// Answer with a status, where there is such a thing.
    Status(u16),
}

/// Carries out one call.
pub(super) fn call(shared: &Shared, frame: &str) -> Then {
    let Ok(call) = serde_json::from_str::<Value>(frame) else {
        return Then::Answer(failed(1400, "not JSON", &Value::Null), Duration::ZERO);
    };
    let (echo, params) = (&call["echo"], &call["params"]);
    let name = call["action"].as_str().unwrap_or_default();
    shared.called.lock().push(name.to_owned());
    shared.replied.notify_waiters();
    let now = |answer: Value| Then::Answer(answer, Duration::ZERO);
    let known = history::call(shared, name, params);
    let known = known.or_else(|| members::call(shared, name, params));
    if let Some(answer) = known.or_else(|| media::call(shared, name, params)) {
        return now(match answer {
            Ok(data) => ok(data, echo),
            Err((1, _)) => json!({ "status": "async", "retcode": 1, "data": null, "echo": echo }),
            Err((retcode, why)) => failed(retcode, &why, echo),
        });
    }
    match name {
        action @ ("send_group_msg"
        | "send_private_msg"
        | "send_msg"
        | "send_group_forward_msg"
        | "send_private_forward_msg") => send(shared, action, params, echo),
        "set_friend_add_request" | "set_group_add_request" => {
            shared.requests.lock().push(params.clone());
            let known = params["flag"].is_string() && params["approve"].is_boolean();
            now(if known {
                ok(Value::Null, echo)
            } else {
                failed(1400, "no flag", echo)
            })
        }
        "set_input_status" if shared.options.typing => {
            let user = id(&params["user_id"]).filter(|_| params["event_type"] == 1);
            now(match user {
                Some(user) => {
                    shared.typing.lock().push(user);
                    ok(Value::Null, echo)
                }
                None => failed(1400, "user_id or event_type is missing", echo),
            })
        }
        "get_login_info" => now(ok(
            json!({ "user_id": shared.self_id, "nickname": "bot" }),
            echo,
        )),
        "get_status" => now(ok(json!({ "online": true, "good": true }), echo)),
        "get_version_info" => now(ok(
            json!({
                "app_name": shared.options.app_name,
                "app_version": "1",
                "protocol_version": "v11",
            }),
            echo,
        )),
        unknown => now(failed(1404, &format!("unknown action {unknown}"), echo)),
    }
}

fn send(shared: &Shared, action: &str, params: &Value, echo: &Value) -> Then {
    let bad = |why: &str| Then::Answer(failed(1400, why, echo), Duration::ZERO);
    let (group, user) = (id(&params["group_id"]), id(&params["user_id"]));
    let target = match (action, group, user) {
        ("send_group_msg" | "send_group_forward_msg", Some(group), _)
        | ("send_msg", Some(group), None) => Target::Group(group),
        ("send_private_msg" | "send_private_forward_msg" | "send_msg", group, Some(user)) => {
            Target::Private { user, group }
        }
        _ => return bad("group_id or user_id is missing"),
    };
    let nodes = nodes(&params["messages"]);
    let segments = match &params["message"] {
        _ if action.contains("forward") => match nodes {
            Some(segments) => segments,
            None => return bad("messages are not nodes"),
        },
        Value::Array(segments) if !segments.is_empty() => segments.clone(),
        Value::String(text) if params["auto_escape"] == true => vec![events::text(text)],
        Value::String(text) => parse_codes(text),
        _ => return bad("message is missing"),
    };
    if let Some(wrong) = media::wrong(&segments) {
        return bad(wrong);
    }
    let script = shared.script.lock().pop_front();
    let message_id = match script {
        Some(Script::Fail { .. } | Script::Cut | Script::Garbled | Script::Status(_)) => 0,
        _ => shared.new_id(),
    };
    let (action, params) = (action.to_owned(), params.clone());
    shared.record(Reply {
        action,
        target,
        segments,
        params,
        message_id,
    });
    let done = ok(json!({ "message_id": message_id }), echo);
    match script {
        None => Then::Answer(done, Duration::ZERO),
        Some(Script::Delay(after)) => Then::Answer(done, after),
        Some(Script::Fail { retcode, message }) => {
            Then::Answer(failed(retcode, &message, echo), Duration::ZERO)
        }
        Some(Script::TimeOut) => {
            let text = "Timeout: the client did not confirm sendMsg in time";
            Then::Answer(failed(1200, text, echo), Duration::ZERO)
        }
        Some(Script::Silent) => Then::Nothing,
        Some(Script::Drop | Script::Cut) => Then::Break,
        Some(Script::Garbled) => Then::Garble,
        Some(Script::Status(status)) => Then::Status(status),
    }
}

/// The segments of all messages inside of a forwarded one, if each says who wrote it.
fn nodes(messages: &Value) -> Option<Vec<Value>> {
    let mut segments = Vec::new();
    for node in messages
        .as_array()
        .filter(|nodes| (1..=100).contains(&nodes.len()))?
    {
        let data = &node["data"];
        let named = id(&data["user_id"]).is_some() && data["nickname"].is_string();
        let content = data["content"]
            .as_array()
            .filter(|content| !content.is_empty());
        if node["type"] != "node" || !named {
            return None;
        }
        segments.extend(content?.iter().cloned());
    }
    Some(segments)
}

/// Takes a sent message back; another's needs an admin, and this bot is none here.
/// A number, or a string of digits; anything else is no id.
pub(super) fn id(value: &Value) -> Option<String> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    text.parse::<i64>().is_ok().then_some(text)
}

fn ok(data: Value, echo: &Value) -> Value {
    json!({ "status": "ok", "retcode": 0, "data": data, "message": "", "wording": "", "echo": echo })
}

fn failed(retcode: i64, message: &str, echo: &Value) -> Value {
    json!({
        "status": "failed",
        "retcode": retcode,
        "data": null,
        "message": message,
        "wording": message,
        "echo": echo,
    })
}

/// A message string with its codes obeyed.
fn parse_codes(text: &str) -> Vec<Value> {
    let plain = |text: &str| {
        text.replace("&#91;", "[")
            .replace("&#93;", "]")
            .replace("&#44;", ",")
            .replace("&amp;", "&")
    };
    let mut segments = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[CQ:") {
        let Some((code, following)) = after.split_once(']') else {
            break;
        };
        if !before.is_empty() {
            segments.push(events::text(&plain(before)));
        }
        let mut fields = code.split(',');
        let kind = fields.next().unwrap_or_default();
        let data: serde_json::Map<String, Value> = fields
            .filter_map(|field| field.split_once('='))
            .map(|(key, value)| (key.to_owned(), Value::from(plain(value))))
            .collect();
        segments.push(json!({ "type": kind, "data": data }));
        rest = following;
    }
    if !rest.is_empty() {
        segments.push(events::text(&plain(rest)));
    }
    segments
}
