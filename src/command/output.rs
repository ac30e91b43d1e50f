//! /output: how answers are shown to the person.

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, perhaps},
};
use crate::{
    i18n::{About, Text, arguments::Label},
    outbound::strategy::Strategy,
    permission::{Capability, Level, Scope},
    store::{Effect, Place, StoreError},
};

/// /output
#[derive(Debug)]
pub struct Output;

/// The key under which the preference is stored.
pub const KEY: &str = "output";

static SPEC: Spec = Spec {
    name: "output",
    aliases: &[],
    about: About::Output,
    takes: Takes::These(&[perhaps(
        Kind::Choice(&["streaming", "segmented", "full", "default"]),
        Label::Mode,
    )]),
    level: Level::Member,
    when: When::InOrder,
};

#[async_trait]
impl Command for Output {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        (Capability::SEND_COMMAND, Scope::Own)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let wanted = call.arguments.to_ascii_lowercase();
        if wanted.is_empty() {
            let present = desk.preference(call.actor.person, KEY).await?;
            let present = present.and_then(|name| Strategy::from_name(&name));
            return Ok(Done::say(
                &Text::OutputIs(present.map(Strategy::name)),
                call.language,
            ));
        }
        let (value, text) = if wanted == "default" || wanted == "默认" {
            (None, Text::OutputCleared)
        } else if let Some(strategy) = Strategy::from_name(&wanted) {
            (
                Some(strategy.name().to_owned()),
                Text::OutputSet(strategy.name()),
            )
        } else {
            let given = call.arguments.chars().take(40).collect();
            let possible = "streaming, segmented, full, default";
            return Ok(Done::bad_argument(given, possible, call.language));
        };
        let of = Place::of_person(call.actor.person);
        let mut done = Done::say(&text, call.language);
        done.effects.push(Effect::Set {
            of,
            key: KEY.into(),
            value,
        });
        Ok(done)
    }
}
