//! /run: runs the steps of a skill, and has the model answer with what came of it.
//!
//! Owns the words of the command. It runs nothing itself: the turn begins with the call, as if the model had made it, so that
//! each step is looked at as ever.

use async_trait::async_trait;
use serde_json::json;

use super::{
    Begins, Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, always, perhaps},
    ask,
};
use crate::{
    agent::skill,
    i18n::{About, arguments::Label, skills::SkillText},
    permission::{Capability, Level, Scope},
    reason::Reason,
    store::StoreError,
};

/// /run
#[derive(Debug)]
pub struct Run;

static SPEC: Spec = Spec {
    name: "run",
    aliases: &[],
    about: About::Run,
    takes: Takes::These(&[
        always(Kind::Word(&[]), Label::Skill),
        perhaps(Kind::Text(&[]), Label::Inputs),
    ]),
    level: Level::Member,
    when: When::InOrder,
};

/// Longest name that is said again, in characters.
const MAX_NAME: usize = 64;

#[async_trait]
impl Command for Run {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        ask::needs(site)
    }

    fn asks_model(&self) -> bool {
        true
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let refuse = |text: SkillText| Done {
            refused: Some(Reason::BadArguments),
            ..Done::text(text.render(call.language))
        };
        let text = call.arguments.trim();
        let (name, inputs) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rules = desk.rules.get();
        let sorted = rules.tools.skills();
        let here = Scope::Conversation(call.site.conversation);
        let mut mine = sorted.of(call.actor, here, desk.now());
        let found = mine.find(|skill| skill.name == name);
        let name: String = name.chars().take(MAX_NAME).collect();
        let Some(found) = found else {
            return Ok(refuse(SkillText::Unknown { name }));
        };
        let Some(steps) = &found.steps else {
            return Ok(refuse(SkillText::NoSteps { name }));
        };
        Ok(match steps.typed(inputs) {
            Err(what) => {
                let usage = steps.usage();
                refuse(SkillText::Misfit { name, what, usage })
            }
            Ok(inputs) => {
                let arguments = json!({ "name": name, "inputs": inputs });
                let tool = skill::RUN;
                Done {
                    begins: Some(Box::new(Begins { tool, arguments })),
                    ..Done::default()
                }
            }
        })
    }
}
