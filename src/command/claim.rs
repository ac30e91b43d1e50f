//! /claim: who has the code that the start printed owns the gateway.
//!
//! Owns the code: made when the gateway starts and has no owner, used once, good for an hour. It lives in
//! memory alone.

use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, always},
    public,
};
use crate::{
    clock::{Tick, micros},
    directory::Directory,
    i18n::{About, arguments::Label, rights::Rights},
    permission::{AuditEvent, Capability, Level, Scope},
    store::{Effect, Place, StoreError},
};

/// How long a code is good.
pub const GOOD_FOR: Duration = Duration::from_secs(3_600);
/// Wrong codes until it is void: nobody guesses one of 2^50 in so few.
const MOST_TRIES: u32 = 20;

/// The code of this start, if there is one.
#[derive(Debug, Default)]
pub struct Claim(Mutex<Option<Open>>);

struct Open {
    code: String,
    until: Tick,
    tries: u32,
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Open(***)")
    }
}

impl Claim {
    /// Whoever sends this code within [`GOOD_FOR`] owns the gateway.
    pub fn open(&self, code: String, now: Tick) {
        *self.0.lock() = Some(Open {
            code,
            until: now.saturating_add(micros(GOOD_FOR)),
            tries: 0,
        });
    }

    /// Uses the code up if it is this one.
    fn take(&self, given: &str, now: Tick) -> bool {
        let mut slot = self.0.lock();
        let Some(open) = slot.as_mut() else {
            return false;
        };
        if now >= open.until || open.tries >= MOST_TRIES {
            *slot = None;
            return false;
        }
        let right = open.code.eq_ignore_ascii_case(given);
        open.tries += 1;
        if right {
            *slot = None;
        }
        right
    }
}

/// A code of so many letters and digits that are not taken for each other: five random bits each, at most twelve.
#[must_use]
pub fn code_of(random: u64, length: u32) -> String {
    const SIGNS: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
    let sign = |place: u32| {
        let index = usize::try_from((random >> (5 * place)) & 31).unwrap_or_default();
        char::from(SIGNS[index])
    };
    (0..length.min(12)).map(sign).collect()
}

/// /claim
#[derive(Debug)]
pub struct ClaimGateway;

/// Its name.
pub const NAME: &str = "claim";

static SPEC: Spec = Spec {
    name: NAME,
    aliases: &[],
    about: About::Claim,
    takes: Takes::These(&[always(Kind::Word(&[]), Label::Claiming)]),
    level: Level::Public,
    when: When::InOrder,
};

#[async_trait]
impl Command for ClaimGateway {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        public()
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        // An anonymous admin or a channel is nobody who could own anything.
        let is_person = call.body.kind == weirgate_sdk::SenderKind::Person;
        if !is_person || !desk.claim.take(call.arguments, desk.clock.tick()) {
            let text = Rights::NotClaimed.render(call.language);
            let (event, target) = (AuditEvent::GatewayClaimed, call.person.encode());
            let record = call.proof.record(event, target, call.turn);
            return Ok(Done::refused_by(
                record.within(call.site.conversation),
                text,
            ));
        }
        tracing::warn!(person = %call.person.encode(), "the gateway was claimed");
        let mut done = Done::text(Rights::Claimed.render(call.language));
        done.effects.push(Effect::Set {
            of: Place::GATEWAY,
            key: Directory::claim_key(call.person).into(),
            value: Some(desk.now().to_string()),
        });
        let target = call.person.encode();
        let record = call
            .proof
            .record(AuditEvent::GatewayClaimed, target, call.turn);
        done.effects.push(record.into());
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_used_once_in_time_and_not_guessed() {
        let claim = Claim::default();
        assert!(!claim.take("", 0));
        claim.open("ABC".into(), 0);
        assert!(!claim.take("abd", 1));
        assert!(claim.take("abc", 2));
        assert!(!claim.take("abc", 3));
        claim.open("ABC".into(), 0);
        assert!(!claim.take("abc", micros(GOOD_FOR)));
        claim.open("ABC".into(), 0);
        for _ in 0..MOST_TRIES {
            assert!(!claim.take("x", 1));
        }
        assert!(!claim.take("abc", 1));
    }
}
