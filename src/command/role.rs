//! /role: shows, gives, lends and takes roles in the conversation.
//!
//! Owns the syntax. The rules are those of [`crate::permission::assign`]; what the target is on the platform
//! is asked of the platform, so that nobody is taken for less than he is.

use async_trait::async_trait;
use weirgate_sdk::{PlatformRole, SenderKind, UserKey, moderation::ModerationError};

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    words::{Person, Words, duration},
};
use crate::{
    i18n::{About, rights::Rights},
    permission::{
        AuditEvent, BuiltIn, Capability, Level, Permissions, Scope, Standing,
        assign::{Target, may_assign},
        policy::{ConversationRules, Grant, MOST_GRANTS},
        standing::{Known, standing},
    },
    reason::Reason,
    store::{Effect, Place, StoreError},
};

/// /role
#[derive(Debug)]
pub struct RoleCommand;

static SPEC: Spec = Spec {
    name: "role",
    aliases: &["roles"],
    about: About::Role,
    level: Level::Admin,
    when: When::InOrder,
};

/// Words that take a role back.
const NONE: [&str; 4] = ["none", "reset", "无", "取消"];

#[async_trait]
impl Command for RoleCommand {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        let capability = Level::Admin.capability();
        (capability, Scope::Conversation(site.conversation))
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let mut words = Words::of(call.body);
        let rules = desk.directory.rules(call.site.conversation).await?;
        let permissions = desk.rules.get().settings.permissions.clone();
        if words.is_empty() && call.body.reply_author.is_none() {
            return Ok(Done::text(list(&rules, desk, &call)));
        }
        let Some(person) = words.person(super::words::looks_like_id) else {
            return Ok(refuse(&Rights::WhoIsMeant, &call));
        };
        let standing = match present(&call, desk, &rules, &permissions, &person).await {
            Ok(standing) => standing,
            Err(text) => return Ok(refuse(&text, &call)),
        };
        match words.text() {
            None => {
                let grant = rules.grants.get(person.id.as_str());
                let grant = grant.filter(|grant| grant.holds(desk.now()));
                let text = Rights::RoleOf {
                    who: person.shown,
                    role: standing.role.name().to_owned(),
                    until: grant.and_then(|grant| grant.until),
                };
                Ok(Done::text(text.render(call.language)))
            }
            Some(name) => Ok(give(
                call,
                desk,
                Change {
                    rules: &rules,
                    permissions: &permissions,
                    person,
                    standing,
                    name,
                    time: words.text(),
                },
            )),
        }
    }
}

/// A role that is to be given or taken.
struct Change<'a> {
    rules: &'a ConversationRules,
    permissions: &'a Permissions,
    person: Person,
    standing: Standing,
    name: String,
    time: Option<String>,
}

