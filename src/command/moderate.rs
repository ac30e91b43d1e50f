//! /kick, /ban, /unban, /mute, /unmute: what is done to a member, and only reported as the platform confirmed.
//!
//! Owns the checks in front of an action: who stands above whom, and what the bot itself may. The action is
//! done while the command runs; the journaled command is what survives a crash, and is asked of the platform
//! before it is done again.

pub mod asked;

use std::time::Duration;

use async_trait::async_trait;
use weirgate_sdk::moderation::{Action, Moderates, ModerationError};

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    approve::{self, Check},
    argument::{Argument, REASON, SOMEBODY, TIME, Takes},
    target::{self, Target},
    time,
    words::{Person, Words},
};
use crate::{
    i18n::{
        About,
        moderation::{Deed, Moderation},
    },
    outbound::due::{Lift, Ordered},
    pending::{Act, Ask},
    permission::{AuditEvent, Capability, Level, Proof, Scope, decide, policy::Policy},
    reason::Reason,
    store::{Answerer, PendingKind, StoreError},
};

/// How long somebody is muted who is muted without a time.
const MUTE: Duration = Duration::from_secs(3_600);
/// The longest reason that is kept, in characters.
pub const LONGEST_REASON: usize = 200;
/// Words that ask what would happen.
const DRY: [&str; 4] = ["--dry-run", "dry-run", "dry", "试运行"];

/// One of the commands.
#[derive(Debug)]
pub struct Moderate(Deed, Spec);

const fn spec(name: &'static str, about: About, arguments: &'static [Argument]) -> Spec {
    Spec {
        name,
        aliases: &[],
        about,
        takes: Takes::These(arguments),
        level: Level::Admin,
        when: When::Now,
    }
}

/// /kick
pub static KICK: Moderate = Moderate(Deed::Kick, spec("kick", About::Kick, &[SOMEBODY, REASON]));
/// /ban
pub static BAN: Moderate = Moderate(
    Deed::Ban,
    spec("ban", About::Ban, &[SOMEBODY, TIME, REASON]),
);
/// /unban
pub static UNBAN: Moderate = Moderate(Deed::Unban, spec("unban", About::Unban, &[SOMEBODY]));
/// /mute
pub static MUTE_COMMAND: Moderate = Moderate(
    Deed::Mute,
    spec("mute", About::Mute, &[SOMEBODY, TIME, REASON]),
);
/// /unmute
pub static UNMUTE: Moderate = Moderate(Deed::Unmute, spec("unmute", About::Unmute, &[SOMEBODY]));

#[async_trait]
impl Command for Moderate {
    fn spec(&self) -> &Spec {
        &self.1
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        let capability = Level::Admin.capability();
        (capability, Scope::Conversation(site.conversation))
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let mut words = Words::of(call.body);
        let dry = words.take(&DRY);
        let target = match target::meant(&call, desk, &mut words).await? {
            Ok(target) => target,
            Err(done) => return Ok(done),
        };
        let time = match how_long(self.0, &mut words) {
            Ok(time) => time,
            Err(text) => return Ok(Done::declined(text.render(call.language))),
        };
        let adapter = target::adapter(&call, desk);
        let moderates = adapter.as_deref().and_then(|adapter| adapter.moderates());
        let Some(moderates) = moderates.filter(|_| call.body.group) else {
            return Ok(refuse(&call, &Moderation::NotHere));
        };
        if let Err(text) = may(&call, &target) {
            return Ok(forbidden(call, &target, &text));
        }
        let order = Order {
            deed: self.0,
            time,
            reason: words.rest().chars().take(LONGEST_REASON).collect(),
        };
        if dry {
            let action = order.action(&target);
            let found = moderates.would(call.conversation, &action).await;
            let rules = desk.directory.rules(call.site.conversation).await?;
            return Ok(dry_run(&call, &target, order, found, &rules.policy));
        }
        Ok(act(moderates, call, desk, &target, &order).await)
    }
}

