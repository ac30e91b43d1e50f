//! /help: lists the commands, or says what one of them takes.

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When, all,
    argument::{Kind, Takes, perhaps},
    find, public,
};
use crate::{
    i18n::{About, Language, Text, arguments::Label},
    permission::{Capability, Level, Scope},
    reason::Reason,
    store::StoreError,
};

/// Characters that are shown of a name that is none.
const LONGEST_NAME: usize = 32;

/// /help
#[derive(Debug)]
pub struct Help;

static SPEC: Spec = Spec {
    name: "help",
    aliases: &["start"],
    about: About::Help,
    takes: Takes::These(&[perhaps(Kind::Word(&[]), Label::Command)]),
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
        let rules = desk.rules.get();
        let levels = &rules.settings.permissions.commands;
        let is_his = |spec: &Spec| {
            let level = levels.get(spec.name).copied().unwrap_or(spec.level);
            call.actor.role.capabilities().contains(level.capability())
        };
        let asked = call.arguments.trim_start_matches(['/', '／']);
        if !asked.is_empty() {
            let found = find(&asked.to_ascii_lowercase()).map(Command::spec);
            return Ok(match found.filter(|spec| is_his(spec)) {
                Some(spec) => Done::text(explained(spec, call.language)),
                None => {
                    let name = asked.chars().take(LONGEST_NAME).collect();
                    let text = Text::UnknownCommand(name);
                    Done::refuse(Reason::UnknownCommand, &text, call.language)
                }
            });
        }
        let mut text = Text::HelpHead.render(call.language);
        // What the caller cannot use is of no help to him.
        for spec in all().map(Command::spec).filter(|spec| is_his(spec)) {
            text.push('\n');
            text.push_str(&line(spec, &[], call.language));
        }
        Ok(Done::text(text))
    }
}

/// A command in one line, with these other names.
fn line(spec: &Spec, also: &[&str], language: Language) -> String {
    let usage = spec.takes.usage(language);
    let about = Text::About(spec.about).render(language);
    let space = if usage.is_empty() { "" } else { " " };
    let also: String = also.iter().map(|name| format!(", /{name}")).collect();
    format!("/{}{also}{space}{usage} - {about}", spec.name)
}

/// A command with all of its names and what it takes.
fn explained(spec: &Spec, language: Language) -> String {
    let head = line(spec, spec.aliases, language);
    let rest = spec.takes.explained(language);
    std::iter::once(head)
        .chain(rest)
        .collect::<Vec<_>>()
        .join("\n")
}
