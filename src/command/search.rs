//! /search: asks the web search without a model.
//!
//! Owns nothing but the words of the answer. The search is the tool `web_search`; its time limit holds here too.

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{Call, Command, Desk, Done, Site, Spec, When};
use crate::{
    agent::tool::{self, search::NAME},
    i18n::{About, Text},
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
    level: Level::Member,
    when: When::Now,
};

#[async_trait]
impl Command for Search {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        let capability = Capability::SEND_COMMAND | Capability::EXECUTE;
        (capability, Scope::Conversation(site.conversation))
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let refuse = |reason, text: &Text| Ok(Done::refuse(reason, text, call.language));
        let rules = desk.rules.get();
        let Some(entry) = rules.tools.get(NAME) else {
            return refuse(Reason::ToolRefused, &Text::SearchOff);
        };
        let words = Value::String(call.arguments.to_owned());
        let arguments = Map::from_iter([("query".to_owned(), words)]);
        if entry.schema.check(&arguments).is_err() {
            return refuse(Reason::BadArguments, &Text::SearchWhat);
        }
        let run = entry.tool.run(tool::Call {
            proof: &call.proof,
            arguments: &arguments,
            conversation: call.conversation,
            zone: &rules.settings.zone,
            now: desk.now(),
        });
        match tokio::time::timeout(rules.settings.tool_calling.timeout, run).await {
            Ok(Ok(given)) => Ok(Done::text(given.text)),
            Ok(Err(fault)) => {
                let told = Text::SearchFailed(fault.given.text);
                refuse(Reason::ToolFailed, &told)
            }
            Err(_) => refuse(Reason::ToolTimeout, &Text::SearchFailed("…".to_owned())),
        }
    }
}
