//! /policy: shows and sets what a conversation says about permissions.
//!
//! Owns the syntax, in which people of a list are named as in any command; the keys and their values are those of
//! [`crate::permission::policy`].

use async_trait::async_trait;
use weirgate_sdk::UserId;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, perhaps},
    need,
    role::RoleCommand,
    target,
    words::Words,
};
use crate::{
    i18n::{About, arguments::Label, rights::Rights},
    permission::{
        AuditEvent, BuiltIn, Capability, Level, Permissions, Scope,
        assign::Refused,
        decide,
        policy::{self, BadPolicy, KEYS, Policy},
    },
    store::{Effect, Place, StoreError},
};

/// /policy
#[derive(Debug)]
pub struct PolicyCommand;

static SPEC: Spec = Spec {
    name: "policy",
    aliases: &[],
    about: About::Policy,
    takes: Takes::These(&[
        perhaps(Kind::Word(&[]), Label::Key),
        perhaps(Kind::Text(&["reset"]), Label::Value),
    ]),
    level: Level::Owner,
    when: When::InOrder,
};

/// What is about media and limits and not about permissions: whoever moderates sets it.
const OF_ADMINS: [&str; 4] = [
    "allow_media",
    "max_message_length",
    "max_messages_per_minute",
    "max_commands_per_minute",
];
/// Keys whose values are people.
const LISTS: [&str; 2] = ["whitelist", "blacklist"];
/// Keys that give roles: what they do, /role does for one person.
const ROLES: [&str; 2] = ["default_role", "anonymous_admins"];
/// A word that takes a key back to its default.
const RESET: &str = "reset";

#[async_trait]
impl Command for PolicyCommand {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, arguments: &str, site: Site) -> (Capability, Scope) {
        let here = Scope::Conversation(site.conversation);
        // Whoever moderates may read what he has to enforce.
        let mut words = arguments.split_whitespace();
        let key = words.next().unwrap_or_default().to_ascii_lowercase();
        let capability = if words.next().is_none() || OF_ADMINS.contains(&key.as_str()) {
            Level::Admin.capability()
        } else {
            Capability::SEND_COMMAND | Capability::MANAGE_CONFIG
        };
        (capability, here)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let rules = desk.directory.rules(call.site.conversation).await?;
        let mut words = call.arguments.splitn(2, char::is_whitespace);
        let (key, value) = (words.next().unwrap_or_default(), words.next());
        if key.is_empty() {
            return Ok(Done::text(show(&rules.policy, &KEYS, call.language)));
        }
        let key = key.to_ascii_lowercase();
        let Some(known) = KEYS.into_iter().find(|known| *known == key) else {
            let text = Rights::NoPolicy {
                given: key.chars().take(40).collect(),
                keys: KEYS.join(", "),
            };
            return Ok(refuse(&text, &call));
        };
        let Some(value) = value.map(str::trim) else {
            return Ok(Done::text(show(&rules.policy, &[known], call.language)));
        };
        let permissions = desk.rules.get().settings.permissions.clone();
        let mut policy = rules.policy.clone();
        let reset = value.eq_ignore_ascii_case(RESET);
        let listed = match people(&call, desk, (known, value)) {
            Ok(listed) => listed,
            Err(text) => return Ok(refuse(&text, &call)),
        };
        let value = listed.as_deref().unwrap_or(value);
        let default = Policy::default().get(known).unwrap_or_default();
        let set = if reset && known == "default_role" {
            policy.default_role = None;
            Ok(())
        } else {
            let value = if reset { default.as_str() } else { value };
            policy.set(known, value, |name| permissions.roles.get(name).is_some())
        };
        if let Err(bad) = set {
            let given = value.chars().take(40).collect();
            return Ok(match bad {
                BadPolicy::Value(possible) => Done::bad_argument(given, possible, call.language),
                BadPolicy::Key => {
                    let keys = KEYS.join(", ");
                    refuse(&Rights::NoPolicy { given, keys }, &call)
                }
            });
        }
        let terms = desk.rules.get().terms(call.conversation);
        let default = (&permissions, terms.default_role.as_deref());
        let call = match may_give(call, desk, (known, &policy), default) {
            Ok(call) => call,
            Err(done) => return Ok(*done),
        };
        if shuts_out(&policy, &call) {
            let text = Rights::ShutsYouOut.render(call.language);
            return Ok(Done::forbidden(call, known.to_owned(), text));
        }
        Ok(changed(call, known, &policy, reset))
    }
}