/// How long.
fn how_long(deed: Deed, words: &mut Words) -> Result<Option<Duration>, Moderation> {
    Ok(match deed {
        Deed::Ban => time::before_reason(words)?,
        Deed::Mute => time::before_reason(words)?.or(Some(MUTE)),
        Deed::Kick | Deed::Unban | Deed::Unmute => None,
    })
}

/// Does it, and puts the end off that the platform does not bring by itself.
async fn act(
    moderates: &dyn Moderates,
    call: Call<'_>,
    desk: &Desk,
    target: &Target,
    order: &Order,
) -> Done {
    let action = order.action(target);
    let result = carry_out(moderates, &call, &action).await;
    let after = match result {
        Ok(()) => Lift::after(moderates, &action, ordered(&call, target, desk)),
        Err(_) => Vec::new(),
    };
    let mut done = report(call, target, order, result);
    done.effects.extend(after);
    done
}

/// What is to be done.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) deed: Deed,
    pub(super) time: Option<Duration>,
    pub(super) reason: String,
}

impl Order {
    pub(super) fn action(&self, target: &Target) -> Action {
        let user = target.person.id.clone();
        let time = self.time;
        match self.deed {
            Deed::Kick => Action::Kick { user },
            Deed::Ban => Action::Ban { user, time },
            Deed::Unban => Action::Unban { user },
            Deed::Mute => Action::Mute { user, time },
            Deed::Unmute => Action::Unmute { user },
        }
    }
}

/// Where and by whom something is done.
pub(super) fn ordered<'a>(call: &Call<'_>, target: &'a Target, desk: &Desk) -> Ordered<'a> {
    Ordered {
        conversation: call.site.conversation,
        turn: call.turn,
        shown: &target.person.shown,
        language: call.language,
        now: desk.now(),
    }
}

/// Whether the caller stands above the target.
pub(super) fn may(call: &Call<'_>, target: &Target) -> Result<(), Moderation> {
    if target.is_caller {
        return Err(Moderation::Yourself);
    }
    let below = target.standing.role.is_below(&call.actor.role);
    if target.standing.global_owner || !(call.actor.global_owner || below) {
        return Err(Moderation::TooHigh);
    }
    Ok(())
}

/// Does it. After a crash the platform is asked first whether it is done: a kick must not fail because
/// nobody is there any more, and a second mute would be longer than asked for.
pub(super) async fn carry_out(
    moderates: &dyn Moderates,
    call: &Call<'_>,
    action: &Action,
) -> Result<(), ModerationError> {
    if call.again && moderates.is_done(call.conversation, action).await? == Some(true) {
        return Ok(());
    }
    moderates.act(call.conversation, action).await
}

/// What would happen, and a question whether it shall.
fn dry_run(
    call: &Call<'_>,
    target: &Target,
    order: Order,
    found: Result<(), ModerationError>,
    policy: &Policy,
) -> Done {
    let who = target.person.shown.clone();
    if let Err(error) = found {
        return Done::text(Moderation::WouldFail { who, error }.render(call.language));
    }
    let text = Moderation::Would {
        deed: order.deed,
        who: who.clone(),
        time: order.time,
    };
    let act = Act::Moderate {
        deed: order.deed,
        user: target.person.id.as_str().to_owned(),
        shown: who,
        seconds: order.time.map(|time| time.as_secs()),
        reason: order.reason,
    };
    Done {
        ask: Some(Box::new(Ask {
            act,
            kind: PendingKind::Approval,
            answerer: Answerer::Capability(Level::Admin.capability()),
            four_eyes: policy.four_eyes,
            time: policy.approval_time,
        })),
        ..Done::text(text.render(call.language))
    }
}

/// What was tried out, by somebody who may have it done.
pub(super) struct Ready {
    target: Target,
    order: Order,
    proof: Proof,
}

