//! What the platform says when it refuses a call.
//!
//! Owns the reading of a refusal, and which codes mean what (Opcodes and Status Codes, JSON; Rate Limits).

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;
use weirgate_sdk::{Freeze, text::line};

use super::MAX_TEXT;

/// The pause after a refusal that demands one without saying how long.
const PAUSE: Duration = Duration::from_secs(5);
/// The longest pause that is believed.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 3_600);

/// A refused call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The platform's own code; the status where it gives none.
    pub code: u64,
    /// What the platform says of it: one short line.
    pub text: String,
    /// How long to wait, where it says so.
    pub retry_after: Option<Duration>,
    /// Everything has to wait, not only calls of this kind.
    pub global: bool,
    /// What is too long is the text.
    pub too_long: bool,
}

/// What a refusal means, whatever was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Too many calls; wait so long.
    Flood(Duration, Freeze),
    /// The token is not one of a bot.
    Token,
    /// The text is too long.
    TooLong,
    /// The message may not be a reply: the bot does not see what was said before.
    NoReply,
    /// The thread is archived, and locked besides: writing alone does not open it again.
    Archived,
    /// The bot may not do that there.
    Forbidden,
    /// The channel, the message or the person is gone.
    Gone,
    /// Anything else.
    Other,
}

impl Refusal {
    /// Reads an answer that is no result.
    #[must_use]
    pub fn read(status: u16, headers: &HeaderMap, answer: &Value) -> Self {
        let text = answer["message"].as_str().map(|text| line(text, MAX_TEXT));
        let pause = answer["retry_after"]
            .as_f64()
            .or_else(|| seconds(headers, "retry-after"));
        let scope = headers.get("x-ratelimit-scope");
        let global = answer["global"] == true || scope.is_some_and(|scope| scope == "global");
        let problems = answer["errors"]["content"]["_errors"].as_array();
        let mut problems = problems.into_iter().flatten();
        Self {
            status,
            // A refusal without a code has 0.
            code: answer["code"]
                .as_u64()
                .filter(|code| *code > 0)
                .unwrap_or(status.into()),
            text: text.unwrap_or_else(|| format!("HTTP status {status}")),
            retry_after: pause.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            global,
            too_long: problems.any(|problem| problem["code"] == "BASE_TYPE_MAX_LENGTH"),
        }
    }

    /// What it means.
    #[must_use]
    pub fn trouble(&self) -> Trouble {
        if self.status == 429 {
            let pause = self.retry_after.unwrap_or(PAUSE).min(LONGEST_PAUSE);
            let scope = if self.global {
                Freeze::Account
            } else {
                Freeze::Conversation
            };
            return Trouble::Flood(pause, scope);
        }
        match self.code {
            50_035 if self.too_long => Trouble::TooLong,
            // A reply needs the right to read what was said before.
            160_002 => Trouble::NoReply,
            // Slow mode of the channel.
            20_016 => Trouble::Flood(self.retry_after.unwrap_or(PAUSE), Freeze::Conversation),
            50_083 => Trouble::Archived,
            // A system message, a thread that is locked.
            50_021 | 160_005 => Trouble::Forbidden,
            _ => match self.status {
                401 => Trouble::Token,
                403 => Trouble::Forbidden,
                404 => Trouble::Gone,
                413 => Trouble::TooLong,
                _ => Trouble::Other,
            },
        }
    }
}

/// How long the next call of the kind has to wait, if this one was the last that is allowed.
#[must_use]
pub fn used_up(headers: &HeaderMap) -> Option<Duration> {
    let left = seconds(headers, "x-ratelimit-remaining")?;
    let reset = seconds(headers, "x-ratelimit-reset-after").filter(|_| left < 1.0)?;
    let reset = Duration::try_from_secs_f64(reset).ok()?;
    Some(reset.min(LONGEST_PAUSE))
}

fn seconds(headers: &HeaderMap, name: &str) -> Option<f64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}
