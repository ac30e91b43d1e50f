//! What the fake platform keeps of conversations.
//!
//! Owns the messages that nobody was told of and the questions by which they are found. Which questions it
//! knows depends on the program that it says it is, as with real implementations.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{FakeOneBot, Reply, Shared, Target, events};

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

/// Messages that are kept besides.
const LATELY: usize = 1_000;

/// Keeps a message that the gateway is told of, for a while.
pub(super) fn heard(shared: &Shared, event: &Value) {
    let mut said = shared.said.lock();
    said.push_back(event.clone());
    if said.len() > LATELY {
        said.pop_front();
    }
}

/// A message by its id, whoever said it.
fn message(shared: &Shared, id: &Value) -> Option<Value> {
    let is_it = |event: &&Value| event["message_id"] == *id;
    let kept = shared.history.lock().iter().find(is_it).cloned();
    let kept = kept.or_else(|| shared.said.lock().iter().find(is_it).cloned());
    kept.or_else(|| own(shared, id))
}

/// A message of the bot by its id.
fn own(shared: &Shared, id: &Value) -> Option<Value> {
    let replies = shared.replies.lock();
    let is_it = |reply: &&Reply| reply.delivered() && *id == json!(reply.message_id);
    let reply = replies.all.iter().find(is_it)?;
    let (kind, group) = match &reply.target {
        Target::Group(group) => ("group", Some(group)),
        Target::Private { .. } => ("private", None),
    };
    Some(json!({
        "message_id": id, "message_type": kind, "group_id": group, "message": reply.segments,
        "sender": { "user_id": shared.self_id, "nickname": "bot" },
    }))
}

/// Takes a message back: the bot's own, or that of somebody over whom it stands in his group.
///
/// # Errors
/// The code and the words of the refusal.
fn delete(shared: &Shared, id: &Value) -> Result<Value, (i64, String)> {
    let failed = || (1200, "Recall failed".to_owned());
    let mut replies = shared.replies.lock();
    let is_it = |reply: &&mut Reply| reply.delivered() && *id == json!(reply.message_id);
    if let Some(reply) = replies.all.iter_mut().find(is_it) {
        reply.message_id = 0;
        return Ok(Value::Null);
    }
    drop(replies);
    let event = message(shared, id).ok_or_else(failed)?;
    let number = |name: &str| event[name].as_u64().ok_or_else(failed);
    let (group, user) = (number("group_id")?, number("user_id")?);
    if !shared.groups.lock().may_recall(shared.self_id, group, user) {
        return Err(failed());
    }
    let stays = |event: &Value| event["message_id"] != *id;
    shared.history.lock().retain(stays);
    shared.said.lock().retain(stays);
    Ok(Value::Null)
}

impl FakeOneBot {
    /// Whether a message of a person or of the bot is there.
    #[must_use]
    pub fn has_message(&self, id: i64) -> bool {
        message(&self.shared, &json!(id)).is_some()
    }
}

/// Answers a question about history; `None` for any other action.
pub(super) fn call(
    shared: &Shared,
    action: &str,
    params: &Value,
) -> Option<Result<Value, (i64, String)>> {
    match action {
        "get_msg" => {
            let found = message(shared, &params["message_id"]);
            return Some(found.ok_or_else(|| (1200, "no such message".into())));
        }
        "delete_msg" => return Some(delete(shared, &params["message_id"])),
        _ => {}
    }
    let recent = shared.options.app_name.starts_with("NapCat");
    let history = shared.history.lock();
    Some(match action {
        "get_recent_contact" if recent => Ok(contacts(&history)),
        "get_group_list" => Ok(ids(&history, "group_id")),
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
