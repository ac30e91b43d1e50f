//! The server: its roles, its members, and who may do what to whom.
//!
//! Owns the platform's refusals: a right that is missing and a member who stands too high are one and the same to it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    BOT, CHANNEL, FakeDiscord, SERVER, State,
    rest::{Refusal, refusal},
};

/// Whoever owns the server.
pub const OWNER: u64 = 1;
/// Roles: of ordinary members, of the bot, above it, and one that administers.
pub const ROLE: u64 = 60;
/// The bot's own.
pub const BOT_ROLE: u64 = 65;
/// Above the bot's, without a right.
pub const HIGH_ROLE: u64 = 70;
/// Below the bot's, with every right.
pub const ADMIN_ROLE: u64 = 64;
/// Rights (Permissions).
pub const KICK: u64 = 1 << 1;
/// To keep out.
pub const BAN: u64 = 1 << 2;
/// Everything.
pub const ADMINISTRATOR: u64 = 1 << 3;
/// To delete what others said.
pub const MANAGE_MESSAGES: u64 = 1 << 13;
/// To keep quiet.
pub const MODERATE: u64 = 1 << 40;

/// The server.
#[derive(Debug)]
pub(super) struct Guild {
    bot_rights: u64,
    members: BTreeMap<u64, Member>,
    banned: BTreeSet<u64>,
    /// The bot may ask for all members.
    lists: bool,
}

#[derive(Debug, Default)]
struct Member {
    roles: Vec<u64>,
    quiet_until: Value,
}

impl Default for Guild {
    fn default() -> Self {
        let member = |roles: &[u64]| Member {
            roles: roles.to_vec(),
            ..Member::default()
        };
        Self {
            bot_rights: KICK | BAN | MODERATE | MANAGE_MESSAGES,
            members: BTreeMap::from([(OWNER, member(&[])), (BOT, member(&[BOT_ROLE]))]),
            banned: BTreeSet::new(),
            lists: true,
        }
    }
}

/// What is asked for.
pub(super) enum Call {
    Application,
    Guild,
    Member(u64),
    Members(u64),
    Change(u64),
    Kick(u64),
    Banned(u64),
    Ban(u64),
    Unban(u64),
    EditMessage(u64, u64),
    DeleteMessage(u64, u64),
}

impl Call {
    pub(super) fn read(method: &str, parts: &[&str], after: Option<u64>) -> Option<Self> {
        let server = SERVER.to_string();
        match (method, parts) {
            ("GET", ["applications", "@me"]) => Some(Self::Application),
            (method, ["channels", channel, "messages", message]) => {
                let (channel, message) = (channel.parse().ok()?, message.parse().ok()?);
                match method {
                    "PATCH" => Some(Self::EditMessage(channel, message)),
                    "DELETE" => Some(Self::DeleteMessage(channel, message)),
                    _ => None,
                }
            }
            (method, ["guilds", id, rest @ ..]) if *id == server => match (method, rest) {
                ("GET", []) => Some(Self::Guild),
                ("GET", ["members"]) => Some(Self::Members(after?)),
                ("GET", ["members", user]) => Some(Self::Member(user.parse().ok()?)),
                ("PATCH", ["members", user]) => Some(Self::Change(user.parse().ok()?)),
                ("DELETE", ["members", user]) => Some(Self::Kick(user.parse().ok()?)),
                ("GET", ["bans", user]) => Some(Self::Banned(user.parse().ok()?)),
                ("PUT", ["bans", user]) => Some(Self::Ban(user.parse().ok()?)),
                ("DELETE", ["bans", user]) => Some(Self::Unban(user.parse().ok()?)),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Application => "application",
            Self::Guild => "server",
            Self::Member(_) => "member",
            Self::Members(_) => "members",
            Self::Change(_) => "change member",
            Self::Kick(_) => "kick",
            Self::Banned(_) => "banned",
            Self::Ban(_) => "ban",
            Self::Unban(_) => "unban",
            Self::EditMessage(..) => "edit",
            Self::DeleteMessage(..) => "delete",
        }
    }
}

impl FakeDiscord {
    /// Somebody is a member with these roles from now on; the bot is told if he was one before.
    pub fn join(&self, user: u64, roles: &[u64]) {
        self.change(|state| {
            let member = Member {
                roles: roles.to_vec(),
                ..Member::default()
            };
            state.guild.banned.remove(&user);
            let was = state.guild.members.insert(user, member).is_some();
            if was {
                let mut changed = state.member(user).unwrap_or_default();
                changed["guild_id"] = SERVER.to_string().into();
                state.push("GUILD_MEMBER_UPDATE", changed, None);
            }
        });
    }

