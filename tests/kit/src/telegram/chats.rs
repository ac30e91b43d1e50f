//! Chats of the bot: who is in them with which standing, and their topics.
//!
//! Owns rights. A private chat exists once its person has written.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{BOT, answer::Refusal};

/// Somebody's standing in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Created it.
    Creator,
    /// An administrator who may restrict members and delete messages.
    Administrator,
    /// An administrator who may not.
    PowerlessAdministrator,
    /// An ordinary member.
    Member,
    /// May not write, until then (seconds since the epoch; 0 is for good).
    Restricted(i64),
    /// Went.
    Left,
    /// Was put out, until then.
    Kicked(i64),
}

#[derive(Debug, Default)]
struct Group {
    members: BTreeMap<i64, Standing>,
    topics: HashSet<i64>,
}

/// All chats.
#[derive(Debug, Default)]
pub(super) struct Chats {
    people: HashSet<i64>,
    groups: HashMap<i64, Group>,
    moved: HashMap<i64, i64>,
    floods: HashMap<i64, Instant>,
}

impl Chats {
    /// Somebody wrote in a chat.
    pub(super) fn heard(&mut self, chat: i64, user: i64, topic: Option<i64>) {
        if chat > 0 {
            self.people.insert(chat);
            return;
        }
        let group = self.groups.entry(chat).or_default();
        group.members.entry(user).or_insert(Standing::Member);
        group.members.entry(BOT).or_insert(Standing::Member);
        group.topics.extend(topic);
    }

    pub(super) fn set(&mut self, chat: i64, user: i64, standing: Standing) {
        let group = self.groups.entry(chat).or_default();
        group.members.entry(BOT).or_insert(Standing::Member);
        group.members.insert(user, standing);
    }

    pub(super) fn topics(&mut self, chat: i64, topics: &[i64]) {
        self.groups.entry(chat).or_default().topics = topics.iter().copied().collect();
    }

    pub(super) fn migrate(&mut self, from: i64, to: i64) {
        let group = self.groups.remove(&from).unwrap_or_default();
        self.groups.insert(to, group);
        self.moved.insert(from, to);
    }

    pub(super) fn flood(&mut self, chat: i64, until: Instant) {
        self.floods.insert(chat, until);
    }

    /// How many seconds a chat is to be left alone.
    pub(super) fn flooded(&self, chat: i64, now: Instant) -> Option<u64> {
        let left = self.floods.get(&chat)?.checked_duration_since(now)?;
        (!left.is_zero()).then(|| left.as_secs() + 1)
    }

    /// Whether the bot may write to a place.
    pub(super) fn writable(&self, chat: i64, topic: Option<i64>) -> Result<(), Refusal> {
        if let Some(to) = self.moved.get(&chat) {
            let mut refusal = Refusal::bad("group chat was upgraded to a supergroup chat");
            refusal.parameters = json!({ "migrate_to_chat_id": to });
            return Err(refusal);
        }
        if chat > 0 {
            if !self.people.contains(&chat) {
                return Err(Refusal::bad("chat not found"));
            }
            return Ok(());
        }
        let group = self.groups.get(&chat);
        let group = group.ok_or_else(|| Refusal::bad("chat not found"))?;
        match group.members.get(&BOT) {
            None | Some(Standing::Left | Standing::Kicked(_)) => {
                return Err(Refusal::forbidden(
                    "bot was kicked from the supergroup chat",
                ));
            }
            Some(Standing::Restricted(_)) => {
                return Err(Refusal::bad(
                    "not enough rights to send text messages to the chat",
                ));
            }
            Some(_) => {}
        }
        match topic {
            // General has a number only in what comes in.
            Some(topic) if topic == 1 || !group.topics.contains(&topic) => {
                Err(Refusal::bad("message thread not found"))
            }
            _ => Ok(()),
        }
    }

    /// A member, as the service tells it.
    pub(super) fn member(&self, chat: i64, user: i64) -> Option<Value> {
        let standing = *self.groups.get(&chat)?.members.get(&user)?;
        Some(told(user, standing))
    }

    /// The administrators of a group; bots are left out unless they are the bot itself.
    pub(super) fn administrators(&self, chat: i64) -> Result<Value, Refusal> {
        let group = self.groups.get(&chat);
        let group = group.ok_or_else(|| Refusal::bad("chat not found"))?;
        let admins = group
            .members
            .iter()
            .filter(|(_, standing)| is_admin(**standing));
        Ok(admins
            .map(|(user, standing)| told(*user, *standing))
            .collect())
    }

    /// Puts somebody out, lets him in, or changes what he may do.
    pub(super) fn restrict(&mut self, chat: i64, user: i64, new: Standing) -> Result<(), Refusal> {
        let group = self.groups.get_mut(&chat);
        let group = group.ok_or_else(|| Refusal::bad("chat not found"))?;
        match group.members.get(&BOT) {
            Some(Standing::Administrator | Standing::Creator) => {}
            _ => {
                return Err(Refusal::bad(
                    "not enough rights to restrict/unrestrict chat member",
                ));
            }
        }
        if user == BOT {
            return Err(Refusal::bad("can't restrict self"));
        }
        match group.members.get(&user) {
            Some(Standing::Creator) => Err(Refusal::bad("can't remove chat owner")),
            Some(Standing::Administrator | Standing::PowerlessAdministrator) => {
                Err(Refusal::bad("user is an administrator of the chat"))
            }
            None if !matches!(new, Standing::Kicked(_) | Standing::Left) => {
                Err(Refusal::bad("PARTICIPANT_ID_INVALID"))
            }
            _ => {
                group.members.insert(user, new);
                Ok(())
            }
        }
    }

    /// Whether the bot may delete the messages of others.
    pub(super) fn may_delete(&self, chat: i64) -> bool {
        let group = self.groups.get(&chat);
        let bot = group.and_then(|group| group.members.get(&BOT));
        chat > 0 || matches!(bot, Some(Standing::Administrator | Standing::Creator))
    }
}

fn is_admin(standing: Standing) -> bool {
    matches!(
        standing,
        Standing::Creator | Standing::Administrator | Standing::PowerlessAdministrator
    )
}

fn told(user: i64, standing: Standing) -> Value {
    let mut told = match standing {
        Standing::Creator => json!({ "status": "creator", "is_anonymous": false }),
        Standing::Administrator | Standing::PowerlessAdministrator => {
            let power = standing == Standing::Administrator;
            json!({
                "status": "administrator", "can_be_edited": false, "is_anonymous": false,
                "can_restrict_members": power, "can_delete_messages": power,
            })
        }
        Standing::Member => json!({ "status": "member" }),
        Standing::Restricted(until) => json!({
            "status": "restricted", "is_member": true, "until_date": until, "can_send_messages": false,
        }),
        Standing::Left => json!({ "status": "left" }),
        Standing::Kicked(until) => json!({ "status": "kicked", "until_date": until }),
    };
    told["user"] =
        json!({ "id": user, "is_bot": user == BOT, "first_name": format!("user {user}") });
    told
}
