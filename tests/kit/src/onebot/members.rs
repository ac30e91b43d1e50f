//! The groups of the fake platform and what can be done to their members.
//!
//! Owns roles, mutes and departures, and the rules of the real platform: who is no admin can do nothing, an
//! admin can do nothing to an admin, nobody to the owner.

use std::{
    collections::BTreeMap,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

use super::{FakeOneBot, Shared};

/// What the platform does at a kick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kicks {
    /// The member is gone.
    #[default]
    Honest,
    /// Nothing, and it says that it was done.
    Pretended,
    /// The member is gone, and it says that it timed out.
    TimedOut,
    /// It says that it will be done later, and does nothing.
    Later,
}

#[derive(Debug, Default)]
pub(super) struct Groups {
    members: BTreeMap<(u64, u64), Member>,
    pub(super) kicks: Kicks,
}

#[derive(Debug, Clone)]
struct Member {
    role: &'static str,
    muted_until: u64,
}

/// What an action comes to: its data, or the code and the words of a failure.
type Outcome = Result<Value, (i64, String)>;

impl Groups {
    pub(super) fn set(&mut self, group: u64, user: u64, role: Option<&'static str>) {
        match role {
            Some(role) => {
                let member = Member {
                    role,
                    muted_until: 0,
                };
                self.members.insert((group, user), member);
            }
            None => {
                self.members.remove(&(group, user));
            }
        }
    }

    pub(super) fn has(&self, group: u64, user: u64) -> bool {
        self.members.contains_key(&(group, user))
    }

    fn record(&self, key: (u64, u64)) -> Option<Value> {
        let member = self.members.get(&key)?;
        Some(json!({
            "group_id": key.0,
            "user_id": key.1,
            "nickname": format!("user {}", key.1),
            "card": "",
            "role": member.role,
            "shut_up_timestamp": member.muted_until,
        }))
    }

    /// Whether the bot may take back what somebody said: a member or one who went, or as the owner an admin.
    pub(super) fn may_recall(&self, bot: u64, group: u64, user: u64) -> bool {
        let role = |of| self.members.get(&(group, of)).map(|member| member.role);
        matches!(
            (role(bot), role(user)),
            (Some("owner"), _) | (Some("admin"), Some("member") | None)
        )
    }

    fn may(&self, bot: u64, group: u64, user: u64) -> Result<(), (i64, String)> {
        let role = |of| self.members.get(&(group, of)).map(|member| member.role);
        match (role(bot), role(user)) {
            (_, None) => Err((1200, "member does not exist: 成员不存在".into())),
            (Some("owner"), _) | (Some("admin"), Some("member")) => Ok(()),
            _ => Err((1200, "ERR_NOT_GROUP_ADMIN".into())),
        }
    }
}

impl FakeOneBot {
    /// The standing of somebody in a group: his role, and until when he is muted.
    #[must_use]
    pub fn standing(&self, group: u64, user: u64) -> Option<(&'static str, u64)> {
        let groups = self.shared.groups.lock();
        let member = groups.members.get(&(group, user))?;
        Some((member.role, member.muted_until))
    }
}

/// Carries out an action on groups; `None` for any other.
pub(super) fn call(shared: &Shared, action: &str, params: &Value) -> Option<Outcome> {
    let number = |name: &str| match &params[name] {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    let mut groups = shared.groups.lock();
    let (group, user) = (number("group_id"), number("user_id"));
    let key = (group.unwrap_or_default(), user.unwrap_or_default());
    let outcome = match action {
        "get_group_member_info" => groups
            .record(key)
            .ok_or_else(|| (1200, "成员不存在".to_owned())),
        "get_group_member_list" => Ok(groups
            .members
            .keys()
            .filter(|(of, _)| Some(*of) == group)
            .filter_map(|key| groups.record(*key))
            .collect()),
        "set_group_kick" => kick(shared, &mut groups, key),
        "set_group_ban" => {
            // What happens without a time differs, so it is no call that a gateway may make.
            let seconds = number("duration").ok_or_else(|| (1400, "no duration".to_owned()));
            seconds.and_then(|seconds| mute(shared, &mut groups, key, seconds))
        }
        "set_group_leave" => {
            let bot = (key.0, shared.self_id);
            match groups.members.get(&bot).map(|member| member.role) {
                Some("owner") => Err((1200, "群主不能退群".to_owned())),
                _ => {
                    groups.members.remove(&bot);
                    Ok(Value::Null)
                }
            }
        }
        _ => return None,
    };
    Some(outcome)
}

fn kick(shared: &Shared, groups: &mut Groups, key: (u64, u64)) -> Outcome {
    match groups.kicks {
        Kicks::Pretended => return Ok(Value::Null),
        Kicks::Later => return Err((1, String::new())),
        Kicks::Honest | Kicks::TimedOut => {}
    }
    groups.may(shared.self_id, key.0, key.1)?;
    groups.members.remove(&key);
    match groups.kicks {
        Kicks::TimedOut => Err((1200, "Timeout: no answer of the client".into())),
        _ => Ok(Value::Null),
    }
}

fn mute(shared: &Shared, groups: &mut Groups, key: (u64, u64), seconds: u64) -> Outcome {
    groups.may(shared.self_id, key.0, key.1)?;
    if seconds >= 2_592_000 {
        return Err((1200, "too long".into()));
    }
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    if let Some(member) = groups.members.get_mut(&key) {
        member.muted_until = match seconds {
            0 => 0,
            seconds => now.as_secs() + seconds,
        };
    }
    Ok(Value::Null)
}
