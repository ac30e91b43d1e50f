//! /whoami: the caller's id, role and rights, as the gateway sees them here.

use async_trait::async_trait;

use super::{Call, Command, Desk, Done, Site, Spec, When, argument::Takes, public};
use crate::{
    i18n::{About, rights::Rights},
    permission::{Capability, Level, Scope},
    store::StoreError,
};

/// /whoami
#[derive(Debug)]
pub struct WhoAmI;

static SPEC: Spec = Spec {
    name: "whoami",
    aliases: &["id"],
    about: About::WhoAmI,
    takes: Takes::Nothing,
    level: Level::Public,
    when: When::Now,
};

#[async_trait]
impl Command for WhoAmI {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        public()
    }

    async fn run(&self, call: Call<'_>, _: &Desk) -> Result<Done, StoreError> {
        let text = Rights::WhoAmI {
            id: call.person.id.as_str().to_owned(),
            conversation: call.conversation.encode(),
            role: call.actor.role.name().to_owned(),
            may: call.actor.role.capabilities(),
            global_owner: call.actor.global_owner,
        };
        Ok(Done::text(text.render(call.language)))
    }
}
