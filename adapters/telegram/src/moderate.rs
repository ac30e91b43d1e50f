//! Moderation of groups.
//!
//! Owns the checks before an action, the calls, and what each refusal means. There is no call to remove somebody who may
//! come back: he is banned for a minute and let in again, so that even a lost second call leaves him free.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use teloxide_core::{
    payloads::{
        BanChatSenderChat, DeleteMessage, GetChatMember, UnbanChatMember, UnbanChatSenderChat,
    },
    requests::Payload,
    types::{ChatId, MessageId as WireMessageId, UserId as WireUserId},
};
use weirgate_sdk::{
    Action, BotRights, ConversationKey, Member, MessageId, Moderates, ModerationError,
    PlatformRole, UserId,
};

use crate::{
    api::{
        CallError, Refusal, Trouble,
        method::{BanChatMember, RestrictChatMember, permissions},
    },
    members,
    places::{is_private, number},
    receive::role,
    telegram::{Shared, Telegram, unix_time},
};

/// The longest time; longer is for good (Bot API, `banChatMember`).
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3_600);
/// The shortest that is not for good: the platform takes less than thirty seconds for it.
const SHORTEST: Duration = Duration::from_secs(35);
/// The age up to which messages can be deleted (Bot API, `deleteMessage`).
const OLDEST: Duration = Duration::from_secs(48 * 3_600);
/// How long somebody who is put out is kept out at most.
const KICK: Duration = Duration::from_secs(60);

#[async_trait]
impl Moderates for Telegram {
    async fn would(
        &self,
        conversation: &ConversationKey,
        action: &Action,
    ) -> Result<(), ModerationError> {
        let shared = self.shared();
        let chat = group(shared, conversation)?;
        match action {
            Action::Ban { user, time: None } | Action::Unban { user } if is_channel(user) => {
                sender_chat(user)?;
                may_restrict(shared, chat).await
            }
            Action::Kick { user } | Action::Unmute { user } => {
                allowed(shared, chat, user, true).await
            }
            Action::Ban { user, time } => {
                bounded(*time)?;
                // Also somebody who went, or never came.
                allowed(shared, chat, user, false).await
            }
            Action::Unban { user } => {
                wire_user(user)?;
                may_restrict(shared, chat).await
            }
            Action::Mute { user, time } => {
                bounded(*time)?;
                allowed(shared, chat, user, true).await
            }
            Action::Delete { message } => message_number(message).map(drop),
        }
    }

    async fn act(
        &self,
        conversation: &ConversationKey,
        action: &Action,
    ) -> Result<(), ModerationError> {
        self.would(conversation, action).await?;
        let shared = self.shared();
        let chat = group(shared, conversation)?;
        match action {
            Action::Ban { user, .. } if is_channel(user) => {
                let call = BanChatSenderChat::new(ChatId(chat), ChatId(sender_chat(user)?));
                done(shared, &call).await
            }
            Action::Unban { user } if is_channel(user) => {
                let call = UnbanChatSenderChat::new(ChatId(chat), ChatId(sender_chat(user)?));
                done(shared, &call).await
            }
            Action::Kick { user } => {
                ban(shared, chat, user, Some(KICK)).await?;
                // He may come back at once; if this fails, in a minute.
                if let Err(error) = unban(shared, chat, user).await {
                    tracing::info!(account = %shared.account, %error, "who was put out may come back in a minute");
                }
                Ok(())
            }
            Action::Ban { user, time } => ban(shared, chat, user, bounded(*time)?).await,
            Action::Unban { user } => unban(shared, chat, user).await,
            Action::Mute { user, time } => {
                restrict(shared, chat, user, false, bounded(*time)?).await
            }
            Action::Unmute { user } => restrict(shared, chat, user, true, None).await,
            Action::Delete { message } => delete(shared, chat, message).await,
        }
    }

    async fn is_done(
        &self,
        conversation: &ConversationKey,
        action: &Action,
    ) -> Result<Option<bool>, ModerationError> {
        let shared = self.shared();
        let chat = group(self.shared(), conversation)?;
        let Some(user) = action.user().filter(|user| !is_channel(user)) else {
            return Ok(None);
        };
        let record = match record(shared, chat, user).await {
            Ok(record) => record,
            Err(ModerationError::NotAMember) => Value::Null,
            Err(error) => return Err(error),
        };
        let member = members::member(shared, &record);
        let is_banned = record["status"] == "kicked";
        let is_quiet = member
            .as_ref()
            .is_some_and(|member| member.muted_until.is_some_and(|until| until > unix_time()));
        Ok(Some(match action {
            Action::Kick { .. } => member.is_none(),
            Action::Ban { .. } => is_banned,
            Action::Unban { .. } => !is_banned,
            Action::Mute { .. } => is_quiet,
            Action::Unmute { .. } => !is_quiet,
            Action::Delete { .. } => return Ok(None),
        }))
    }

