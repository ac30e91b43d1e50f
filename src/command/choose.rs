//! What a conversation has chosen out of what the operator offers: what /model and /persona have in common.
//!
//! Owns who may choose, the word for what the configuration says, and how a choice is written. What there is to choose
//! from is for each command to say.

use weirgate_sdk::ChatKind;

use super::{Call, Done, Site};
use crate::{
    permission::{AuditEvent, Capability, Level, Scope, policy::SETTING},
    store::{Effect, Place},
};

/// Words for what the configuration says.
const DEFAULT: [&str; 2] = ["default", "默认"];

/// What a call needs. In private the conversation is one's own, and whoever looks changes nothing; in a group the
/// choice is for those who moderate.
#[must_use]
pub fn needs(arguments: &str, site: Site) -> (Capability, Scope) {
    let here = Scope::Conversation(site.conversation);
    if arguments.is_empty() || site.chat == ChatKind::Private {
        (Capability::SEND_COMMAND, here)
    } else {
        (Level::Admin.capability(), here)
    }
}

/// Whether what the configuration says is wanted.
#[must_use]
pub fn is_default(wanted: &str) -> bool {
    DEFAULT.iter().any(|word| wanted.eq_ignore_ascii_case(word))
}

/// Sets the choice of a conversation, or with `None` takes it back, and says so.
#[must_use]
pub fn set(call: Call<'_>, key: &str, value: Option<String>, told: String) -> Done {
    let mut done = Done::text(told);
    let details = serde_json::json!({ "value": value });
    done.effects.push(Effect::Set {
        of: Place::of_conversation(call.site.conversation),
        key: format!("{SETTING}{key}").into(),
        value,
    });
    let record = call
        .proof
        .record(AuditEvent::ConfigChanged, key.to_owned(), call.turn);
    done.effects.push(record.with(&details).into());
    done
}
