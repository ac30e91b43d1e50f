//! /reload: reads agent.yaml again.
//!
//! Owns how the outcome is shown. What a reload does is the engine's business.

use async_trait::async_trait;

use super::{Call, Command, Desk, Done, Site, Spec, When, argument::Takes};
use crate::{
    command::configure::Reloaded,
    i18n::{About, oversight::Oversight},
    permission::{AuditEvent, Capability, Level, Scope},
    reason::Reason,
    store::StoreError,
};

/// /reload
#[derive(Debug)]
pub struct Reload;

static SPEC: Spec = Spec {
    name: "reload",
    aliases: &[],
    about: About::Reload,
    takes: Takes::Nothing,
    level: Level::Owner,
    when: When::Now,
};

#[async_trait]
impl Command for Reload {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        (Level::Member.capability(), Scope::Global)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let reloaded = match &desk.configure {
            Some(configure) => configure.reload().await,
            None => None,
        };
        let Some(reloaded) = reloaded else {
            let text = Oversight::NotNow.render(call.language);
            return Ok(Done::declined(text));
        };
        let refused = matches!(reloaded, Reloaded::Refused { .. });
        let changed = match &reloaded {
            Reloaded::Applied { changes, .. } => changes.len(),
            Reloaded::Unchanged { .. } | Reloaded::Refused { .. } => 0,
        };
        let mut done = Done::text(Oversight::Reloaded(reloaded).render(call.language));
        let (event, turn) = (AuditEvent::ConfigReloaded, call.turn);
        let record = call.proof.record(event, String::new(), turn);
        let record = record.with(&serde_json::json!({ "changes": changed }));
        if refused {
            done.refused = Some(Reason::BadArguments);
            done.effects.push(record.failed().into());
        } else {
            done.effects.push(record.into());
        }
        Ok(done)
    }
}
