//! Members of the guild and of the group, and what a bot does to them.
//!
//! Owns who is there, and the platform's refusals. Only what its documentation names is taken.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{BOT, CHANNEL, FakeQq, State, member, rest::Refusal, seconds};

/// The guild of the channel.
const GUILD: &str = "50";
/// The bot's id in the group.
pub const GROUP_BOT: &str = "B0";

/// Who is there.
#[derive(Debug)]
pub(super) struct Guild {
    /// Members of the guild, by id, with their role.
    members: BTreeMap<String, &'static str>,
    /// Members of the group, by id, with the name of their standing.
    group: BTreeMap<String, &'static str>,
    quiet: BTreeMap<String, String>,
    /// Whom the guild or the group keeps out.
    pub(super) banned: Vec<String>,
}

impl Default for Guild {
    fn default() -> Self {
        let guild = [(BOT, "2"), ("1", "4"), ("2", "2"), ("7", "1"), ("8", "1")];
        let group = [(1, "owner"), (2, "admin"), (7, "member"), (8, "member")];
        let mut group: BTreeMap<String, &'static str> =
            group.map(|(person, role)| (member(person), role)).into();
        group.insert(GROUP_BOT.to_owned(), "admin");
        Self {
            members: guild.map(|(user, role)| (user.to_owned(), role)).into(),
            group,
            quiet: BTreeMap::new(),
            banned: Vec::new(),
        }
    }
}

impl FakeQq {
    /// The bot is an admin of guild and group, or an ordinary member.
    pub fn promote(&self, admin: bool) {
        self.change(|state| {
            let (guild, group) = if admin {
                ("2", "admin")
            } else {
                ("1", "member")
            };
            state.guild.members.insert(BOT.to_owned(), guild);
            state.guild.group.insert(GROUP_BOT.to_owned(), group);
        });
    }

    /// Everybody is in his place again, and the messages of the bot are there.
    pub fn gather(&self) {
        self.change(|state| {
            state.guild = Guild::default();
            state.recalled.clear();
        });
    }

    /// How many messages the bot took back.
    #[must_use]
    pub fn recalled(&self) -> usize {
        self.shared.state.lock().recalled.len()
    }

    /// Until when somebody is kept quiet, as the bot said it.
    #[must_use]
    pub fn quiet(&self, user: &str) -> Option<String> {
        self.shared.state.lock().guild.quiet.get(user).cloned()
    }

    /// Whether somebody is in the guild or the group, and whether he is kept out.
    #[must_use]
    pub fn presence(&self, user: &str) -> (bool, bool) {
        let guild = &self.shared.state.lock().guild;
        let there = guild.members.contains_key(user) || guild.group.contains_key(user);
        (there, guild.banned.iter().any(|one| one == user))
    }
}

impl State {
    /// A call about members. `parts` is its path.
    pub(super) fn moderate(
        &mut self,
        method: &str,
        parts: &[&str],
        query: &str,
        said: &Value,
    ) -> Result<Value, Refusal> {
        match (method, parts) {
            ("GET", ["channels", CHANNEL]) => Ok(json!({ "id": CHANNEL, "guild_id": GUILD })),
            ("GET", ["guilds", GUILD, "members", user]) => self.guild_member(user),
            ("GET", ["guilds", GUILD, "roles", role, "members"]) => Ok(self.with_role(role, query)),
            (_, ["guilds", GUILD, "members", user, ..]) => {
                self.guild_admin(user)?;
                self.guild_action(method, parts, said)
            }
            (_, ["v2", "groups", ..]) if !self.policy.groups => {
                Err((400, 11_253, "no permission to call"))
            }
            ("GET", ["v2", "groups", _, "bot_state"]) => {
                let role = self.guild.group.get(GROUP_BOT);
                Ok(json!({ "member_openid": GROUP_BOT, "member_role": role }))
            }
            ("GET", ["v2", "groups", _, "members", user]) => match self.guild.group.get(*user) {
                Some(role) => Ok(group_member(user, role)),
                None => Err((404, 10_004, "no such member")),
            },
            ("GET", ["v2", "groups", _, "members"]) => Ok(self.group_page(query)),
            (_, ["v2", "groups", _, call]) => self.group_action(method, call, said),
            _ => Err((404, 10_003, "no such call")),
        }
    }

    fn guild_member(&self, user: &str) -> Result<Value, Refusal> {
        match self.guild.members.get(user) {
            Some(role) => Ok(described(user, role)),
            None => Err((404, 10_004, "no such member")),
        }
    }

    /// The bot must be an admin, and whom it acts on must not.
    fn guild_admin(&self, user: &str) -> Result<(), Refusal> {
        let role = |user: &str| self.guild.members.get(user).copied();
        match (role(BOT), role(user)) {
            (Some("2" | "4"), Some("1")) => Ok(()),
            (Some("2" | "4"), None) => Err((404, 10_004, "no such member")),
            _ => Err((403, 501_017, "not an admin")),
        }
    }

