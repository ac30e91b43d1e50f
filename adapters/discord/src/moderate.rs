//! Moderation of servers.
//!
//! Owns the checks before an action, the calls, and what each refusal means. The platform says the same of a right that
//! is missing and of a member who stands too high, so both are looked at before. Its bans have
//! no end: the gateway ends one that is for a time.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::{Value, json};
use serenity::model::{Timestamp as WireTime, permissions::Permissions};
use weirgate_sdk::{
    Action, BotRights, ConversationKey, Member, MessageId, Moderates, ModerationError,
    PlatformRole, Timestamp, UserId, UserKey, text::line,
};

use crate::{
    api::{Call, CallError, Refusal, Trouble, Verb},
    channels::id,
    discord::{Discord, Shared, unix_time},
    places::{Place, Snowflake, number},
    receive,
    server::Server,
};

/// The longest time for which somebody can be kept quiet (Guild, Modify Guild Member).
const LONGEST_MUTE: Duration = Duration::from_secs(28 * 24 * 3_600);
/// Members of one answer, and answers that are asked for when the admins are looked for.
const PAGE: usize = 1_000;
const MAX_PAGES: usize = 10;
/// Longest name of a member, in characters.
const MAX_NAME: usize = 200;

#[async_trait]
impl Moderates for Discord {
    async fn would(
        &self,
        conversation: &ConversationKey,
        action: &Action,
    ) -> Result<(), ModerationError> {
        let shared = self.shared();
        if let Action::Delete { message } = action {
            return deletable(shared, conversation, message).await.map(drop);
        }
        let here = Here::find(shared, conversation).await?;
        here.checked(action).await.map(drop)
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
        let here = Here::find(shared, conversation).await?;
        let user = here.checked(action).await?;
        match action {
            Action::Kick { .. } => {
                let call = Call::Member(Verb::Delete, here.id, user);
                done(shared, call, None).await?;
                Ok(())
            }
            Action::Ban { .. } => {
                let call = Call::Ban(Verb::Put, here.id, user);
                done(shared, call, Some(json!({}))).await?;
                Ok(())
            }
            Action::Unban { .. } => {
                let call = Call::Ban(Verb::Delete, here.id, user);
                match done(shared, call, None).await {
                    // He is not banned, which is what was wanted.
                    Err(Failed::Refused(refusal)) if refusal.code == 10_026 => Ok(()),
                    done => done.map(|_| ()).map_err(Into::into),
                }
            }
            Action::Mute { time, .. } => here.quiet(user, *time).await,
            Action::Unmute { .. } => here.quiet(user, None).await,
            Action::Delete { .. } => Err(ModerationError::NotSupported),
        }
    }

    fn ends(&self, action: &Action) -> bool {
        !matches!(action, Action::Ban { time: Some(_), .. })
    }

    async fn is_done(
        &self,
        conversation: &ConversationKey,
        action: &Action,
    ) -> Result<Option<bool>, ModerationError> {
        let Some(user) = action.user() else {
            return Ok(None);
        };
        let here = Here::find(self.shared(), conversation).await?;
        let user = wire(user)?;
        if matches!(action, Action::Ban { .. } | Action::Unban { .. }) {
            let is_banned = match here.ask(Call::Ban(Verb::Get, here.id, user)).await {
                Ok(_) => true,
                Err(Failed::Refused(refusal)) if refusal.code == 10_026 => false,
                Err(error) => return Err(error.into()),
            };
            return Ok(Some(is_banned == matches!(action, Action::Ban { .. })));
        }
        let member = match here.member(user).await {
            Ok(member) => Some(member),
            Err(ModerationError::NotAMember) => None,
            Err(error) => return Err(error),
        };
        let until = member.as_ref().and_then(quiet_until);
        let is_quiet = until.is_some_and(|until| until > unix_time());
        Ok(Some(match action {
            Action::Kick { .. } => member.is_none(),
            Action::Unmute { .. } => !is_quiet,
            _ => is_quiet,
        }))
    }

    async fn member(
        &self,
        conversation: &ConversationKey,
        user: &UserId,
    ) -> Result<Member, ModerationError> {
        let here = Here::find(self.shared(), conversation).await?;
        let user = wire(user)?;
        let member = here.member(user).await?;
        Ok(here.described(user, &member))
    }