/// Whether the caller may give the role that a key would give: he needs what /role needs, and the role stands below his own
/// unless he owns the gateway. `default` has the roles, and what the account gives by default.
fn may_give<'a>(
    call: Call<'a>,
    desk: &Desk,
    (key, policy): (&str, &Policy),
    (permissions, of_account): (&Permissions, Option<&str>),
) -> Result<Call<'a>, Box<Done>> {
    if !ROLES.contains(&key) {
        return Ok(call);
    }
    let (capability, scope) = need(&RoleCommand, "", call.site, &permissions.commands);
    if let Err(denial) = decide(call.actor, capability, scope, desk.now()) {
        let text = Rights::Lacks(denial.missing()).render(call.language);
        let record = denial.record(AuditEvent::PermissionDenied, key.to_owned(), call.turn);
        return Err(Done::refused_by(record, text).into());
    }
    let roles = &permissions.roles;
    let given = match key {
        "default_role" => {
            let name = policy.default_role.as_deref().or(of_account);
            roles.get(name.unwrap_or(&permissions.default_role))
        }
        // What the platform says an anonymous sender is.
        _ if policy.anonymous_admins => roles.get(BuiltIn::Admin.name()),
        _ => None,
    };
    let too_high = given.is_some_and(|role| !role.is_below(&call.actor.role));
    if too_high && !call.actor.global_owner {
        let text = Rights::NotGiven(Refused::RoleTooHigh).render(call.language);
        return Err(Done::forbidden(call, key.to_owned(), text).into());
    }
    Ok(call)
}

/// The ids of those whom a list of people names; `None` for the value of another key, and for one that names nobody.
fn people(
    call: &Call<'_>,
    desk: &Desk,
    (key, value): (&str, &str),
) -> Result<Option<String>, Rights> {
    let names_nobody = value.eq_ignore_ascii_case(RESET) || policy::is_none(value);
    if !LISTS.contains(&key) || names_nobody {
        return Ok(None);
    }
    let mut words = Words::of_list(call.body);
    // The key.
    words.text();
    let ids = target::listed(call, desk, &mut words)?;
    let ids: Vec<&str> = ids.iter().map(UserId::as_str).collect();
    Ok(Some(ids.join(" ")))
}

fn changed(call: Call<'_>, key: &str, policy: &Policy, reset: bool) -> Done {
    let value = policy.get(key).unwrap_or_default();
    let text = Rights::PolicySet {
        key: key.to_owned(),
        value: value.clone(),
    };
    let mut done = Done::text(text.render(call.language));
    let target = format!("{key} = {value}");
    done.effects.push(Effect::Set {
        of: Place::of_conversation(call.site.conversation),
        key: Policy::key(key).into(),
        value: (!reset).then_some(value),
    });
    let record = call
        .proof
        .record(AuditEvent::PolicyChanged, target, call.turn);
    done.effects.push(record.into());
    done
}

/// Whether the caller would not be heard any more. An owner of the gateway always is.
fn shuts_out(policy: &Policy, call: &Call<'_>) -> bool {
    let id = call.person.id.as_str();
    let listed = |list: &[String]| list.iter().any(|other| other == id);
    let off = !policy.whitelist.is_empty() && !listed(&policy.whitelist);
    !call.actor.global_owner && (off || listed(&policy.blacklist))
}

fn show(policy: &Policy, keys: &[&str], language: crate::i18n::Language) -> String {
    let line = |key: &&str| Some(format!("{key}: {}", policy.get(key)?));
    let lines: Vec<String> = keys.iter().filter_map(line).collect();
    let lines = lines.join("\n");
    Rights::Policy { lines }.render(language)
}

fn refuse(text: &Rights, call: &Call<'_>) -> Done {
    Done::declined(text.render(call.language))
}
