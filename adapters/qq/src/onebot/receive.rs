//! Wire events into the contract's events.
//!
//! Owns what each kind of event means and which events are nobody's business.
//! Pure: the time is an argument. An event that is not known or not whole never ends a connection.

mod noticed;
pub mod poke;
pub mod upload;

use std::{borrow::Cow, collections::HashSet, time::Duration};

use weirgate_sdk::{
    AccountName, ChatKind, ConversationKey, DedupeKey, Event, InboundMessage, MessageId, Platform,
    PlatformRole, Replied, Sender, SenderKind, Timestamp, UserKey, Via, text::line,
};

use super::{
    members,
    places::Place,
    request, segment,
    wire::{self, Frame, MAX_ID, MAX_MESSAGE_ID, WireAnonymous, WireSender, WireStatus},
};
use crate::{
    qq::Shared,
    settings::{OnPoke, Requests},
};

/// How long the platform may deliver a message again by itself; its ids are short hashes that come back
/// later.
const DEDUPE_LIFETIME: Duration = Duration::from_secs(600);
/// What the account asks for again by itself counts longer than it asks back by this much.
const DEDUPE_MARGIN: Duration = Duration::from_secs(120);
/// Longest name of a person, in characters.
pub(super) const MAX_NAME: usize = 200;
/// Longest name of an unknown event, in characters.
const MAX_EVENT_NAME: usize = 64;
/// Times over this many are milliseconds already.
const MILLISECONDS_FROM: i64 = 100_000_000_000;

/// What a frame means.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    /// Something for the gateway.
    Event(Event),
    /// A sign of life.
    Heartbeat {
        /// Until the next one, if it is told.
        interval: Option<Duration>,
        /// Whether the account is logged in; `None` if the implementation does not know.
        online: Option<bool>,
    },
    /// The answer to a call.
    Answer,
    /// Of no interest, such as the start of a connection.
    Nothing,
}

/// Who receives.
#[derive(Debug)]
pub struct Receiver<'a> {
    /// The platform's name.
    pub platform: &'a Platform,
    /// The account's name.
    pub account: &'a AccountName,
    /// The bot's id.
    pub bot: &'a str,
    /// Users whose messages are dropped.
    pub ignored: &'a HashSet<String>,
    /// How far back the account asks for what it missed.
    pub catch_up: Duration,
    /// A poke of the bot is a message to it.
    pub pokes: bool,
    /// What is done with requests.
    pub requests: &'a Requests,
}

impl<'a> Receiver<'a> {
    /// What comes to this account for this bot.
    #[must_use]
    pub fn new(shared: &'a Shared, bot: &'a str) -> Self {
        Self {
            platform: &shared.platform,
            account: &shared.account,
            bot,
            ignored: &shared.settings.ignore,
            catch_up: shared.settings.catch_up,
            pokes: shared.settings.poke == OnPoke::Answer,
            requests: &shared.settings.requests,
        }
    }
}

