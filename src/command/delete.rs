//! /delete: what the gateway keeps of a conversation is deleted, once somebody who may has said how much.
//!
//! Owns what "everything" is, in this order: what waits and what is not sent ends with a reason, running turns are
//! stopped, the words of all messages and answers are taken out of the journal, its files are removed, and with the end of
//! the turn go the context, the settings, what else waits for an answer, and what is personal in the audit log. Roles and the
//! lists of who is shut out stay, so that nobody rises or comes back by it; so do the bare records of the audit log, and the rows of the journal without their words, because they keep an event from being taken
//! twice.

use std::time::Duration;

use async_trait::async_trait;
use weirgate_sdk::ChatKind;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    approve::{self, Check},
    argument::Takes,
};
use crate::{
    i18n::{About, consent::Consent},
    pending::{Act, Ask},
    permission::{AuditEvent, Capability, Level, Proof, Scope, decide},
    reason::Reason,
    store::{Answerer, Effect, Erase, Forget, PendingKind, StoreError, Write, commit},
};

/// How long running turns may take to stop, and how often that is looked at.
const STOPPING: (u32, Duration) = (100, Duration::from_millis(50));

/// /delete
#[derive(Debug)]
pub struct Delete;

static SPEC: Spec = Spec {
    name: "delete",
    aliases: &[],
    about: About::Delete,
    takes: Takes::Nothing,
    level: Level::Owner,
    when: When::InOrder,
};

/// In private it is one's own conversation.
fn right(site: Site) -> (Capability, Scope) {
    let here = Scope::Conversation(site.conversation);
    match site.chat {
        ChatKind::Private => (Level::Member.capability(), here),
        ChatKind::Group => (Level::Owner.capability(), here),
    }
}

#[async_trait]
impl Command for Delete {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        right(site)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let rules = desk.directory.rules(call.site.conversation).await?;
        let ask = Ask {
            act: Act::Delete,
            kind: PendingKind::Choice,
            answerer: match call.site.chat {
                ChatKind::Private => Answerer::Person(call.person.clone()),
                ChatKind::Group => Answerer::Capability(right(call.site).0),
            },
            four_eyes: rules.policy.four_eyes,
            time: rules.policy.approval_time,
        };
        Ok(Done {
            ask: Some(Box::new(ask)),
            ..Done::text(Consent::DeleteAsked.render(call.language))
        })
    }
}

/// A deletion by somebody who may.
pub(super) struct Ready {
    proof: Proof,
    all: bool,
}

pub(super) fn ready(call: &Call<'_>, desk: &Desk, choice: &str) -> Check {
    let (capability, scope) = right(call.site);
    match decide(call.actor, capability, scope, desk.now()) {
        Ok(proof) => approve::Ready::Delete(Ready {
            proof,
            all: choice == "all",
        })
        .into(),
        Err(_) => Check::Gone,
    }
}

impl Ready {
    pub(super) async fn run(self, call: &Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let conversation = call.site.conversation;
        let mut done = if self.all {
            let Wiped { messages, replies } = wipe(desk, conversation, call.turn).await?;
            let text = Consent::DeletedAll {
                messages: messages.len(),
                replies,
            };
            Done {
                also_ends: messages,
                ..Done::text(text.render(call.language))
            }
        } else {
            Done::text(Consent::DeletedHistory.render(call.language))
        };
        done.effects.push(Effect::Forget(Forget {
            conversation,
            all: self.all,
        }));
        if self.all {
            done.effects.push(Effect::EraseAudit { conversation });
        }
        let what = if self.all { "all" } else { "history" };
        let record = self
            .proof
            .record(AuditEvent::ConversationDeleted, what.to_owned(), call.turn);
        done.effects.push(record.into());
        Ok(done)
    }
}

/// What was still to be done in a conversation when it was wiped.
#[derive(Debug)]
pub struct Wiped {
    /// The platform's ids of messages that waited.
    pub messages: Vec<String>,
    /// How many answers were not sent.
    pub replies: usize,
}

/// Ends what is under way in a conversation, but for the turn `before`, and takes the words out of all that is older.
///
/// # Errors
/// The store's. What is done stays done, and doing it again is safe.
pub async fn wipe(desk: &Desk, conversation: i64, before: i64) -> Result<Wiped, StoreError> {
    let reason = Reason::ConversationDeleted;
    let messages = desk
        .drop_waiting(conversation, None, before, reason)
        .await?;
    desk.stop_all(conversation, STOPPING).await;
    let replies = desk.deliverer.drop_all(conversation, reason).await;
    erase(desk, conversation, before).await?;
    if let Some(media) = &desk.media {
        media.remove_all(conversation).await?;
    }
    if let Some(memories) = &desk.memories {
        memories.forget_conversation(conversation).await?;
    }
    Ok(Wiped { messages, replies })
}

/// Takes the words out of the journal, a slice at a time so that others can write in between. What is done stays done
/// if the turn is taken up again.
async fn erase(desk: &Desk, conversation: i64, before: i64) -> Result<(), StoreError> {
    let mut after = 0;
    loop {
        let slice = Erase {
            conversation,
            after,
            before,
        };
        let next = commit(&desk.store, |then| Write::Erase(slice, then)).await?;
        match next {
            Some(next) => after = next,
            None => return Ok(()),
        }
    }
}
