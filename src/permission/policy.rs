//! What a conversation says about permissions: its policy, and the roles that were given in it.
//!
//! Owns the keys, their values as they are stored, and what each may be. It never reads the store: it is
//! made from the rows of one conversation.

use std::{collections::BTreeMap, time::Duration};

use weirgate_sdk::Timestamp;

use crate::clock::{millis, span};

/// What the stored key of a given role begins with; the user's id follows.
const GRANT: &str = "role:";
/// What the stored key of a policy begins with.
const POLICY: &str = "policy:";
/// What the stored key of a conversation's other settings begins with.
pub const SETTING: &str = "config:";
/// What the stored keys of all that is set in a conversation begin with.
pub const STORED: [&str; 2] = [SETTING, POLICY];
/// The most ids in a whitelist or blacklist.
const MOST_IDS: usize = 1_000;
/// The most roles that are given in one conversation.
pub const MOST_GRANTS: usize = 1_000;

/// A role that somebody was given in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The role's name.
    pub role: String,
    /// When it runs out; `None` for a role that was not lent.
    pub until: Option<Timestamp>,
}

impl Grant {
    /// Whether it holds now.
    #[must_use]
    pub fn holds(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// The stored key for a user.
    #[must_use]
    pub fn key(user: &str) -> String {
        format!("{GRANT}{user}")
    }

    /// The stored value.
    #[must_use]
    pub fn value(&self) -> String {
        match self.until {
            Some(until) => format!("{} {until}", self.role),
            None => self.role.clone(),
        }
    }

    fn parse(value: &str) -> Self {
        let (role, until) = value.split_once(' ').unwrap_or((value, ""));
        Self {
            role: role.to_owned(),
            until: until.parse().ok(),
        }
    }

    /// A grant from now on; for a time if one is given.
    #[must_use]
    pub fn new(role: &str, time: Option<Duration>, now: Timestamp) -> Self {
        Self {
            role: role.to_owned(),
            until: time.map(|time| now.saturating_add(millis(time))),
        }
    }
}

/// A conversation's policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The role of whoever has no other; `None` for the gateway's.
    pub default_role: Option<String>,
    /// Guests are answered out of what was said before.
    pub allow_guest_read: bool,
    /// Guests are answered.
    pub allow_guest_send: bool,
    /// Messages with pictures, voice and files are taken.
    pub allow_media: bool,
    /// Commands are taken from those who do not moderate.
    pub allow_commands: bool,
    /// Messages are answered by the model.
    pub allow_ai_responses: bool,
    /// Anonymous admins have the rights that the platform vouches for.
    pub anonymous_admins: bool,
    /// The longest message in characters; `None` for no limit of its own.
    pub max_message_length: Option<u32>,
    /// Messages of one person in a minute.
    pub max_messages_per_minute: Option<u32>,
    /// Commands of one person in a minute.
    pub max_commands_per_minute: Option<u32>,
    /// The warning that mutes; `None` for none.
    pub warnings_before_mute: Option<u32>,
    /// How long that mutes.
    pub warning_mute: Duration,
    /// Who asks for something that others may allow needs one of them, whatever he may himself.
    pub four_eyes: bool,
    /// How long a question waits for its answer.
    pub approval_time: Duration,
    /// If not empty: the ids of those who are heard.
    pub whitelist: Vec<String>,
    /// The ids of those who are not heard.
    pub blacklist: Vec<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            default_role: None,
            allow_guest_read: true,
            allow_guest_send: true,
            allow_media: true,
            allow_commands: true,
            allow_ai_responses: true,
            anonymous_admins: false,
            max_message_length: None,
            max_messages_per_minute: None,
            max_commands_per_minute: None,
            warnings_before_mute: Some(3),
            warning_mute: Duration::from_secs(3_600),
            four_eyes: false,
            approval_time: Duration::from_secs(3_600),
            whitelist: Vec::new(),
            blacklist: Vec::new(),
        }
    }
}

/// The keys of a policy, in the order in which they are shown.
pub const KEYS: [&str; 16] = [
    "default_role",
    "allow_guest_read",
    "allow_guest_send",
    "allow_media",
    "allow_commands",
    "allow_ai_responses",
    "anonymous_admins",
    "max_message_length",
    "max_messages_per_minute",
    "max_commands_per_minute",
    "warnings_before_mute",
    "warning_mute",
    "four_eyes",
    "approval_time",
    "whitelist",
    "blacklist",
];

/// What a value may be, when it was something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadPolicy {
    /// There is no such key.
    Key,
    /// The value of this key is one of these, or like this.
    Value(&'static str),
}

impl Policy {
    /// The stored key of a policy's key.
    #[must_use]
    pub fn key(key: &str) -> String {
        format!("{POLICY}{key}")
    }

