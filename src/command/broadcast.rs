//! /broadcast: says something in every conversation that the gateway knows.
//!
//! Nothing is said before the caller has seen how many there are. Which they are, and at what pace it goes out, is in
//! [`crate::outbound::due::Announce`].

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, always, perhaps},
    words::Words,
};
use crate::{
    i18n::{About, arguments::Label, oversight::Oversight},
    outbound::due::{Announce, Portion},
    permission::{AuditEvent, Capability, Level, Scope},
    store::{Effect, StoreError},
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
/// Characters of a text at most.
const LONGEST: usize = 2_000;

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
        let (count, lasts) = reach(&call, desk).await?;
        let seconds = u64::try_from(lasts).unwrap_or(0) / 1_000;
        if !yes || count == 0 {
            let told = Oversight::WouldAnnounce { count, seconds };
            return Ok(Done::text(told.render(call.language)));
        }
        let (now, turn) = (desk.now(), call.turn);
        let told = Oversight::Announcing { count, seconds };
        let mut done = Done::text(told.render(call.language));
        let announce = Announce::new(text);
        done.effects.push(Effect::Defer(announce.at(
            now,
            call.site.conversation,
            turn,
        )));
        let record = call
            .proof
            .record(AuditEvent::Broadcast, String::new(), turn);
        let details = serde_json::json!({ "conversations": count });
        done.effects.push(record.with(&details).into());
        Ok(done)
    }
}

/// How many conversations there are beside this one, and how long it takes to reach them, in milliseconds.
async fn reach(call: &Call<'_>, desk: &Desk) -> Result<(usize, i64), StoreError> {
    let (mut count, mut lasts, mut after) = (0_usize, 0_i64, 0);
    loop {
        let here = call.site.conversation;
        let portion = Portion::read(&desk.store, &desk.deliverer, here, after).await?;
        count = count.saturating_add(portion.places.len());
        lasts = lasts.saturating_add(portion.lasts);
        match portion.next {
            Some(next) => after = next,
            None => return Ok((count, lasts)),
        }
    }
}
