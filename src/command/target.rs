//! Whom a command means, and what he is: here, and on the platform now.
//!
//! Owns the look-ups in front of roles and moderation. What the platform does not say is never guessed in
//! the caller's favour.

use std::sync::Arc;

use weirgate_sdk::{
    Adapter, PlatformRole, SenderKind, UserId, UserKey,
    moderation::{Member, ModerationError},
};

use super::{
    Call, Desk, Done,
    words::{Person, Unknown, Words, looks_like_id},
};
use crate::{
    directory::Marks,
    i18n::rights::Rights,
    permission::{
        Permissions, Role, Standing,
        policy::ConversationRules,
        standing::{Known, standing},
    },
    store::StoreError,
};

/// People of one name that are listed.
const SEVERAL: usize = 10;
/// People of one list who are not named by numbers.
const MOST_NAMES: usize = 100;
/// Characters that are shown of a handle or word that is nobody's.
const LONGEST_HANDLE: usize = 64;

/// Somebody who is meant.
#[derive(Debug)]
pub struct Target {
    /// Who.
    pub person: Person,
    /// It is the caller.
    pub is_caller: bool,
    /// What he is here.
    pub standing: Standing,
    /// What he would be here without the role that he was given.
    pub ungranted: Role,
    /// The platform knows him in this conversation.
    pub member: Option<Member>,
}

/// The adapter of the conversation that a command was given in, if its account is still configured.
pub fn adapter(call: &Call<'_>, desk: &Desk) -> Option<Arc<dyn Adapter>> {
    desk.deliverer.adapter(call.conversation)
}

/// Whom the words of a call name: by a mention, an id, or a name that one person alone has who was heard here lately.
/// `None` if they name nobody.
///
/// # Errors
/// What to tell the caller, if a name is nobody's or that of several, or a handle is of nobody who is known.
pub fn named(call: &Call<'_>, desk: &Desk, words: &mut Words) -> Result<Option<Person>, Rights> {
    match words.named(looks_like_id) {
        Ok(Some(person)) => return Ok(Some(person)),
        Ok(None) => {}
        Err(Unknown(name)) => {
            let name = name.chars().take(LONGEST_HANDLE).collect();
            return Err(Rights::UnknownHandle { name });
        }
    }
    let names = words.names();
    if names.is_empty() {
        return Ok(None);
    }
    // Somebody may call himself like another and the word behind: what can be read in two ways means nobody.
    let mut found: Vec<(Person, String)> = Vec::new();
    for name in names {
        for (id, shown) in desk.directory.seen().called(call.conversation, &name) {
            if !found.iter().any(|(person, _)| person.id == id) {
                found.push((Person { id, shown }, name.clone()));
            }
        }
    }
    if found.len() > 1 {
        return Err(several(found.iter().map(|(person, _)| person)));
    }
    if let Some((person, name)) = found.pop() {
        words.take_name(&name);
        return Ok(Some(person));
    }
    Err(Rights::WhoIsMeant)
}

/// What is told of several people who are called the same.
#[must_use]
pub fn several<'a>(people: impl IntoIterator<Item = &'a Person>) -> Rights {
    let people = people.into_iter().take(SEVERAL);
    let line = |person: &Person| format!("{} (id:{})", person.shown, person.id.as_str());
    Rights::Several {
        people: people.map(line).collect(),
    }
}

/// Whom the words of a call mean: whom they name, or else the author of the message that is answered.
///
/// # Errors
/// What to tell the caller, if that is nobody.
pub fn person(call: &Call<'_>, desk: &Desk, words: &mut Words) -> Result<Person, Rights> {
    let named = named(call, desk, words)?;
    named.or_else(|| words.answered()).ok_or(Rights::WhoIsMeant)
}

/// Whom the words of a call mean, on whatever platform: as [`person`] reads it, by a number, or as answers of the gateway
/// name people of other platforms (`platform//42`).
///
/// # Errors
/// What to tell the caller, if that is nobody.
pub fn anywhere(call: &Call<'_>, desk: &Desk, words: &mut Words) -> Result<UserKey, Rights> {
    let here = |id: UserId| UserKey {
        id,
        ..call.person.clone()
    };
    let written = words.take_if(|word| {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        let elsewhere = || word.contains('/').then(|| UserKey::decode(word)).flatten();
        is_number.then(|| here(word.into())).or_else(elsewhere)
    });
    match written {
        Some(key) => Ok(key),
        None => person(call, desk, words).map(|person| here(person.id)),
    }
}

