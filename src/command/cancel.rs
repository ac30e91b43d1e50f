//! /cancel: ends the running answer and drops what waits behind it.

use async_trait::async_trait;

use super::{Call, Command, Desk, Done, Site, Spec, When, argument::Takes, public};
use crate::{
    i18n::{About, Text},
    permission::{Capability, Level, Scope},
    reason::Reason,
    store::StoreError,
};

/// /cancel
#[derive(Debug)]
pub struct Cancel;

static SPEC: Spec = Spec {
    name: "cancel",
    aliases: &[],
    about: About::Cancel,
    takes: Takes::Nothing,
    level: Level::Public,
    when: When::Control,
};

#[async_trait]
impl Command for Cancel {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        public()
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        // First what waits, so that the end of the running turn does not start the next one.
        let (site, person) = (call.site, call.actor.person);
        let dropped = desk
            .drop_waiting(
                site.conversation,
                Some(person),
                call.turn,
                Reason::Cancelled,
            )
            .await?;
        let turns = desk.stop(site.conversation, person, false);
        let text = Text::Cancelled {
            turns,
            messages: dropped.len(),
        };
        Ok(Done {
            also_ends: dropped,
            ..Done::say(&text, call.language)
        })
    }
}
