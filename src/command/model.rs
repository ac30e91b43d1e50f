//! /model: which model answers in a conversation.
//!
//! Owns the setting and its key. What a role may use is in [`crate::agent::choice`]; whoever may
//! not use what was chosen is answered by another one.

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

/// /model
#[derive(Debug)]
pub struct ModelCommand;

/// The key among a conversation's settings.
pub const KEY: &str = "model";

static SPEC: Spec = Spec {
    name: "model",
    aliases: &[],
    about: About::Model,
    takes: Takes::These(&[perhaps(Kind::Word(&["default"]), Label::Name)]),
    level: Level::Member,
    when: When::InOrder,
};

#[async_trait]
impl Command for ModelCommand {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, arguments: &str, site: Site) -> (Capability, Scope) {
        choose::needs(arguments, site)
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
        let value = if choose::is_default(wanted) {
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
        let told = Mind::ModelSet(value.clone()).render(call.language);
        Ok(choose::set(call, KEY, value, told))
    }
}