/// The ids of all whom words list: by a mention, an id, which here is a number of any length, or a name as
/// [`named`] reads it.
///
/// # Errors
/// What to tell the caller, if a word is nobody's id or name.
pub fn listed(call: &Call<'_>, desk: &Desk, words: &mut Words) -> Result<Vec<UserId>, Rights> {
    let number = |word: &str| {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| UserId::from(word))
    };
    let (mut ids, mut names) = (Vec::new(), 0..MOST_NAMES);
    while !words.is_empty() {
        let id = match words.take_if(number) {
            Some(id) => id,
            // Each is looked for among all who were heard.
            None if names.next().is_none() => {
                return Err(Rights::TooManyNames { most: MOST_NAMES });
            }
            None => match named(call, desk, words) {
                Ok(Some(person)) => person.id,
                Ok(None) | Err(Rights::WhoIsMeant) => {
                    let given = words.text().unwrap_or_default();
                    let given = given.chars().take(LONGEST_HANDLE).collect();
                    return Err(Rights::NobodyListed { given });
                }
                Err(text) => return Err(text),
            },
        };
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Whom the words of a call mean, looked up; or the answer that says why that is not known.
///
/// # Errors
/// The store's.
pub async fn meant(
    call: &Call<'_>,
    desk: &Desk,
    words: &mut Words,
) -> Result<Result<Target, Done>, StoreError> {
    let person = match person(call, desk, words) {
        Ok(person) => person,
        Err(text) => return Ok(Err(Done::declined(text.render(call.language)))),
    };
    let rules = desk.directory.rules(call.site.conversation).await?;
    let settings = desk.rules.get();
    let found = find(call, desk, &rules, &settings.settings.permissions, person).await;
    Ok(found.map_err(|text| Done::declined(text.render(call.language))))
}

/// Looks somebody up.
///
/// # Errors
/// What to tell the caller, when the platform does not say now who that is.
pub async fn find(
    call: &Call<'_>,
    desk: &Desk,
    rules: &ConversationRules,
    permissions: &Permissions,
    person: Person,
) -> Result<Target, Rights> {
    let user = UserKey {
        platform: call.person.platform.clone(),
        realm: call.person.realm.clone(),
        id: person.id.clone(),
    };
    let adapter = adapter(call, desk);
    let moderates = adapter.as_deref().and_then(|adapter| adapter.moderates());
    let member = match moderates {
        Some(moderates) if call.body.group => {
            match moderates.member(call.conversation, &person.id).await {
                Ok(member) => Some(member),
                // Roles may be given to who is not there yet, or taken from who left.
                Err(ModerationError::NotAMember | ModerationError::NotSupported) => None,
                Err(error) => {
                    tracing::warn!(%error, "the platform does not say who somebody is");
                    return Err(Rights::PlatformAway);
                }
            }
        }
        _ => None,
    };
    // A store that cannot be read makes nobody less than he is.
    let marks = desk.directory.marks(&user).await.unwrap_or(Marks {
        claimed: true,
        blocked: false,
    });
    let role = member.as_ref().map(|member| member.role);
    let terms = desk.rules.get().terms(call.conversation);
    let known = Known {
        user: &user,
        kind: SenderKind::Person,
        platform_role: role.unwrap_or(PlatformRole::Unknown),
        claimed: marks.claimed,
        blocked: marks.blocked,
        grant: rules.grants.get(person.id.as_str()),
        policy: &rules.policy,
        of_account: terms.default_role.as_deref(),
        now: desk.now(),
    };
    let without = Known {
        grant: None,
        ..known
    };
    let ungranted = standing(&without, permissions).role;
    let standing = standing(&known, permissions);
    Ok(Target {
        is_caller: user == *call.person,
        person,
        standing,
        ungranted,
        member,
    })
}