    async fn member(
        &self,
        conversation: &ConversationKey,
        user: &UserId,
    ) -> Result<Member, ModerationError> {
        let shared = self.shared();
        let record = record(shared, group(self.shared(), conversation)?, user).await?;
        members::member(shared, &record).ok_or(ModerationError::NotAMember)
    }

    async fn bot_rights(
        &self,
        conversation: &ConversationKey,
    ) -> Result<BotRights, ModerationError> {
        let (role, record) = own(self.shared(), group(self.shared(), conversation)?).await?;
        let may = |right: &str| role == PlatformRole::Owner || record[right] == true;
        Ok(BotRights {
            role,
            remove: may("can_restrict_members"),
            mute: may("can_restrict_members"),
            delete: may("can_delete_messages"),
        })
    }

    async fn admins(&self, conversation: &ConversationKey) -> Result<Vec<Member>, ModerationError> {
        let shared = self.shared();
        let found = members::admins(shared, group(self.shared(), conversation)?).await;
        found.map_err(|error| failure(&error))
    }
}

/// The group; only groups can be moderated.
///
/// # Errors
/// [`ModerationError::NotSupported`] if it is none.
pub fn group(shared: &Shared, conversation: &ConversationKey) -> Result<i64, ModerationError> {
    match shared.place(conversation) {
        Some(place) if !is_private(place.chat) => Ok(place.chat),
        _ => Err(ModerationError::NotSupported),
    }
}

/// Whether this is a chat that speaks in the place of somebody.
fn is_channel(user: &UserId) -> bool {
    user.as_str().starts_with('-')
}

fn sender_chat(user: &UserId) -> Result<i64, ModerationError> {
    number(user.as_str()).ok_or(ModerationError::NotAMember)
}

fn wire_user(user: &UserId) -> Result<WireUserId, ModerationError> {
    let id = number(user.as_str()).and_then(|id| u64::try_from(id).ok());
    id.map(WireUserId).ok_or(ModerationError::NotAMember)
}

/// A time that the platform does not take for another one.
fn bounded(time: Option<Duration>) -> Result<Option<Duration>, ModerationError> {
    match time {
        Some(time) if time > LONGEST => Err(ModerationError::TooLong { most: LONGEST }),
        time => Ok(time.map(|time| time.max(SHORTEST))),
    }
}

/// The moment at which a time from now ends, in seconds since the epoch.
fn until(time: Option<Duration>) -> Option<i64> {
    let seconds = i64::try_from(time?.as_secs()).unwrap_or(i64::MAX);
    Some((unix_time() / 1_000).saturating_add(seconds))
}

async fn ban(
    shared: &Shared,
    chat: i64,
    user: &UserId,
    time: Option<Duration>,
) -> Result<(), ModerationError> {
    let call = BanChatMember {
        chat_id: chat,
        user_id: wire_user(user)?.0,
        until_date: until(time),
    };
    done(shared, &call).await
}

async fn unban(shared: &Shared, chat: i64, user: &UserId) -> Result<(), ModerationError> {
    let mut call = UnbanChatMember::new(ChatId(chat), wire_user(user)?);
    // Without this word it would put out whoever is in.
    call.only_if_banned = Some(true);
    done(shared, &call).await
}

async fn restrict(
    shared: &Shared,
    chat: i64,
    user: &UserId,
    speaks: bool,
    time: Option<Duration>,
) -> Result<(), ModerationError> {
    let call = RestrictChatMember {
        chat_id: chat,
        user_id: wire_user(user)?.0,
        permissions: permissions(speaks),
        use_independent_chat_permissions: true,
        until_date: until(time),
    };
    done(shared, &call).await
}

fn message_number(message: &MessageId) -> Result<WireMessageId, ModerationError> {
    let id = number(message.as_str()).and_then(|id| i32::try_from(id).ok());
    id.map(WireMessageId).ok_or(ModerationError::MessageGone)
}

async fn delete(shared: &Shared, chat: i64, message: &MessageId) -> Result<(), ModerationError> {
    let call = DeleteMessage::new(ChatId(chat), message_number(message)?);
    let refused = match asked(shared, &call).await {
        Ok(answer) => return confirmed(&answer),
        Err(error) => error,
    };
    let error = failure(&refused);
    if error != ModerationError::MessageGone {
        return Err(error);
    }
    // The same words stand for somebody else's message, which takes a right, and for an old one.
    let (role, record) = own(shared, chat).await?;
    if role != PlatformRole::Owner && record["can_delete_messages"] != true {
        return Err(ModerationError::BotLacksRight);
    }
    // What is there and cannot be deleted with the right is too old.
    match &refused {
        CallError::Refused(refusal) if refusal.says("can't be deleted") => {
            Err(ModerationError::MessageTooOld { most: OLDEST })
        }
        _ => Err(error),
    }
}

