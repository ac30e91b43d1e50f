//! Events as implementations write them.
//!
//! Owns their JSON form in both message encodings. Pure but for the clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::Shared;

/// A text segment.
pub(super) fn text(text: &str) -> Value {
    json!({ "type": "text", "data": { "text": text } })
}

/// A mention.
pub(super) fn at(user: u64) -> Value {
    json!({ "type": "at", "data": { "qq": user.to_string() } })
}

/// A message of a friend.
pub(super) fn private(shared: &Shared, id: i64, user: u64, segments: &[Value]) -> Value {
    let sender = json!({ "user_id": user, "nickname": format!("user {user}"), "card": "" });
    let details = json!({
        "message_type": "private",
        "sub_type": "friend",
        "message_id": id,
        "user_id": user,
        "sender": sender,
    });
    message(shared, details, segments)
}

/// A message of a member.
pub(super) fn group(shared: &Shared, id: i64, group: u64, user: u64, segments: &[Value]) -> Value {
    let sender = json!({
        "user_id": user,
        "nickname": format!("user {user}"),
        "card": "",
        "role": "member",
    });
    let details = json!({
        "message_type": "group",
        "sub_type": "normal",
        "message_id": id,
        "user_id": user,
        "group_id": group,
        "sender": sender,
    });
    message(shared, details, segments)
}

/// A recalled message.
pub(super) fn recall(shared: &Shared, group: Option<u64>, user: u64, message: i64) -> Value {
    let details = match group {
        Some(group) => json!({
            "notice_type": "group_recall",
            "group_id": group,
            "user_id": user,
            "operator_id": user,
            "message_id": message,
        }),
        None => json!({ "notice_type": "friend_recall", "user_id": user, "message_id": message }),
    };
    event(shared, "notice", details)
}

/// The announcement of a new connection.
pub(super) fn lifecycle(shared: &Shared) -> Value {
    let details = json!({ "meta_event_type": "lifecycle", "sub_type": "connect" });
    event(shared, "meta_event", details)
}

/// A heartbeat.
pub(super) fn heartbeat(shared: &Shared, interval: Duration, online: bool) -> Value {
    let details = json!({
        "meta_event_type": "heartbeat",
        "status": { "online": online, "good": true },
        "interval": u64::try_from(interval.as_millis()).unwrap_or(u64::MAX),
    });
    event(shared, "meta_event", details)
}

fn message(shared: &Shared, mut details: Value, segments: &[Value]) -> Value {
    let string = cq_string(segments);
    if let Value::Object(details) = &mut details {
        let content = if shared.options.strings {
            json!(string)
        } else {
            Value::from(segments.to_vec())
        };
        details.insert("message".into(), content);
        details.insert("raw_message".into(), json!(string));
        details.insert("font".into(), json!(14));
    }
    event(shared, "message", details)
}

fn event(shared: &Shared, post_type: &str, details: Value) -> Value {
    let time = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let mut event = Map::new();
    event.insert("time".into(), json!(time));
    event.insert("self_id".into(), json!(shared.self_id));
    event.insert("post_type".into(), json!(post_type));
    if let Value::Object(details) = details {
        event.extend(details);
    }
    Value::Object(event)
}

/// Segments as a CQ string.
fn cq_string(segments: &[Value]) -> String {
    let mut string = String::new();
    for segment in segments {
        let kind = segment["type"].as_str().unwrap_or_default();
        if kind == "text" {
            string.push_str(&escape(
                segment["data"]["text"].as_str().unwrap_or_default(),
            ));
            continue;
        }
        string.push_str("[CQ:");
        string.push_str(kind);
        for (key, value) in segment["data"].as_object().into_iter().flatten() {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            string.push_str(&format!(",{key}={}", escape(&value).replace(',', "&#44;")));
        }
        string.push(']');
    }
    string
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('[', "&#91;")
        .replace(']', "&#93;")
}
