//! What a tool does to a member for the one who asks: by the checks of the commands, and with no more than his rights.
//!
//! Owns the two halves of it: what would happen, which changes nothing, and the deed, which looks at everything again.
//! It asks nobody for a yes: that lies between the two, and is the tool's.

use std::time::Duration;

use weirgate_sdk::Segment;

use super::{MUTE, Order, act, forbidden, may, refuse};
use crate::{
    command::{
        Call, Desk, Done, at_level, find,
        target::{self, Target, adapter},
        time, warn,
        words::{Person, Words, looks_like_id},
    },
    i18n::{
        moderation::{Deed, Moderation},
        rights::Rights,
    },
    permission::{AuditEvent, Level, Scope, decide},
    reason::Reason,
    store::StoreError,
};

/// What is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// What the platform does to him.
    Deed(Deed),
    /// A warning.
    Warn,
}

impl Wish {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Deed(Deed::Kick),
        Self::Deed(Deed::Ban),
        Self::Deed(Deed::Unban),
        Self::Deed(Deed::Mute),
        Self::Deed(Deed::Unmute),
        Self::Warn,
    ];

    /// Its name, which is that of its command.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Deed(deed) => deed.name(),
            Self::Warn => "warn",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wish| wish.name() == name)
    }

    /// For how long a time is meant; nothing where there is none.
    ///
    /// # Errors
    /// What to tell the one who asks, if it is no time, or the wish takes none.
    pub fn time(self, given_as: &str) -> Result<Option<Duration>, Rights> {
        let given = time::last(&mut Words::written(given_as));
        let given = given.map_err(|given| Rights::NoTime { given })?;
        match (self, given) {
            (Self::Deed(Deed::Mute), None) => Ok(Some(MUTE)),
            (Self::Deed(Deed::Ban | Deed::Mute), given) => Ok(given),
            (_, None) => Ok(None),
            (_, Some(_)) => Err(Rights::NoTime {
                given: given_as.trim().to_owned(),
            }),
        }
    }
}

/// What is wanted of whom.
#[derive(Debug)]
pub struct Wanted {
    /// What.
    pub wish: Wish,
    /// Of whom.
    pub person: Person,
    /// For how long.
    pub time: Option<Duration>,
    /// Why.
    pub reason: String,
}

impl Wanted {
    fn order(&self, deed: Deed) -> Order {
        Order {
            deed,
            time: self.time,
            reason: self.reason.clone(),
        }
    }
}

/// Whom a text means: an id, somebody whom the message of the call mentions by this name, or who was heard here under
/// it. Without a text, the author of the message that is answered.
///
/// # Errors
/// What to tell the one who asks, if that is nobody, or more than one.
pub fn whom(call: &Call<'_>, desk: &Desk, given: &str) -> Result<Person, Rights> {
    let given = given.trim();
    let answered = || Words::of(call.body).answered().ok_or(Rights::WhoIsMeant);
    if given.is_empty() {
        return answered();
    }
    let name = given.trim_start_matches('@');
    if looks_like_id(name) {
        let id = name.strip_prefix("id:").unwrap_or(name);
        return Ok(
            mentioned(call, |user, _| user == id).unwrap_or_else(|| Person {
                id: id.into(),
                shown: id.to_owned(),
            }),
        );
    }
    // The same name may be another's who was heard, and then nobody is meant.
    let mut words = Words::written(&format!("@{name}"));
    let heard = target::named(call, desk, &mut words);
    let Some(person) = mentioned(call, |_, shown| shown.trim_start_matches('@') == name) else {
        return heard?.ok_or(Rights::WhoIsMeant);
    };
    match heard {
        Ok(Some(other)) if other.id != person.id => Err(target::several([&person, &other])),
        Err(Rights::Several { people }) => Err(Rights::Several { people }),
        _ => Ok(person),
    }
}

/// Who is mentioned in the message of the call, by id and name; nobody if that fits several.
fn mentioned(call: &Call<'_>, fits: impl Fn(&str, &str) -> bool) -> Option<Person> {
    let mut found: Option<Person> = None;
    for segment in &call.body.segments {
        let Segment::Mention { user, name } = segment else {
            continue;
        };
        let shown = if name.is_empty() { user.as_str() } else { name };
        if !fits(user.as_str(), shown) {
            continue;
        }
        if found.as_ref().is_some_and(|one| one.id != *user) {
            return None;
        }
        found = Some(Person {
            id: user.clone(),
            shown: shown.to_owned(),
        });
    }
    found
}

