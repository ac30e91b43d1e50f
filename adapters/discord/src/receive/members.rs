//! Who came, went, or has another standing; where the bot came and went.
//!
//! Owns the reading of members' changes. A server is not one conversation but many; what happens in it as a whole is told
//! under a key of its own, [`server_key`].

use serde_json::Value;
use serenity::model::Timestamp as WireTime;
use weirgate_sdk::{AccountName, ConversationKey, Event, Platform, Timestamp};

use super::{Receiver, malformed, other};
use crate::{channels::id, places::Snowflake};

/// A server that the bot entered longer ago is described for another reason.
const JUST_NOW: Timestamp = 5 * 60 * 1_000;

/// The key of a server as a whole, into which nothing can be written.
#[must_use]
pub fn server_key(
    platform: &Platform,
    account: &AccountName,
    server: Snowflake,
) -> ConversationKey {
    ConversationKey {
        platform: platform.clone(),
        account: account.clone(),
        conversation: server.to_string().into(),
        thread: None,
    }
}

impl Receiver<'_> {
    /// Reads an event about a server or a member of it.
    pub(super) fn member_event(&self, kind: &str, data: &Value, now: Timestamp) -> Vec<Event> {
        let server = match kind {
            "GUILD_CREATE" | "GUILD_DELETE" => id(&data["id"]),
            _ => id(&data["guild_id"]),
        };
        let Some(server) = server else {
            return vec![malformed(kind)];
        };
        let conversation = server_key(self.platform, self.account, server);
        match kind {
            "GUILD_CREATE" => {
                let joined = data["joined_at"]
                    .as_str()
                    .and_then(|at| WireTime::parse(at).ok());
                let since =
                    joined.map(|at| now.saturating_sub(at.unix_timestamp().saturating_mul(1_000)));
                // It is described at the beginning of every session as well.
                let is_new = since.is_some_and(|since| since < JUST_NOW);
                return is_new
                    .then_some(Event::BotAdded { conversation })
                    .into_iter()
                    .collect();
            }
            "GUILD_DELETE" if data["unavailable"] == true => {
                return vec![other("GUILD_DELETE for a while")];
            }
            "GUILD_DELETE" => return vec![Event::BotRemoved { conversation }],
            _ => {}
        }
        let Some(number) = id(&data["user"]["id"]) else {
            return vec![malformed(kind)];
        };
        let user = self.user(number);
        match kind {
            "GUILD_MEMBER_ADD" => vec![Event::MemberJoined { conversation, user }],
            "GUILD_MEMBER_REMOVE" => vec![Event::MemberLeft { conversation, user }],
            _ => {
                let role = self.servers.lock().changed(server, number, data);
                let changed = role.map(|role| Event::RoleChanged {
                    conversation,
                    user,
                    role,
                });
                changed.into_iter().collect()
            }
        }
    }
}
