//! Moderation of groups.
//!
//! Owns the checks before an action, the calls, and the proof after them. Roles are asked for without a
//! cache right before anything is done, because implementations fail in silence without the right. Some say
//! "ok" to a kick whatever became of it, so the member is looked up afterwards. Nothing is ever repeated.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::{Value, json};
use weirgate_sdk::{
    Action, BotRights, ConversationKey, Member, Moderates, ModerationError, PlatformRole,
    SendError, UserId,
};

use super::{
    answer::Data,
    members,
    places::{Place, id_value},
    quote,
    send::Call,
    session::unix_time,
    wire::is_integer,
};
use crate::qq::{Qq, Shared};

/// The longest mute: one second less than the 30 days that the platform refuses.
const LONGEST_MUTE: Duration = Duration::from_secs(30 * 24 * 3_600 - 1);
/// Pauses between looks whether a kicked member is gone; together how long he may take to go.
const LOOKS: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_millis(300),
    Duration::from_millis(700),
    Duration::from_millis(1_500),
];

/// Words of a person who is not in the group.
const ABSENT: &[&str] = &[
    "不存在",
    "不在群",
    "not exist",
    "not found",
    "not in group",
    "no such member",
];
/// Words of a right that is missing.
const POWERLESS: &[&str] = &[
    "not_group_admin",
    "权限",
    "permission",
    "不是管理员",
    "not admin",
];
/// Words of a message that cannot be taken back.
const PAST: &[&str] = &[
    "recall",
    "撤回",
    "消息不存在",
    "超时",
    "not found",
    "not exist",
    "expired",
];

#[async_trait]
impl Moderates for Qq {
    async fn would(
        &self,
        conversation: &ConversationKey,
        action: &Action,
    ) -> Result<(), ModerationError> {
        let shared = self.shared();
        if let Action::Delete { message } = action {
            return deletable(shared, conversation, message.as_str()).await;
        }
        let group = group(conversation)?;
        let user = action.user().ok_or(ModerationError::NotSupported)?;
        let most = LONGEST_MUTE;
        match action {
            Action::Ban {
                time: Some(time), ..
            }
            | Action::Mute {
                time: Some(time), ..
            } if *time > most => Err(ModerationError::TooLong { most }),
            // It would end by itself after a month, which is not what was asked for.
            Action::Mute { time: None, .. } => Err(ModerationError::TooLong { most }),
            // Who was put out for good can be let in by people only; who was kept quiet can be heard.
            Action::Unban { .. } => match allowed(shared, group, user).await {
                Err(ModerationError::NotAMember) => Err(ModerationError::NotSupported),
                allowed => allowed,
            },
            _ => allowed(shared, group, user).await,
        }
    }

    async fn act(
        &self,
        conversation: &ConversationKey,
        action: &Action,
    ) -> Result<(), ModerationError> {
        self.would(conversation, action).await?;
        let shared = self.shared();
        if let Action::Delete { message } = action {
            return delete(shared, message.as_str()).await;
        }
        let group = group(conversation)?;
        match action {
            Action::Kick { user } => kick(shared, group, user, false).await,
            Action::Ban { user, time: None } => kick(shared, group, user, true).await,
            Action::Ban {
                user,
                time: Some(time),
            }
            | Action::Mute {
                user,
                time: Some(time),
            } => {
                // Zero would lift a mute.
                silence(shared, group, user, time.as_secs().max(1)).await
            }
            Action::Unmute { user } | Action::Unban { user } => {
                silence(shared, group, user, 0).await
            }
            Action::Mute { time: None, .. } | Action::Delete { .. } => {
                Err(ModerationError::NotSupported)
            }
        }
    }

    async fn is_done(
        &self,
        conversation: &ConversationKey,
        action: &Action,
    ) -> Result<Option<bool>, ModerationError> {
        let shared = self.shared();
        let group = group(conversation)?;
        let Some(user) = action.user() else {
            return Ok(None);
        };
        let found = match look_up(shared, group, user).await {
            Ok(found) => Some(found),
            Err(ModerationError::NotAMember) => None,
            Err(error) => return Err(error),
        };
        let quiet = |member: &Member| member.muted_until.is_some_and(|until| until > unix_time());
        Ok(match (action, found) {
            (Action::Kick { .. } | Action::Ban { time: None, .. }, found) => Some(found.is_none()),
            (Action::Delete { .. }, _) | (_, None) => None,
            // Implementations that do not tell who is muted look like nobody was.
            (Action::Mute { .. } | Action::Ban { .. }, Some(found)) => {
                quiet(&found).then_some(true)
            }
            (Action::Unmute { .. } | Action::Unban { .. }, Some(found)) => {
                quiet(&found).then_some(false)
            }
        })
    }