/// What would happen, in words for whoever is to say yes; or why it would not. Changes nothing.
///
/// # Errors
/// The store's.
pub async fn would(
    call: Call<'_>,
    desk: &Desk,
    wanted: &Wanted,
) -> Result<Result<String, Done>, StoreError> {
    let (call, target) = match allowed(call, desk, wanted).await? {
        Ok(allowed) => allowed,
        Err(done) => return Ok(Err(done)),
    };
    let who = target.person.shown.clone();
    let deed = match wanted.wish {
        Wish::Deed(deed) => deed,
        Wish::Warn => return Ok(Ok(Moderation::WouldWarn { who }.render(call.language))),
    };
    let adapter = adapter(&call, desk);
    let moderates = adapter.as_deref().and_then(|adapter| adapter.moderates());
    let Some(moderates) = moderates else {
        return Ok(Err(refuse(&call, &Moderation::NotHere)));
    };
    let action = wanted.order(deed).action(&target);
    Ok(match moderates.would(call.conversation, &action).await {
        Ok(()) => {
            let time = wanted.time;
            Ok(Moderation::Would { deed, who, time }.render(call.language))
        }
        Err(error) => Err(Done {
            refused: Some(Reason::ModerationFailed),
            ..Done::text(Moderation::WouldFail { who, error }.render(call.language))
        }),
    })
}

/// Does it, if it still may be.
///
/// # Errors
/// The store's.
pub async fn carry_out(call: Call<'_>, desk: &Desk, wanted: &Wanted) -> Result<Done, StoreError> {
    let (call, target) = match allowed(call, desk, wanted).await? {
        Ok(allowed) => allowed,
        Err(done) => return Ok(done),
    };
    let deed = match wanted.wish {
        Wish::Deed(deed) => deed,
        Wish::Warn => return warn::warn(call, desk, &target, wanted.reason.clone()).await,
    };
    let adapter = adapter(&call, desk);
    let moderates = adapter.as_deref().and_then(|adapter| adapter.moderates());
    let Some(moderates) = moderates else {
        return Ok(refuse(&call, &Moderation::NotHere));
    };
    Ok(act(moderates, call, desk, &target, &wanted.order(deed)).await)
}

/// Whether the one who asks may: he has the right of the command, also where agent.yaml moves that, and stands above
/// whom it concerns.
async fn allowed<'a>(
    call: Call<'a>,
    desk: &Desk,
    wanted: &Wanted,
) -> Result<Result<(Call<'a>, Target), Done>, StoreError> {
    if !call.body.group {
        return Ok(Err(refuse(&call, &Moderation::NotHere)));
    }
    let settings = desk.rules.get();
    let permissions = &settings.settings.permissions;
    let scope = Scope::Conversation(call.site.conversation);
    let need = (Level::Admin.capability(), scope);
    let (capability, scope) = match find(wanted.wish.name()) {
        Some(command) => at_level(command.spec(), need, &permissions.commands),
        None => need,
    };
    let proof = match decide(call.actor, capability, scope, desk.now()) {
        Ok(proof) => proof,
        Err(denial) => {
            let what = wanted.wish.name().to_owned();
            let text = Rights::Lacks(denial.missing()).render(call.language);
            let record = denial.record(AuditEvent::PermissionDenied, what, call.turn);
            return Ok(Err(Done::refused_by(record, text)));
        }
    };
    let call = Call { proof, ..call };
    let rules = desk.directory.rules(call.site.conversation).await?;
    let person = wanted.person.clone();
    let target = match target::find(&call, desk, &rules, permissions, person).await {
        Ok(target) => target,
        Err(text) => return Ok(Err(Done::declined(text.render(call.language)))),
    };
    Ok(match may(&call, &target) {
        Ok(()) => Ok((call, target)),
        Err(text) => Err(forbidden(call, &target, &text)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wish_is_a_command_of_its_name() {
        for wish in Wish::ALL {
            assert!(find(wish.name()).is_some(), "{wish:?}");
            assert_eq!(Wish::named(wish.name()), Some(wish));
        }
        assert_eq!(Wish::named("promote"), None);
    }

    #[test]
    fn what_is_no_time_is_not_taken_for_none() {
        let mute = Wish::Deed(Deed::Mute);
        assert_eq!(mute.time(""), Ok(Some(MUTE)));
        assert_eq!(mute.time("10m"), Ok(Some(Duration::from_secs(600))));
        assert!(mute.time("a while").is_err());
        let ban = Wish::Deed(Deed::Ban);
        assert_eq!(ban.time(""), Ok(None));
        assert!(ban.time("-5m").is_err());
        assert!(Wish::Warn.time("10m").is_err());
        assert_eq!(Wish::Deed(Deed::Kick).time(""), Ok(None));
    }
}
