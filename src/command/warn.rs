//! /warn and /warnings: warnings that are counted, with a step that follows by itself.
//!
//! Owns how warnings are kept: as one setting of the conversation for each person. What follows too many of
//! them is the conversation's policy.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use weirgate_sdk::Timestamp;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    alone::Alone,
    argument::{Kind, REASON, SOMEBODY, Takes, perhaps},
    moderate::{LONGEST_REASON, Order, carry_out, forbidden, may, ordered},
    target::{self, Target},
    words::Words,
};
use crate::{
    i18n::{
        About,
        arguments::Label,
        moderation::{Deed, Moderation},
    },
    outbound::due::Lift,
    permission::{AuditEvent, Capability, Level, Scope, policy::Policy},
    store::{Effect, Place, StoreError},
};

/// What the stored key begins with; the user's id follows.
const KEY: &str = "warn:";
/// Warnings that are kept of one person: the newest.
const MOST: usize = 20;
/// Words that take the warnings back.
const CLEAR: [&str; 3] = ["clear", "reset", "清除"];

/// A warning, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// When, in milliseconds of Unix time.
    pub at: Timestamp,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// /warn
#[derive(Debug)]
pub struct Warn;

/// /warnings
#[derive(Debug)]
pub struct Warnings;

static WARN: Spec = Spec {
    name: "warn",
    aliases: &[],
    about: About::Warn,
    takes: Takes::These(&[SOMEBODY, REASON]),
    level: Level::Admin,
    when: When::Now,
};

static WARNINGS: Spec = Spec {
    name: "warnings",
    aliases: &[],
    about: About::Warnings,
    takes: Takes::These(&[SOMEBODY, perhaps(Kind::Choice(&["clear"]), Label::Action)]),
    level: Level::Admin,
    when: When::Now,
};

fn needs(site: Site) -> (Capability, Scope) {
    let capability = Level::Admin.capability();
    (capability, Scope::Conversation(site.conversation))
}

#[async_trait]
impl Command for Warn {
    fn spec(&self) -> &Spec {
        &WARN
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        needs(site)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let mut words = Words::of(call.body);
        let target = match target::meant(&call, desk, &mut words).await? {
            Ok(target) => target,
            Err(done) => return Ok(done),
        };
        if let Err(text) = may(&call, &target) {
            return Ok(forbidden(call, &target, &text));
        }
        let reason = words.rest();
        warn(call, desk, &target, reason).await
    }
}

/// Warns somebody whom the caller may warn.
pub(super) async fn warn(
    call: Call<'_>,
    desk: &Desk,
    target: &Target,
    reason: String,
) -> Result<Done, StoreError> {
    // Two who warn him at once would read the same warnings, and one would be lost.
    let alone = alone(&call, desk, target).await;
    let mut warnings = read(&call, desk, target).await?;
    warnings.push(Warning {
        at: desk.now(),
        reason: reason.chars().take(LONGEST_REASON).collect(),
    });
    let rules = desk.directory.rules(call.site.conversation).await?;
    let policy = &rules.policy;
    let count = warnings.len();
    let limit = policy.warnings_before_mute.unwrap_or(0);
    let reached = limit > 0 && u32::try_from(count).unwrap_or(u32::MAX) >= limit;
    let (text, muted) = if reached {
        mute(&call, desk, target, policy).await
    } else {
        let text = Moderation::Warned {
            who: target.person.shown.clone(),
            count,
            limit,
        };
        (text, None)
    };
    if muted.is_some() {
        warnings.clear();
    }
    let oldest = warnings.len().saturating_sub(MOST);
    warnings.drain(..oldest);
    let event = AuditEvent::UserWarned;
    let mut done = written(call, target, &warnings, &text, event);
    done.effects.extend(muted.unwrap_or_default());
    done.alone = Some(alone);
    Ok(done)
}