    /// The bot has these rights from now on, and may ask for all members or not.
    pub fn bot_may(&self, rights: u64, lists: bool) {
        self.change(|state| {
            state.guild.bot_rights = rights;
            state.guild.lists = lists;
        });
    }

    /// Somebody went, of his own accord.
    pub fn leave(&self, user: u64) {
        self.change(|state| drop(state.guild.members.remove(&user)));
    }

    /// Whether a message is there.
    #[must_use]
    pub fn has_message(&self, channel: u64, message: u64) -> bool {
        self.shared.state.lock().find(channel, message).is_ok()
    }

    /// Whether somebody is a member, is kept out, and is kept quiet.
    #[must_use]
    pub fn standing(&self, user: u64) -> (bool, bool, bool) {
        let state = self.shared.state.lock();
        let member = state.guild.members.get(&user);
        let is_quiet = member.is_some_and(|member| !member.quiet_until.is_null());
        (
            member.is_some(),
            state.guild.banned.contains(&user),
            is_quiet,
        )
    }
}

impl State {
    /// The server as the platform describes it.
    pub(super) fn described(&self) -> Value {
        let role = |id: u64, position: u64, rights: u64| json!({ "id": id.to_string(), "name": "role", "position": position, "permissions": rights.to_string() });
        json!({
            "id": SERVER.to_string(), "name": "server", "owner_id": OWNER.to_string(),
            "joined_at": "2026-01-01T00:00:00.000000+00:00",
            "roles": [
                role(SERVER, 0, 0), role(ROLE, 1, 0), role(ADMIN_ROLE, 2, ADMINISTRATOR),
                role(BOT_ROLE, 3, self.guild.bot_rights), role(HIGH_ROLE, 4, 0),
            ],
        })
    }

    fn member(&self, user: u64) -> Result<Value, Refusal> {
        let unknown = || refusal(404, 10_007, "Unknown Member");
        let member = self.guild.members.get(&user).ok_or_else(unknown)?;
        let roles = self.roles_of(user);
        Ok(json!({
            "user": { "id": user.to_string(), "username": format!("user {user}") }, "nick": null, "roles": roles,
            "communication_disabled_until": member.quiet_until,
        }))
    }

    /// The roles of somebody, as events tell them.
    pub(super) fn roles_of(&self, user: u64) -> Vec<String> {
        let member = self.guild.members.get(&user);
        let roles = member.map_or(&[][..], |member| &member.roles);
        roles.iter().map(ToString::to_string).collect()
    }

    fn height(&self, user: u64) -> u64 {
        let roles = self.guild.members.get(&user);
        let height = |role: &u64| match *role {
            ROLE => 1,
            ADMIN_ROLE => 2,
            BOT_ROLE => 3,
            _ => 4,
        };
        roles
            .and_then(|member| member.roles.iter().map(height).max())
            .unwrap_or(0)
    }

    /// Whether the bot may do that to somebody.
    fn may(&self, right: u64, user: Option<u64>) -> Result<(), Refusal> {
        let has = self.guild.bot_rights & (right | ADMINISTRATOR) != 0;
        let is_below =
            user.is_none_or(|user| user != OWNER && self.height(user) < self.height(BOT));
        if has && is_below {
            Ok(())
        } else {
            Err(refusal(403, 50_013, "Missing Permissions"))
        }
    }

