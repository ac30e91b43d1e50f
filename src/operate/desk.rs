//! Answers what an operator asks: from the store, and where a gateway runs, also in its queues.
//!
//! Owns the order of steps that keeps the store and the queues of a running gateway together. Every change
//! carries an audit record of the operator.

use std::{collections::HashMap, sync::Arc};

use super::{
    ask::{Answer, Ask, PAGE, Refusal, Sheet},
    row,
};
use crate::{
    clock::Clock,
    command::config::STORED,
    inbound::accept::Intake,
    outbound::deliver::Deliverer,
    permission::{Actor, AuditEvent, Capability, Scope, decide, policy},
    reason::{Class, Reason},
    security::redact::Redactor,
    store::{
        Action, ConversationFilter, FailedMessage, Operate, Operated, Page, PendingReply, Place,
        ReplyFilter, Store, StoreError, StoredReply, WaitingFilter, Write, commit,
    },
};

/// The queues of a running gateway.
pub struct Running {
    /// Sends replies.
    pub deliverer: Deliverer,
    /// Takes messages in.
    pub intake: Arc<Intake>,
}

/// Answers operators.
pub struct Desk {
    /// The store.
    pub store: Arc<dyn Store>,
    /// What must not get out.
    pub redactor: Arc<Redactor>,
    /// The clock.
    pub clock: Clock,
    /// The queues, if a gateway runs; `None` if the caller holds the lock of the data folder instead.
    pub running: Option<Running>,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk")
            .field("running", &self.running.is_some())
            .finish_non_exhaustive()
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store {
            error: error.to_string(),
        }
    }
}

/// Keys by number, for the rows of one page.
#[derive(Default)]
pub(super) struct Keys {
    conversations: HashMap<i64, String>,
    people: HashMap<i64, String>,
}

impl Desk {
    /// Answers. Bounded in rows; the caller bounds the time.
    ///
    /// # Errors
    /// Why it was not done; nothing was changed then.
    pub async fn answer(&self, ask: Ask) -> Result<Answer, Refusal> {
        match ask {
            Ask::Hello => Ok(Answer::Hello {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                process: std::process::id(),
            }),
            Ask::Waiting { after, limit } => self.waiting(after, limit.min(PAGE)).await,
            Ask::Replies {
                after,
                limit,
                waiting,
                given_up,
            } => {
                let filter = ReplyFilter { waiting, given_up };
                self.replies(after, filter, limit.min(PAGE)).await
            }
            Ask::Failed { after, limit } => self.failed(after, limit.min(PAGE)).await,
            Ask::Audit { after, limit } => self.audit(after, limit).await,
            Ask::Settings => self.settings().await,
            Ask::SettingsThere { after, limit } => {
                self.settings_there(after, limit.min(PAGE)).await
            }
            Ask::RetryReply { id } => self.retry_reply(id).await,
            Ask::DropReply { id } => self.drop_reply(id).await,
            Ask::RetryMessage { id } => self.retry_message(id).await,
            Ask::DropMessage { id } => {
                let operate = self.operate(Action::DropMessage(id), AuditEvent::MessageDropped)?;
                match commit(&self.store, |then| Write::Operate(operate, then)).await? {
                    Operated::Refused(state) => Err(refused(state)),
                    Operated::Elsewhere => Err(Refusal::Elsewhere),
                    _ => Ok(Answer::Dropped),
                }
            }
        }
    }

    async fn waiting(&self, after: i64, limit: usize) -> Result<Answer, Refusal> {
        let filter = WaitingFilter::default();
        let found = self.store.waiting(after, filter, limit).await?;
        let full = found.len() >= limit;
        let next = found.last().map(|row| row.id).filter(|_| full);
        let mut keys = Keys::default();
        let mut rows = Vec::with_capacity(found.len());
        for waiting in found {
            let conversation = self.conversation(waiting.conversation, &mut keys).await?;
            let person = self.person(waiting.person, &mut keys).await?;
            rows.push(row::waiting(waiting, conversation, person, &self.redactor));
        }
        Ok(Answer::Waiting(Sheet { rows, next }))
    }

