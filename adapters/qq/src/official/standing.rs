//! Who stands how in groups and guilds, for events that do not say it.
//!
//! Owns what messages told of late, and the question that is asked of the platform when a button is pressed by somebody
//! who said nothing lately. Bounded in number and time; what is not known stays unknown, which gives nobody a right.

use std::{
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use lru::LruCache;
use parking_lot::Mutex;
use tokio::time::timeout;
use weirgate_sdk::{ChatKind, ConversationKey, Event, InboundMessage, PlatformRole, UserKey, Via};

use super::{bot::Shared, moderate};

/// People whose standing is remembered.
const MAX_PEOPLE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);
/// How long it is believed: groups do not tell of changes.
const LIFETIME: Duration = Duration::from_secs(600);
/// How long the platform may take to say it; events wait behind the question.
const LOOK_LIMIT: Duration = Duration::from_secs(3);

/// What was told of late.
#[derive(Debug)]
pub struct Standings(Mutex<LruCache<(ConversationKey, UserKey), (Instant, PlatformRole)>>);

impl Default for Standings {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_PEOPLE)))
    }
}

impl Standings {
    /// Remembers what an event tells, and adds to a press what earlier ones told.
    pub fn settle(&self, event: &mut Event, now: Instant) {
        match event {
            Event::Message(message) if message.sender.role != PlatformRole::Unknown => {
                let known = (now, message.sender.role);
                self.0.lock().put(key(message), known);
            }
            Event::Message(message) if is_press(message) => {
                let known = self.0.lock().get(&key(message)).copied();
                let lately = known.filter(|(at, _)| now.saturating_duration_since(*at) < LIFETIME);
                if let Some((_, role)) = lately {
                    message.sender.role = role;
                }
            }
            // Told under the guild's key, and remembered under those of its channels.
            Event::RoleChanged { user, .. } | Event::MemberLeft { user, .. } => {
                let mut known = self.0.lock();
                let his: Vec<_> = known
                    .iter()
                    .filter(|((_, one), _)| one == user)
                    .map(|(key, _)| key.clone())
                    .collect();
                for key in his {
                    known.pop(&key);
                }
            }
            _ => {}
        }
    }
}

/// Asks for the standing of those who pressed a button, where nothing told it.
pub async fn complete(shared: &Shared, events: &mut [Event]) {
    for event in events {
        let Event::Message(message) = event else {
            continue;
        };
        let is_unknown = is_press(message) && message.sender.role == PlatformRole::Unknown;
        if !is_unknown || shared.patience.is_lost(Instant::now()) {
            continue;
        }
        let (place, user) = (&message.conversation, &message.sender.key.id);
        match timeout(LOOK_LIMIT, moderate::look_up(shared, place, user)).await {
            Ok(Ok(member)) => {
                message.sender.role = member.role;
                shared.standings.settle(event, Instant::now());
            }
            Ok(Err(error)) => {
                tracing::debug!(account = %shared.account, %error, "the standing of whoever pressed is not told");
                shared.patience.lose(Instant::now());
            }
            Err(_) => shared.patience.lose(Instant::now()),
        }
    }
}

fn is_press(message: &InboundMessage) -> bool {
    message.via == Via::Button && message.chat == ChatKind::Group
}

fn key(message: &InboundMessage) -> (ConversationKey, UserKey) {
    (message.conversation.clone(), message.sender.key.clone())
}
