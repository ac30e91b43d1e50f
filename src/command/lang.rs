//! /lang: the language in which the gateway speaks with the person.

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, perhaps},
    public,
};
use crate::{
    i18n::{About, Language, Text, arguments::Label},
    permission::{Capability, Level, Scope},
    store::{Effect, Place, StoreError},
};

/// /lang
#[derive(Debug)]
pub struct Lang;

/// The key under which the preference is stored.
pub const KEY: &str = "lang";

static SPEC: Spec = Spec {
    name: "lang",
    aliases: &["language"],
    about: About::Lang,
    takes: Takes::These(&[perhaps(
        Kind::Choice(&["zh-CN", "en", "auto"]),
        Label::Tongue,
    )]),
    level: Level::Public,
    when: When::InOrder,
};

#[async_trait]
impl Command for Lang {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        public()
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let wanted = call.arguments;
        if wanted.is_empty() {
            let present = desk.preference(call.actor.person, KEY).await?;
            let present = present.and_then(|tag| Language::from_tag(&tag));
            return Ok(Done::say(&Text::LangIs(present), call.language));
        }
        let of = Place::of_person(call.actor.person);
        if wanted.eq_ignore_ascii_case("auto") || wanted == "自动" {
            let mut done = Done::say(&Text::LangCleared, call.language);
            done.effects.push(Effect::Set {
                of,
                key: KEY.into(),
                value: None,
            });
            return Ok(done);
        }
        let Some(language) = Language::from_tag(wanted) else {
            let given = wanted.chars().take(40).collect();
            let possible = "zh-CN, en, auto";
            return Ok(Done::bad_argument(given, possible, call.language));
        };
        let mut done = Done::say(&Text::LangSet(language), language);
        done.effects.push(Effect::Set {
            of,
            key: KEY.into(),
            value: Some(language.tag().to_owned()),
        });
        Ok(done)
    }
}