    async fn bot_rights(
        &self,
        conversation: &ConversationKey,
    ) -> Result<BotRights, ModerationError> {
        let here = Here::find(self.shared(), conversation).await?;
        here.rights().await
    }

    async fn admins(&self, conversation: &ConversationKey) -> Result<Vec<Member>, ModerationError> {
        let here = Here::find(self.shared(), conversation).await?;
        let key = receive::server_key(&here.shared.platform, &here.shared.account, here.id);
        let cache = &here.shared.admins;
        if let Some(known) = cache.known(&key, Instant::now()) {
            return Ok(known);
        }
        let changes = cache.changes();
        let admins = here.admins().await?;
        cache.keep(&key, admins.clone(), changes, Instant::now());
        Ok(admins)
    }
}

/// Why a call has no result, once it is known to be about a server.
#[derive(Debug)]
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

/// A server, seen from one of its channels.
struct Here<'a> {
    shared: &'a Shared,
    id: Snowflake,
    server: Server,
    channel: Value,
}

impl<'a> Here<'a> {
    /// Finds the server of a conversation; only servers can be moderated.
    async fn find(
        shared: &'a Shared,
        conversation: &ConversationKey,
    ) -> Result<Self, ModerationError> {
        let place = Place::parse(conversation).ok_or(ModerationError::NotSupported)?;
        // A thread has the rights of its channel.
        let channel = look(shared, Call::Channel(place.channel)).await?;
        let id = id(&channel["guild_id"]).ok_or(ModerationError::NotSupported)?;
        let server = look(shared, Call::Server(id)).await?;
        let server = Server::read(&server)
            .ok_or_else(|| ModerationError::Unavailable("the server is not described".into()))?;
        Ok(Self {
            shared,
            id,
            server,
            channel,
        })
    }

    async fn ask(&self, call: Call<'_>) -> Result<Value, Failed> {
        look(self.shared, call).await
    }

    async fn member(&self, user: Snowflake) -> Result<Value, ModerationError> {
        let member = self.ask(Call::Member(Verb::Get, self.id, user)).await;
        member.map_err(Into::into)
    }

    /// What the bot may do.
    async fn rights(&self) -> Result<BotRights, ModerationError> {
        let bot = self.shared.bot().ok_or_else(not_connected)?;
        let own = self.member(bot).await.map_err(absent)?;
        let rights = self.server.rights(bot, &own);
        let in_channel = self.server.rights_in(&self.channel, bot, &own);
        Ok(BotRights {
            role: self.server.standing(bot, &own),
            remove: rights.kick_members(),
            mute: rights.moderate_members(),
            delete: in_channel.manage_messages(),
        })
    }

    /// The bot's own record, if it has a right.
    async fn has(&self, right: Permissions) -> Result<(Snowflake, Value), ModerationError> {
        let bot = self.shared.bot().ok_or_else(not_connected)?;
        let own = self.member(bot).await.map_err(absent)?;
        if self.server.rights(bot, &own).contains(right) {
            Ok((bot, own))
        } else {
            Err(ModerationError::BotLacksRight)
        }
    }

    /// Whom an action may be done to.
    async fn checked(&self, action: &Action) -> Result<Snowflake, ModerationError> {
        match action {
            Action::Kick { user } => self.may(user, Permissions::KICK_MEMBERS, true).await,
            // Also somebody who went, or never came.
            Action::Ban { user, .. } => self.may(user, Permissions::BAN_MEMBERS, false).await,
            Action::Unban { user } => {
                let user = wire(user)?;
                self.has(Permissions::BAN_MEMBERS).await?;
                Ok(user)
            }
            Action::Mute { user, time } => {
                let most = LONGEST_MUTE;
                let fits = time.is_some_and(|time| time <= most);
                fits.then_some(())
                    .ok_or(ModerationError::TooLong { most })?;
                self.may(user, Permissions::MODERATE_MEMBERS, true).await
            }
            Action::Unmute { user } => self.may(user, Permissions::MODERATE_MEMBERS, true).await,
            Action::Delete { .. } => Err(ModerationError::NotSupported),
        }
    }