    fn guild_action(
        &mut self,
        method: &str,
        parts: &[&str],
        said: &Value,
    ) -> Result<Value, Refusal> {
        match (method, parts) {
            ("DELETE", [_, _, _, user]) => {
                let known = ["add_blacklist", "delete_history_msg_days"];
                self.only(said, &known);
                self.guild.members.remove(*user);
                if said["add_blacklist"] == true {
                    self.guild.banned.push((*user).to_owned());
                }
                Ok(Value::Null)
            }
            ("PATCH", [_, _, _, user, "mute"]) => {
                self.only(said, &["mute_seconds"]);
                let Some(seconds) = said["mute_seconds"].as_str() else {
                    return Err((400, 502_001, "mute_seconds is a text"));
                };
                self.be_quiet(user, seconds, seconds != "0");
                Ok(Value::Null)
            }
            _ => Err((404, 10_003, "no such call")),
        }
    }

    fn with_role(&mut self, role: &str, query: &str) -> Value {
        if !query.contains("limit=400") {
            self.violations.push(format!("the query {query}"));
        }
        let all = self.guild.members.iter();
        let found = all.filter(|(_, known)| **known == role);
        let found: Vec<Value> = found.map(|(user, role)| described(user, role)).collect();
        json!({ "data": found, "next": "0" })
    }

    /// One member a page, so that pages are asked for.
    fn group_page(&self, query: &str) -> Value {
        let start: usize = query
            .trim_start_matches("cursor=")
            .parse()
            .unwrap_or_default();
        let one = self.guild.group.iter().nth(start);
        let members: Vec<Value> = one
            .map(|(user, role)| group_member(user, role))
            .into_iter()
            .collect();
        let is_last = start + 1 >= self.guild.group.len();
        let next = if is_last {
            String::new()
        } else {
            (start + 1).to_string()
        };
        json!({ "members": members, "next_cursor": next })
    }

    fn group_action(&mut self, method: &str, call: &str, said: &Value) -> Result<Value, Refusal> {
        if method == "GET" && call == "restrict_chat_setting" {
            let quiet = self.guild.quiet.iter();
            let members: Vec<Value> = quiet
                .map(|(user, until)| json!({ "member_openid": user, "mute_expire_at": until }))
                .collect();
            return Ok(json!({ "members": members, "global_rule": { "mode": "none" } }));
        }
        if self.guild.group.get(GROUP_BOT) != Some(&"admin") {
            return Err((403, 11_255, "not an admin of the group"));
        }
        let user = match call {
            "restrict_chat_setting" => said["members"][0]["member_openid"].as_str(),
            _ => said["member_openids"][0].as_str(),
        };
        let user = user.unwrap_or_default().to_owned();
        if self.guild.group.get(&user) != Some(&"member") {
            return Err((400, 40_093_001, "not an ordinary member"));
        }
        match (method, call) {
            ("POST", "restrict_chat_setting") => {
                let rule = &said["members"][0];
                self.only(rule, &["op", "member_openid", "mute_expire_at"]);
                let until = rule["mute_expire_at"].as_str().unwrap_or_default();
                // RFC 3339 in UTC, compared as text.
                let now = rfc3339(seconds());
                self.be_quiet(&user, until, until > now.as_str());
                Ok(json!({}))
            }
            ("POST", "batch_remove_members") => {
                self.only(said, &["member_openids", "add_to_member_blacklist"]);
                self.guild.group.remove(&user);
                if said["add_to_member_blacklist"] == true {
                    self.guild.banned.push(user);
                }
                let failed: [&str; 0] = [];
                Ok(json!({
                    "remove_members_result": "success",
                    "add_to_member_blacklist_fail_openids": failed,
                }))
            }
            _ => Err((404, 10_003, "no such call")),
        }
    }

    fn be_quiet(&mut self, user: &str, until: &str, is_quiet: bool) {
        if is_quiet {
            self.guild.quiet.insert(user.to_owned(), until.to_owned());
        } else {
            self.guild.quiet.remove(user);
        }
    }

    /// Nothing but these parameters is said.
    pub(super) fn only(&mut self, said: &Value, known: &[&str]) {
        for name in said.as_object().into_iter().flatten().map(|(name, _)| name) {
            if !known.contains(&name.as_str()) {
                self.violations.push(format!("the parameter {name}"));
            }
        }
    }
}

fn described(user: &str, role: &str) -> Value {
    json!({
        "user": { "id": user, "username": format!("user {user}"), "bot": user == BOT },
        "nick": "", "roles": [role], "joined_at": "2021-12-05T14:08:29+08:00",
    })
}

fn group_member(user: &str, role: &str) -> Value {
    json!({ "member_openid": user, "username": format!("user {user}"), "member_role": role, "bot": user == GROUP_BOT })
}

/// A time in seconds as RFC 3339 (days by the rule of the civil calendar).
fn rfc3339(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day = shifted % 146_097;
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z",
        rest / 3_600,
        rest / 60 % 60,
        rest % 60
    )
}
