//! What the platform says when it refuses a call.
//!
//! Owns the reading of a refusal, and which words mean what. The words are matched without regard to case and as
//! parts: the server puts a prefix before them, lower-cases their first letter, and writes some of its codes in
//! capitals (telegram-bot-api, `fail_query_with_error`).

use std::time::Duration;

use serde_json::Value;
use weirgate_sdk::text::line;

use super::MAX_TEXT;

/// The pause after a refusal that demands one without saying how long.
const PAUSE: Duration = Duration::from_secs(5);
/// The longest pause that is believed.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 3_600);

/// A refused call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The error's code, as a rule the HTTP status.
    pub code: u16,
    /// What the platform says of it: one short line.
    pub text: String,
    /// How long to wait, where it says so.
    pub retry_after: Option<Duration>,
    /// The chat's new id, where it has one.
    pub migrate_to: Option<i64>,
}

/// What a refusal means, whatever was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Too many calls; wait so long.
    Flood(Duration),
    /// The token is not one of a bot.
    Token,
    /// Another program receives the bot's updates.
    Conflict,
    /// A webhook receives them.
    Webhook,
    /// The chat is a supergroup now.
    Migrated(i64),
    /// The text is what it was.
    NotModified,
    /// The text is too long.
    TooLong,
    /// An entity is not one.
    Entities,
    /// The topic is gone.
    NoTopic,
    /// The message that is to be changed is gone.
    NoMessage,
    /// The bot may not do that there.
    Forbidden,
    /// The chat or the person is gone, or was never there.
    Gone,
    /// Anything else.
    Other,
}

/// Words and what they mean; the first that fits counts.
const WORDS: &[(Trouble, &[&str])] = &[
    (
        Trouble::NotModified,
        &["message is not modified", "message_not_modified"],
    ),
    (
        Trouble::TooLong,
        &[
            "message is too long",
            "message_too_long",
            "text is too long",
        ],
    ),
    (
        Trouble::Entities,
        &[
            "can't parse entities",
            "can't parse messageentity",
            "entities_too_long",
            "entity_",
            "entities are",
            "parse entit",
        ],
    ),
    (
        Trouble::NoTopic,
        &[
            "message thread not found",
            "topic_deleted",
            "topic_id_invalid",
        ],
    ),
    (
        Trouble::NoMessage,
        &[
            "message to edit not found",
            "message can't be edited",
            "message_id_invalid",
            "message to delete not found",
            "message can't be deleted",
            "message not found",
        ],
    ),
    (
        Trouble::Forbidden,
        &[
            "not enough rights",
            "have no rights",
            "chat_write_forbidden",
            "chat_restricted",
            "chat_admin_required",
            "need administrator rights",
            "_forbidden",
            "topic_closed",
        ],
    ),
    (
        Trouble::Gone,
        &[
            "chat not found",
            "user not found",
            "peer_id_invalid",
            "chat_id_invalid",
            "group chat was deactivated",
            "channel_private",
        ],
    ),
];

impl Refusal {
    /// Reads an answer that is no result. `header` is the pause that a header demands, in seconds.
    #[must_use]
    pub fn read(status: u16, header: Option<f64>, answer: &Value) -> Self {
        let code = answer["error_code"].as_u64();
        let code = code.and_then(|code| u16::try_from(code).ok());
        let text = answer["description"]
            .as_str()
            .map(|text| line(text, MAX_TEXT));
        let parameters = &answer["parameters"];
        let pause = parameters["retry_after"].as_f64().or(header);
        Self {
            code: code.unwrap_or(status),
            text: text.unwrap_or_else(|| format!("HTTP status {status}")),
            retry_after: pause.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            migrate_to: parameters["migrate_to_chat_id"].as_i64(),
        }
    }

    /// What it means.
    #[must_use]
    pub fn trouble(&self) -> Trouble {
        if let Some(chat) = self.migrate_to {
            return Trouble::Migrated(chat);
        }
        match self.code {
            429 => {
                let pause = self.retry_after.unwrap_or(PAUSE);
                return Trouble::Flood(pause.min(LONGEST_PAUSE));
            }
            // An unknown bot is "not found".
            401 | 404 => return Trouble::Token,
            409 if self.says("webhook") => return Trouble::Webhook,
            409 => return Trouble::Conflict,
            413 => return Trouble::TooLong,
            _ => {}
        }
        let found = WORDS
            .iter()
            .find(|(_, words)| words.iter().any(|word| self.says(word)));
        match found {
            Some((trouble, _)) => *trouble,
            None if self.code == 403 => Trouble::Forbidden,
            None => Trouble::Other,
        }
    }

    /// Whether these words (in lower case) stand in its text.
    #[must_use]
    pub fn says(&self, words: &str) -> bool {
        self.text.to_lowercase().contains(words)
    }
}
