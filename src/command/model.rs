//! /model: which model answers in a conversation.
//!
//! Owns the setting and its key. What a role may use is in [`crate::agent::choice`]; in a group the choice is for those
//! who moderate, and whoever may not use what they chose is answered by another one.

use async_trait::async_trait;
use weirgate_sdk::ChatKind;

use super::{Call, Command, Desk, Done, Site, Spec, When};
use crate::{
    i18n::{About, mind::Mind},
    permission::{AuditEvent, Capability, Level, Scope, policy::SETTING},
    store::{Effect, Place, StoreError},
};

/// /model
#[derive(Debug)]
pub struct ModelCommand;

/// The key among a conversation's settings.
pub const KEY: &str = "model";
/// Words for those of the configuration.
const DEFAULT: [&str; 2] = ["default", "默认"];

static SPEC: Spec = Spec {
    name: "model",
    aliases: &[],
    about: About::Model,
    level: Level::Member,
    when: When::InOrder,
};

#[async_trait]
impl Command for ModelCommand {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, arguments: &str, site: Site) -> (Capability, Scope) {
        let here = Scope::Conversation(site.conversation);
        if arguments.is_empty() || site.chat == ChatKind::Private {
            (Capability::SEND_COMMAND, here)
        } else {
            (Level::Admin.capability(), here)
        }
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let rules = desk.rules.get();
        let role = call.actor.role_for_models();
        let names = rules.choices.names(role);
        let wanted = call.arguments;
        if wanted.is_empty() {
            let here = desk.directory.rules(call.site.conversation).await?;
            let chosen = here.settings.get(KEY).map(String::as_str);
            let chain = rules.choices.chain(&rules.chain, role, chosen);
            let present = chain.models().first().map(|model| model.name().to_owned());
            let text = Mind::Models { present, names };
            return Ok(Done::text(text.render(call.language)));
        }
        let value = if DEFAULT.iter().any(|word| wanted.eq_ignore_ascii_case(word)) {
            None
        } else {
            let Some(name) = rules.choices.meant(role, wanted) else {
                let text = Mind::NoModel {
                    given: wanted.chars().take(60).collect(),
                    names,
                };
                return Ok(Done::declined(text.render(call.language)));
            };
            Some(name)
        };
        let mut done = Done::text(Mind::ModelSet(value.clone()).render(call.language));
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
