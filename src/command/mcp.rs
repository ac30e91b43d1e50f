//! /mcp: how the servers of tools are doing, and a new start for one that was left alone.
//!
//! Owns the words of the command. A server is started by its keeper.

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, always, form},
};
use crate::{
    i18n::{About, arguments::Label, servers::Servers},
    permission::{AuditEvent, Capability, Level, Scope},
    store::StoreError,
};

/// /mcp
#[derive(Debug)]
pub struct Mcp;

static SPEC: Spec = Spec {
    name: "mcp",
    aliases: &[],
    about: About::Mcp,
    takes: Takes::PerhapsOneOf(&[form("restart", &[always(Kind::Word(&[]), Label::Name)])]),
    level: Level::Owner,
    when: When::Now,
};

#[async_trait]
impl Command for Mcp {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        (Level::Member.capability(), Scope::Global)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let mut words = call.arguments.split_whitespace();
        match (words.next(), words.next()) {
            (None, _) => {
                let lines = desk.servers();
                let text = if lines.is_empty() {
                    Servers::None
                } else {
                    Servers::List(lines)
                };
                Ok(Done::text(text.render(call.language)))
            }
            (Some("restart"), Some(name)) => Ok(restart(call, desk, name.to_owned())),
            (Some(word), _) => Ok(Done::bad_argument(
                word.to_owned(),
                "restart NAME",
                call.language,
            )),
        }
    }
}

fn restart(call: Call<'_>, desk: &Desk, name: String) -> Done {
    if !desk.restart_server(&name) {
        return Done::declined(Servers::Unknown { name }.render(call.language));
    }
    let text = Servers::Restarted { name: name.clone() };
    let mut done = Done::text(text.render(call.language));
    let record = call
        .proof
        .record(AuditEvent::ServerRestarted, name, call.turn);
    done.effects.push(record.into());
    done
}
