//! Does what was put off: lifts bans and mutes whose time is over, where the platform does not, says what was
//! announced, reminds people, and gives the model what they wanted done.
//!
//! Owns the task that waits for the next one, how often it is tried, and the report. What is done once is not done
//! again: the platform is asked first.

mod announce;
mod ask;
mod lift;
mod remind;
mod say;

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use weirgate_sdk::{ConversationKey, Stop};

pub use announce::{Announce, Portion};
pub use lift::{Lift, Lifted, Ordered};
pub use remind::{Author, Remind, subjects};
pub use say::Say;

use super::{compose::Addressee, deliver::Deliverer, post::Post};
use crate::{
    agent::rules::Rules,
    clock::{Clock, millis},
    current::Current,
    directory::Directory,
    i18n::{Language, moderation::Moderation},
    inbound::keying::Keying,
    reason::Reason,
    schedule::dispatch::Dispatch,
    store::{Due, Effect, Performed, Receipt, ReceiptOutcome, Store, StoreError, Write, commit},
    trace::Traces,
};

/// What is looked at in one round.
const ROUND: usize = 100;
/// The longest time without a look: another process may have left something.
const LONGEST: Duration = Duration::from_secs(60);
/// The pause after an error of the store.
const AWAY: Duration = Duration::from_secs(5);
/// Between two tries of something that the platform did not do.
const RETRY: Duration = Duration::from_secs(60);
/// How long it is tried after its time.
const GIVE_UP: Duration = Duration::from_secs(24 * 3_600);

/// What is put off, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Task {
    /// A ban or mute ends.
    Lift(Lift),
    /// Something is said.
    Say(Say),
    /// Something is said in all conversations.
    Announce(Announce),
    /// Somebody is reminded.
    Remind(Remind),
}

impl Task {
    /// The stored form. Numbers and texts always have one.
    fn encode(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Does what is due.
pub struct Performer {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The accounts' adapters, and the way of reports.
    pub deliverer: Deliverer,
    /// Keys behind numbers.
    pub directory: Arc<Directory>,
    /// How reports are composed, and their language.
    pub rules: Arc<Current<Rules>>,
    /// Reasons.
    pub traces: Arc<Traces>,
    /// The clock.
    pub clock: Clock,
    /// Told when something was put off.
    pub added: Arc<Notify>,
    /// Who queues the turns of tasks, and how they are sorted into queues.
    pub queue: (Arc<Dispatch>, Keying),
}

impl std::fmt::Debug for Performer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Performer").finish_non_exhaustive()
    }
}

/// What came of a try.
#[derive(Debug)]
enum Tried {
    /// It is done, or nothing is left to do.
    Done,
    /// Not now.
    Later(String),
    /// Not at all.
    Failed(weirgate_sdk::moderation::ModerationError),
}

