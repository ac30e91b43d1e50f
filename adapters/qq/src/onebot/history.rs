//! What was said while nobody listened, asked of implementations that keep it.
//!
//! Owns where to ask, how much, and how old an answer may be. OneBot repeats nothing by itself, but most
//! implementations give a conversation's history. What comes is handed in like any message: the gateway
//! drops what it has already. An implementation that does not know the question is not asked again.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::sync::mpsc;
use weirgate_sdk::{Event, SendError};

use super::{
    answer::Data,
    intake::{GATHER, Parcel},
    places::id_value,
    receive::Receiver,
    send::Call,
    session::unix_time,
    version::Family,
    wire::{self, Frame, MAX_ID, Raw},
};
use crate::qq::Shared;

/// Conversations of each kind that are asked about.
const MAX_PLACES: usize = 32;
/// Messages that are asked for, of each conversation.
const MAX_MESSAGES: usize = 50;
/// How long one question may take.
const QUESTION_LIMIT: Duration = Duration::from_secs(10);

/// Asks for what came after `since` (seconds), but not further back than the settings say, and hands it in,
/// conversation by conversation, oldest first.
pub async fn catch_up(shared: &Shared, bot: &str, since: i64, events: &mpsc::Sender<Parcel>) {
    let window = i64::try_from(shared.settings.catch_up.as_secs()).unwrap_or(i64::MAX);
    if window == 0 {
        return;
    }
    let from = since.max((unix_time() / 1_000).saturating_sub(window));
    let family = shared.family();
    let (mut asked, mut found) = (0_usize, 0_usize);
    for place in places(shared, family, from).await {
        let data = match shared.request(&question(&place), QUESTION_LIMIT).await {
            Ok(data) => data,
            // Nothing was said there, or it is not told.
            Err(SendError::Rejected(_)) => continue,
            Err(_) => break,
        };
        asked += 1;
        let messages = messages(shared, bot, &data, from);
        found += messages.len();
        for part in messages.chunks(GATHER) {
            if events.send(part.to_vec().into()).await.is_err() {
                return;
            }
        }
    }
    tracing::info!(account = %shared.account, asked, found, "asked for what was said meanwhile");
}

/// A conversation to ask about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Whom {
    Group(String),
    Friend(String),
}

fn question(whom: &Whom) -> Call {
    match whom {
        Whom::Group(group) => Call {
            action: "get_group_msg_history",
            params: json!({ "group_id": id_value(group), "count": MAX_MESSAGES }),
        },
        Whom::Friend(user) => Call {
            action: "get_friend_msg_history",
            params: json!({ "user_id": id_value(user), "count": MAX_MESSAGES }),
        },
    }
}

/// Where something may have been said since.
async fn places(shared: &Shared, family: Family, from: i64) -> Vec<Whom> {
    let ask = async |action, params| {
        let call = Call { action, params };
        shared.request(&call, QUESTION_LIMIT).await.ok()
    };
    if family.lists_recent() {
        let params = json!({ "count": MAX_PLACES * 2 });
        if let Some(places) = ask("get_recent_contact", params)
            .await
            .and_then(|data| recent(data.raw(), from))
        {
            return places;
        }
    }
    let mut places = Vec::new();
    let groups = ask("get_group_list", json!({})).await;
    places.extend(listed(groups, |known| known.group_id).map(Whom::Group));
    if family.keeps_private_history() {
        let friends = ask("get_friend_list", json!({})).await;
        places.extend(listed(friends, |known| known.user_id).map(Whom::Friend));
    }
    places
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Known<'a> {
    #[serde(borrow)]
    group_id: Raw<'a>,
    #[serde(borrow)]
    user_id: Raw<'a>,
}

/// The ids of a list of groups or friends; the first of them.
fn listed(
    data: Option<Data>,
    id: impl for<'a> Fn(&Known<'a>) -> Raw<'a>,
) -> impl Iterator<Item = String> {
    let mut ids = Vec::new();
    if let Some(data) = data {
        for one in wire::object::<Vec<&RawValue>>(data.raw()) {
            let known: Known<'_> = wire::object(Some(one));
            ids.extend(wire::id(id(&known), MAX_ID).map(std::borrow::Cow::into_owned));
            if ids.len() >= MAX_PLACES {
                break;
            }
        }
    }
    ids.into_iter()
}

/// The conversations of a list of recent ones in which something was said since; `None` if it is no such list.
fn recent(data: Raw<'_>, from: i64) -> Option<Vec<Whom>> {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Contact<'a> {
        #[serde(borrow)]
        peer_uin: Raw<'a>,
        #[serde(borrow)]
        msg_time: Raw<'a>,
        #[serde(borrow)]
        chat_type: Raw<'a>,
    }
    let contacts: Vec<&RawValue> = serde_json::from_str(data?.get()).ok()?;
    let mut places = Vec::new();
    let mut named = contacts.is_empty();
    for contact in contacts {
        let contact: Contact<'_> = wire::object(Some(contact));
        // Without a time it is asked.
        let old = wire::integer(contact.msg_time).is_some_and(|time| time < from);
        let Some(id) = wire::id(contact.peer_uin, MAX_ID) else {
            continue;
        };
        named = true;
        if old {
            continue;
        }
        match wire::integer(contact.chat_type) {
            Some(1) => places.push(Whom::Friend(id.into_owned())),
            Some(2) => places.push(Whom::Group(id.into_owned())),
            _ => {}
        }
        if places.len() >= MAX_PLACES * 2 {
            break;
        }
    }
    named.then_some(places)
}

/// The messages of a history that are not older than `from`, oldest first.
fn messages(shared: &Shared, bot: &str, data: &Data, from: i64) -> Vec<Event> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct History<'a> {
        #[serde(borrow)]
        messages: Raw<'a>,
    }
    let history: History<'_> = wire::object(data.raw());
    // Some give the list bare.
    let list = history.messages.or(data.raw());
    let receiver = Receiver::new(shared, bot);
    let now = unix_time();
    let mut found = Vec::new();
    for one in wire::object::<Vec<&RawValue>>(list) {
        let frame: Frame<'_> = wire::object(Some(one));
        let known = wire::integer(frame.time).is_some_and(|time| time >= from);
        if known && let Some(event) = receiver.past(&frame, now, shared.known()) {
            found.push(event);
        }
    }
    found.sort_by_key(|event| match event {
        Event::Message(message) => message.sent_at,
        _ => 0,
    });
    found
}

#[cfg(test)]
mod tests;
