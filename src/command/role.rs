//! /role: shows, gives, lends and takes roles in the conversation.
//!
//! Owns the syntax. The rules are those of [`crate::permission::assign`]; what the target is on the platform
//! is asked of the platform, so that nobody is taken for less than he is.

use std::time::Duration;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, PERHAPS_SOMEBODY, TIME, Takes, perhaps},
    target::{self, Target},
    time,
    words::Words,
};
use crate::{
    i18n::{About, arguments::Label, rights::Rights},
    permission::{
        AuditEvent, BuiltIn, Capability, Level, Permissions, Scope,
        assign::{self, may_assign},
        policy::{ConversationRules, Grant, MOST_GRANTS},
    },
    store::{Effect, Place, StoreError},
};
use async_trait::async_trait;

/// /role
#[derive(Debug)]
pub struct RoleCommand;

static SPEC: Spec = Spec {
    name: "role",
    aliases: &["roles"],
    about: About::Role,
    takes: Takes::These(&[
        PERHAPS_SOMEBODY,
        perhaps(Kind::Word(&["none"]), Label::Role),
        TIME,
    ]),
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
        let person = match target::person(&call, desk, &mut words) {
            Ok(person) => person,
            Err(text) => return Ok(refuse(&text, &call)),
        };
        let found = target::find(&call, desk, &rules, &permissions, person).await;
        let target = match found {
            Ok(target) => target,
            Err(text) => return Ok(refuse(&text, &call)),
        };
        match words.text() {
            None => {
                let grant = rules.grants.get(target.person.id.as_str());
                let grant = grant.filter(|grant| grant.holds(desk.now()));
                let text = Rights::RoleOf {
                    who: target.person.shown,
                    role: target.standing.role.name().to_owned(),
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
                    target,
                    name,
                    time: time::last(&mut words),
                },
            )),
        }
    }
}

/// A role that is to be given or taken.
struct Change<'a> {
    rules: &'a ConversationRules,
    permissions: &'a Permissions,
    target: Target,
    name: String,
    time: Result<Option<Duration>, String>,
}

fn give(call: Call<'_>, desk: &Desk, change: Change<'_>) -> Done {
    let (user, now) = (change.target.person.id.as_str(), desk.now());
    let takes = NONE.contains(&change.name.as_str());
    let new = if takes {
        // What he is without a role of his own, which may be more than it.
        Some(&change.target.ungranted)
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
    let time = match change.time {
        Ok(time) => time,
        Err(given) => return refuse(&Rights::NoTime { given }, &call),
    };
    let owner = BuiltIn::Owner.name();
    let other_owner =
        |(id, grant): (&String, &Grant)| id != user && grant.role == owner && grant.until.is_none();
    let target = assign::Target {
        is_operator: change.target.is_caller,
        present: &change.target.standing.role,
        global_owner: change.target.standing.global_owner,
        last_owner: !change.rules.grants.iter().any(other_owner),
    };
    if let Err(refused) = may_assign(call.actor, &target, new) {
        let text = Rights::NotGiven(refused).render(call.language);
        return Done::forbidden(call, user.to_owned(), text);
    }
    let known = change.rules.grants.contains_key(user);
    if !takes && !known && change.rules.grants.len() >= MOST_GRANTS {
        return refuse(&Rights::TooManyRoles { most: MOST_GRANTS }, &call);
    }
    let grant = (!takes).then(|| Grant::new(new.name(), time, now));
    let who = change.target.person.shown.clone();
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
        of: Place::of_conversation(call.site.conversation),
        key: Grant::key(user).into(),
        value: grant.as_ref().map(Grant::value),
    });
    let details = serde_json::json!({
        "from": change.target.standing.role.name(), "to": words,
    });
    let (target, turn) = (user.to_owned(), call.turn);
    let record = call.proof.record(AuditEvent::RoleChanged, target, turn);
    done.effects.push(record.with(&details).into());
    done
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

fn refuse(text: &Rights, call: &Call<'_>) -> Done {
    Done::declined(text.render(call.language))
}
