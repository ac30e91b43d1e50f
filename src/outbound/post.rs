//! A text of the gateway's own on its way into a conversation: a notice, a report, an announcement.
//!
//! Owns its outbox row and its hand-over to delivery after the commit. It decides neither what is said nor to whom.

use std::sync::Arc;

use weirgate_sdk::{ConversationKey, Timestamp, answer::Format};

use super::{
    compose::{Addressee, Composer, Draft},
    deliver::Deliverer,
    outbox::Reply,
    strategy::Strategy,
};
use crate::{
    clock::Clock,
    i18n::Language,
    store::{NewReply, ReplyBody},
};

/// A text that is composed and not written yet.
#[derive(Debug)]
pub struct Post {
    conversation: i64,
    key: Arc<ConversationKey>,
    body: ReplyBody,
    shown: bool,
    sending: bool,
}

impl Post {
    /// Composes a plain text for a conversation; `None` if its account is not configured, or nothing visible is left.
    #[must_use]
    pub fn compose(
        deliverer: &Deliverer,
        composer: &Composer,
        (conversation, key): (i64, Arc<ConversationKey>),
        (text, language): (String, Language),
        to: Addressee,
    ) -> Option<Self> {
        let adapter = deliverer.adapter(&key)?;
        let draft = Draft {
            text,
            format: Format::Plain,
            filtered: false,
            language,
            media: Vec::new(),
        };
        let shown = adapter.capabilities(&key).transcript;
        let full = Some(Strategy::Full);
        let body = composer.compose(draft, to, &*adapter, &key, full, &mut || 0.0)?;
        Some(Self {
            conversation,
            key,
            body,
            shown,
            sending: deliverer.is_free(conversation),
        })
    }

    /// Its outbox row, not to be sent before `due_at`. `now` and nothing in front: its intent is written with it.
    #[must_use]
    pub fn row(&mut self, now: Timestamp, due_at: Timestamp) -> Option<NewReply> {
        self.sending &= due_at <= now;
        let json = serde_json::to_string(&self.body).ok()?;
        Some(NewReply {
            conversation: self.conversation,
            turn: None,
            sending: self.sending,
            shown: self.shown,
            due_at,
            body: json.into_boxed_str(),
        })
    }

    /// Hands it over, once its row is committed under this id.
    pub fn deliver(self, id: i64, deliverer: &Deliverer, clock: Clock, due_at: Timestamp) {
        let tick = clock.tick();
        let wait = u64::try_from(due_at.saturating_sub(clock.now())).unwrap_or(0);
        deliverer.push(Reply {
            id,
            conversation: self.conversation,
            key: self.key,
            turn: None,
            body: self.body,
            part: 0,
            intent_written: self.sending,
            doubts: 0,
            doubtful: false,
            since: tick,
            due: tick.saturating_add(wait.saturating_mul(1_000)),
        });
    }
}
