//! /transfer: a conversation's owner hands it over, with the new owner's consent.
//!
//! Owns who can become the owner, and what changes: both roles, in the transaction that ends the turn of the new
//! owner's yes. Whether the old owner may is looked at again then.

use async_trait::async_trait;
use weirgate_sdk::{UserId, UserKey};

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    approve::{self, Check, refuse},
    argument::{SOMEBODY, Takes},
    target::{self, Target},
    words::{Person, Words},
};
use crate::{
    i18n::{About, consent::Consent, moderation::Moderation},
    pending::{Act, Ask},
    permission::{
        Actor, AuditEvent, BuiltIn, Capability, Level, Proof, Scope, decide, policy::Grant,
    },
    reason::Reason,
    store::{Answerer, Effect, PendingKind, Place, StoreError, StoredPending},
};

/// /transfer
#[derive(Debug)]
pub struct Transfer;

static SPEC: Spec = Spec {
    name: "transfer",
    aliases: &[],
    about: About::Transfer,
    takes: Takes::These(&[SOMEBODY]),
    level: Level::Owner,
    when: When::InOrder,
};

#[async_trait]
impl Command for Transfer {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        let capability = Level::Owner.capability();
        (capability, Scope::Conversation(site.conversation))
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        if !call.body.group {
            return Ok(refuse(&call, Reason::BadArguments, &Consent::GroupsOnly));
        }
        let mut words = Words::of(call.body);
        let target = match target::meant(&call, desk, &mut words).await? {
            Ok(target) => target,
            Err(done) => return Ok(done),
        };
        if let Err(done) = possible(&call, desk, &target) {
            return Ok(done);
        }
        let key = UserKey {
            id: target.person.id.clone(),
            ..call.person.clone()
        };
        let to = target.person.shown;
        let rules = desk.directory.rules(call.site.conversation).await?;
        let ask = Ask {
            act: Act::transfer(&key, to.clone()),
            kind: PendingKind::Confirmation,
            answerer: Answerer::Person(key),
            four_eyes: false,
            time: rules.policy.approval_time,
        };
        Ok(Done {
            ask: Some(Box::new(ask)),
            ..Done::text(Consent::TransferAsked { to }.render(call.language))
        })
    }
}

/// Whether this person can become the owner.
fn possible(call: &Call<'_>, desk: &Desk, target: &Target) -> Result<(), Done> {
    let who = || target.person.shown.clone();
    if target.is_caller {
        let text = Moderation::Yourself.render(call.language);
        return Err(Done::declined(text));
    }
    let asks_platform = target::adapter(call, desk).is_some_and(|it| it.moderates().is_some());
    if target.member.is_none() && asks_platform {
        return Err(refuse(
            call,
            Reason::BadArguments,
            &Consent::NotThere { who: who() },
        ));
    }
    if target.standing.role.is(BuiltIn::Owner) && !target.standing.global_owner {
        return Err(refuse(
            call,
            Reason::BadArguments,
            &Consent::OwnsAlready { who: who() },
        ));
    }
    Ok(())
}

/// A transfer that the old owner still may.
pub(super) struct Ready {
    old: Option<UserId>,
    to: UserKey,
    shown: String,
    proof: Proof,
}

/// Whether whoever asked still may; nothing if not.
pub(super) async fn ready(
    call: &Call<'_>,
    desk: &Desk,
    row: &StoredPending,
    to: &str,
    shown: String,
) -> Result<Check, StoreError> {
    let Some(to) = UserKey::decode(to) else {
        return Ok(Check::Gone);
    };
    let asker = desk.directory.person(row.pending.asker).await?;
    let rules = desk.directory.rules(call.site.conversation).await?;
    let settings = desk.rules.get();
    let person = Person {
        id: asker.id.clone(),
        shown: String::new(),
    };
    let permissions = &settings.settings.permissions;
    let old = match target::find(call, desk, &rules, permissions, person).await {
        Ok(old) => old,
        // The platform does not say now who he is: the question stays open.
        Err(text) => return Ok(Check::Refused(Done::declined(text.render(call.language)))),
    };
    let actor = Actor {
        person: row.pending.asker,
        role: old.standing.role.clone(),
        global_owner: old.standing.global_owner,
    };
    let scope = Scope::Conversation(call.site.conversation);
    let Ok(proof) = decide(&actor, Level::Owner.capability(), scope, desk.now()) else {
        return Ok(Check::Gone);
    };
    // An owner of the gateway stands above conversations: he keeps nothing and loses nothing here.
    let old = (!old.standing.global_owner).then(|| asker.id.clone());
    Ok(approve::Ready::Transfer(Ready {
        old,
        to,
        shown,
        proof,
    })
    .into())
}

impl Ready {
    pub(super) fn run(self, call: &Call<'_>) -> Done {
        let to = self.shown;
        let mut done = Done::text(Consent::Transferred { to }.render(call.language));
        let grant = |user: &UserId, role: BuiltIn| Effect::Set {
            of: Place::of_conversation(call.site.conversation),
            key: Grant::key(user.as_str()).into(),
            value: Some(role.name().to_owned()),
        };
        done.effects.push(grant(&self.to.id, BuiltIn::Owner));
        done.effects
            .extend(self.old.iter().map(|old| grant(old, BuiltIn::Admin)));
        let target = self.to.id.as_str().to_owned();
        let record = self
            .proof
            .record(AuditEvent::OwnershipTransferred, target, call.turn);
        done.effects.push(record.into());
        done
    }
}
