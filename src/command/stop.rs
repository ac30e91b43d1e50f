//! /stop: ends the running answer; `/stop all` ends everybody's in the conversation.

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Takes, form},
    public,
};
use crate::{
    i18n::{About, Text},
    permission::{AuditEvent, Capability, Level, Scope},
    store::StoreError,
};

/// /stop
#[derive(Debug)]
pub struct Stop;

static SPEC: Spec = Spec {
    name: "stop",
    aliases: &[],
    about: About::Stop,
    takes: Takes::PerhapsOneOf(&[form("all", &[])]),
    level: Level::Public,
    when: When::Control,
};

fn is_all(arguments: &str) -> bool {
    arguments.eq_ignore_ascii_case("all") || arguments == "全部"
}

#[async_trait]
impl Command for Stop {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, arguments: &str, site: Site) -> (Capability, Scope) {
        if is_all(arguments) {
            let capability = Capability::SEND_MESSAGE | Capability::MANAGE_MEMBER;
            (capability, Scope::Conversation(site.conversation))
        } else {
            public()
        }
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let everybody = is_all(call.arguments);
        let turns = desk.stop(call.site.conversation, call.actor.person, everybody);
        let waiting =
            desk.own_waiting(call.site.account, call.site.conversation, call.actor.person);
        let text = if turns > 0 {
            Text::Stopped { turns, waiting }
        } else {
            Text::NothingToStop { waiting }
        };
        let mut done = Done::say(&text, call.language);
        if everybody && turns > 0 {
            let record = call
                .proof
                .record(AuditEvent::TurnStopped, turns.to_string(), call.turn);
            done.effects.push(record.into());
        }
        Ok(done)
    }
}