/// The step after too many warnings; if it was done, gives what follows of it, and the count begins anew.
async fn mute(
    call: &Call<'_>,
    desk: &Desk,
    target: &Target,
    policy: &Policy,
) -> (Moderation, Option<Vec<Effect>>) {
    let order = Order {
        deed: Deed::Mute,
        time: Some(policy.warning_mute),
        reason: String::new(),
    };
    let who = target.person.shown.clone();
    let adapter = target::adapter(call, desk);
    let moderates = adapter.as_deref().and_then(|adapter| adapter.moderates());
    let action = order.action(target);
    let result = match moderates {
        Some(moderates) => {
            let done = carry_out(moderates, call, &action).await;
            done.map(|()| Lift::after(moderates, &action, ordered(call, target, desk)))
        }
        None => Err(weirgate_sdk::moderation::ModerationError::NotSupported),
    };
    match result {
        Ok(after) => {
            let time = order.time;
            (Moderation::WarnedAndMuted { who, time }, Some(after))
        }
        Err(error) => {
            tracing::warn!(%error, "the step after too many warnings failed");
            (Moderation::WarnedNotMuted { who, error }, None)
        }
    }
}

#[async_trait]
impl Command for Warnings {
    fn spec(&self) -> &Spec {
        &WARNINGS
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        needs(site)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let mut words = Words::of(call.body);
        let clear = words.take(&CLEAR);
        let target = match target::meant(&call, desk, &mut words).await? {
            Ok(target) => target,
            Err(done) => return Ok(done),
        };
        let who = target.person.shown.clone();
        if clear {
            if let Err(text) = may(&call, &target) {
                return Ok(forbidden(call, &target, &text));
            }
            let alone = alone(&call, desk, &target).await;
            let text = Moderation::WarningsCleared { who };
            let event = AuditEvent::WarningsCleared;
            let mut done = written(call, &target, &[], &text, event);
            done.alone = Some(alone);
            return Ok(done);
        }
        let warnings = read(&call, desk, &target).await?;
        let lines = warnings.iter().map(|warning| {
            let at = crate::clock::minute(warning.at);
            format!("{at} UTC  {}", warning.reason)
                .trim_end()
                .to_owned()
        });
        let text = Moderation::WarningsOf {
            who,
            lines: lines.collect(),
        };
        Ok(Done::text(text.render(call.language)))
    }
}

async fn alone(call: &Call<'_>, desk: &Desk, target: &Target) -> Alone {
    let user = target.person.id.as_str();
    desk.alone.with(call.site.conversation, user).await
}

async fn read(call: &Call<'_>, desk: &Desk, target: &Target) -> Result<Vec<Warning>, StoreError> {
    let rows = desk
        .store
        .settings(Place::of_conversation(call.site.conversation))
        .await?;
    let key = key(target);
    let row = rows.into_iter().find(|(name, _)| *name == key);
    // What cannot be read is not held against anybody.
    Ok(row
        .and_then(|(_, value)| serde_json::from_str(&value).ok())
        .unwrap_or_default())
}

fn written(
    call: Call<'_>,
    target: &Target,
    warnings: &[Warning],
    text: &Moderation,
    event: AuditEvent,
) -> Done {
    let mut done = Done::text(text.render(call.language));
    let value = (!warnings.is_empty()).then(|| serde_json::to_string(warnings).unwrap_or_default());
    done.effects.push(Effect::Set {
        of: Place::of_conversation(call.site.conversation),
        key: key(target).into(),
        value,
    });
    let details = serde_json::json!({
        "warnings": warnings.len(),
        "reason": warnings.last().map(|warning| warning.reason.as_str()),
    });
    let who = target.person.id.as_str().to_owned();
    let turn = call.turn;
    let record = call.proof.record(event, who, turn).with(&details);
    done.effects.push(record.into());
    done
}

fn key(target: &Target) -> String {
    format!("{KEY}{}", target.person.id.as_str())
}
