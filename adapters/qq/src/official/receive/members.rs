//! Who came, went, or has another standing; where the bot came and went.
//!
//! Owns the reading of members' changes. A guild is not one conversation but many; what happens in it as a whole is told
//! under a key of its own.

use serde_json::Value;
use weirgate_sdk::Event;

use super::{Receiver, is_id, malformed, role_of, text};
use crate::official::places::Place;

impl Receiver<'_> {
    /// Reads an event about a group or guild, or a member of it.
    pub(super) fn member_event(&self, kind: &str, data: &Value) -> Event {
        let place = match kind {
            "GUILD_CREATE" | "GUILD_DELETE" => text(&data["id"]).map(Place::Guild),
            "GROUP_MEMBER_ADD" | "GROUP_MEMBER_REMOVE" => {
                text(&data["group_openid"]).map(Place::Group)
            }
            _ => text(&data["guild_id"]).map(Place::Guild),
        };
        let place = place.filter(|place| Place::parse(&place.to_string()).is_some());
        let Some(conversation) = place.map(|place| self.conversation(place)) else {
            return malformed(kind);
        };
        match kind {
            "GUILD_CREATE" => return Event::BotAdded { conversation },
            "GUILD_DELETE" => return Event::BotRemoved { conversation },
            _ => {}
        }
        let user = text(&data["member_openid"]).or_else(|| text(&data["user"]["id"]));
        let Some(user) = user.filter(|user| is_id(user)).map(|user| self.user(user)) else {
            return malformed(kind);
        };
        match kind {
            "GROUP_MEMBER_ADD" | "GUILD_MEMBER_ADD" => Event::MemberJoined { conversation, user },
            "GUILD_MEMBER_UPDATE" => Event::RoleChanged {
                conversation,
                user,
                role: role_of(&data["roles"]),
            },
            _ => Event::MemberLeft { conversation, user },
        }
    }
}
