//! /leave: the bot leaves a group, once an owner has confirmed it.
//!
//! Owns the order: the bot is gone before the turn ends, so nothing is said there any more.

use async_trait::async_trait;
use weirgate_sdk::moderation::ModerationError;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    approve::{self, Check, refuse},
    argument::Takes,
    target,
};
use crate::{
    i18n::{About, consent::Consent},
    pending::{Act, Ask},
    permission::{AuditEvent, Capability, Level, Proof, Scope, decide},
    reason::Reason,
    store::{Answerer, PendingKind, StoreError},
};

/// /leave
#[derive(Debug)]
pub struct Leave;

static SPEC: Spec = Spec {
    name: "leave",
    aliases: &[],
    about: About::Leave,
    takes: Takes::Nothing,
    level: Level::Owner,
    when: When::InOrder,
};

#[async_trait]
impl Command for Leave {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        let capability = Level::Owner.capability();
        (capability, Scope::Conversation(site.conversation))
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        if !call.body.group {
            return Ok(refuse(&call, Reason::BadArguments, &Consent::GroupsOnly));
        }
        let adapter = target::adapter(&call, desk);
        if adapter.is_none_or(|adapter| adapter.leaves().is_none()) {
            return Ok(refuse(&call, Reason::BadArguments, &Consent::LeaveNotHere));
        }
        let rules = desk.directory.rules(call.site.conversation).await?;
        let ask = Ask {
            act: Act::Leave,
            kind: PendingKind::Confirmation,
            answerer: Answerer::Capability(Level::Owner.capability()),
            four_eyes: rules.policy.four_eyes,
            time: rules.policy.approval_time,
        };
        Ok(Done {
            ask: Some(Box::new(ask)),
            ..Done::text(Consent::LeaveAsked.render(call.language))
        })
    }
}

/// Leaving that somebody confirmed who may.
pub(super) struct Ready {
    proof: Proof,
}

pub(super) fn ready(call: &Call<'_>, desk: &Desk) -> Check {
    let scope = Scope::Conversation(call.site.conversation);
    match decide(call.actor, Level::Owner.capability(), scope, desk.now()) {
        Ok(proof) => approve::Ready::Leave(Ready { proof }).into(),
        Err(_) => Check::Gone,
    }
}

impl Ready {
    /// Leaves. After a crash the bot may be gone already, and the platform then knows nothing of the conversation.
    pub(super) async fn run(self, call: &Call<'_>, desk: &Desk) -> Done {
        let adapter = target::adapter(call, desk);
        let leaves = adapter.as_deref().and_then(|adapter| adapter.leaves());
        let left = match leaves {
            Some(leaves) => leaves.leave(call.conversation).await,
            None => Err(ModerationError::NotSupported),
        };
        let mut done = match &left {
            // Nobody would read it.
            Ok(()) => Done::default(),
            Err(error) => {
                tracing::warn!(%error, "the bot did not leave a conversation");
                let text = Consent::NotLeft(error.clone());
                let reason = match error {
                    ModerationError::NotConfirmed(_) => Reason::ModerationUnknown,
                    _ => Reason::ModerationFailed,
                };
                refuse(call, reason, &text)
            }
        };
        let failed = left.is_err();
        let outcome = left.map_or_else(|error| error.to_string(), |()| "done".to_owned());
        let details = serde_json::json!({ "outcome": outcome });
        let target = call.conversation.encode();
        let record = self
            .proof
            .record(AuditEvent::ConversationLeft, target, call.turn);
        let record = record.with(&details);
        let record = if failed { record.failed() } else { record };
        done.effects.push(record.into());
        done
    }
}