    /// Whether the bot may do something to a member, or with `present: false` to somebody who is none.
    async fn may(
        &self,
        user: &UserId,
        right: Permissions,
        present: bool,
    ) -> Result<Snowflake, ModerationError> {
        let user = wire(user)?;
        let (bot, own) = self.has(right).await?;
        if user == bot {
            return Err(ModerationError::TargetIsBot);
        }
        if self.server.is_owner(user) {
            return Err(ModerationError::TargetIsOwner);
        }
        let member = match self.member(user).await {
            Err(ModerationError::NotAMember) if !present => return Ok(user),
            member => member?,
        };
        let is_admin = self.server.standing(user, &member) == PlatformRole::Admin;
        let is_above = self.server.rank(&member) >= self.server.rank(&own);
        match (is_admin, is_above && !self.server.is_owner(bot)) {
            (true, true) => Err(ModerationError::TargetIsAdmin),
            // Nobody can keep an admin quiet.
            (true, false) if right == Permissions::MODERATE_MEMBERS => {
                Err(ModerationError::TargetIsAdmin)
            }
            (false, true) => Err(ModerationError::TargetOutranks),
            _ => Ok(user),
        }
    }

    /// Keeps a member quiet for a time, or lets him write again.
    async fn quiet(&self, user: Snowflake, time: Option<Duration>) -> Result<(), ModerationError> {
        let seconds = |time: Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        let until = time.map(|time| (unix_time() / 1_000).saturating_add(seconds(time)));
        let until = match until {
            Some(until) => {
                let time = WireTime::from_unix_timestamp(until);
                let time = time.map_err(|_| ModerationError::TooLong { most: LONGEST_MUTE })?;
                Value::String(time.to_string())
            }
            None => Value::Null,
        };
        let change = json!({ "communication_disabled_until": until });
        let call = Call::Member(Verb::Patch, self.id, user);
        let member = done(self.shared, call, Some(change)).await?;
        let is_quiet = quiet_until(&member).is_some_and(|until| until > unix_time());
        if is_quiet == time.is_some() {
            Ok(())
        } else {
            let text = "the platform describes the member otherwise";
            Err(ModerationError::NotConfirmed(text.into()))
        }
    }

    /// A member's record in the contract's form.
    fn described(&self, user: Snowflake, member: &Value) -> Member {
        let nick = member["nick"]
            .as_str()
            .filter(|nick| !nick.trim().is_empty());
        Member {
            user: UserKey {
                platform: self.shared.platform.clone(),
                realm: "".into(),
                id: user.to_string().into(),
            },
            name: match nick {
                Some(nick) => line(nick, MAX_NAME),
                None => receive::name(&member["user"]),
            },
            role: self.server.standing(user, member),
            muted_until: quiet_until(member).filter(|until| *until > unix_time()),
        }
    }

    /// The owner and the admins. All members are looked at, which the platform lets a bot do only if it may.
    async fn admins(&self) -> Result<Vec<Member>, ModerationError> {
        let mut admins = Vec::new();
        let mut after = 0;
        for _ in 0..MAX_PAGES {
            let answer = match self.ask(Call::Members(self.id, after)).await {
                Ok(answer) => answer,
                // "Server Members Intent" is off: the owner is known all the same.
                Err(Failed::Refused(refusal)) if refusal.trouble() == Trouble::Forbidden => {
                    let owner = self.server.owner();
                    return Ok(vec![self.described(owner, &self.member(owner).await?)]);
                }
                Err(error) => return Err(error.into()),
            };
            let page: Vec<(Snowflake, &Value)> = answer
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|member| Some((id(&member["user"]["id"])?, member)))
                .collect();
            for (user, member) in &page {
                let member = self.described(*user, member);
                if matches!(member.role, PlatformRole::Owner | PlatformRole::Admin) {
                    admins.push(member);
                }
            }
            let newest = page.iter().map(|(user, _)| *user).max();
            match newest.filter(|newest| page.len() >= PAGE && *newest > after) {
                Some(newest) => after = newest,
                None => return Ok(admins),
            }
        }
        let (account, server) = (&self.shared.account, self.id);
        tracing::warn!(%account, server, "so many members that not all admins are known");
        Ok(admins)
    }
}

fn wire(user: &UserId) -> Result<Snowflake, ModerationError> {
    number(user.as_str()).ok_or(ModerationError::NotAMember)
}

