//! Who came, went, or became an admin.
//!
//! Owns the reading of members' changes.

use serde_json::Value;
use weirgate_sdk::{Event, PlatformRole};

use super::{Receiver, malformed, other, place};
use crate::places::is_private;

/// Somebody's standing, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Here(PlatformRole),
    Away,
}

impl Receiver<'_> {
    /// The bot itself was added, removed, promoted or demoted.
    pub(super) fn bot_changed(&self, change: &Value) -> Event {
        let (Some(place), Some((before, after))) = (place(change), standings(change)) else {
            return malformed("my_chat_member");
        };
        // In a private chat it says that the person blocked the bot.
        if is_private(place.chat) {
            return other("my_chat_member.private");
        }
        let conversation = self.key(place);
        match (before, after) {
            (Standing::Away, Standing::Here(_)) => Event::BotAdded { conversation },
            (Standing::Here(_), Standing::Away) => Event::BotRemoved { conversation },
            (Standing::Here(old), Standing::Here(role)) if old != role => Event::RoleChanged {
                conversation,
                user: self.user(self.bot.id),
                role,
            },
            _ => other("my_chat_member.same"),
        }
    }

    /// Somebody else was.
    pub(super) fn member_changed(&self, change: &Value) -> Event {
        let user = change["new_chat_member"]["user"]["id"].as_i64();
        let (Some(place), Some((before, after)), Some(user)) =
            (place(change), standings(change), user)
        else {
            return malformed("chat_member");
        };
        let (conversation, user) = (self.key(place), self.user(user));
        match (before, after) {
            (Standing::Away, Standing::Here(_)) => Event::MemberJoined { conversation, user },
            (Standing::Here(_), Standing::Away) => Event::MemberLeft { conversation, user },
            (Standing::Here(old), Standing::Here(role)) if old != role => Event::RoleChanged {
                conversation,
                user,
                role,
            },
            _ => other("chat_member.same"),
        }
    }
}

/// The standing before and after a change.
fn standings(change: &Value) -> Option<(Standing, Standing)> {
    Some((
        standing(&change["old_chat_member"])?,
        standing(&change["new_chat_member"])?,
    ))
}

fn standing(member: &Value) -> Option<Standing> {
    match member["status"].as_str()? {
        "left" | "kicked" => Some(Standing::Away),
        // A restricted member may have left.
        "restricted" if member["is_member"] == false => Some(Standing::Away),
        status => Some(Standing::Here(role(status))),
    }
}

/// A role as the platform names it.
#[must_use]
pub fn role(status: &str) -> PlatformRole {
    match status {
        "creator" => PlatformRole::Owner,
        "administrator" => PlatformRole::Admin,
        "member" | "restricted" => PlatformRole::Member,
        _ => PlatformRole::Unknown,
    }
}
