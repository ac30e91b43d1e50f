//! /status: how the gateway is doing.

use async_trait::async_trait;

use super::{Call, Command, Desk, Done, Site, Spec, When, argument::Takes, public};
use crate::{
    i18n::{About, Text},
    permission::{Capability, Level, Scope},
    store::StoreError,
};

/// /status
#[derive(Debug)]
pub struct Status;

static SPEC: Spec = Spec {
    name: "status",
    aliases: &[],
    about: About::Status,
    takes: Takes::Nothing,
    level: Level::Public,
    when: When::Now,
};

#[async_trait]
impl Command for Status {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        public()
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let mut facts = desk.status(call.site.account, call.site.conversation, call.actor.person);
        facts.spent = desk.spent(call.actor.person, call.site).await?;
        Ok(Done::say(&Text::Status(Box::new(facts)), call.language))
    }
}