/// Until when a member is kept quiet.
fn quiet_until(member: &Value) -> Option<Timestamp> {
    let until = member["communication_disabled_until"].as_str()?;
    let until = WireTime::parse(until).ok()?;
    Some(until.unix_timestamp().saturating_mul(1_000))
}

/// The channel and the number of a message.
fn message_path(
    conversation: &ConversationKey,
    message: &MessageId,
) -> Result<(Snowflake, Snowflake), ModerationError> {
    let place = Place::parse(conversation).ok_or(ModerationError::NotSupported)?;
    let message = number(message.as_str()).ok_or(ModerationError::MessageGone)?;
    Ok((place.target(), message))
}

/// Where a message is that the bot may delete: its own anywhere, somebody else's where it has the right.
async fn deletable(
    shared: &Shared,
    conversation: &ConversationKey,
    message: &MessageId,
) -> Result<(Snowflake, Snowflake), ModerationError> {
    let (channel, message) = message_path(conversation, message)?;
    let found = match look(shared, Call::Message(Verb::Get, channel, message)).await {
        // Who may not read what was said before may delete his own all the same.
        Err(Failed::Refused(refusal)) if refusal.trouble() == Trouble::Forbidden => {
            return Ok((channel, message));
        }
        found => found?,
    };
    let bot = shared.bot().ok_or_else(not_connected)?;
    if id(&found["author"]["id"]) == Some(bot) {
        return Ok((channel, message));
    }
    let here = match Here::find(shared, conversation).await {
        Err(ModerationError::NotSupported) => return Err(ModerationError::BotLacksRight),
        here => here?,
    };
    if here.rights().await?.delete {
        Ok((channel, message))
    } else {
        Err(ModerationError::BotLacksRight)
    }
}

async fn delete(
    shared: &Shared,
    conversation: &ConversationKey,
    message: &MessageId,
) -> Result<(), ModerationError> {
    let (channel, message) = deletable(shared, conversation, message).await?;
    let call = Call::Message(Verb::Delete, channel, message);
    done(shared, call, None)
        .await
        .map(|_| ())
        .map_err(Into::into)
}

/// Looks something up: whatever fails, nothing was done.
async fn look(shared: &Shared, call: Call<'_>) -> Result<Value, Failed> {
    match done(shared, call, None).await {
        Err(Failed::Other(ModerationError::NotConfirmed(why))) => {
            Err(Failed::Other(ModerationError::Unavailable(why)))
        }
        answer => answer,
    }
}

/// Does something.
async fn done(shared: &Shared, call: Call<'_>, body: Option<Value>) -> Result<Value, Failed> {
    let api = shared
        .api()
        .map_err(|error| Failed::Other(ModerationError::Unavailable(error.to_string())))?;
    let limit = shared.settings.call_timeout;
    let answer = match &body {
        Some(body) => api.post(call, body, limit).await,
        None => api.get(call, limit).await,
    };
    answer.map_err(|error| match error {
        CallError::Refused(refusal) => Failed::Refused(refusal),
        CallError::Lost(why) => Failed::Other(ModerationError::NotConfirmed(why)),
        CallError::Unreachable(_) | CallError::Paused(..) => {
            Failed::Other(ModerationError::Unavailable(error.to_string()))
        }
    })
}

/// What a refusal says (Opcodes and Status Codes, JSON).
fn refused(refusal: &Refusal) -> ModerationError {
    let text = format!("{} ({})", refusal.text, refusal.code);
    match refusal.code {
        50_001 | 50_013 => ModerationError::BotLacksRight,
        10_007 | 10_013 => ModerationError::NotAMember,
        10_008 => ModerationError::MessageGone,
        // A note of the platform cannot be deleted.
        50_021 => ModerationError::NotSupported,
        _ => match refusal.trouble() {
            Trouble::Flood(..) | Trouble::Token => ModerationError::Unavailable(text),
            Trouble::Archived | Trouble::Forbidden => ModerationError::BotLacksRight,
            _ => ModerationError::Rejected(text),
        },
    }
}

/// The bot itself is not there.
fn absent(error: ModerationError) -> ModerationError {
    match error {
        ModerationError::NotAMember => ModerationError::BotLacksRight,
        error => error,
    }
}

fn not_connected() -> ModerationError {
    ModerationError::Unavailable("not connected".into())
}
