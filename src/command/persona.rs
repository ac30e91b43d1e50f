//! /persona: who the bot is in a conversation, out of those that the operator has written.
//!
//! Owns the setting and its key. What a persona says is in [`crate::agent::prompt`].

use async_trait::async_trait;
use weirgate_sdk::ChatKind;

use super::{Call, Command, Desk, Done, Site, Spec, When};
use crate::{
    i18n::{About, mind::Mind},
    permission::{AuditEvent, Capability, Level, Scope, policy::SETTING},
    store::{Effect, Place, StoreError},
};

/// /persona
#[derive(Debug)]
pub struct Persona;

/// The key among a conversation's settings.
pub const KEY: &str = "persona";
/// Words for the one of the gateway.
const DEFAULT: [&str; 2] = ["default", "默认"];

static SPEC: Spec = Spec {
    name: "persona",
    aliases: &[],
    about: About::Persona,
    level: Level::Member,
    when: When::InOrder,
};

#[async_trait]
impl Command for Persona {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, arguments: &str, site: Site) -> (Capability, Scope) {
        let here = Scope::Conversation(site.conversation);
        // In private the conversation is one's own, and whoever looks changes nothing.
        if arguments.is_empty() || site.chat == ChatKind::Private {
            (Capability::SEND_COMMAND, here)
        } else {
            (Level::Admin.capability(), here)
        }
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let names = desk.rules.get().prompts.personas();
        let wanted = call.arguments;
        if wanted.is_empty() {
            let rules = desk.directory.rules(call.site.conversation).await?;
            let text = Mind::Personas {
                present: rules.settings.get(KEY).cloned(),
                names,
            };
            return Ok(Done::text(text.render(call.language)));
        }
        let value = if DEFAULT.iter().any(|word| wanted.eq_ignore_ascii_case(word)) {
            None
        } else if let Some(name) = names.iter().find(|name| *name == wanted) {
            Some(name.clone())
        } else {
            let text = Mind::NoPersona {
                given: wanted.chars().take(40).collect(),
                names,
            };
            return Ok(Done::declined(text.render(call.language)));
        };
        let mut done = Done::text(Mind::PersonaSet(value.clone()).render(call.language));
        let details = serde_json::json!({ "value": value });
        done.effects.push(Effect::Set {
            of: Place::of_conversation(call.site.conversation),
            key: format!("{SETTING}{KEY}").into(),
            value,
        });
        let record = call
            .proof
            .record(AuditEvent::ConfigChanged, KEY.to_owned(), call.turn);
        done.effects.push(record.with(&details).into());
        Ok(done)
    }
}