    async fn replies(
        &self,
        after: i64,
        filter: ReplyFilter,
        limit: usize,
    ) -> Result<Answer, Refusal> {
        let Page { rows: found, next } = self.store.replies(after, filter, limit).await?;
        let mut keys = Keys::default();
        let mut rows = Vec::with_capacity(found.len());
        for reply in found {
            let conversation = self.conversation(reply.conversation, &mut keys).await?;
            rows.push(row::reply(reply, conversation, &self.redactor));
        }
        Ok(Answer::Replies(Sheet { rows, next }))
    }

    async fn failed(&self, after: i64, limit: usize) -> Result<Answer, Refusal> {
        // What was refused as the rules say is no failure to care for, and there may be much of it: a whole
        // page is looked at, however few rows are wanted.
        let Page { rows: found, next } = self.store.failed_messages(after, PAGE).await?;
        let mut found = found.into_iter().filter(is_failure);
        let wanted: Vec<FailedMessage> = found.by_ref().take(limit).collect();
        let next = match (found.next(), wanted.last()) {
            (Some(_), Some(last)) => Some(last.id),
            _ => next,
        };
        let mut keys = Keys::default();
        let mut rows = Vec::with_capacity(wanted.len());
        for message in wanted {
            let conversation = self.conversation(message.conversation, &mut keys).await?;
            let person = self.person(message.person, &mut keys).await?;
            rows.push(row::failed(message, conversation, person, &self.redactor));
        }
        Ok(Answer::Failed(Sheet { rows, next }))
    }

    async fn settings(&self) -> Result<Answer, Refusal> {
        let stored = self.store.settings(Place::GATEWAY).await?;
        let own = stored.into_iter().filter_map(|(key, value)| {
            let key = key.strip_prefix(STORED)?.to_owned();
            Some((key, self.redactor.redact(&value).into_owned()))
        });
        Ok(Answer::Settings { set: own.collect() })
    }

    async fn settings_there(&self, after: i64, limit: usize) -> Result<Answer, Refusal> {
        let set = Some(policy::STORED);
        let filter = ConversationFilter { after, set };
        let found = self.store.conversations(filter, limit).await?;
        let full = found.len() >= limit;
        let next = found.last().map(|(id, _)| *id).filter(|_| full);
        let mut rows = Vec::with_capacity(found.len());
        for (id, key) in found {
            let stored = self.store.settings(Place::of_conversation(id)).await?;
            let own = |key: &str| {
                let mut marks = policy::STORED.iter();
                marks.find_map(|mark| key.strip_prefix(mark).map(str::to_owned))
            };
            rows.push(row::set(key.encode(), stored, own, &self.redactor));
        }
        Ok(Answer::SettingsThere(Sheet { rows, next }))
    }

    pub(super) async fn conversation(
        &self,
        id: i64,
        keys: &mut Keys,
    ) -> Result<String, StoreError> {
        if let Some(known) = keys.conversations.get(&id) {
            return Ok(known.clone());
        }
        let key = self.store.conversation(id).await?;
        let key = key.map_or_else(|| id.to_string(), |key| key.encode());
        keys.conversations.insert(id, key.clone());
        Ok(key)
    }

    pub(super) async fn person(&self, id: i64, keys: &mut Keys) -> Result<String, StoreError> {
        if let Some(known) = keys.people.get(&id) {
            return Ok(known.clone());
        }
        let key = self.store.person(id).await?;
        let key = key.map_or_else(|| id.to_string(), |key| key.encode());
        keys.people.insert(id, key.clone());
        Ok(key)
    }

    /// An action with its audit record.
    fn operate(&self, action: Action, event: AuditEvent) -> Result<Box<Operate>, Refusal> {
        let at = self.clock.now();
        let target = match action {
            Action::RetryReply(id) | Action::DropReply { id, .. } => format!("r{id}"),
            Action::RetryMessage(id) | Action::DropMessage(id) => format!("m{id}"),
        };
        tracing::info!(target, action = event.code(), "asked for by an operator");
        let proof = decide(&Actor::host(), Capability::MANAGE_CONFIG, Scope::Global, at);
        let proof = proof.map_err(|_| Refusal::Protocol {
            error: "not allowed".to_owned(),
        })?;
        let effects = vec![proof.record(event, target, 0).into()];
        Ok(Box::new(Operate {
            action,
            at,
            effects,
        }))
    }

    /// The reply of this id, if it is in one of these states.
    async fn reply(&self, id: i64, filter: ReplyFilter) -> Result<Option<StoredReply>, StoreError> {
        let page = self.store.replies(id.saturating_sub(1), filter, 1).await?;
        Ok(page.rows.into_iter().find(|reply| reply.id == id))
    }

