//! /reset, /new: what was said before is no longer used as context.

use async_trait::async_trait;
use weirgate_sdk::ChatKind;

use super::{Call, Command, Desk, Done, Site, Spec, When, argument::Takes};
use crate::{
    i18n::{About, Text},
    permission::{AuditEvent, Capability, Level, Scope},
    store::{Effect, HistoryScope, StoreError},
};

/// /reset
#[derive(Debug)]
pub struct Reset;

static SPEC: Spec = Spec {
    name: "reset",
    aliases: &["new"],
    about: About::Reset,
    takes: Takes::Nothing,
    level: Level::Member,
    when: When::InOrder,
};

/// What it takes to have what was said at a place dropped.
#[must_use]
pub fn needs(site: Site) -> (Capability, Scope) {
    // The memory of a group is everybody's: only who may moderate may wipe it.
    if site.chat == ChatKind::Group && !site.own_history {
        let capability = Capability::SEND_COMMAND | Capability::MANAGE_MEMBER;
        (capability, Scope::Conversation(site.conversation))
    } else {
        (Capability::SEND_COMMAND, Scope::Own)
    }
}

/// The history in which a command was given.
#[must_use]
pub fn scope(call: &Call<'_>) -> HistoryScope {
    let person = if call.site.own_history {
        call.actor.person
    } else {
        0
    };
    HistoryScope {
        conversation: call.site.conversation,
        person,
    }
}

#[async_trait]
impl Command for Reset {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        needs(site)
    }

    async fn run(&self, call: Call<'_>, _: &Desk) -> Result<Done, StoreError> {
        let scope = scope(&call);
        let mut done = Done::say(&Text::ResetDone, call.language);
        done.effects.push(Effect::Reset(scope));
        let target = call.conversation.encode();
        done.effects.push(
            call.proof
                .record(AuditEvent::ContextReset, target, call.turn)
                .within(call.site.conversation)
                .into(),
        );
        Ok(done)
    }
}