    async fn member(
        &self,
        conversation: &ConversationKey,
        user: &UserId,
    ) -> Result<Member, ModerationError> {
        look_up(self.shared(), group(conversation)?, user).await
    }

    async fn bot_rights(
        &self,
        conversation: &ConversationKey,
    ) -> Result<BotRights, ModerationError> {
        let role = own_role(self.shared(), group(conversation)?).await?;
        let power = is_admin(role);
        Ok(BotRights {
            role,
            remove: power,
            mute: power,
            delete: power,
        })
    }

    async fn admins(&self, conversation: &ConversationKey) -> Result<Vec<Member>, ModerationError> {
        let shared = self.shared();
        let group = group(conversation)?;
        if let Some(known) = shared.admins.known(conversation, Instant::now()) {
            return Ok(known);
        }
        let changes = shared.admins.changes();
        let params = json!({ "group_id": id_value(group), "no_cache": true });
        let data = look(shared, "get_group_member_list", params).await?;
        let found = members::admins(data.raw(), &shared.platform)
            .ok_or_else(|| ModerationError::Rejected("no list of members came".into()))?;
        let now = Instant::now();
        shared
            .admins
            .keep(conversation, found.clone(), changes, now);
        Ok(found)
    }
}

/// The group; only groups can be moderated.
pub(super) fn group(conversation: &ConversationKey) -> Result<&str, ModerationError> {
    match Place::parse(conversation.conversation.as_str()) {
        Some(Place::Group(group)) => Ok(group),
        _ => Err(ModerationError::NotSupported),
    }
}

fn is_admin(role: PlatformRole) -> bool {
    matches!(role, PlatformRole::Owner | PlatformRole::Admin)
}

/// Removes a member whom the bot may remove, and looks whether he is gone.
async fn kick(
    shared: &Shared,
    group: &str,
    user: &UserId,
    for_good: bool,
) -> Result<(), ModerationError> {
    let params = json!({
        "group_id": id_value(group),
        "user_id": id_value(user.as_str()),
        "reject_add_request": for_good,
    });
    match ask(shared, "set_group_kick", params).await {
        Ok(_) | Err(ModerationError::NotConfirmed(_)) => {}
        Err(error) => return Err(error),
    }
    for pause in LOOKS {
        tokio::time::sleep(pause).await;
        match look_up(shared, group, user).await {
            Err(ModerationError::NotAMember) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(ModerationError::NotConfirmed(error.to_string())),
        }
    }
    let text = "the platform took it, and the member is still there";
    Err(ModerationError::NotConfirmed(text.into()))
}

async fn silence(
    shared: &Shared,
    group: &str,
    user: &UserId,
    seconds: u64,
) -> Result<(), ModerationError> {
    // The time is always written: what it is without one differs between implementations.
    let params = json!({
        "group_id": id_value(group),
        "user_id": id_value(user.as_str()),
        "duration": seconds,
    });
    confirmed(&ask(shared, "set_group_ban", params).await?)
}

async fn delete(shared: &Shared, message: &str) -> Result<(), ModerationError> {
    let params = json!({ "message_id": id_value(message) });
    match ask(shared, "delete_msg", params).await {
        Ok(data) => confirmed(&data),
        Err(ModerationError::Rejected(text)) if holds(&text, PAST) => {
            Err(ModerationError::MessageGone)
        }
        Err(error) => Err(error),
    }
}

/// Whether the bot may delete a message: its own, or as an admin that of a member of this group. Ids are good in all
/// conversations, so what is not known to be of this one is let alone.
async fn deletable(
    shared: &Shared,
    conversation: &ConversationKey,
    message: &str,
) -> Result<(), ModerationError> {
    if shared.sent.contains(&conversation.conversation, message) {
        return Ok(());
    }
    let author = written_by(shared, conversation, message).await;
    let bot = shared.links.bot();
    if bot.is_some() && matches!(&author, Ok(author) if author.as_deref() == bot.as_deref()) {
        return Ok(());
    }
    let group = group(conversation)?;
    let own = own_role(shared, group).await?;
    if !is_admin(own) {
        return Err(ModerationError::BotLacksRight);
    }
    let Some(author) = author?.map(UserId::from) else {
        return Ok(());
    };
    match below(shared, group, &author, own).await {
        // His message stayed.
        Err(ModerationError::NotAMember) => Ok(()),
        below => below,
    }
}

