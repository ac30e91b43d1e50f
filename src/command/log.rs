//! /log: the newest turns of the conversation, with model, tools, time and tokens.
//!
//! Owns how they are read out of the history. What a reset hides is not told.

use std::time::Duration;

use async_trait::async_trait;

use super::{Call, Command, Desk, Done, Site, Spec, When, argument::Takes};
use crate::{
    agent::{choice::amount, history::Content},
    i18n::{About, LoggedTurn, Text},
    permission::{Capability, Level, Scope},
    store::{History, HistoryScope, StoreError},
};

/// /log
#[derive(Debug)]
pub struct Log;

static SPEC: Spec = Spec {
    name: "log",
    aliases: &[],
    about: About::Log,
    takes: Takes::Nothing,
    level: Level::Member,
    when: When::Now,
};

/// Turns that are shown.
const TURNS: usize = 10;
/// History rows that are looked through.
const ROWS: usize = 200;

#[async_trait]
impl Command for Log {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        let capability = Capability::SEND_COMMAND | Capability::READ;
        (capability, Scope::Conversation(site.conversation))
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let own = call.site.own_history;
        let scope = HistoryScope {
            conversation: call.site.conversation,
            person: if own { call.actor.person } else { 0 },
        };
        let rows = desk.store.history(scope, ROWS, (0, Duration::ZERO)).await?;
        let currency = desk.rules.get().choices.currency.clone();
        let mut turns = turns(&rows, &currency);
        let text = if turns.is_empty() {
            Text::LogNothing
        } else {
            Text::Log(turns.split_off(turns.len().saturating_sub(TURNS)))
        };
        Ok(Done::say(&text, call.language))
    }
}

/// The turns whose cost is known, oldest first.
fn turns(rows: &[History], currency: &str) -> Vec<LoggedTurn> {
    let mut turns = Vec::new();
    let mut tools: Vec<(String, usize)> = Vec::new();
    let mut of = None;
    for row in rows {
        if of.replace(row.turn) != Some(row.turn) {
            tools.clear();
        }
        let Some(content) = Content::decode(&row.parts) else {
            continue;
        };
        for call in content.as_step().calls {
            match tools.iter_mut().find(|(name, _)| *name == call.name) {
                Some((_, times)) => *times += 1,
                None => tools.push((call.name, 1)),
            }
        }
        if let Some(cost) = content.cost() {
            turns.push(LoggedTurn {
                at: row.at,
                model: cost.model.clone(),
                millis: cost.millis,
                tokens: (cost.prompt, cost.completion),
                price: match cost.price {
                    0 => String::new(),
                    price => amount(price, currency),
                },
                tools: std::mem::take(&mut tools),
            });
        }
    }
    turns
}
