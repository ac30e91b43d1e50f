//! /skill: which skills there are for the one who asks, and what is told of one.
//!
//! Owns the words of the command. What a skill says to a model is for the model.

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, always, form},
};
use crate::{
    i18n::{
        About,
        arguments::Label,
        skills::{Shown, SkillText},
    },
    permission::{Capability, Level, Scope, decide},
    store::StoreError,
};

/// /skill
#[derive(Debug)]
pub struct SkillCommand;

static SPEC: Spec = Spec {
    name: "skill",
    aliases: &["skills"],
    about: About::Skill,
    takes: Takes::PerhapsOneOf(&[form("show", &[always(Kind::Word(&[]), Label::Name)])]),
    level: Level::Member,
    when: When::Now,
};

/// Longest name that is said again, in characters.
const MAX_NAME: usize = 64;

#[async_trait]
impl Command for SkillCommand {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        let here = Scope::Conversation(site.conversation);
        (Level::Member.capability(), here)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let mut words = call.arguments.split_whitespace();
        let text = match (words.next(), words.next()) {
            (None, _) | (Some("list"), None) => list(&call, desk),
            (Some("show"), Some(name)) | (Some(name), None) => show(&call, desk, name),
            (Some(word), Some(_)) => {
                let word = word.chars().take(MAX_NAME).collect();
                return Ok(Done::bad_argument(word, "show NAME", call.language));
            }
        };
        Ok(Done::text(text.render(call.language)))
    }
}

fn list(call: &Call<'_>, desk: &Desk) -> SkillText {
    let rules = desk.rules.get();
    let sorted = rules.tools.skills();
    let here = Scope::Conversation(call.site.conversation);
    let mine = sorted.of(call.actor, here, desk.now());
    let skills: Vec<(String, String)> = mine
        .map(|skill| (skill.name.clone(), skill.description.clone()))
        .collect();
    // What is wrong with one is for those who can mend it.
    let owner = decide(
        call.actor,
        Capability::SEND_MESSAGE,
        Scope::Global,
        desk.now(),
    )
    .is_ok();
    let left_out = if owner {
        sorted.left_out.clone()
    } else {
        Vec::new()
    };
    if skills.is_empty() && left_out.is_empty() {
        SkillText::None
    } else {
        SkillText::List { skills, left_out }
    }
}

fn show(call: &Call<'_>, desk: &Desk, name: &str) -> SkillText {
    let rules = desk.rules.get();
    let sorted = rules.tools.skills();
    let here = Scope::Conversation(call.site.conversation);
    let mut mine = sorted.of(call.actor, here, desk.now());
    match mine.find(|skill| skill.name == name) {
        Some(skill) => SkillText::One(Shown {
            name: skill.name.clone(),
            description: skill.description.clone(),
            tools: skill.tools.clone(),
            about: skill.about.clone(),
            usage: skill.steps.as_ref().map(|steps| steps.usage()),
        }),
        None => SkillText::Unknown {
            name: name.chars().take(MAX_NAME).collect(),
        },
    }
}
