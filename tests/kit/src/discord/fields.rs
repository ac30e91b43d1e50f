//! The fields of the bot's requests.
//!
//! Owns the lists by which calls are checked. They are those of the platform's published description, with which a test
//! compares them.

use serde_json::Value;

/// The body of some calls.
#[derive(Debug)]
pub struct Request {
    /// Its name in the published description.
    pub name: &'static str,
    /// Its fields.
    pub fields: &'static [&'static str],
    /// The calls that have it, by their names here.
    calls: &'static [&'static str],
}

/// The bodies that are checked.
pub const REQUESTS: &[Request] = &[
    Request {
        name: "message_create_request",
        fields: &[
            "content",
            "embeds",
            "allowed_mentions",
            "sticker_ids",
            "components",
            "flags",
            "attachments",
            "poll",
            "confetti_potion",
            "message_reference",
            "nonce",
            "enforce_nonce",
            "tts",
        ],
        calls: &["send"],
    },
    Request {
        name: "message_edit_request_partial",
        fields: &[
            "content",
            "embeds",
            "flags",
            "allowed_mentions",
            "sticker_ids",
            "components",
            "attachments",
        ],
        calls: &["edit"],
    },
    Request {
        name: "incoming_webhook_update_request_partial",
        fields: &[
            "content",
            "embeds",
            "allowed_mentions",
            "components",
            "attachments",
            "poll",
            "flags",
        ],
        calls: &["edit answer"],
    },
    Request {
        name: "incoming_webhook_request_partial",
        fields: &[
            "content",
            "embeds",
            "allowed_mentions",
            "components",
            "attachments",
            "poll",
            "tts",
            "flags",
            "username",
            "avatar_url",
            "thread_name",
            "applied_tags",
        ],
        calls: &["follow up"],
    },
    Request {
        name: "application_command_update_request",
        fields: &[
            "name",
            "name_localizations",
            "description",
            "description_localizations",
            "options",
            "default_member_permissions",
            "dm_permission",
            "contexts",
            "integration_types",
            "handler",
            "type",
            "id",
        ],
        calls: &["set menu"],
    },
    Request {
        name: "update_guild_member_request",
        fields: &[
            "nick",
            "roles",
            "mute",
            "deaf",
            "channel_id",
            "communication_disabled_until",
            "flags",
        ],
        calls: &["change member"],
    },
    Request {
        name: "ban_user_from_guild_request",
        fields: &["delete_message_seconds", "delete_message_days"],
        calls: &["ban"],
    },
];

/// Documented in words, and left out of the description.
const BESIDE: [&str; 1] = ["nsfw"];

/// A field of a call that its body does not have, if there is one.
pub(super) fn unknown(call: &str, said: &Value) -> Option<String> {
    let request = REQUESTS
        .iter()
        .find(|request| request.calls.contains(&call))?;
    let bodies = match said {
        Value::Array(bodies) => bodies.as_slice(),
        one => std::slice::from_ref(one),
    };
    let names = bodies
        .iter()
        .filter_map(Value::as_object)
        .flat_map(|body| body.keys());
    let mut unknown = names.filter(|name| {
        !request.fields.contains(&name.as_str()) && !BESIDE.contains(&name.as_str())
    });
    unknown.next().cloned()
}
