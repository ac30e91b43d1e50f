//! `limits`: how much one person, one conversation and one account may have.
//!
//! Owns the section's keys, defaults and limits, and where a loop is looked for. It never reads a file.

use std::time::Duration;

use weirgate_sdk::{ChatKind, settings::Fields};

/// The section `limits`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Of one person, wherever he writes.
    pub user: Quota,
    /// Of one conversation.
    pub conversation: Quota,
    /// Of one account of the bot.
    pub account: Quota,
    /// When talking with one partner alone ends.
    pub loops: LoopLimit,
}

/// What somebody may have. 0 is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quota {
    /// Messages that are answered by a model in a minute.
    pub messages_per_minute: u32,
    /// Commands in a minute.
    pub commands_per_minute: u32,
    /// Tokens of requests and answers in a day, which begins at midnight UTC.
    pub tokens_per_day: u64,
}

/// The section `limits.loop`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopLimit {
    /// Answers in turn with one partner of a group until it counts as a loop; 0 for never.
    pub messages: u32,
    /// The same in a private chat, where people answer each answer as well; 0 for never.
    pub private: u32,
    /// The time in which they come.
    pub window: Duration,
    /// How long that partner is not answered then.
    pub pause: Duration,
}

impl Default for LoopLimit {
    fn default() -> Self {
        Self {
            messages: 40,
            private: 120,
            window: Duration::from_secs(300),
            pause: Duration::from_secs(600),
        }
    }
}

impl Limits {
    /// As they hold where people have a pace of their own, or have none: who may write as fast as he likes in private is
    /// expected to be a program.
    #[must_use]
    pub fn paced(self, has_pace: bool) -> Self {
        let private = if has_pace { self.loops.private } else { 0 };
        let loops = LoopLimit {
            private,
            ..self.loops
        };
        Self { loops, ..self }
    }

    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let read = Self {
            user: Quota::read(fields.section("user")),
            conversation: Quota::read(fields.section("conversation")),
            account: Quota::read(fields.section("account")),
            loops: LoopLimit::read(fields.section("loop")),
        };
        fields.finish();
        read
    }
}

impl Quota {
    fn read(mut fields: Fields<'_>) -> Self {
        let read = Self {
            messages_per_minute: fields.u32("messages_per_minute", 0, 0..=1_000_000),
            commands_per_minute: fields.u32("commands_per_minute", 0, 0..=1_000_000),
            tokens_per_day: fields.u32("tokens_per_day", 0, 0..=u32::MAX).into(),
        };
        fields.finish();
        read
    }
}

impl LoopLimit {
    /// Answers in turn in this kind of chat.
    #[must_use]
    pub fn most(self, chat: ChatKind) -> u32 {
        match chat {
            ChatKind::Private => self.private,
            ChatKind::Group => self.messages,
        }
    }

    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            messages: fields.u32("messages", default.messages, 0..=10_000),
            private: fields.u32("private", default.private, 0..=10_000),
            window: fields.seconds("window", default.window, 1.0..=86_400.0),
            pause: fields.seconds("pause", default.pause, 1.0..=86_400.0),
        };
        fields.finish();
        read
    }
}
