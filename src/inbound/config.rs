//! `input_buffer`: how much may wait, and what gives way.
//!
//! Owns the section's keys, defaults and limits. It never reads a file.

use std::time::Duration;

use weirgate_sdk::settings::Fields;

/// What gives way when something bounded is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverflowStrategy {
    /// The oldest is dropped; the newest stays.
    DropOldest,
    /// What comes new is refused; what waits stays.
    DropNewest,
    /// Nothing is dropped: what comes new waits in the store, outside memory.
    Block,
}

impl OverflowStrategy {
    /// The words of agent.yaml.
    pub const WORDS: [(&'static str, Self); 3] = [
        ("drop_oldest", Self::DropOldest),
        ("drop_newest", Self::DropNewest),
        ("block", Self::Block),
    ];
}

/// The section `input_buffer`.
#[derive(Debug, Clone, PartialEq)]
pub struct InputBuffer {
    /// Most messages in one queue.
    pub max_queue_size: usize,
    /// How long a message may wait while the gateway runs.
    pub max_message_age: Duration,
    /// What gives way when a queue is full.
    pub overflow_strategy: OverflowStrategy,
    /// What the model is told in front of the next message when messages were dropped; may be empty.
    pub overflow_hint: String,
    /// One queue for each user.
    pub per_user_queue: bool,
    /// One queue for each conversation. With both, one for each user in each conversation; with
    /// neither, one for each account.
    pub per_conversation_queue: bool,
    /// Most bytes of waiting messages in memory, in all; beyond it queues hold ids only.
    pub max_bytes: usize,
    /// Most waiting messages in all queues together.
    pub max_total: usize,
}

impl Default for InputBuffer {
    fn default() -> Self {
        Self {
            max_queue_size: 1000,
            max_message_age: Duration::from_secs(3600),
            overflow_strategy: OverflowStrategy::DropOldest,
            overflow_hint: "[消息过多，部分早期消息已丢弃]".to_owned(),
            per_user_queue: true,
            per_conversation_queue: true,
            max_bytes: 64 * 1024 * 1024,
            max_total: 100_000,
        }
    }
}

impl InputBuffer {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            max_queue_size: fields.usize("max_queue_size", default.max_queue_size, 1..=1_000_000),
            max_message_age: fields.seconds(
                "max_message_age",
                default.max_message_age,
                1.0..=31_536_000.0,
            ),
            overflow_strategy: fields.choice(
                "overflow_strategy",
                default.overflow_strategy,
                &OverflowStrategy::WORDS,
            ),
            overflow_hint: fields.text("overflow_hint", &default.overflow_hint),
            per_user_queue: fields.bool("per_user_queue", default.per_user_queue),
            per_conversation_queue: fields
                .bool("per_conversation_queue", default.per_conversation_queue),
            max_bytes: fields.usize("max_bytes", default.max_bytes, 65_536..=1 << 40),
            max_total: fields.usize("max_total", default.max_total, 1..=10_000_000),
        };
        if read.max_total < read.max_queue_size {
            let key = if fields.has("max_total") {
                "max_total"
            } else {
                "max_queue_size"
            };
            let (total, queue) = (read.max_total, read.max_queue_size);
            fields.invalid(
                key,
                format!("max_total ({total}) is smaller than max_queue_size ({queue})"),
                Some("one queue must fit into all of them together"),
            );
        }
        fields.finish();
        read
    }
}
