//! Moderation of groups and guilds.
//!
//! Owns the checks before an action, and what each refusal means. Guilds let any bot that is an admin moderate; groups
//! let only a few bots that the platform has chosen, whatever the group's owner says. In a private chat there is nobody to
//! moderate. Nothing is ever repeated.

mod group;
mod guild;

use std::time::{Duration, Instant};

use async_trait::async_trait;
use reqwest::Method;
use serde_json::Value;
use weirgate_sdk::{
    Action, BotRights, ConversationKey, Member, MessageId, Moderates, ModerationError,
    PlatformRole, UserId, UserKey, text::line,
};

use super::{
    api::{CallError, Refusal, Trouble},
    bot::{Official, Shared, unix_time},
    places::{Place, is_id},
    receive::MAX_NAME,
};

/// The longest id of a message that becomes a part of a path, in bytes.
const MAX_MESSAGE: usize = 512;
/// Answers that are asked for when admins are looked for.
const MAX_PAGES: usize = 10;

/// A group or a guild, as far as both can be moderated alike.
#[async_trait]
trait Ground: Send + Sync {
    /// The longest time for which somebody can be kept quiet.
    fn longest(&self) -> Duration;

    /// The bot's own id, and its standing.
    async fn own(&self) -> Result<(String, PlatformRole), ModerationError>;

    /// A member.
    async fn member(&self, user: &str) -> Result<Member, ModerationError>;

    /// Removes a member, who may come back or may not.
    async fn remove(&self, user: &str, for_good: bool) -> Result<(), ModerationError>;

    /// Keeps a member quiet for a time, or lets him write again.
    async fn quiet(&self, user: &str, time: Option<Duration>) -> Result<(), ModerationError>;

    /// The owner and the admins.
    async fn admins(&self) -> Result<Vec<Member>, ModerationError>;

    /// The key under which what happens there is told.
    fn key(&self) -> ConversationKey;
}

#[async_trait]
impl Moderates for Official {
    async fn would(
        &self,
        conversation: &ConversationKey,
        action: &Action,
    ) -> Result<(), ModerationError> {
        let shared = self.shared();
        if let Action::Delete { message } = action {
            return message_path(conversation, message).map(drop);
        }
        let ground = find(shared, conversation).await?;
        may(&*ground, action).await.map(drop)
    }

    async fn act(
        &self,
        conversation: &ConversationKey,
        action: &Action,
    ) -> Result<(), ModerationError> {
        let shared = self.shared();
        if let Action::Delete { message } = action {
            return delete(shared, conversation, message).await;
        }
        let ground = find(shared, conversation).await?;
        let user = may(&*ground, action).await?;
        match action {
            Action::Kick { .. } => ground.remove(user, false).await,
            Action::Ban { time: None, .. } => ground.remove(user, true).await,
            // A ban has no end there; who is to be heard again is kept quiet.
            Action::Ban { time, .. } | Action::Mute { time, .. } => ground.quiet(user, *time).await,
            Action::Unmute { .. } | Action::Unban { .. } => ground.quiet(user, None).await,
            Action::Delete { .. } => Err(ModerationError::NotSupported),
        }
    }

    async fn is_done(
        &self,
        conversation: &ConversationKey,
        action: &Action,
    ) -> Result<Option<bool>, ModerationError> {
        let Some(user) = action.user() else {
            return Ok(None);
        };
        let ground = find(self.shared(), conversation).await?;
        let member = match ground.member(wire(user)?).await {
            Ok(member) => Some(member),
            Err(ModerationError::NotAMember) => None,
            Err(error) => return Err(error),
        };
        let is_quiet = |member: Member| member.muted_until.is_some_and(|until| until > unix_time());
        Ok(match (action, member) {
            (Action::Kick { .. } | Action::Ban { time: None, .. }, member) => {
                Some(member.is_none())
            }
            // Guilds do not tell who is quiet.
            (Action::Mute { .. } | Action::Ban { .. }, Some(member)) => {
                is_quiet(member).then_some(true)
            }
            (Action::Unmute { .. } | Action::Unban { .. }, Some(member)) => {
                is_quiet(member).then_some(false)
            }
            _ => None,
        })
    }

