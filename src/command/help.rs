//! /help: lists the commands.

use async_trait::async_trait;

use super::{Call, Command, Desk, Done, Site, Spec, When, all, public};
use crate::{
    i18n::{About, Text},
    permission::{Capability, Level, Scope},
    store::StoreError,
};

/// /help
#[derive(Debug)]
pub struct Help;

static SPEC: Spec = Spec {
    name: "help",
    aliases: &["start"],
    about: About::Help,
    level: Level::Public,
    when: When::Now,
};

#[async_trait]
impl Command for Help {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        public()
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let mut text = Text::HelpHead.render(call.language);
        let levels = &desk.rules.get().settings.permissions.commands;
        for command in all() {
            let spec = command.spec();
            let level = levels.get(spec.name).copied().unwrap_or(spec.level);
            // What the caller cannot use is of no help to him.
            if !call.actor.role.capabilities().contains(level.capability()) {
                continue;
            }
            let usage = Text::Usage(spec.about).render(call.language);
            let about = Text::About(spec.about).render(call.language);
            let space = if usage.is_empty() { "" } else { " " };
            text.push_str(&format!("\n/{}{space}{usage} - {about}", spec.name));
        }
        Ok(Done {
            text,
            ..Done::default()
        })
    }
}
