//! The regular look at what has waited too long, and the writing of notices.
//!
//! Owns the task that runs once a second. Everything it does is bounded in each round.

use std::{sync::Arc, time::Duration};

use weirgate_sdk::{Stop, answer::Format};

use super::notice::{Notices, Report, Subject};
use crate::{
    clock::Clock,
    command::lang,
    directory::Directory,
    i18n::{Language, Text},
    outbound::{
        compose::{Addressee, Composer, Draft},
        deliver::Deliverer,
        outbox::Reply,
        strategy::Strategy,
    },
    reason::Reason,
    schedule::dispatch::{Dispatch, observe},
    store::{NewReply, ReplyBody, Store, StoreError, Write, commit},
    telemetry::metrics,
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
    /// Who composes notices.
    pub composer: Arc<Composer>,
    /// Who delivers them.
    pub deliverer: Deliverer,
    /// The language, unless a person chose his own.
    pub language: Option<Language>,
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
        for expired in self.dispatch.take_expired(EXPIRED_A_ROUND) {
            let subject = Subject {
                conversation: expired.conversation,
                person: expired.person,
                reason: Reason::Expired,
            };
            self.notices.add(subject, &[expired.id]);
        }
        for report in self.notices.due(last) {
            if let Err(error) = self.write(&report).await {
                tracing::error!(%error, "messages could not be ended; trying again");
                self.notices.put_back(report);
            }
        }
        observe(&self.dispatch);
        metrics::outbox_depth(self.deliverer.unsent());
    }

    /// Ends the messages of a report and, if it is complete, tells the person, in one transaction.
    async fn write(&self, report: &Report) -> Result<(), StoreError> {
        let now = self.clock.now();
        let notice = match report.total {
            Some(total) => self.notice(report.subject, total).await?,
            None => None,
        };
        let json = notice
            .as_ref()
            .and_then(|(_, body)| serde_json::to_string(body).ok());
        let shown = match &notice {
            Some((key, _)) => self
                .deliverer
                .adapter(key)
                .is_some_and(|adapter| adapter.capabilities(key).transcript),
            None => false,
        };
        let notices: Vec<NewReply> = json
            .map(|json| NewReply {
                conversation: report.subject.conversation,
                turn: None,
                sending: true,
                shown,
                due_at: now,
                body: json.into_boxed_str(),
            })
            .into_iter()
            .collect();
        let ends = report.ends(now);
        let ids = commit(&self.store, |then| Write::End {
            ends,
            notices,
            then,
        })
        .await?;
        if let (Some(id), Some((key, body))) = (ids.first(), notice) {
            let tick = self.clock.tick();
            self.deliverer.push(Reply {
                id: *id,
                conversation: report.subject.conversation,
                key,
                turn: None,
                body,
                part: 0,
                intent_written: true,
                doubts: 0,
                since: tick,
                due: tick,
            });
        }
        Ok(())
    }

    async fn notice(
        &self,
        subject: Subject,
        total: usize,
    ) -> Result<Option<(Arc<weirgate_sdk::ConversationKey>, ReplyBody)>, StoreError> {
        let key = self.directory.conversation(subject.conversation).await?;
        let person = self.directory.person(subject.person).await?;
        let Some(adapter) = self.deliverer.adapter(&key) else {
            return Ok(None);
        };
        let tag = self.directory.preference(subject.person, lang::KEY).await?;
        let language = tag
            .and_then(|tag| Language::from_tag(&tag))
            .or(self.language);
        let text = match subject.reason {
            Reason::Expired => Text::ExpiredMessages(total),
            Reason::QueueFullRefused | Reason::TotalFull => Text::RefusedNewest(total),
            _ => Text::DroppedOldest(total),
        };
        let draft = Draft {
            text: text.render(language.unwrap_or(Language::Zh)),
            format: Format::Plain,
            filtered: false,
        };
        let to = Addressee {
            author: Some(person.encode()),
            ..Addressee::default()
        };
        let full = Some(Strategy::Full);
        Ok(self
            .composer
            .compose(draft, to, &*adapter, &key, full, &mut || 0.0)
            .map(|body| (key, body)))
    }
}
