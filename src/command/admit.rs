//! Requests to the account: the question to an owner of the gateway, and what his answer leads to.
//!
//! Owns the words of the question and the call that answers the platform. Nobody types this: an adapter hands the request in,
//! and whoever asks for something has no say in who is asked.

use async_trait::async_trait;
use weirgate_sdk::{Request, moderation::ModerationError};

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    approve::{self, Check},
    argument::Takes,
    public, target,
};
use crate::{
    i18n::{
        About,
        admit::Admit,
        consent::{Consent, What},
    },
    pending::{Act, Ask},
    permission::{AuditEvent, Capability, Level, Proof, Scope, decide},
    reason::Reason,
    security::fence,
    store::{Answerer, PendingKind, StoreError, StoredPending},
};

/// A request to the account. It has no name that anybody could type.
#[derive(Debug)]
pub struct Petition;

static SPEC: Spec = Spec {
    name: "request to the account",
    aliases: &[],
    about: About::Approve,
    takes: Takes::Nothing,
    level: Level::Public,
    when: When::Now,
};

#[async_trait]
impl Command for Petition {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        public()
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let Some(request) = Request::decode(call.arguments) else {
            return Ok(approve::refuse(
                &call,
                Reason::BadArguments,
                &Consent::Unknown,
            ));
        };
        let name = fence::label(&call.body.name);
        let shown = format!("{name} ({})", call.person.id.as_str());
        let words = fence::label(&request.words);
        let act = Act::Admit {
            request,
            shown: shown.trim_start().to_owned(),
        };
        let text = Admit::Asked {
            what: act.what(),
            words,
        };
        let text = Done::text(text.render(call.language));
        let rules = desk.directory.rules(call.site.conversation).await?;
        let ask = Ask {
            act,
            kind: PendingKind::Approval,
            answerer: Answerer::GlobalOwner,
            four_eyes: false,
            time: rules.policy.approval_time,
        };
        Ok(Done {
            ask: Some(Box::new(ask)),
            ..text
        })
    }
}

/// A request that somebody granted who may.
pub(super) struct Ready {
    proof: Proof,
    request: Request,
    what: What,
}

pub(super) fn ready(call: &Call<'_>, desk: &Desk, act: &Act) -> Check {
    let Act::Admit { request, .. } = act else {
        return Check::Gone;
    };
    match decide(call.actor, Capability::empty(), Scope::Global, desk.now()) {
        Ok(proof) => approve::Ready::Admit(Ready {
            proof,
            request: request.clone(),
            what: act.what(),
        })
        .into(),
        Err(_) => Check::Gone,
    }
}

impl Ready {
    /// Grants it.
    pub(super) async fn run(self, call: &Call<'_>, desk: &Desk) -> Done {
        let answered = answer(call, desk, &self.request, true).await;
        told(call, self.proof, answered, &Admit::Granted(self.what))
    }
}

/// Refuses a request. Whoever asked may take it back by himself, but not here.
pub(super) async fn refuse(
    call: Call<'_>,
    desk: &Desk,
    row: &StoredPending,
    (request, what): (&Request, What),
) -> Result<Done, StoreError> {
    let Ok(proof) = decide(call.actor, Capability::empty(), Scope::Global, desk.now()) else {
        return Ok(approve::denied(call, row, what));
    };
    let answered = answer(&call, desk, request, false).await;
    Ok(told(&call, proof, answered, &Admit::Refused(what)))
}

async fn answer(
    call: &Call<'_>,
    desk: &Desk,
    request: &Request,
    approve: bool,
) -> Result<(), ModerationError> {
    let adapter = target::adapter(call, desk);
    match adapter.as_deref().and_then(|adapter| adapter.requests()) {
        Some(requests) => requests.answer(request, approve).await,
        None => Err(ModerationError::NotSupported),
    }
}

/// What the owner is told, and the record of it.
fn told(
    call: &Call<'_>,
    proof: Proof,
    answered: Result<(), ModerationError>,
    done: &Admit,
) -> Done {
    let failed = answered.is_err();
    let outcome = answered
        .as_ref()
        .map_or_else(ToString::to_string, |()| "done".to_owned());
    let mut told = match answered {
        Ok(()) => Done::text(done.render(call.language)),
        Err(error) => {
            let reason = match error {
                ModerationError::NotConfirmed(_) => Reason::ModerationUnknown,
                _ => Reason::ModerationFailed,
            };
            Done {
                refused: Some(reason),
                ..Done::text(Admit::NotTaken(error).render(call.language))
            }
        }
    };
    let granted = matches!(done, Admit::Granted(_));
    let details = serde_json::json!({ "granted": granted, "outcome": outcome });
    let target = call.conversation.encode();
    let record = proof.record(AuditEvent::RequestAnswered, target, call.turn);
    let record = record.with(&details).within(call.site.conversation);
    let record = if failed { record.failed() } else { record };
    told.effects.push(record.into());
    told
}
