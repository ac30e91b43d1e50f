//! What the fake platform keeps of conversations.
//!
//! Owns the messages that nobody was told of and the questions by which they are found. Which questions it
//! knows depends on the program that it says it is, as with real implementations.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{Shared, events};

/// Keeps a message; gives its id.
pub(super) fn keep(
    shared: &Shared,
    group: Option<u64>,
    user: u64,
    text: &str,
    seconds_ago: u64,
) -> i64 {
    let id = shared.new_id();
    let segments = [events::text(text)];
    let mut event = match group {
        Some(group) => events::group(shared, id, group, user, &segments),
        None => events::private(shared, id, user, &segments),
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    event["time"] = json!(now.as_secs().saturating_sub(seconds_ago));
    shared.history.lock().push(event);
    id
}

/// Answers a question about history; `None` for any other action.
pub(super) fn call(
    shared: &Shared,
    action: &str,
    params: &Value,
) -> Option<Result<Value, (i64, String)>> {
    let recent = shared.options.app_name.starts_with("NapCat");
    let history = shared.history.lock();
    Some(match action {
        "get_recent_contact" if recent => Ok(contacts(&history)),
        "get_group_list" => Ok(ids(&history, "group_id")),
        "get_msg" => history
            .iter()
            .find(|event| event["message_id"] == params["message_id"])
            .cloned()
            .ok_or_else(|| (1200, "no such message".into())),
        "get_friend_list" => Ok(ids(&history, "user_id")),
        "get_group_msg_history" => messages(&history, "group_id", params),
        "get_friend_msg_history" if shared.options.app_name != "go-cqhttp" => {
            messages(&history, "user_id", params)
        }
        _ => return None,
    })
}

fn is_of(event: &Value, key: &str) -> bool {
    match key {
        "group_id" => event["message_type"] == "group",
        _ => event["message_type"] == "private",
    }
}

fn ids(history: &[Value], key: &str) -> Value {
    let mut ids: Vec<u64> = history
        .iter()
        .filter(|event| is_of(event, key))
        .filter_map(|event| event[key].as_u64())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().map(|id| json!({ key: id })).collect()
}

fn contacts(history: &[Value]) -> Value {
    let mut contacts = Vec::new();
    for (key, chat_type) in [("group_id", 2), ("user_id", 1)] {
        for one in ids(history, key).as_array().into_iter().flatten() {
            let times = history
                .iter()
                .filter(|event| is_of(event, key) && event[key] == one[key])
                .filter_map(|event| event["time"].as_u64());
            contacts.push(json!({
                "peerUin": one[key].to_string(),
                "chatType": chat_type,
                "msgTime": times.max().unwrap_or_default().to_string(),
            }));
        }
    }
    Value::from(contacts)
}

fn messages(history: &[Value], key: &str, params: &Value) -> Result<Value, (i64, String)> {
    let wanted = &params[key];
    let of = |event: &&Value| is_of(event, key) && event[key] == *wanted;
    let found: Vec<Value> = history.iter().filter(of).cloned().collect();
    if found.is_empty() {
        return Err((1200, "no such messages".into()));
    }
    Ok(json!({ "messages": found }))
}