impl Performer {
    /// Works until `stop`.
    pub async fn run(self, stop: Stop) {
        loop {
            let pause = self.round(&stop).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "what is due cannot be looked up; asking again");
                AWAY
            });
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.added.notified() => {}
                () = stop.stopped() => return,
            }
        }
    }

    /// Does what is due now; tells when to look again.
    async fn round(&self, stop: &Stop) -> Result<Duration, StoreError> {
        let rows = self.store.deferred(ROUND).await?;
        for row in rows {
            let wait = row.due_at.saturating_sub(self.clock.now());
            if let Ok(wait @ 1..) = u64::try_from(wait) {
                return Ok(Duration::from_millis(wait).min(LONGEST));
            }
            if stop.is_stopped() || !self.store.in_force() {
                return Ok(LONGEST);
            }
            self.perform(row).await?;
        }
        Ok(LONGEST)
    }

    async fn perform(&self, row: Due) -> Result<(), StoreError> {
        let key = self.directory.conversation(row.conversation).await?;
        match serde_json::from_str::<Task>(&row.body) {
            Ok(Task::Lift(lift)) => self.end_time(&row, &key, &lift).await,
            Ok(Task::Say(say)) => self.say(&row, key, say).await,
            Ok(Task::Announce(announce)) => self.announce(&row, announce).await,
            Ok(Task::Remind(remind)) => self.remind(&row, key, remind).await,
            Err(error) => {
                tracing::error!(action = row.id, %error, "what was put off cannot be read; given up");
                let reason = Reason::ModerationFailed.code();
                self.settle(&row, ReceiptOutcome::Failed { reason }, None)
                    .await
            }
        }
    }

    /// The time of a ban or mute is over.
    async fn end_time(
        &self,
        row: &Due,
        key: &Arc<ConversationKey>,
        lift: &Lift,
    ) -> Result<(), StoreError> {
        let id = row.id;
        commit(&self.store, |then| Write::Intent { id, part: 0, then }).await?;
        match self.lift(key, lift).await {
            Tried::Done => {
                tracing::info!(conversation = %key.encode(), subject = lift.subject(), "lifted");
                let sent = ReceiptOutcome::Sent {
                    message: None,
                    last: true,
                };
                let text = Moderation::Lifted { lift: lift.clone() };
                self.report(row, key, lift, (sent, text)).await
            }
            Tried::Later(why) if self.is_worth_a_try(lift) => {
                tracing::warn!(conversation = %key.encode(), why, "not lifted; trying again");
                self.traces
                    .note(row.turn, Reason::ModerationUnknown, self.clock.now());
                let retry = ReceiptOutcome::Retry {
                    due_at: self.clock.now().saturating_add(millis(RETRY)),
                    reason: Reason::ModerationUnknown.code(),
                };
                self.settle(row, retry, None).await
            }
            Tried::Later(why) => {
                let error = weirgate_sdk::moderation::ModerationError::Unavailable(why);
                self.fail(row, key, lift, error).await
            }
            Tried::Failed(error) => self.fail(row, key, lift, error).await,
        }
    }

    fn is_worth_a_try(&self, lift: &Lift) -> bool {
        self.clock.now() < lift.until.saturating_add(millis(GIVE_UP))
    }

    async fn fail(
        &self,
        row: &Due,
        key: &Arc<ConversationKey>,
        lift: &Lift,
        error: weirgate_sdk::moderation::ModerationError,
    ) -> Result<(), StoreError> {
        tracing::warn!(conversation = %key.encode(), %error, "not lifted; given up");
        self.traces
            .note(row.turn, Reason::ModerationFailed, self.clock.now());
        let failed = ReceiptOutcome::Failed {
            reason: Reason::ModerationFailed.code(),
        };
        let text = Moderation::NotLifted {
            lift: lift.clone(),
            error,
        };
        self.report(row, key, lift, (failed, text)).await
    }

    /// Tells the conversation, and writes down what became of it.
    async fn report(
        &self,
        row: &Due,
        key: &Arc<ConversationKey>,
        lift: &Lift,
        (outcome, text): (ReceiptOutcome, Moderation),
    ) -> Result<(), StoreError> {
        let rules = self.rules.get();
        let here = self.directory.rules(row.conversation).await?;
        let here = here.settings.get("language");
        let language = here.and_then(|tag| Language::from_tag(tag));
        let language = language
            .or(rules.settings.language)
            .unwrap_or(lift.language());
        let place = (row.conversation, Arc::clone(key));
        let text = (text.render(language), language);
        let to = Addressee::default();
        let post = Post::compose(&self.deliverer, &rules.composer, place, text, to);
        let done = matches!(outcome, ReceiptOutcome::Sent { .. });
        let record = lift.record(row, done, self.clock.now());
        self.settle(row, outcome, Some((record, post))).await
    }

    async fn settle(
        &self,
        row: &Due,
        outcome: ReceiptOutcome,
        told: Option<(Option<Effect>, Option<Post>)>,
    ) -> Result<(), StoreError> {
        let (record, post) = told.unwrap_or_default();
        self.settle_with(row, outcome, record.into_iter().collect(), post)
            .await
    }

    async fn settle_with(
        &self,
        row: &Due,
        outcome: ReceiptOutcome,
        effects: Vec<Effect>,
        mut post: Option<Post>,
    ) -> Result<(), StoreError> {
        let now = self.clock.now();
        let notice = post.as_mut().and_then(|post| post.row(now, now));
        let performed = Performed {
            receipt: Receipt {
                id: row.id,
                part: 0,
                outcome,
                at: now,
            },
            effects,
            notices: notice.into_iter().collect(),
        };
        let performed = Box::new(performed);
        let ids = commit(&self.store, |then| Write::Performed(performed, then)).await?;
        if let (Some(id), Some(post)) = (ids.first(), post) {
            post.deliver(*id, &self.deliverer, self.clock, now);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