    async fn member(
        &self,
        conversation: &ConversationKey,
        user: &UserId,
    ) -> Result<Member, ModerationError> {
        look_up(self.shared(), conversation, user).await
    }

    async fn bot_rights(
        &self,
        conversation: &ConversationKey,
    ) -> Result<BotRights, ModerationError> {
        let ground = find(self.shared(), conversation).await?;
        let (_, role) = ground.own().await?;
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
        let ground = find(shared, conversation).await?;
        let key = ground.key();
        if let Some(known) = shared.admins.known(&key, Instant::now()) {
            return Ok(known);
        }
        let changes = shared.admins.changes();
        let admins = ground.admins().await?;
        shared
            .admins
            .keep(&key, admins.clone(), changes, Instant::now());
        Ok(admins)
    }
}

/// A member of the group or guild of a conversation.
///
/// # Errors
/// Why it cannot be known.
pub async fn look_up(
    shared: &Shared,
    conversation: &ConversationKey,
    user: &UserId,
) -> Result<Member, ModerationError> {
    let ground = find(shared, conversation).await?;
    ground.member(wire(user)?).await
}

/// The group or guild of a conversation.
async fn find<'a>(
    shared: &'a Shared,
    conversation: &'a ConversationKey,
) -> Result<Box<dyn Ground + 'a>, ModerationError> {
    let ask = Ask(shared);
    match Place::parse(conversation.conversation.as_str()) {
        Some(Place::Group(id)) => Ok(Box::new(group::Group { ask, id })),
        Some(Place::Guild(id)) => Ok(Box::new(guild::Guild {
            ask,
            id: id.to_owned(),
        })),
        Some(place @ Place::Channel(_)) => {
            let channel = ask.look(&place.path()).await?;
            let id = channel["guild_id"].as_str().filter(|id| is_id(id));
            let unknown = || ModerationError::Unavailable("the channel is not described".into());
            let id = id.ok_or_else(unknown)?.to_owned();
            Ok(Box::new(guild::Guild { ask, id }))
        }
        _ => Err(ModerationError::NotSupported),
    }
}

/// Whom an action may be done to: looked at anew, for the platform says the same of many reasons.
async fn may<'a>(ground: &dyn Ground, action: &'a Action) -> Result<&'a str, ModerationError> {
    let user = wire(action.user().ok_or(ModerationError::NotSupported)?)?;
    if let Action::Ban {
        time: time @ Some(_),
        ..
    }
    | Action::Mute { time, .. } = action
    {
        let most = ground.longest();
        let fits = time.is_some_and(|time| time <= most);
        fits.then_some(())
            .ok_or(ModerationError::TooLong { most })?;
    }
    let (bot, own) = ground.own().await?;
    if !is_admin(own) {
        return Err(ModerationError::BotLacksRight);
    }
    if user == bot {
        return Err(ModerationError::TargetIsBot);
    }
    match ground.member(user).await {
        // Whom the platform keeps out, only people can let in again.
        Err(ModerationError::NotAMember) if matches!(action, Action::Unban { .. }) => {
            Err(ModerationError::NotSupported)
        }
        member => match member?.role {
            PlatformRole::Owner => Err(ModerationError::TargetIsOwner),
            PlatformRole::Admin => Err(ModerationError::TargetIsAdmin),
            PlatformRole::Member | PlatformRole::Unknown => Ok(user),
        },
    }
}

/// The path of a message.
fn message_path(
    conversation: &ConversationKey,
    message: &MessageId,
) -> Result<String, ModerationError> {
    let place = Place::parse(conversation.conversation.as_str());
    let place = place.filter(|place| !matches!(place, Place::Guild(_)));
    let place = place.ok_or(ModerationError::NotSupported)?;
    let message = message.as_str();
    // What the platform gives is a part of a path as it is.
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'():".contains(&byte);
    if message.is_empty() || message.len() > MAX_MESSAGE || !message.bytes().all(fits) {
        return Err(ModerationError::MessageGone);
    }
    Ok(format!("{}/messages/{message}", place.path()))
}

