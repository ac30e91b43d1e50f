//! /ping: shows that the gateway is there; `/ping TEXT` gives TEXT back.

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, perhaps},
    public,
};
use crate::{
    i18n::{About, Text, arguments::Label},
    permission::{Capability, Level, Scope},
    store::StoreError,
};

/// /ping
#[derive(Debug)]
pub struct Ping;

static SPEC: Spec = Spec {
    name: "ping",
    aliases: &[],
    about: About::Ping,
    takes: Takes::These(&[perhaps(Kind::Text(&[]), Label::Content)]),
    level: Level::Public,
    when: When::Now,
};

#[async_trait]
impl Command for Ping {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        public()
    }

    async fn run(&self, call: Call<'_>, _: &Desk) -> Result<Done, StoreError> {
        if call.arguments.is_empty() {
            return Ok(Done::say(&Text::Pong, call.language));
        }
        Ok(Done {
            text: call.arguments.to_owned(),
            ..Done::default()
        })
    }
}