/// Who wrote a message of this conversation, if the implementation tells him.
async fn written_by(
    shared: &Shared,
    conversation: &ConversationKey,
    message: &str,
) -> Result<Option<String>, ModerationError> {
    let place = Place::parse(conversation.conversation.as_str());
    let place = place.ok_or(ModerationError::NotSupported)?;
    let params = json!({ "message_id": id_value(message) });
    match look(shared, "get_msg", params).await {
        Ok(data) => {
            let author = quote::author(&data, place, shared.links.bot().as_deref());
            author.ok_or(ModerationError::MessageGone)
        }
        Err(ModerationError::Rejected(_)) => Err(ModerationError::MessageGone),
        Err(error) => Err(error),
    }
}

/// Whether the bot may do something to a member.
async fn allowed(shared: &Shared, group: &str, user: &UserId) -> Result<(), ModerationError> {
    if shared.links.bot().as_deref() == Some(user.as_str()) {
        return Err(ModerationError::TargetIsBot);
    }
    let own = own_role(shared, group).await?;
    if !is_admin(own) {
        return Err(ModerationError::BotLacksRight);
    }
    below(shared, group, user, own).await
}

/// Whether a member stands below the bot, which has this role.
async fn below(
    shared: &Shared,
    group: &str,
    user: &UserId,
    own: PlatformRole,
) -> Result<(), ModerationError> {
    match (look_up(shared, group, user).await?.role, own) {
        (PlatformRole::Owner, _) => Err(ModerationError::TargetIsOwner),
        (PlatformRole::Admin, PlatformRole::Admin) => Err(ModerationError::TargetIsAdmin),
        _ => Ok(()),
    }
}

async fn own_role(shared: &Shared, group: &str) -> Result<PlatformRole, ModerationError> {
    let bot = shared.links.bot();
    let bot = bot.ok_or_else(|| ModerationError::Unavailable("not connected".into()))?;
    match look_up(shared, group, &bot.into()).await {
        Ok(found) => Ok(found.role),
        // It is not even there.
        Err(ModerationError::NotAMember) => Err(ModerationError::BotLacksRight),
        Err(error) => Err(error),
    }
}

async fn look_up(shared: &Shared, group: &str, user: &UserId) -> Result<Member, ModerationError> {
    // The masks of anonymous members are nobody.
    if !is_integer(user.as_str()) {
        return Err(ModerationError::NotAMember);
    }
    let params = json!({
        "group_id": id_value(group),
        "user_id": id_value(user.as_str()),
        "no_cache": true,
    });
    let data = match look(shared, "get_group_member_info", params).await {
        Ok(data) => data,
        Err(ModerationError::Rejected(text)) if holds(&text, ABSENT) => {
            return Err(ModerationError::NotAMember);
        }
        Err(error) => return Err(error),
    };
    members::member(data.raw(), &shared.platform)
        .filter(|found| found.user.id == *user)
        .ok_or(ModerationError::NotAMember)
}

/// Looks something up: whatever fails, nothing was done.
async fn look(
    shared: &Shared,
    action: &'static str,
    params: Value,
) -> Result<Data, ModerationError> {
    match ask(shared, action, params).await {
        Err(ModerationError::NotConfirmed(why)) => Err(ModerationError::Unavailable(why)),
        answer => answer,
    }
}

pub(super) async fn ask(
    shared: &Shared,
    action: &'static str,
    params: Value,
) -> Result<Data, ModerationError> {
    let call = Call { action, params };
    let answer = shared.request(&call, shared.settings.call_timeout).await;
    answer.map_err(|error| match error {
        SendError::Unavailable(why) => ModerationError::Unavailable(why),
        SendError::Ambiguous(why) => ModerationError::NotConfirmed(why),
        SendError::Rejected(why) | SendError::Forbidden(why) | SendError::Gone(why) => {
            if holds(&why, POWERLESS) {
                ModerationError::BotLacksRight
            } else {
                ModerationError::Rejected(why)
            }
        }
        other => ModerationError::Rejected(other.to_string()),
    })
}

/// An answer that only promises to do it later does not say that it is done.
pub(super) fn confirmed(data: &Data) -> Result<(), ModerationError> {
    if data.is_later() {
        let text = "the platform will do it later";
        return Err(ModerationError::NotConfirmed(text.into()));
    }
    Ok(())
}

fn holds(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(word))
}