fn give(call: Call<'_>, desk: &Desk, change: Change<'_>) -> Done {
    let (user, now) = (change.person.id.as_str(), desk.now());
    let takes = NONE.contains(&change.name.as_str());
    let new = if takes {
        // What he is without a role of his own.
        change
            .permissions
            .roles
            .get(&change.permissions.default_role)
    } else {
        change.permissions.roles.get(&change.name)
    };
    let Some(new) = new else {
        let roles: Vec<&str> = change
            .permissions
            .roles
            .all()
            .map(|role| role.name())
            .collect();
        let text = Rights::NoRole {
            given: change.name.chars().take(40).collect(),
            roles: roles.join(", "),
        };
        return refuse(&text, &call);
    };
    let time = match change.time.as_deref().map(|text| (text, duration(text))) {
        None => None,
        Some((_, Some(time))) => Some(time),
        Some((given, None)) => {
            let given = given.chars().take(40).collect();
            return refuse(&Rights::NoTime { given }, &call);
        }
    };
    let owner = BuiltIn::Owner.name();
    let other_owner =
        |(id, grant): (&String, &Grant)| id != user && grant.role == owner && grant.until.is_none();
    let target = Target {
        is_operator: *user == *call.person.id.as_str(),
        present: &change.standing.role,
        global_owner: change.standing.global_owner,
        last_owner: !change.rules.grants.iter().any(other_owner),
    };
    if let Err(refused) = may_assign(call.actor, &target, new) {
        return refuse(&Rights::NotGiven(refused), &call);
    }
    let known = change.rules.grants.contains_key(user);
    if !takes && !known && change.rules.grants.len() >= MOST_GRANTS {
        return refuse(&Rights::TooManyRoles { most: MOST_GRANTS }, &call);
    }
    let grant = (!takes).then(|| Grant::new(new.name(), time, now));
    let who = change.person.shown.clone();
    let text = match &grant {
        None => Rights::RoleTaken { who },
        Some(grant) => Rights::RoleGiven {
            who,
            role: grant.role.clone(),
            until: grant.until,
        },
    };
    let mut done = Done::text(text.render(call.language));
    let words = grant
        .as_ref()
        .map_or_else(|| "none".to_owned(), Grant::value);
    done.effects.push(Effect::Set {
        of: here(call.site),
        key: Grant::key(user).into(),
        value: grant.as_ref().map(Grant::value),
    });
    let target = format!("{user}: {} -> {words}", change.standing.role.name());
    let record = call
        .proof
        .record(AuditEvent::RoleChanged, target, call.turn);
    done.effects.push(record.into());
    done
}

/// The target's standing: what is stored, and what the platform says of him now.
async fn present(
    call: &Call<'_>,
    desk: &Desk,
    rules: &ConversationRules,
    permissions: &Permissions,
    person: &Person,
) -> Result<Standing, Rights> {
    let user = UserKey {
        platform: call.person.platform.clone(),
        realm: call.person.realm.clone(),
        id: person.id.clone(),
    };
    let adapter = desk.deliverer.adapter(call.conversation);
    let moderates = adapter.as_deref().and_then(|adapter| adapter.moderates());
    let platform_role = match moderates {
        Some(moderates) if call.body.group => {
            match moderates.member(call.conversation, &person.id).await {
                Ok(member) => member.role,
                // Roles may be given to who is not there yet, or taken from who left.
                Err(ModerationError::NotAMember | ModerationError::NotSupported) => {
                    PlatformRole::Unknown
                }
                Err(error) => {
                    tracing::warn!(%error, "the platform does not say who somebody is");
                    return Err(Rights::PlatformAway);
                }
            }
        }
        _ => PlatformRole::Unknown,
    };
    let claimed = desk.directory.is_claimed_by(&user).await;
    Ok(standing(
        &Known {
            user: &user,
            kind: SenderKind::Person,
            platform_role,
            // A store that cannot be read makes nobody less than he is.
            claimed: claimed.unwrap_or(true),
            grant: rules.grants.get(person.id.as_str()),
            policy: &rules.policy,
            now: desk.now(),
        },
        permissions,
    ))
}

fn list(rules: &ConversationRules, desk: &Desk, call: &Call<'_>) -> String {
    let now = desk.now();
    let holding = rules.grants.iter().filter(|(_, grant)| grant.holds(now));
    let lines: Vec<String> = holding
        .map(|(user, grant)| {
            let text = Rights::RoleOf {
                who: user.clone(),
                role: grant.role.clone(),
                until: grant.until,
            };
            text.render(call.language)
        })
        .collect();
    if lines.is_empty() {
        Rights::NoRoles.render(call.language)
    } else {
        lines.join("\n")
    }
}

fn here(site: Site) -> Place {
    Place {
        conversation: site.conversation,
        person: 0,
    }
}

fn refuse(text: &Rights, call: &Call<'_>) -> Done {
    Done {
        refused: Some(Reason::BadArguments),
        ..Done::text(text.render(call.language))
    }
}
