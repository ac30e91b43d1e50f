//! /weather: asks for the weather of a place without a model.
//!
//! Owns nothing but how it is asked. The report is that of the tool `weather`; its time limit holds here too.

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, always},
    ask,
};
use crate::{
    agent::tool::weather::NAME,
    i18n::{About, arguments::Label, weather::NoWeather},
    permission::{Capability, Level, Scope},
    reason::Reason,
    store::StoreError,
};

/// /weather
#[derive(Debug)]
pub struct WeatherCommand;

static SPEC: Spec = Spec {
    name: "weather",
    aliases: &[],
    about: About::Weather,
    takes: Takes::These(&[always(Kind::Text(&[]), Label::Place)]),
    level: Level::Member,
    when: When::Now,
};

#[async_trait]
impl Command for WeatherCommand {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        ask::needs(site)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let arguments = Map::from_iter([
            ("place".to_owned(), Value::from(call.arguments)),
            ("language".to_owned(), Value::from(call.language.tag())),
        ]);
        let refuse = |reason, text: NoWeather| Done {
            refused: Some(reason),
            ..Done::text(text.render(call.language))
        };
        Ok(match ask::tool(&call, desk, NAME, &arguments).await {
            ask::Asked::Told(done) => done,
            ask::Asked::Absent => refuse(Reason::ToolRefused, NoWeather::Off),
            ask::Asked::Misfit => refuse(Reason::BadArguments, NoWeather::Where),
        })
    }
}
