//! /block and /unblock: somebody is answered nowhere in the gateway, and is answered again.
//!
//! Owns who was blocked so: kept as settings of the gateway, so that it holds over a restart and in every process, bounded
//! in number. Whom agent.yaml blocks is blocked there alone. What a block means is in [`crate::permission::standing`].

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{PERHAPS_SOMEBODY, SOMEBODY, Takes},
    target,
    words::Words,
};
use crate::{
    clock::minute,
    directory::Directory,
    i18n::{About, blocking::Blocking, rights::Rights},
    permission::{AuditEvent, Capability, Level, Scope, assign::Refused, standing::is_one_of},
    store::{Effect, Place, StoreError},
};

/// People who can be blocked by command: each message is compared with all of them.
const MOST: usize = 1_000;

/// /block
#[derive(Debug)]
pub struct Block;

static BLOCK: Spec = Spec {
    name: "block",
    aliases: &[],
    about: About::Block,
    takes: Takes::These(&[PERHAPS_SOMEBODY]),
    level: Level::Owner,
    when: When::InOrder,
};

#[async_trait]
impl Command for Block {
    fn spec(&self) -> &'static Spec {
        &BLOCK
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        (Level::Member.capability(), Scope::Global)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let mut words = Words::of(call.body);
        let blocked = desk.directory.blocked().await?;
        let rules = desk.rules.get();
        let permissions = &rules.settings.permissions;
        if words.is_empty() && call.body.reply_author.is_none() {
            let by_command = blocked.iter().map(|(person, since)| {
                let since = since.parse().map(minute).unwrap_or_default();
                format!("{}: {since} UTC", person.encode())
            });
            let by_file = permissions.blocked.iter();
            let by_file = by_file.map(|(platform, id)| format!("{platform}//{id}: agent.yaml"));
            let people = by_file.chain(by_command).collect();
            return Ok(Done::text(
                Blocking::People { people }.render(call.language),
            ));
        }
        let key = match target::anywhere(&call, desk, &mut words) {
            Ok(key) => key,
            Err(text) => return Ok(Done::declined(text.render(call.language))),
        };
        let who = key.encode();
        let marks = desk.directory.marks(&key).await?;
        if marks.claimed || is_one_of(&key, &permissions.owners) {
            let text = Rights::NotGiven(Refused::GlobalOwner).render(call.language);
            return Ok(Done::forbidden(call, who, text));
        }
        if !marks.blocked && blocked.len() >= MOST {
            let text = Blocking::TooMany { most: MOST };
            return Ok(Done::declined(text.render(call.language)));
        }
        let mut done = Done::text(Blocking::Blocked { who: who.clone() }.render(call.language));
        done.effects.push(Effect::Set {
            of: Place::GATEWAY,
            key: Directory::block_key(&key).into(),
            value: Some(desk.now().to_string()),
        });
        let record = call.proof.record(AuditEvent::PersonBlocked, who, call.turn);
        done.effects.push(record.into());
        Ok(done)
    }
}

/// /unblock
#[derive(Debug)]
pub struct Unblock;

static UNBLOCK: Spec = Spec {
    name: "unblock",
    aliases: &[],
    about: About::Unblock,
    takes: Takes::These(&[SOMEBODY]),
    level: Level::Owner,
    when: When::InOrder,
};

#[async_trait]
impl Command for Unblock {
    fn spec(&self) -> &'static Spec {
        &UNBLOCK
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        (Level::Member.capability(), Scope::Global)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let key = match target::anywhere(&call, desk, &mut Words::of(call.body)) {
            Ok(key) => key,
            Err(text) => return Ok(Done::declined(text.render(call.language))),
        };
        let who = key.encode();
        let by_file = is_one_of(&key, &desk.rules.get().settings.permissions.blocked);
        if !desk.directory.marks(&key).await?.blocked {
            let text = if by_file {
                Blocking::ByFile { who }
            } else {
                Blocking::NotBlocked { who }
            };
            return Ok(Done::declined(text.render(call.language)));
        }
        let text = if by_file {
            Blocking::ByFile { who: who.clone() }
        } else {
            Blocking::Unblocked { who: who.clone() }
        };
        let mut done = Done::text(text.render(call.language));
        done.effects.push(Effect::Set {
            of: Place::GATEWAY,
            key: Directory::block_key(&key).into(),
            value: None,
        });
        let record = call
            .proof
            .record(AuditEvent::PersonUnblocked, who, call.turn);
        done.effects.push(record.into());
        Ok(done)
    }
}
