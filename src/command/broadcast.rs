//! /broadcast: says something in every conversation that the gateway knows.
//!
//! Owns which conversations that are, and the pace. Nothing is said before the caller has seen how many there are.

use std::collections::HashMap;

use async_trait::async_trait;
use weirgate_sdk::{AccountName, Platform};

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, always, perhaps},
    words::Words,
};
use crate::{
    clock::millis,
    i18n::{About, arguments::Label, oversight::Oversight},
    outbound::due::Say,
    permission::{AuditEvent, Capability, Level, Scope},
    store::{ConversationFilter, Effect, StoreError},
};

/// /broadcast
#[derive(Debug)]
pub struct Broadcast;

static SPEC: Spec = Spec {
    name: "broadcast",
    aliases: &[],
    about: About::Broadcast,
    takes: Takes::These(&[
        always(Kind::Text(&[]), Label::Text),
        perhaps(Kind::Choice(&["--yes"]), Label::Confirm),
    ]),
    level: Level::Owner,
    when: When::InOrder,
};

/// The word that means it.
const YES: [&str; 2] = ["--yes", "—yes"];
/// Conversations at most: all rows are written in one transaction.
const MOST: usize = 2_000;
/// Characters of a text at most.
const LONGEST: usize = 2_000;
/// Conversations that are read at once.
const PAGE: usize = 1_000;
/// Of its pace an account spends one part in so many on this; and the shortest pause between two, in seconds.
const SHARE: (f64, f64) = (4.0, 0.2);

/// Where to, and when: milliseconds from now.
type Places = Vec<(i64, i64)>;

#[async_trait]
impl Command for Broadcast {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        (Level::Member.capability(), Scope::Global)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let mut words = Words::of(call.body);
        let yes = words.take(&YES);
        // As it was written, with its line breaks.
        let mut text = call.arguments.to_owned();
        for word in YES {
            text = text.replace(word, "");
        }
        let text = text.trim().to_owned();
        if text.is_empty() || text.chars().count() > LONGEST {
            let told = Oversight::NoAnnouncement { longest: LONGEST };
            return Ok(Done::declined(told.render(call.language)));
        }
        let Some(places) = places(&call, desk).await? else {
            let told = Oversight::TooManyPlaces { most: MOST };
            return Ok(Done::declined(told.render(call.language)));
        };
        let count = places.len();
        let lasts = places.iter().map(|(_, after)| *after).max().unwrap_or(0);
        let seconds = u64::try_from(lasts).unwrap_or(0) / 1_000;
        if !yes || count == 0 {
            let told = Oversight::WouldAnnounce { count, seconds };
            return Ok(Done::text(told.render(call.language)));
        }
        let (now, turn) = (desk.now(), call.turn);
        let told = Oversight::Announcing { count, seconds };
        let mut done = Done::text(told.render(call.language));
        done.effects
            .extend(places.into_iter().map(|(conversation, after)| {
                let say = Say { text: text.clone() };
                let subject = format!("say:{turn}");
                Effect::Defer(say.at(now.saturating_add(after), conversation, turn, subject))
            }));
        let record = call
            .proof
            .record(AuditEvent::Broadcast, String::new(), turn);
        let details = serde_json::json!({ "conversations": count });
        done.effects.push(record.with(&details).into());
        Ok(done)
    }
}

/// All conversations but this one whose accounts are at work here, each with its time; threads are part of theirs. `None`
/// if there are too many.
async fn places(call: &Call<'_>, desk: &Desk) -> Result<Option<Places>, StoreError> {
    let (mut after, mut places) = (0, Places::new());
    let mut sent: HashMap<(Platform, AccountName), u32> = HashMap::new();
    loop {
        let page = desk
            .store
            .conversations(ConversationFilter::after(after), PAGE)
            .await?;
        let Some((last, _)) = page.last() else {
            return Ok(Some(places));
        };
        after = *last;
        for (number, key) in page {
            if number == call.site.conversation || key.thread.is_some() {
                continue;
            }
            let Some(adapter) = desk.deliverer.adapter(&key) else {
                continue;
            };
            if places.len() >= MOST {
                return Ok(None);
            }
            let rate = adapter.capabilities(&key).rates.account;
            let place = sent.entry((key.platform, key.account)).or_default();
            places.push((number, millis(pause(rate) * *place)));
            *place += 1;
        }
    }
}

/// Between two announcements of an account with this pace.
fn pause(rate: f64) -> std::time::Duration {
    let (share, shortest) = SHARE;
    let wanted = if rate > 0.0 { share / rate } else { shortest };
    std::time::Duration::from_secs_f64(wanted.clamp(shortest, 60.0))
}
