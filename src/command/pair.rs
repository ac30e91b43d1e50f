//! /pair: lets in whoever was told this code, and makes him a stranger again.
//!
//! Owns the codes: kept as settings of the gateway, so that they hold over a restart and in every process, bounded in
//! number and in time.

use std::time::Duration;

use async_trait::async_trait;
use weirgate_sdk::Timestamp;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, SOMEBODY, Takes, always, form},
    claim::code_of,
    target,
    words::Words,
};
use crate::{
    clock::millis,
    i18n::{About, arguments::Label, rights::Rights},
    permission::{AuditEvent, Capability, Level, Scope},
    store::{Effect, Place, StoreError},
};

/// The stored key of a person who was let in.
pub const KEY: &str = "paired";
/// What the stored key of a code begins with.
const CODE: &str = "pair:";
/// How long a code is good.
pub const GOOD_FOR: Duration = Duration::from_secs(24 * 3_600);
/// Codes that are good at once: of more strangers nobody is told one.
const MOST: usize = 100;
/// Words that make somebody a stranger again.
const REMOVE: [&str; 3] = ["remove", "delete", "移除"];
/// Letters of a code: one of 2^40, told to one person, used by an owner.
const LENGTH: u32 = 8;

/// A new code.
#[must_use]
pub fn code(random: u64) -> String {
    code_of(random, LENGTH)
}

/// The stored key of a code.
#[must_use]
pub fn code_key(code: &str) -> String {
    format!("{CODE}{code}")
}

/// The stored value of a code that was told to a person just now.
#[must_use]
pub fn code_value(person: i64, now: Timestamp) -> String {
    format!("{person} {}", now.saturating_add(millis(GOOD_FOR)))
}

/// The codes that are stored.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Codes {
    /// Those that are good, and to whom they were told.
    good: Vec<(String, i64)>,
    /// The stored keys of the others.
    pub over: Vec<String>,
}

impl Codes {
    /// Reads the settings of the gateway.
    #[must_use]
    pub fn read(rows: &[(String, String)], now: Timestamp) -> Self {
        let mut codes = Self::default();
        for (key, value) in rows {
            let Some(code) = key.strip_prefix(CODE) else {
                continue;
            };
            let read = value.split_once(' ');
            let read = read.and_then(|(person, until)| {
                let until: Timestamp = until.parse().ok()?;
                Some((person.parse::<i64>().ok()?, until))
            });
            match read {
                Some((person, until)) if now < until => codes.good.push((code.to_owned(), person)),
                _ => codes.over.push(key.clone()),
            }
        }
        codes
    }

    /// Whether a person was told a code that is good.
    #[must_use]
    pub fn has(&self, person: i64) -> bool {
        self.good.iter().any(|(_, whose)| *whose == person)
    }

    /// Whether there are as many as there may be.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.good.len() >= MOST
    }

    fn whose(&self, given: &str) -> Option<&(String, i64)> {
        let same = |(code, _): &&(String, i64)| code.eq_ignore_ascii_case(given);
        self.good.iter().find(same)
    }
}

/// /pair
#[derive(Debug)]
pub struct Pair;

static SPEC: Spec = Spec {
    name: "pair",
    aliases: &[],
    about: About::Pair,
    takes: Takes::PerhapsOneOf(&[
        form("", &[always(Kind::Word(&[]), Label::Pairing)]),
        form("remove", &[SOMEBODY]),
    ]),
    level: Level::Owner,
    when: When::InOrder,
};

#[async_trait]
impl Command for Pair {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        (Level::Member.capability(), Scope::Global)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let codes = Codes::read(&desk.directory.of_gateway().await?, desk.now());
        if call.arguments.is_empty() {
            let mut people = Vec::with_capacity(codes.good.len());
            for (code, person) in &codes.good {
                let person = desk.directory.person(*person).await?;
                people.push(format!("{code}: {}", person.encode()));
            }
            return Ok(Done::text(Rights::Pairing { people }.render(call.language)));
        }
        let mut words = Words::of(call.body);
        if words
            .take_if(|word| REMOVE.contains(&word).then_some(()))
            .is_some()
        {
            return remove(call, desk, words).await;
        }
        let Some((code, person)) = codes.whose(call.arguments) else {
            return Ok(Done::declined(Rights::NoSuchCode.render(call.language)));
        };
        let who = desk.directory.person(*person).await?.encode();
        let text = Rights::Paired { who: who.clone() };
        let mut done = Done::text(text.render(call.language));
        let now = desk.now().to_string();
        done.effects
            .push(set(Place::of_person(*person), KEY.to_owned(), Some(now)));
        done.effects.push(set(Place::GATEWAY, code_key(code), None));
        let record = call.proof.record(AuditEvent::PersonPaired, who, call.turn);
        done.effects.push(record.into());
        Ok(done)
    }
}

fn set(of: Place, key: String, value: Option<String>) -> Effect {
    Effect::Set {
        of,
        key: key.into(),
        value,
    }
}

/// Makes somebody a stranger again.
async fn remove(call: Call<'_>, desk: &Desk, mut words: Words) -> Result<Done, StoreError> {
    // He may be of another platform: then he is named as the answer named him who let him in.
    let key = match target::anywhere(&call, desk, &mut words) {
        Ok(key) => key,
        Err(text) => return Ok(Done::declined(text.render(call.language))),
    };
    let who = key.encode();
    let person = desk.store.person_number(&key).await?.unwrap_or(0);
    if person == 0 || desk.directory.preference(person, KEY).await?.is_none() {
        let text = Rights::NotLetIn { who };
        return Ok(Done::declined(text.render(call.language)));
    }
    let text = Rights::Unpaired { who: who.clone() };
    let mut done = Done::text(text.render(call.language));
    done.effects
        .push(set(Place::of_person(person), KEY.to_owned(), None));
    let record = call
        .proof
        .record(AuditEvent::PersonUnpaired, who, call.turn);
    done.effects.push(record.into());
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_good_for_a_day_and_for_one_person() {
        let row = |code: &str, value: String| (code_key(code), value);
        let rows = [
            row("ABCD", code_value(7, 1_000)),
            row("EFGH", code_value(8, -100_000_000)),
            row("BROKEN", "x".to_owned()),
            ("output".to_owned(), "full".to_owned()),
        ];
        let codes = Codes::read(&rows, 2_000);
        assert_eq!(codes.whose("abcd"), Some(&("ABCD".to_owned(), 7)));
        assert_eq!(codes.whose("EFGH"), None);
        assert_eq!(codes.over, ["pair:EFGH", "pair:BROKEN"]);
        assert!(codes.has(7) && !codes.has(8) && !codes.is_full());
        assert_ne!(code(1), code(2));
        assert_eq!(code(u64::MAX).len(), 8);
    }

    #[test]
    fn there_are_not_more_codes_than_an_owner_can_look_through() {
        let rows: Vec<_> = (0..100)
            .map(|n| (code_key(&n.to_string()), code_value(n, 0)))
            .collect();
        assert!(Codes::read(&rows, 1).is_full());
    }
}
