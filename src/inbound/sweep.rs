//! The regular look at what has waited too long, and the writing of notices.
//!
//! Owns the task that runs once a second. Everything it does is bounded in each round.

use std::{sync::Arc, time::Duration};

use weirgate_sdk::{Adapter, Stop};

use super::{
    accept::OpenEvents,
    body,
    keying::Keying,
    notice::{Notices, Report, Subject},
};
use crate::{
    agent::rules::Rules,
    clock::Clock,
    command::lang,
    current::Current,
    directory::Directory,
    i18n::{Language, Text},
    outbound::{compose::Addressee, deliver::Deliverer, post::Post},
    pending::{Resumer, expiry},
    reason::Reason,
    schedule::dispatch::{Dispatch, observe},
    store::{Body, Store, StoreError, Write, commit},
    telemetry::metrics::Queue,
    trace::Traces,
};

/// Expired messages that one round looks at.
const EXPIRED_A_ROUND: usize = 1_024;

/// What the sweep works with.
pub struct Sweep {
    /// Bursts.
    pub notices: Arc<Notices>,
    /// What waits.
    pub dispatch: Arc<Dispatch>,
    /// The store.
    pub store: Arc<dyn Store>,
    /// Keys and preferences.
    pub directory: Arc<Directory>,
    /// How notices are composed, and the language unless a person chose his own.
    pub rules: Arc<Current<Rules>>,
    /// Who delivers them.
    pub deliverer: Deliverer,
    /// Reasons.
    pub traces: Arc<Traces>,
    /// Events that are handed in and not yet durable.
    pub open: OpenEvents,
    /// How messages are sorted into queues.
    pub keying: Keying,
    /// The clock.
    pub clock: Clock,
}

impl std::fmt::Debug for Sweep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sweep").finish_non_exhaustive()
    }
}

impl Sweep {
    /// Sweeps once a second until `stop`, and once more then.
    pub async fn run(self, stop: Stop) {
        let mut round = tokio::time::interval(Duration::from_secs(1));
        round.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let stopped = tokio::select! {
                _ = round.tick() => false,
                () = stop.stopped() => true,
            };
            self.round(stopped).await;
            if stopped {
                return;
            }
        }
    }

    async fn round(&self, last: bool) {
        loop {
            let expired = self.dispatch.take_expired(EXPIRED_A_ROUND);
            for expired in &expired {
                let subject = Subject {
                    conversation: expired.conversation,
                    person: expired.person,
                    reason: Reason::Expired,
                };
                self.notices.add(subject, &[expired.id]);
            }
            if expired.len() < EXPIRED_A_ROUND {
                break;
            }
            tokio::task::yield_now().await;
        }
        for report in self.notices.due(last) {
            if let Err(error) = self.write(&report).await {
                tracing::error!(%error, "messages could not be ended; trying again");
                self.notices.put_back(report);
            }
        }
        if let Err(error) = expiry::round(self).await {
            tracing::error!(%error, "what nobody answered could not be ended; trying again");
        }
        observe(&self.dispatch);
        Queue::Outbound.depth(self.deliverer.unsent());
        Queue::Intake.depth(self.open.count());
    }

    /// Ends the messages of a report and, if it is complete, tells the person, in one transaction.
    async fn write(&self, report: &Report) -> Result<(), StoreError> {
        let now = self.clock.now();
        let mut notice = match report.total {
            Some(total) => self.notice(report, total).await?,
            None => None,
        };
        let row = notice.as_mut().and_then(|notice| notice.row(now, now));
        let (ends, notices) = (report.ends(now), row.into_iter().collect());
        let write = |then| Write::End {
            ends,
            notices,
            then,
        };
        let ids = commit(&self.store, write).await?;
        if ids.is_empty() {
            self.end_untold(report).await;
        }
        if let (Some(id), Some(notice)) = (ids.first(), notice) {
            notice.deliver(*id, &self.deliverer, self.clock, now);
        }
        Ok(())
    }

    /// Messages ended that no notice names: the notice of a long burst names the last ones only.
    async fn end_untold(&self, report: &Report) {
        let key = match self
            .directory
            .conversation(report.subject.conversation)
            .await
        {
            Ok(key) => key,
            Err(error) => return tracing::warn!(%error, "ended messages are shown as pending"),
        };
        let shows = |adapter: Arc<dyn Adapter>| adapter.capabilities(&key).pending;
        if !self.deliverer.adapter(&key).is_some_and(shows) {
            return;
        }
        match self.bodies(report).await {
            Ok(bodies) => self.deliverer.ended(&key, || {
                let messages = bodies.iter().map(|body| body.message.as_str().into());
                messages.collect()
            }),
            Err(error) => tracing::warn!(%error, "ended messages are shown as pending"),
        }
    }

    async fn bodies(&self, report: &Report) -> Result<Vec<Body>, StoreError> {
        let stored = self.store.bodies(&report.ids).await?.into_iter().flatten();
        Ok(stored.filter_map(|json| body::decode(&json)).collect())
    }

    async fn notice(&self, report: &Report, total: usize) -> Result<Option<Post>, StoreError> {
        let subject = report.subject;
        let key = self.directory.conversation(subject.conversation).await?;
        let person = self.directory.person(subject.person).await?;
        let bodies = self.bodies(report).await?;
        let last = bodies.last();
        let language = self.language(subject.person, last).await?;
        let text = match subject.reason {
            Reason::Expired => Text::ExpiredMessages(total),
            Reason::QueueFullRefused | Reason::TotalFull => Text::RefusedNewest(total),
            _ => Text::DroppedOldest(total),
        };
        let to = Addressee {
            answers: bodies.iter().map(|body| body.message.clone()).collect(),
            author: Some(person.encode()),
            reply_context: last.and_then(|body| body.reply_context.clone()),
            private: true,
        };
        let rules = self.rules.get();
        let place = (subject.conversation, key);
        let text = (text.render(language), language);
        Ok(Post::compose(
            &self.deliverer,
            &rules.composer,
            place,
            text,
            to,
        ))
    }

    /// What lets turns go on that waited for an answer.
    pub(crate) fn resumer(&self) -> Resumer<'_> {
        Resumer {
            store: &self.store,
            directory: &self.directory,
            dispatch: &self.dispatch,
            keying: self.keying,
            clock: self.clock,
        }
    }

    /// The language for a person: chosen, configured, heard, or that of the message.
    pub(crate) async fn language(
        &self,
        person: i64,
        last: Option<&Body>,
    ) -> Result<Language, StoreError> {
        let tag = self.directory.preference(person, lang::KEY).await?;
        let language = tag
            .and_then(|tag| Language::from_tag(&tag))
            .or_else(|| self.rules.get().settings.language)
            .or_else(|| self.directory.spoken(person))
            .or_else(|| last.and_then(|body| Language::of_text(&body::own_text(body))));
        Ok(language.unwrap_or(Language::Zh))
    }
}
