//! Members of groups as the platform tells them, and who among the speakers administers a group.
//!
//! Owns the reading of member records, and when the administrators of a group are asked for: when somebody says
//! something to the bot there and they are not known. What he may do depends on it.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use serde_json::Value;
use teloxide_core::{payloads::GetChatAdministrators, types::ChatId};
use tokio::time::timeout;
use weirgate_sdk::{
    ChatKind, ConversationKey, Event, InboundMessage, Member, PlatformRole, SenderKind, Timestamp,
    UserKey,
};

use crate::{
    api::CallError,
    places::Place,
    receive::{name, role},
    telegram::{Shared, unix_time},
};

/// Groups that are asked about for one batch, and how long all of them may take: updates behind them wait meanwhile.
const MAX_GROUPS: usize = 8;
const LIMIT: Duration = Duration::from_secs(2);

/// Reads a member; `None` without an id, or if he is none.
#[must_use]
pub fn member(shared: &Shared, record: &Value) -> Option<Member> {
    let status = record["status"].as_str().unwrap_or_default();
    if matches!(status, "left" | "kicked") || record["is_member"] == false {
        return None;
    }
    let id = record["user"]["id"].as_i64()?;
    let quiet = status == "restricted" && record["can_send_messages"] == false;
    Some(Member {
        user: UserKey {
            platform: shared.platform.clone(),
            realm: "".into(),
            id: id.to_string().into(),
        },
        name: name(&record["user"]),
        role: role(status),
        muted_until: quiet.then(|| match record["until_date"].as_i64() {
            None | Some(0) => Timestamp::MAX,
            Some(until) => until.saturating_mul(1_000),
        }),
    })
}

/// The administrators of a chat, from the cache if they are known.
///
/// # Errors
/// What the platform says.
pub async fn admins(shared: &Shared, chat: i64) -> Result<Vec<Member>, CallError> {
    let key = group(shared, chat);
    if let Some(known) = shared.admins.known(&key, Instant::now()) {
        return Ok(known);
    }
    let changes = shared.admins.changes();
    let api = shared.calls();
    let api = api.map_err(|error| CallError::Unreachable(error.to_string()))?;
    let call = GetChatAdministrators::new(ChatId(chat));
    let found = api.call(&call, shared.settings.call_timeout).await?;
    let records = found.as_array().into_iter().flatten();
    let now = unix_time();
    records
        .clone()
        .for_each(|record| shared.handles.learn(&record["user"], now));
    let found: Vec<Member> = records
        .filter_map(|record| member(shared, record))
        .collect();
    shared
        .admins
        .keep(&key, found.clone(), changes, Instant::now());
    Ok(found)
}

/// A chat without its topics.
fn group(shared: &Shared, chat: i64) -> ConversationKey {
    shared.key(Place { chat, topic: None })
}

/// Writes the standing of those who say something to the bot in a group into what they say. Where it cannot be known in
/// time it stays unknown.
pub async fn fill(shared: &Shared, events: &mut [Event]) {
    let asked_about = |event: &Event| asked_about(shared, event);
    let chats: BTreeSet<i64> = events.iter().filter_map(asked_about).collect();
    if !chats.is_empty() && !shared.patience.is_lost(Instant::now()) {
        let known = timeout(LIMIT, ask_about(shared, &chats)).await;
        if known != Ok(true) {
            shared.patience.lose(Instant::now());
        }
    }
    for event in events {
        if let (Some(chat), Event::Message(message)) = (asked_about(event), event)
            && let Some(admins) = shared.admins.known(&group(shared, chat), Instant::now())
        {
            let found = admins.iter().find(|admin| admin.user == message.sender.key);
            message.sender.role = found.map_or(PlatformRole::Member, |admin| admin.role);
        }
    }
}

/// Asks for the administrators of chats; whether all are known.
async fn ask_about(shared: &Shared, chats: &BTreeSet<i64>) -> bool {
    for chat in chats.iter().take(MAX_GROUPS) {
        match admins(shared, *chat).await {
            Ok(_) => {}
            // The platform answered; it will not say more the next time.
            Err(CallError::Refused(refusal)) => {
                tracing::debug!(account = %shared.account, chat, text = refusal.text, "the admins are not told");
            }
            Err(error) => {
                tracing::debug!(account = %shared.account, chat, %error, "the admins cannot be known");
                return false;
            }
        }
    }
    true
}

/// The group in which a person says something to the bot.
fn asked_about(shared: &Shared, event: &Event) -> Option<i64> {
    let Event::Message(message) = event else {
        return None;
    };
    let is_person = message.chat == ChatKind::Group && message.sender.kind == SenderKind::Person;
    let place = shared.place(&message.conversation)?;
    (is_person && is_said_to_bot(message)).then_some(place.chat)
}

fn is_said_to_bot(message: &InboundMessage) -> bool {
    let replied = message.reply_to.as_ref().and_then(|replied| replied.to_bot);
    message.mentions_bot || replied == Some(true) || message.own_text().starts_with(['/', '／'])
}
