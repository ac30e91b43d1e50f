//! /persona: who the bot is in a conversation, out of those that the operator has written.
//!
//! Owns the setting and its key. What a persona says is in [`crate::agent::prompt`].

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, perhaps},
    choose,
};
use crate::{
    i18n::{About, arguments::Label, mind::Mind},
    permission::{Capability, Level, Scope},
    store::StoreError,
};

/// /persona
#[derive(Debug)]
pub struct Persona;

/// The key among a conversation's settings.
pub const KEY: &str = "persona";

static SPEC: Spec = Spec {
    name: "persona",
    aliases: &[],
    about: About::Persona,
    takes: Takes::These(&[perhaps(Kind::Word(&["default"]), Label::Name)]),
    level: Level::Member,
    when: When::InOrder,
};

#[async_trait]
impl Command for Persona {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, arguments: &str, site: Site) -> (Capability, Scope) {
        choose::needs(arguments, site)
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
        let value = if choose::is_default(wanted) {
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
        let told = Mind::PersonaSet(value.clone()).render(call.language);
        Ok(choose::set(call, KEY, value, told))
    }
}
