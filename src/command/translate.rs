//! /translate: has a text, or the message that is answered, put into another language.
//!
//! Owns how it is asked. The translation is that of the tool `translate`; it takes the tokens of the one who asks.

use async_trait::async_trait;
use serde_json::{Map, Value};
use weirgate_sdk::Segment;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, always, perhaps},
    ask,
};
use crate::{
    agent::tool::translate::{MAX_TEXT, NAME},
    i18n::{About, arguments::Label, translate::NoTranslation},
    permission::{Capability, Level, Scope},
    reason::Reason,
    store::{Body, StoreError},
};

/// /translate
#[derive(Debug)]
pub struct TranslateCommand;

static SPEC: Spec = Spec {
    name: "translate",
    aliases: &[],
    about: About::Translate,
    takes: Takes::These(&[
        always(Kind::Word(&[]), Label::Language),
        perhaps(Kind::Text(&[]), Label::Content),
    ]),
    level: Level::Member,
    when: When::Now,
};

#[async_trait]
impl Command for TranslateCommand {
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
        let refuse = |reason, text: NoTranslation| Done {
            refused: Some(reason),
            ..Done::text(text.render(call.language))
        };
        let (to, text) = wanted(call.arguments, call.body);
        if text.chars().count() > MAX_TEXT {
            let most = NoTranslation::TooLong { most: MAX_TEXT };
            return Ok(refuse(Reason::BadArguments, most));
        }
        let arguments = Map::from_iter([
            ("to".to_owned(), Value::from(to)),
            ("text".to_owned(), Value::from(text)),
        ]);
        Ok(match ask::tool(&call, desk, NAME, &arguments).await {
            ask::Asked::Told(done) => done,
            ask::Asked::Absent => refuse(Reason::ToolRefused, NoTranslation::Off),
            ask::Asked::Misfit => refuse(Reason::BadArguments, NoTranslation::How),
        })
    }
}

/// The language, and the text: what stands behind it, or else the message that is answered.
fn wanted<'a>(arguments: &'a str, body: &Body) -> (&'a str, String) {
    let (to, text) = arguments
        .split_once(char::is_whitespace)
        .unwrap_or((arguments, ""));
    let text = text.trim();
    if !text.is_empty() {
        return (to, text.to_owned());
    }
    let quotes = body.segments.iter().filter_map(|segment| match segment {
        Segment::Quote(quoted) => Some(quoted.trim()),
        _ => None,
    });
    (to, quotes.collect::<Vec<_>>().join("\n"))
}
