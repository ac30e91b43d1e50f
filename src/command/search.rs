//! /search: asks the web search without a model.
//!
//! Owns nothing but the words of the answer. The search is the tool `web_search`; its time limit holds here too.

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, always},
    ask,
};
use crate::{
    agent::tool::search::NAME,
    i18n::{About, Text, arguments::Label},
    permission::{Capability, Level, Scope},
    reason::Reason,
    store::StoreError,
};

/// /search
#[derive(Debug)]
pub struct Search;

static SPEC: Spec = Spec {
    name: "search",
    aliases: &[],
    about: About::Search,
    takes: Takes::These(&[always(Kind::Text(&[]), Label::Words)]),
    level: Level::Member,
    when: When::Now,
};

#[async_trait]
impl Command for Search {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        ask::needs(site)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let words = Value::from(call.arguments);
        let arguments = Map::from_iter([("query".to_owned(), words)]);
        let refuse = |reason, text: &Text| Done::refuse(reason, text, call.language);
        Ok(match ask::tool(&call, desk, NAME, &arguments).await {
            ask::Asked::Told(done) => done,
            ask::Asked::Absent => refuse(Reason::ToolRefused, &Text::SearchOff),
            ask::Asked::Misfit => refuse(Reason::BadArguments, &Text::SearchWhat),
        })
    }
}