/// Whether the bot may do something to a member, or with `present: false` to somebody who is none.
async fn allowed(
    shared: &Shared,
    chat: i64,
    user: &UserId,
    present: bool,
) -> Result<(), ModerationError> {
    if is_channel(user) {
        return Err(ModerationError::NotSupported);
    }
    wire_user(user)?;
    if shared
        .bot()
        .is_some_and(|bot| bot.id.to_string() == user.as_str())
    {
        return Err(ModerationError::TargetIsBot);
    }
    may_restrict(shared, chat).await?;
    let record = match record(shared, chat, user).await {
        Err(ModerationError::NotAMember) if !present => return Ok(()),
        record => record?,
    };
    match role(record["status"].as_str().unwrap_or_default()) {
        PlatformRole::Owner => Err(ModerationError::TargetIsOwner),
        PlatformRole::Admin => Err(ModerationError::TargetIsAdmin),
        _ if present && members::member(shared, &record).is_none() => {
            Err(ModerationError::NotAMember)
        }
        _ => Ok(()),
    }
}

async fn may_restrict(shared: &Shared, chat: i64) -> Result<(), ModerationError> {
    let (role, record) = own(shared, chat).await?;
    if role == PlatformRole::Owner || record["can_restrict_members"] == true {
        Ok(())
    } else {
        Err(ModerationError::BotLacksRight)
    }
}

/// The bot's own standing, and its record.
async fn own(shared: &Shared, chat: i64) -> Result<(PlatformRole, Value), ModerationError> {
    let bot = shared.bot();
    let bot = bot.ok_or_else(|| ModerationError::Unavailable("not connected".into()))?;
    match record(shared, chat, &bot.id.to_string().into()).await {
        Ok(record) => Ok((role(record["status"].as_str().unwrap_or_default()), record)),
        // It is not even there.
        Err(ModerationError::NotAMember) => Err(ModerationError::BotLacksRight),
        Err(error) => Err(error),
    }
}

/// What the platform says of somebody, which may be that he went. Whatever fails, nothing was done.
async fn record(shared: &Shared, chat: i64, user: &UserId) -> Result<Value, ModerationError> {
    let call = GetChatMember::new(ChatId(chat), wire_user(user)?);
    match ask(shared, &call).await {
        Err(ModerationError::NotConfirmed(why)) => Err(ModerationError::Unavailable(why)),
        answer => answer,
    }
}

/// Makes a call that says whether it is done.
///
/// # Errors
/// The class of what went wrong.
pub async fn done<P>(shared: &Shared, call: &P) -> Result<(), ModerationError>
where
    P: Payload + serde::Serialize + Sync,
{
    confirmed(&ask(shared, call).await?)
}

/// Whether the platform says that it is done.
fn confirmed(answer: &Value) -> Result<(), ModerationError> {
    match answer {
        Value::Bool(true) => Ok(()),
        other => Err(ModerationError::NotConfirmed(format!(
            "the platform said {other}"
        ))),
    }
}

async fn ask<P>(shared: &Shared, call: &P) -> Result<Value, ModerationError>
where
    P: Payload + serde::Serialize + Sync,
{
    let answer = asked(shared, call).await;
    answer.map_err(|error| failure(&error))
}

async fn asked<P>(shared: &Shared, call: &P) -> Result<Value, CallError>
where
    P: Payload + serde::Serialize + Sync,
{
    let api = shared.api();
    let api = api.map_err(|error| CallError::Unreachable(error.to_string()))?;
    api.call(call, shared.settings.call_timeout).await
}

/// The class of a failure.
fn failure(error: &CallError) -> ModerationError {
    let text = error.to_string();
    let refusal = match error {
        CallError::Unreachable(_) => return ModerationError::Unavailable(text),
        CallError::Lost(_) => return ModerationError::NotConfirmed(text),
        CallError::Refused(refusal) => refusal,
    };
    meaning(refusal).unwrap_or(match refusal.trouble() {
        Trouble::Flood(_) | Trouble::Token | Trouble::Conflict | Trouble::Webhook => {
            ModerationError::Unavailable(text)
        }
        Trouble::NoMessage => ModerationError::MessageGone,
        Trouble::Forbidden => ModerationError::BotLacksRight,
        _ => ModerationError::Rejected(text),
    })
}

/// What a refusal says of the one whom it is about (tdlib/td and telegram-bot-api).
fn meaning(refusal: &Refusal) -> Option<ModerationError> {
    let words: [(ModerationError, &[&str]); 5] = [
        (
            ModerationError::TargetIsAdmin,
            &["user is an administrator", "user_admin_invalid"],
        ),
        (
            ModerationError::TargetIsOwner,
            &["can't remove chat owner", "user_creator"],
        ),
        (ModerationError::TargetIsBot, &["can't restrict self"]),
        (
            ModerationError::NotAMember,
            &[
                "participant_id_invalid",
                "user not found",
                "user_not_participant",
                "user_id_invalid",
            ],
        ),
        (
            ModerationError::NotSupported,
            &["only for supergroups", "for supergroup and channel"],
        ),
    ];
    let mut words = words.into_iter();
    let found = words.find(|(_, words)| words.iter().any(|word| refusal.says(word)));
    found.map(|(error, _)| error)
}
