//! `context`: what the model is told of the conversation so far.
//!
//! Owns the section's keys, defaults and limits. It never reads a file.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use weirgate_sdk::settings::Fields;

use super::model::config::{ModelRef, Models, Provider};

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
    /// The part of the tokens from which on the middle of a history is summarised.
    pub compress_threshold: f64,
    /// Who summarises; `None` for `models.compress`, or else who answers.
    pub compress_provider_id: Option<ModelRef>,
    /// What he is told.
    pub compress_instruction: String,
    /// What is summarised first.
    pub retention: Retention,
    /// Group messages that were not meant for the bot.
    pub ambient: Ambient,
}

/// The section `context.retention`.
#[derive(Debug, Clone, PartialEq)]
pub struct Retention {
    /// What is younger stays word for word for as long as there is room.
    pub recent: Duration,
    /// What is older is summarised without need.
    pub summarize_after: bool,
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
            compress_threshold: 0.85,
            compress_provider_id: None,
            compress_instruction: INSTRUCTION.to_owned(),
            retention: Retention::default(),
            ambient: Ambient::default(),
        }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            recent: Duration::from_secs(24 * 3_600),
            summarize_after: true,
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
    /// Most tokens of a request.
    #[must_use]
    pub fn budget(&self) -> usize {
        usize::try_from(self.max_context_tokens).unwrap_or(usize::MAX)
    }

    /// Tokens from which on the middle of a history is summarised.
    #[must_use]
    pub fn threshold(&self) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "both are in the limits of their keys"
        )]
        let threshold = (f64::from(self.max_context_tokens) * self.compress_threshold) as usize;
        threshold
    }

    /// Reads the section.
    #[must_use]
    pub fn read(
        mut fields: Fields<'_>,
        providers: &BTreeMap<String, Provider>,
        models: &Models,
    ) -> Self {
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
                0..=1_000,
            ),
            scope: fields.choice("scope", default.scope, &scopes),
            system_prompt: unless_auto(fields.text("system_prompt", AUTO)),
            prompt_folder: unless_auto(fields.text("prompt_folder", AUTO)).map(PathBuf::from),
            compress_threshold: fields.f64(
                "compress_threshold",
                default.compress_threshold,
                0.1..=1.0,
            ),
            compress_provider_id: summariser(&mut fields, providers, models),
            compress_instruction: fields.text("compress_instruction", INSTRUCTION),
            retention: Retention::read(fields.section("retention")),
            ambient: Ambient::read(fields.section("ambient")),
        };
        fields.finish();
        read
    }
}

impl Retention {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        #[expect(clippy::cast_precision_loss, reason = "a day has few seconds")]
        let hours = default.recent.as_secs() as f64 / 3_600.0;
        let read = Self {
            recent: Duration::from_secs_f64(
                3_600.0 * fields.f64("recent_hours", hours, 0.0..=87_600.0),
            ),
            summarize_after: fields.bool("summarize_after", default.summarize_after),
        };
        fields.finish();
        read
    }
}

/// The model of a provider's id, or of `<provider>/<model>`.
fn summariser(
    fields: &mut Fields<'_>,
    providers: &BTreeMap<String, Provider>,
    models: &Models,
) -> Option<ModelRef> {
    const KEY: &str = "compress_provider_id";
    let id = fields.text(KEY, "");
    let (provider, model) = id.split_once('/').unwrap_or((&id, ""));
    if id.is_empty() {
        return None;
    }
    if !providers.contains_key(provider) {
        fields.invalid(KEY, "no such provider", Some("write it under providers"));
        return None;
    }
    let named = (!model.is_empty()).then(|| ModelRef {
        provider: provider.to_owned(),
        model: model.to_owned(),
    });
    let found = named.or_else(|| models.of(provider, providers));
    if found.is_none() {
        let hint = format!("write {provider}/<name of the model>");
        fields.invalid(KEY, "which of its models is meant is not said", Some(&hint));
    }
    found
}

/// What who summarises is told, unless the operator says otherwise.
const INSTRUCTION: &str = "请简洁地总结对话要点，保留关键信息如：
- 用户的主要需求或问题
- 已确定的方案或结论
- 未完成的任务
";
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
