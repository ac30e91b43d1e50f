//! `context`: what the model is told of the conversation so far.
//!
//! Owns the section's keys, defaults and limits. It never reads a file.

use std::{path::PathBuf, time::Duration};

use weirgate_sdk::settings::Fields;

/// Whose history a turn continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The conversation's in groups, the chat itself in private.
    Auto,
    /// Everybody in a conversation shares one history; in groups the speakers are named.
    Conversation,
    /// Each user has a history of his own in each conversation.
    User,
}

/// The section `context`.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// Most tokens of a request, the answer not counted.
    pub max_context_tokens: u32,
    /// How many of the newest messages are kept whole when older ones must go.
    pub keep_recent_messages: usize,
    /// Whose history a turn continues.
    pub scope: Scope,
    /// What the model is told first, in place of all layers of the prompt; empty for nothing, `None` for the layers.
    pub system_prompt: Option<String>,
    /// Where the files of the layers are; `None` for beside the database.
    pub prompt_folder: Option<PathBuf>,
    /// Group messages that were not meant for the bot.
    pub ambient: Ambient,
}

/// The section `context.ambient`.
#[derive(Debug, Clone, PartialEq)]
pub struct Ambient {
    /// Keep them as context. Off by default, for privacy.
    pub enable: bool,
    /// Most of them in one conversation.
    pub max_messages: usize,
    /// How long each is kept.
    pub max_age: Duration,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            max_context_tokens: 128_000,
            keep_recent_messages: 6,
            scope: Scope::Auto,
            system_prompt: None,
            prompt_folder: None,
            ambient: Ambient::default(),
        }
    }
}

impl Default for Ambient {
    fn default() -> Self {
        Self {
            enable: false,
            max_messages: 20,
            max_age: Duration::from_secs(3600),
        }
    }
}

impl Context {
    /// Reads the section. The keys of the compression that is not there yet draw a warning, so that a
    /// file written for it still loads.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let scopes = [
            ("auto", Scope::Auto),
            ("conversation", Scope::Conversation),
            ("user", Scope::User),
        ];
        let read = Self {
            max_context_tokens: fields.u32(
                "max_context_tokens",
                default.max_context_tokens,
                256..=100_000_000,
            ),
            keep_recent_messages: fields.usize(
                "keep_recent_messages",
                default.keep_recent_messages,
                0..=10_000,
            ),
            scope: fields.choice("scope", default.scope, &scopes),
            system_prompt: unless_auto(fields.text("system_prompt", AUTO)),
            prompt_folder: unless_auto(fields.text("prompt_folder", AUTO)).map(PathBuf::from),
            ambient: Ambient::read(fields.section("ambient")),
        };
        const NOT_YET: &str = "has no effect yet: history is not summarised in this version";
        for key in [
            "compress_threshold",
            "compress_provider_id",
            "compress_instruction",
        ] {
            fields.absent(key, NOT_YET);
        }
        if let Some(retention) = fields.peek("retention") {
            let mut retention = retention.fields();
            retention.absent("recent_hours", NOT_YET);
            retention.absent("summarize_after", NOT_YET);
            retention.finish();
        }
        fields.finish();
        read
    }
}

/// The word for what is decided here.
const AUTO: &str = "auto";

fn unless_auto(text: String) -> Option<String> {
    (text != AUTO).then_some(text)
}

impl Ambient {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            enable: fields.bool("enable", default.enable),
            max_messages: fields.usize("max_messages", default.max_messages, 1..=1000),
            max_age: fields.seconds("max_age", default.max_age, 1.0..=31_536_000.0),
        };
        fields.finish();
        read
    }
}