/// Whether what was tried out can be done by whoever says so now.
pub(super) async fn ready(
    call: &Call<'_>,
    desk: &Desk,
    order: Order,
    person: Person,
) -> Result<Check, StoreError> {
    let scope = Scope::Conversation(call.site.conversation);
    let Ok(proof) = decide(call.actor, Level::Admin.capability(), scope, desk.now()) else {
        return Ok(Check::Gone);
    };
    let rules = desk.directory.rules(call.site.conversation).await?;
    let settings = desk.rules.get();
    let permissions = &settings.settings.permissions;
    let target = match target::find(call, desk, &rules, permissions, person).await {
        Ok(target) => target,
        Err(text) => return Ok(Check::Refused(Done::declined(text.render(call.language)))),
    };
    Ok(match may(call, &target) {
        Ok(()) => approve::Ready::Moderate(Ready {
            target,
            order,
            proof,
        })
        .into(),
        Err(text) => {
            let whom = target.person.id.as_str().to_owned();
            let record = proof.record(AuditEvent::PermissionDenied, whom, call.turn);
            Check::Refused(Done::refused_by(record, text.render(call.language)))
        }
    })
}

impl Ready {
    pub(super) async fn run(self, call: Call<'_>, desk: &Desk) -> Done {
        let Self {
            target,
            order,
            proof,
        } = self;
        let adapter = target::adapter(&call, desk);
        let moderates = adapter.as_deref().and_then(|adapter| adapter.moderates());
        let Some(moderates) = moderates else {
            let result = Err(ModerationError::NotSupported);
            return report(Call { proof, ..call }, &target, &order, result);
        };
        act(moderates, Call { proof, ..call }, desk, &target, &order).await
    }
}

/// The answer and the record of an action.
fn report(
    call: Call<'_>,
    target: &Target,
    order: &Order,
    result: Result<(), ModerationError>,
) -> Done {
    let who = target.person.shown.clone();
    let text = match &result {
        Ok(()) => Moderation::Done {
            deed: order.deed,
            who: who.clone(),
            time: order.time,
            reason: order.reason.clone(),
        },
        Err(error) => Moderation::Failed {
            who: who.clone(),
            error: error.clone(),
        },
    };
    let mut done = Done::text(text.render(call.language));
    if let Err(error) = &result {
        tracing::warn!(deed = order.deed.name(), %error, "a member was not moderated");
        done.refused = Some(match error {
            ModerationError::NotConfirmed(_) => Reason::ModerationUnknown,
            _ => Reason::ModerationFailed,
        });
    }
    done.effects.push(record(call, target, order, &result));
    done
}

/// The record for the audit log: also of what failed, because it was tried.
fn record(
    call: Call<'_>,
    target: &Target,
    order: &Order,
    result: &Result<(), ModerationError>,
) -> crate::store::Effect {
    let outcome = match result {
        Ok(()) => "done".to_owned(),
        Err(error) => error.to_string(),
    };
    let time = order.time.map(|time| time.as_secs());
    let details = serde_json::json!({
        "deed": order.deed.name(), "seconds": time, "reason": order.reason, "outcome": outcome,
    });
    let event = match order.deed {
        Deed::Kick => AuditEvent::UserKicked,
        Deed::Ban => AuditEvent::UserBanned,
        Deed::Unban => AuditEvent::UserUnbanned,
        Deed::Mute => AuditEvent::UserMuted,
        Deed::Unmute => AuditEvent::UserUnmuted,
    };
    let target = target.person.id.as_str().to_owned();
    let turn = call.turn;
    let record = call.proof.record(event, target, turn).with(&details);
    match result {
        Ok(()) => record.into(),
        Err(_) => record.failed().into(),
    }
}

/// He stands too high for the caller.
pub(super) fn forbidden(call: Call<'_>, target: &Target, text: &Moderation) -> Done {
    let text = text.render(call.language);
    Done::forbidden(call, target.person.id.as_str().to_owned(), text)
}

fn refuse(call: &Call<'_>, text: &Moderation) -> Done {
    Done::declined(text.render(call.language))
}
