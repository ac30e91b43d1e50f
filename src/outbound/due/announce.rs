//! An announcement on its way into all conversations that the gateway knows: so many at a time.
//!
//! Owns which conversations those are, the pace, and the portions: what is said to the conversations of one is put off in the
//! transaction that puts off the next portion, so that a crash neither leaves one out nor says it twice, and the outbox
//! never holds more than one.

use std::{collections::HashMap, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use weirgate_sdk::{AccountName, Platform, Timestamp};

use super::{Performer, Say, Task};
use crate::{
    clock::millis,
    outbound::deliver::Deliverer,
    store::{ConversationFilter, Deferred, Due, Effect, ReceiptOutcome, Store, StoreError},
};

/// Conversations of a portion, and that are read at once.
const PORTION: usize = 500;
/// Of its pace an account spends one part in so many on this; and the shortest pause between two, in seconds.
const SHARE: (f64, f64) = (4.0, 0.2);

/// An announcement, as it is stored: a new key is optional.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announce {
    /// The text, plain.
    text: String,
    /// Conversations with numbers up to this were served.
    after: i64,
}

/// A part of the conversations, in the order of their numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Portion {
    /// Where to, and when: milliseconds from now.
    pub places: Vec<(i64, i64)>,
    /// How long it takes, in milliseconds.
    pub lasts: i64,
    /// Behind which number the next one begins; `None` if this is the last.
    pub next: Option<i64>,
}

impl Portion {
    /// The conversations behind `after`, but for `here`, whose accounts are at work here; threads are part of theirs.
    ///
    /// # Errors
    /// The store's.
    pub async fn read(
        store: &Arc<dyn Store>,
        deliverer: &Deliverer,
        here: i64,
        after: i64,
    ) -> Result<Self, StoreError> {
        let page = store
            .conversations(ConversationFilter::after(after), PORTION)
            .await?;
        let mut portion = Self {
            next: page.last().map(|(number, _)| *number),
            ..Self::default()
        };
        let mut next: HashMap<(Platform, AccountName), i64> = HashMap::new();
        for (number, key) in page {
            if number == here || key.thread.is_some() {
                continue;
            }
            let Some(adapter) = deliverer.adapter(&key) else {
                continue;
            };
            let pause = millis(pause(adapter.capabilities(&key).rates.account));
            let at = next.entry((key.platform, key.account)).or_default();
            portion.places.push((number, *at));
            *at += pause;
            portion.lasts = portion.lasts.max(*at);
        }
        Ok(portion)
    }
}

/// Between two announcements of an account with this pace.
fn pause(rate: f64) -> Duration {
    let (share, shortest) = SHARE;
    let wanted = if rate > 0.0 { share / rate } else { shortest };
    Duration::from_secs_f64(wanted.clamp(shortest, 60.0))
}

impl Announce {
    /// An announcement that nobody has heard yet.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self { text, after: 0 }
    }

    /// Puts it off.
    #[must_use]
    pub fn at(self, due_at: Timestamp, conversation: i64, turn: i64) -> Deferred {
        Deferred {
            conversation,
            turn,
            subject: format!("announce:{turn}"),
            due_at,
            body: Task::Announce(self).encode(),
        }
    }
}

impl Performer {
    /// Puts off what is said to the conversations of one portion, and the next portion behind them.
    pub(super) async fn announce(&self, row: &Due, announce: Announce) -> Result<(), StoreError> {
        let (here, turn, now) = (row.conversation, row.turn, self.clock.now());
        let portion = Portion::read(&self.store, &self.deliverer, here, announce.after).await?;
        let say = |(conversation, after): (i64, i64)| {
            let say = Say {
                text: announce.text.clone(),
            };
            let subject = format!("say:{turn}");
            Effect::Defer(say.at(now.saturating_add(after), conversation, turn, subject))
        };
        let mut effects: Vec<Effect> = portion.places.into_iter().map(say).collect();
        if let Some(after) = portion.next {
            let next = Announce {
                after,
                ..announce.clone()
            };
            let due = now.saturating_add(portion.lasts);
            effects.push(Effect::Defer(next.at(due, here, turn)));
        }
        let sent = ReceiptOutcome::Sent {
            message: None,
            last: true,
        };
        self.settle_with(row, sent, effects, None).await?;
        self.added.notify_one();
        Ok(())
    }
}