    async fn retry_reply(&self, id: i64) -> Result<Answer, Refusal> {
        let given_up = ReplyFilter {
            waiting: false,
            given_up: true,
        };
        if let Some(running) = &self.running
            && let Some(reply) = self.reply(id, given_up).await?
            && !running.deliverer.has_room(reply.conversation).await
        {
            return Err(Refusal::Full);
        }
        let operate = self.operate(Action::RetryReply(id), AuditEvent::ReplyRetried)?;
        match commit(&self.store, |then| Write::Operate(operate, then)).await? {
            Operated::Ready(pending) => Ok(Answer::Ready {
                now: self.send(pending).await,
            }),
            Operated::Refused(state) => Err(refused(state)),
            Operated::Elsewhere => Err(Refusal::Elsewhere),
            Operated::Accepted(_) | Operated::Dropped => Err(refused(None)),
        }
    }

    /// Hands a reply that is ready to whoever sends; `false` if that is the next start.
    async fn send(&self, pending: PendingReply) -> bool {
        let Some(running) = &self.running else {
            return false;
        };
        let id = pending.id;
        match running.deliverer.again(pending).await {
            Ok(()) => true,
            Err(error) => {
                tracing::error!(reply = id, %error, "a retried reply leaves after the next start");
                false
            }
        }
    }

    async fn drop_reply(&self, id: i64) -> Result<Answer, Refusal> {
        let all = ReplyFilter {
            waiting: true,
            given_up: true,
        };
        let found = self.reply(id, all).await?;
        let waits = |reply: &&StoredReply| matches!(reply.state, "ready" | "sending");
        let mut withdrawn = None;
        if let (Some(running), Some(reply)) = (&self.running, found.as_ref().filter(waits)) {
            // First out of the queue: what is dropped in the store must not be sent any more.
            withdrawn = running.deliverer.withdraw(reply.conversation, id);
            if withdrawn.is_none() {
                return Err(Refusal::Sending);
            }
        }
        let waiting = self.running.is_none() || withdrawn.is_some();
        let action = Action::DropReply { id, waiting };
        let operate = self.operate(action, AuditEvent::ReplyDropped)?;
        let done = commit(&self.store, |then| Write::Operate(operate, then)).await;
        if let (Some(running), Some(withdrawn)) = (&self.running, withdrawn) {
            if matches!(done, Ok(Operated::Dropped)) {
                running.deliverer.dropped(&withdrawn);
            } else {
                running.deliverer.put_back(withdrawn);
            }
        }
        match done? {
            Operated::Dropped => Ok(Answer::Dropped),
            Operated::Refused(state) => Err(refused(state)),
            Operated::Elsewhere => Err(Refusal::Elsewhere),
            Operated::Ready(_) | Operated::Accepted(_) => Err(refused(None)),
        }
    }

    async fn retry_message(&self, id: i64) -> Result<Answer, Refusal> {
        let operate = self.operate(Action::RetryMessage(id), AuditEvent::MessageRetried)?;
        let intake = self
            .running
            .as_ref()
            .map(|running| Arc::clone(&running.intake));
        let now = intake.is_some();
        let done = commit(&self.store, |then| {
            let queue = Box::new(move |result: Result<Operated, StoreError>| {
                if let (Ok(Operated::Accepted(rows)), Some(intake)) = (&result, intake) {
                    intake.again(rows);
                }
                then(result);
            });
            Write::Operate(operate, queue)
        })
        .await?;
        match done {
            Operated::Accepted(rows) => Ok(Answer::Accepted {
                ids: rows.iter().map(|row| row.id).collect(),
                now,
            }),
            Operated::Refused(state) => Err(refused(state)),
            Operated::Elsewhere => Err(Refusal::Elsewhere),
            Operated::Ready(_) | Operated::Dropped => Err(refused(None)),
        }
    }
}

fn is_failure(message: &FailedMessage) -> bool {
    let reason = message.reason.as_deref().and_then(Reason::from_code);
    reason.is_none_or(|reason| reason.class() == Class::Failure)
}

fn refused(state: Option<&'static str>) -> Refusal {
    match state {
        Some(state) => Refusal::State {
            state: state.to_owned(),
        },
        None => Refusal::NotFound,
    }
}
