//! /why: what became of a message, and why.

use async_trait::async_trait;

use super::{Call, Command, Desk, Done, Site, Spec, When, argument::Takes, public};
use crate::{
    i18n::{About, Text, WhyFacts, rights::Rights},
    permission::{AuditEvent, Capability, Level, Scope, decide},
    reason::Reason,
    store::{Fate, StoreError},
    trace::turn_id,
};

/// /why
#[derive(Debug)]
pub struct Why;

static SPEC: Spec = Spec {
    name: "why",
    aliases: &[],
    about: About::Why,
    takes: Takes::Nothing,
    level: Level::Public,
    when: When::Now,
};

#[async_trait]
impl Command for Why {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        public()
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let reply_to = call.body.reply_to.as_deref();
        let conversation = call.site.conversation;
        let fate = desk
            .fate(conversation, reply_to, call.actor.person, call.turn)
            .await?;
        let Some(fate) = fate else {
            return Ok(Done::say(&Text::WhyNothing, call.language));
        };
        if fate.person != call.actor.person {
            let scope = Scope::Conversation(conversation);
            let at = desk.now();
            if let Err(denial) = decide(call.actor, Capability::MANAGE_MEMBER, scope, at) {
                let text = Rights::Lacks(denial.missing());
                let record =
                    denial.record(AuditEvent::CommandBlocked, SPEC.name.to_owned(), call.turn);
                let mut done = Done::text(text.render(call.language));
                done.refused = Some(Reason::PermissionDenied);
                done.effects.push(record.into());
                return Ok(done);
            }
        }
        Ok(Done::say(
            &Text::Why(Box::new(facts(fate, desk))),
            call.language,
        ))
    }
}

fn facts(fate: Fate, desk: &Desk) -> WhyFacts {
    let turn = fate.turn.unwrap_or(fate.id);
    let mut steps = desk.steps(fate.id);
    if turn != fate.id {
        steps.extend(desk.steps(turn));
    }
    let since = |at: i64| at.saturating_sub(fate.received_at).max(0);
    WhyFacts {
        turn: turn_id(turn),
        received_at: fate.received_at,
        state: fate.state,
        reason: fate.reason,
        attempts: fate.attempts,
        answer: fate.answer,
        answer_reason: fate.answer_reason,
        steps: steps
            .into_iter()
            .map(|(at, reason)| (since(at), reason.code()))
            .collect(),
    }
}