impl Receiver<'_> {
    /// Reads a message out of the platform's history, which may leave out that it is one.
    pub fn past(
        &self,
        frame: &Frame<'_>,
        now: Timestamp,
        sent_by_bot: impl Fn(&ConversationKey, &str) -> bool,
    ) -> Option<Event> {
        let kind = wire::text(frame.post_type);
        if kind.is_some_and(|kind| kind != "message") {
            return None;
        }
        match self.message(frame, now, sent_by_bot) {
            Received::Event(event @ Event::Message(_)) => Some(event),
            _ => None,
        }
    }

    /// Reads one frame. `now` is the time of reading; `sent_by_bot` knows the messages that went out.
    pub fn read(
        &self,
        frame: &Frame<'_>,
        now: Timestamp,
        sent_by_bot: impl Fn(&ConversationKey, &str) -> bool,
    ) -> Received {
        let Some(kind) = wire::text(frame.post_type) else {
            return if frame.echo.is_some() || frame.retcode.is_some() {
                Received::Answer
            } else {
                malformed("no post_type")
            };
        };
        if wire::id(frame.self_id, MAX_ID).is_some_and(|id| id != self.bot) {
            return other(&[&kind, "of another bot"]);
        }
        match &*kind {
            "message" => self.message(frame, now, sent_by_bot),
            "message_sent" => Received::Event(Event::OwnMessage),
            "meta_event" => meta(frame),
            "notice" => self.notice(frame, now),
            "request" => {
                if let Some(question) = request::question(self, frame, now) {
                    return Received::Event(question);
                }
                let name = wire::text(frame.request_type).unwrap_or_default();
                other(&[
                    "request",
                    &name,
                    &wire::text(frame.sub_type).unwrap_or_default(),
                ])
            }
            unknown => other(&[unknown]),
        }
    }

    fn message(
        &self,
        frame: &Frame<'_>,
        now: Timestamp,
        sent_by_bot: impl Fn(&ConversationKey, &str) -> bool,
    ) -> Received {
        let details: WireSender<'_> = wire::object(frame.sender);
        let user = wire::id(frame.user_id, MAX_ID).or_else(|| wire::id(details.user_id, MAX_ID));
        let group = wire::id(frame.group_id, MAX_ID);
        let (Some(user), Some(message)) = (user, wire::id(frame.message_id, MAX_MESSAGE_ID)) else {
            tracing::warn!(account = %self.account, "message without sender or id dropped");
            return malformed("message");
        };
        if user == self.bot {
            return Received::Event(Event::OwnMessage);
        }
        if self.ignored.contains(&*user) {
            return other(&["message", "of an ignored user"]);
        }
        let kind = wire::text(frame.message_type).unwrap_or_default();
        let sub_type = wire::text(frame.sub_type).unwrap_or_default();
        let (chat, place) = match (&*kind, &group) {
            ("private", group) => (ChatKind::Private, {
                let through = group.clone().or_else(|| wire::id(details.group_id, MAX_ID));
                match through.filter(|_| sub_type == "group") {
                    Some(group) => Place::Temporary {
                        group: &group,
                        user: &user,
                    }
                    .conversation(),
                    None => Place::Private(&user).conversation(),
                }
            }),
            ("group", Some(group)) => (ChatKind::Group, Place::Group(group).conversation()),
            ("group", None) => {
                tracing::warn!(account = %self.account, "message of no group dropped");
                return malformed("message");
            }
            _ => {
                tracing::warn!(account = %self.account, "message of an unknown kind of chat dropped");
                return other(&["message", &kind]);
            }
        };
        let conversation = self.conversation(place.as_str());
        let content = segment::read(frame.message, frame.raw_message, self.bot);
        let reply_to = content.reply_to.map(|id| Replied {
            to_bot: sent_by_bot(&conversation, &id).then_some(true),
            author: None,
            message: id.into(),
        });
        let time = wire::integer(frame.time).filter(|time| *time > 0);
        let dedupe = DedupeKey {
            // The time first: keys that grow are cheap to index.
            key: format!("{}/{message}/{place}", time.unwrap_or_default()).into(),
            lifetime: DEDUPE_LIFETIME.max(self.catch_up.saturating_add(DEDUPE_MARGIN)),
        };
        Received::Event(Event::Message(Box::new(InboundMessage {
            conversation,
            chat,
            sender: self.sender(frame, &details, &user, &sub_type),
            id: MessageId::from(&*message),
            segments: content.segments,
            via: Via::Text,
            mentions_bot: content.mentions_bot,
            reply_to,
            group_key: None,
            sent_at: time.map_or(now, milliseconds),
            received_at: now,
            reply_context: None,
            passed: Vec::new(),
            dedupe,
        })))
    }

    fn sender(
        &self,
        frame: &Frame<'_>,
        details: &WireSender<'_>,
        user: &str,
        sub_type: &str,
    ) -> Sender {
        if sub_type == "anonymous" || wire::is_set(frame.anonymous) {
            let mask: WireAnonymous<'_> = wire::object(frame.anonymous);
            // All masks share one account number; the mask's own id keeps its wearers apart.
            let id = wire::id(mask.id, MAX_ID).unwrap_or(Cow::Borrowed(user));
            return Sender {
                key: self.user(&format!("anonymous:{id}")),
                name: line(&wire::text(mask.name).unwrap_or_default(), MAX_NAME),
                is_bot: false,
                role: PlatformRole::Unknown,
                kind: SenderKind::Anonymous,
            };
        }
        let name = [details.card, details.nickname]
            .iter()
            .filter_map(|name| wire::text(*name))
            .map(|name| line(&name, MAX_NAME))
            .find(|name| !name.is_empty());
        Sender {
            key: self.user(user),
            name: name.unwrap_or_default(),
            is_bot: false,
            role: members::role(details.role),
            kind: SenderKind::Person,
        }
    }

    fn notice(&self, frame: &Frame<'_>, now: Timestamp) -> Received {
        let kind = wire::text(frame.notice_type).unwrap_or_default();
        let detail = wire::text(frame.sub_type).unwrap_or_default();
        let event = match &*kind {
            "group_recall" => self.recalled(frame, self.group(frame)),
            "friend_recall" => {
                let user = wire::id(frame.user_id, MAX_ID);
                let place = user.map(|user| Place::Private(&user).conversation());
                self.recalled(frame, place.map(|place| self.conversation(place.as_str())))
            }
            "notify" if detail == "poke" => self.poke(frame, now),
            "group_admin" => self.promoted(frame, &detail),
            "group_upload" | "offline_file" => self.uploaded(frame, now),
            "group_increase" => self.moved(frame, &detail, true),
            "group_decrease" => self.moved(frame, &detail, false),
            _ => None,
        };
        event.map_or_else(|| other(&["notice", &kind, &detail]), Received::Event)
    }

    fn recalled(&self, frame: &Frame<'_>, conversation: Option<ConversationKey>) -> Option<Event> {
        let message = wire::id(frame.message_id, MAX_MESSAGE_ID)?;
        Some(Event::Deleted {
            conversation: conversation?,
            message: MessageId::from(&*message),
        })
    }

    fn promoted(&self, frame: &Frame<'_>, detail: &str) -> Option<Event> {
        let role = match detail {
            "set" => PlatformRole::Admin,
            "unset" => PlatformRole::Member,
            _ => return None,
        };
        let user = self.user(&wire::id(frame.user_id, MAX_ID)?);
        Some(Event::RoleChanged {
            conversation: self.group(frame)?,
            user,
            role,
        })
    }

    fn moved(&self, frame: &Frame<'_>, detail: &str, joined: bool) -> Option<Event> {
        let conversation = self.group(frame)?;
        let user = wire::id(frame.user_id, MAX_ID);
        let is_bot = detail == "kick_me" || user.as_deref() == Some(self.bot);
        Some(match (is_bot, joined) {
            (true, true) => Event::BotAdded { conversation },
            (true, false) => Event::BotRemoved { conversation },
            (false, true) => Event::MemberJoined {
                conversation,
                user: self.user(&user?),
            },
            (false, false) => Event::MemberLeft {
                conversation,
                user: self.user(&user?),
            },
        })
    }

    fn group(&self, frame: &Frame<'_>) -> Option<ConversationKey> {
        let group = wire::id(frame.group_id, MAX_ID)?;
        Some(self.conversation(Place::Group(&group).conversation().as_str()))
    }

    pub(super) fn conversation(&self, id: &str) -> ConversationKey {
        ConversationKey {
            platform: self.platform.clone(),
            account: self.account.clone(),
            conversation: id.into(),
            thread: None,
        }
    }

    pub(super) fn user(&self, id: &str) -> UserKey {
        UserKey {
            platform: self.platform.clone(),
            realm: "".into(),
            id: id.into(),
        }
    }
}

fn meta(frame: &Frame<'_>) -> Received {
    if wire::text(frame.meta_event_type).as_deref() != Some("heartbeat") {
        return Received::Nothing;
    }
    let status: WireStatus<'_> = wire::object(frame.status);
    let interval = wire::integer(frame.interval)
        .and_then(|interval| u64::try_from(interval).ok())
        .filter(|interval| *interval > 0);
    Received::Heartbeat {
        interval: interval.map(Duration::from_millis),
        online: wire::boolean(status.online),
    }
}

fn milliseconds(time: i64) -> Timestamp {
    if time >= MILLISECONDS_FROM {
        time
    } else {
        time.saturating_mul(1_000)
    }
}

/// An event or frame that is not as OneBot describes it. `name` is what it seems to be.
fn malformed(name: &str) -> Received {
    Received::Event(Event::Malformed {
        name: line(name, MAX_EVENT_NAME),
    })
}

fn other(names: &[&str]) -> Received {
    let names: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !name.is_empty())
        .collect();
    Received::Event(Event::Other {
        name: line(&names.join("."), MAX_EVENT_NAME),
    })
}

#[cfg(test)]
mod tests;