/// Deletes a message: the bot's own anywhere, within two minutes in groups and private chats; somebody else's where it may.
async fn delete(
    shared: &Shared,
    conversation: &ConversationKey,
    message: &MessageId,
) -> Result<(), ModerationError> {
    let path = message_path(conversation, message)?;
    match Ask(shared).done(Method::DELETE, &path, None).await {
        Err(Failed::Refused(refusal)) => Err(match refusal.code {
            306_004 | 11_253 => ModerationError::BotLacksRight,
            306_001 | 306_003 | 306_005 => ModerationError::MessageGone,
            _ if refusal.trouble() == Trouble::Gone => ModerationError::MessageGone,
            _ => refused(&refusal),
        }),
        done => Ok(done.map(|_| ())?),
    }
}

/// Asks the platform.
#[derive(Clone, Copy)]
struct Ask<'a>(&'a Shared);

/// Why a call has no result.
enum Failed {
    Refused(Refusal),
    Other(ModerationError),
}

impl From<Failed> for ModerationError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Refused(refusal) => refused(&refusal),
            Failed::Other(error) => error,
        }
    }
}

impl Ask<'_> {
    /// Does something.
    async fn done(
        &self,
        method: Method,
        path: &str,
        said: Option<&Value>,
    ) -> Result<Value, Failed> {
        let api = self.0.api();
        let unavailable = |text: String| Failed::Other(ModerationError::Unavailable(text));
        let api = api.map_err(|error| unavailable(error.to_string()))?;
        let answer = api.call(method, path, said).await;
        answer.map_err(|error| match error {
            CallError::Refused(refusal) => Failed::Refused(refusal),
            CallError::Lost(why) => Failed::Other(ModerationError::NotConfirmed(why)),
            CallError::Unreachable(_) | CallError::Secret(_) => unavailable(error.to_string()),
        })
    }

    /// Looks something up: whatever fails, nothing was done.
    async fn look(&self, path: &str) -> Result<Value, Failed> {
        match self.done(Method::GET, path, None).await {
            Err(Failed::Other(ModerationError::NotConfirmed(why))) => {
                Err(Failed::Other(ModerationError::Unavailable(why)))
            }
            answer => answer,
        }
    }

    /// Looks somebody up.
    async fn person(&self, path: &str) -> Result<Value, ModerationError> {
        match self.look(path).await {
            Err(Failed::Refused(refusal)) if refusal.trouble() == Trouble::Gone => {
                Err(ModerationError::NotAMember)
            }
            found => Ok(found?),
        }
    }

    /// A member in the contract's form.
    fn described(&self, user: &str, name: &Value, role: PlatformRole) -> Member {
        Member {
            user: UserKey {
                platform: self.0.platform.clone(),
                realm: self.0.settings.app_id.as_str().into(),
                id: user.into(),
            },
            name: line(name.as_str().unwrap_or_default(), MAX_NAME),
            role,
            muted_until: None,
        }
    }

    fn key(&self, place: Place<'_>) -> ConversationKey {
        ConversationKey {
            platform: self.0.platform.clone(),
            account: self.0.account.clone(),
            conversation: place.conversation(),
            thread: None,
        }
    }
}

/// What a refusal says (bot-docs, error codes).
fn refused(refusal: &Refusal) -> ModerationError {
    let text = refusal.to_string();
    match refusal.code {
        // The platform lets only some bots make this call.
        11_253 => ModerationError::NotSupported,
        501_017 | 11_281 | 11_282 | 11_264 | 301_000..=301_007 => ModerationError::BotLacksRight,
        _ => match refusal.trouble() {
            Trouble::Flood(_) | Trouble::Token | Trouble::Address => {
                ModerationError::Unavailable(text)
            }
            Trouble::Forbidden => ModerationError::BotLacksRight,
            _ => ModerationError::Rejected(text),
        },
    }
}

fn wire(user: &UserId) -> Result<&str, ModerationError> {
    let user = user.as_str();
    is_id(user)
        .then_some(user)
        .ok_or(ModerationError::NotAMember)
}

fn is_admin(role: PlatformRole) -> bool {
    matches!(role, PlatformRole::Owner | PlatformRole::Admin)
}
