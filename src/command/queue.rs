//! /queue: what waits in a conversation, for whom and since when; and dropping it.
//!
//! Owns how it is counted. What is dropped ends in the store as /cancel ends it.

use std::collections::BTreeMap;

use async_trait::async_trait;
use weirgate_sdk::Timestamp;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, PERHAPS_SOMEBODY, Takes, perhaps},
    target,
    words::Words,
};
use crate::{
    i18n::{
        About,
        arguments::Label,
        oversight::{Oversight, Waits},
    },
    inbound::body,
    permission::{AuditEvent, Capability, Level, Scope},
    reason::Reason,
    store::{StoreError, Waiting, WaitingFilter},
};

/// /queue
#[derive(Debug)]
pub struct Queue;

static SPEC: Spec = Spec {
    name: "queue",
    aliases: &[],
    about: About::Queue,
    takes: Takes::These(&[
        perhaps(Kind::Choice(&["drop"]), Label::Action),
        PERHAPS_SOMEBODY,
    ]),
    level: Level::Admin,
    when: When::Now,
};

/// Words that drop.
const DROP: [&str; 3] = ["drop", "clear", "清空"];
/// Messages that are looked at: of more it is said that there are more.
const LOOKED_AT: usize = 2_000;
/// People that are shown.
const SHOWN: usize = 20;

#[async_trait]
impl Command for Queue {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        let here = Scope::Conversation(site.conversation);
        (Level::Admin.capability(), here)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let mut words = Words::of(call.body);
        let filter = WaitingFilter {
            conversation: Some(call.site.conversation),
            ..WaitingFilter::default()
        };
        let mut rows = desk.store.waiting(0, filter, LOOKED_AT).await?;
        rows.retain(|row| row.id != call.turn);
        if words.take(&DROP) {
            return drop_rows(call, desk, &mut words, &rows).await;
        }
        let more = rows.len() + 1 >= LOOKED_AT;
        let mut people = by_person(&rows);
        people.sort_by_key(|waits| waits.since);
        let left_out = people.len().saturating_sub(SHOWN);
        people.truncate(SHOWN);
        let text = Oversight::Queue {
            people,
            left_out,
            more,
            now: desk.now(),
        };
        Ok(Done::text(text.render(call.language)))
    }
}

fn by_person(rows: &[Waiting]) -> Vec<Waits> {
    let mut people: BTreeMap<i64, Waits> = BTreeMap::new();
    for row in rows {
        let waits = people.entry(row.person).or_insert_with(|| Waits {
            who: body::decode(&row.body).map_or_else(String::new, |body| short(&body.name)),
            count: 0,
            since: row.at,
        });
        waits.count += 1;
        waits.since = waits.since.min(row.at);
    }
    people.into_values().collect()
}

/// Drops what waits of the caller, or of whom he names.
async fn drop_rows(
    call: Call<'_>,
    desk: &Desk,
    words: &mut Words,
    rows: &[Waiting],
) -> Result<Done, StoreError> {
    let named = match target::named(&call, desk, words) {
        Ok(named) => named,
        Err(text) => return Ok(Done::declined(text.render(call.language))),
    };
    let id = named.as_ref().map(|person| person.id.clone());
    let id = id.unwrap_or_else(|| call.person.id.clone());
    let mut whose = None;
    let mut known: BTreeMap<i64, Timestamp> = BTreeMap::new();
    for row in rows {
        if known.insert(row.person, row.at).is_some() {
            continue;
        }
        if desk.directory.person(row.person).await?.id == id {
            whose = Some(row.person);
            break;
        }
    }
    let messages = match whose {
        Some(person) => {
            desk.drop_waiting(
                call.site.conversation,
                Some(person),
                call.turn,
                Reason::Cancelled,
            )
            .await?
        }
        None => Vec::new(),
    };
    let who = named.map_or_else(|| call.body.name.clone(), |person| person.shown);
    let text = Oversight::QueueDropped {
        who: short(&who),
        count: messages.len(),
    };
    let mut done = Done::text(text.render(call.language));
    if !messages.is_empty() {
        let (target, turn) = (id.as_str().to_owned(), call.turn);
        let details = serde_json::json!({ "messages": messages.len() });
        let record = call.proof.record(AuditEvent::QueueDropped, target, turn);
        done.effects.push(record.with(&details).into());
    }
    done.also_ends = messages;
    Ok(done)
}

fn short(name: &str) -> String {
    name.chars().take(40).collect()
}