    /// Sets a key to a value as a person writes it or as it is stored. `is_role` knows the roles.
    ///
    /// # Errors
    /// What is wrong with it; nothing is changed then.
    pub fn set(
        &mut self,
        key: &str,
        value: &str,
        is_role: impl Fn(&str) -> bool,
    ) -> Result<(), BadPolicy> {
        let value = value.trim();
        match key {
            "default_role" if is_role(value) => self.default_role = Some(value.to_owned()),
            "default_role" => return Err(BadPolicy::Value("owner, admin, member, guest, blocked")),
            "allow_guest_read" => self.allow_guest_read = truth(value)?,
            "allow_guest_send" => self.allow_guest_send = truth(value)?,
            "allow_media" => self.allow_media = truth(value)?,
            "allow_commands" => self.allow_commands = truth(value)?,
            "allow_ai_responses" => self.allow_ai_responses = truth(value)?,
            "anonymous_admins" => self.anonymous_admins = truth(value)?,
            "max_message_length" => self.max_message_length = count(value)?,
            "max_messages_per_minute" => self.max_messages_per_minute = count(value)?,
            "max_commands_per_minute" => self.max_commands_per_minute = count(value)?,
            "warnings_before_mute" => self.warnings_before_mute = count(value)?,
            "warning_mute" => {
                self.warning_mute = span(value).ok_or(BadPolicy::Value("10m, 2h, 7d"))?;
            }
            "four_eyes" => self.four_eyes = truth(value)?,
            "approval_time" => {
                self.approval_time = span(value).ok_or(BadPolicy::Value("10m, 2h, 7d"))?;
            }
            "whitelist" => self.whitelist = ids(value)?,
            "blacklist" => self.blacklist = ids(value)?,
            _ => return Err(BadPolicy::Key),
        }
        Ok(())
    }

    /// The value of a key, as it is written; `None` if there is no such key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<String> {
        let truth = |value: bool| if value { "on" } else { "off" }.to_owned();
        let count = |value: Option<u32>| value.map_or_else(|| "none".into(), |n| n.to_string());
        let ids = |ids: &[String]| match ids {
            [] => "none".to_owned(),
            ids => ids.join(" "),
        };
        Some(match key {
            "default_role" => self.default_role.clone().unwrap_or_else(|| "none".into()),
            "allow_guest_read" => truth(self.allow_guest_read),
            "allow_guest_send" => truth(self.allow_guest_send),
            "allow_media" => truth(self.allow_media),
            "allow_commands" => truth(self.allow_commands),
            "allow_ai_responses" => truth(self.allow_ai_responses),
            "anonymous_admins" => truth(self.anonymous_admins),
            "max_message_length" => count(self.max_message_length),
            "max_messages_per_minute" => count(self.max_messages_per_minute),
            "max_commands_per_minute" => count(self.max_commands_per_minute),
            "warnings_before_mute" => count(self.warnings_before_mute),
            "warning_mute" => format!("{}s", self.warning_mute.as_secs()),
            "four_eyes" => truth(self.four_eyes),
            "approval_time" => format!("{}s", self.approval_time.as_secs()),
            "whitelist" => ids(&self.whitelist),
            "blacklist" => ids(&self.blacklist),
            _ => return None,
        })
    }
}

fn truth(value: &str) -> Result<bool, BadPolicy> {
    match value.to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" | "开" => Ok(true),
        "off" | "false" | "no" | "关" => Ok(false),
        _ => Err(BadPolicy::Value("on, off")),
    }
}

fn count(value: &str) -> Result<Option<u32>, BadPolicy> {
    if is_none(value) {
        return Ok(None);
    }
    let count = value.parse().ok().filter(|count| *count > 0);
    count.map(Some).ok_or(BadPolicy::Value("1, 2, 3…, none"))
}

fn ids(value: &str) -> Result<Vec<String>, BadPolicy> {
    if is_none(value) {
        return Ok(Vec::new());
    }
    let ids = value.split(|c: char| c.is_whitespace() || c == ',');
    let ids: Vec<String> = ids.filter(|id| !id.is_empty()).map(str::to_owned).collect();
    let possible = ids.len() <= MOST_IDS && ids.iter().all(|id| id.len() <= 128);
    if possible {
        Ok(ids)
    } else {
        Err(BadPolicy::Value("id id id… (1,000), none"))
    }
}

/// Whether a value is the word for none.
#[must_use]
pub fn is_none(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "none" | "无" | "")
}

/// What the store has of one conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationRules {
    /// The policy.
    pub policy: Policy,
    /// Roles by user id.
    pub grants: BTreeMap<String, Grant>,
    /// What else was set in the conversation, by key.
    pub settings: BTreeMap<String, String>,
}

impl ConversationRules {
    /// Reads the rows of a conversation. A row that this version does not understand is passed over: it
    /// was checked when it was written.
    #[must_use]
    pub fn read(rows: &[(String, String)]) -> Self {
        let mut rules = Self::default();
        for (key, value) in rows {
            if let Some(user) = key.strip_prefix(GRANT) {
                rules.grants.insert(user.to_owned(), Grant::parse(value));
            } else if let Some(key) = key.strip_prefix(POLICY) {
                // A role that is gone from agent.yaml gives nothing when it is looked up.
                let _ = rules.policy.set(key, value, |_| true);
            } else if let Some(key) = key.strip_prefix(SETTING) {
                rules.settings.insert(key.to_owned(), value.clone());
            }
        }
        rules
    }
}

#[cfg(test)]
mod tests;