    pub(super) fn moderate(&mut self, call: Call, said: &Value) -> Result<Value, Refusal> {
        match call {
            Call::Application => {
                let content = if self.no_content { 0 } else { 1 << 19 };
                Ok(json!({ "id": super::interact::APPLICATION.to_string(), "flags": content }))
            }
            Call::Guild => Ok(self.described()),
            Call::Member(user) => self.member(user),
            Call::Members(_) if !self.guild.lists => Err(refusal(403, 50_001, "Missing Access")),
            Call::Members(after) => {
                let users = self.guild.members.keys().filter(|user| **user > after);
                users.map(|user| self.member(*user)).collect()
            }
            Call::Change(user) => {
                self.member(user)?;
                self.may(MODERATE, Some(user))?;
                let is_admin = self.height(user) == 2;
                if is_admin {
                    return Err(refusal(403, 50_013, "Missing Permissions"));
                }
                if let Some(member) = self.guild.members.get_mut(&user) {
                    member.quiet_until = said["communication_disabled_until"].clone();
                }
                self.member(user)
            }
            Call::Kick(user) => {
                self.member(user)?;
                self.may(KICK, Some(user))?;
                self.guild.members.remove(&user);
                Ok(Value::Null)
            }
            Call::Banned(user) if self.guild.banned.contains(&user) => {
                Ok(json!({ "reason": null, "user": { "id": user.to_string() } }))
            }
            Call::Banned(_) => Err(refusal(404, 10_026, "Unknown Ban")),
            Call::Ban(user) => {
                self.may(BAN, Some(user))?;
                self.guild.members.remove(&user);
                self.guild.banned.insert(user);
                Ok(Value::Null)
            }
            Call::Unban(user) => {
                self.may(BAN, None)?;
                if self.guild.banned.remove(&user) {
                    Ok(Value::Null)
                } else {
                    Err(refusal(404, 10_026, "Unknown Ban"))
                }
            }
            Call::EditMessage(channel, message) => self.edit(channel, message, said),
            Call::DeleteMessage(channel, message) => self.delete(channel, message),
        }
    }

    fn find(&self, channel: u64, message: u64) -> Result<usize, Refusal> {
        let (channel, message) = (channel.to_string(), message.to_string());
        let is_it = |known: &Value| known["id"] == *message && known["channel_id"] == *channel;
        let found = self.history.iter().position(is_it);
        found.ok_or_else(|| refusal(404, 10_008, "Unknown Message"))
    }

    fn edit(&mut self, channel: u64, message: u64, said: &Value) -> Result<Value, Refusal> {
        let found = self.find(channel, message)?;
        if !is_own(&self.history[found]) {
            return Err(refusal(
                403,
                50_005,
                "Cannot edit a message by another user",
            ));
        }
        let mut said = said.clone();
        if said["content"].is_null() {
            // What is not named stays as it is.
            said["content"] = self.history[found]["content"].clone();
        }
        let words = self.checked(&said, &[])?;
        self.history[found]["content"] = words.0.clone().into();
        self.change_words(message, words);
        self.edits.push(message);
        Ok(self.history[found].clone())
    }

    fn delete(&mut self, channel: u64, message: u64) -> Result<Value, Refusal> {
        let found = self.find(channel, message)?;
        let is_own = is_own(&self.history[found]);
        if !is_own && (channel != CHANNEL || self.may(MANAGE_MESSAGES, None).is_err()) {
            return Err(refusal(403, 50_013, "Missing Permissions"));
        }
        self.history.remove(found);
        self.sent.retain(|sent| sent.id != message);
        self.read = self.read.min(self.sent.len());
        Ok(Value::Null)
    }
}

/// Whether the bot said it.
fn is_own(message: &Value) -> bool {
    let author = message["author"]["id"].as_str();
    author.and_then(|id| id.parse().ok()) == Some(BOT)
}
