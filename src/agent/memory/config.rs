//! `memory`: how long what was said stays word for word, and what is kept of it then.
//!
//! Owns the section's keys, defaults and limits. It never opens anything.

use weirgate_sdk::settings::Fields;

/// The section `memory`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Memory {
    /// When a conversation is summarised, and how.
    pub retention: Retention,
    /// What of a conversation stays word for word.
    pub context_window: ContextWindow,
}

/// The section `memory.retention`.
#[derive(Debug, Clone, PartialEq)]
pub struct Retention {
    /// Rounds of a conversation from which on its middle is summarised.
    pub auto_summary_threshold: usize,
    /// Points under each heading of a summary.
    pub summary_keep_key_points: usize,
}

/// The section `memory.context_window`.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextWindow {
    /// The newest rounds that stay word for word.
    pub recent_rounds: usize,
    /// What is older may be summarised.
    pub summarize_beyond: bool,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            auto_summary_threshold: 50,
            summary_keep_key_points: 5,
        }
    }
}

impl Default for ContextWindow {
    fn default() -> Self {
        Self {
            recent_rounds: 10,
            summarize_beyond: true,
        }
    }
}

impl Memory {
    /// Reads the section. The keys of the memory that is not there yet draw a warning, so that a file written for it
    /// still loads.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        const NOT_YET: &str =
            "has no effect yet: nothing is remembered over conversations in this version";
        for key in ["backend", "sqlite", "redis"] {
            fields.absent(key, NOT_YET);
        }
        let read = Self {
            retention: Retention::read(fields.section("retention"), NOT_YET),
            context_window: ContextWindow::read(fields.section("context_window")),
        };
        fields.finish();
        read
    }
}

impl Retention {
    fn read(mut fields: Fields<'_>, not_yet: &str) -> Self {
        let default = Self::default();
        for key in ["working_memory_days", "long_term_threshold_days"] {
            fields.absent(key, not_yet);
        }
        let read = Self {
            auto_summary_threshold: fields.usize(
                "auto_summary_threshold",
                default.auto_summary_threshold,
                4..=10_000,
            ),
            summary_keep_key_points: fields.usize(
                "summary_keep_key_points",
                default.summary_keep_key_points,
                1..=100,
            ),
        };
        fields.finish();
        read
    }
}

impl ContextWindow {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            recent_rounds: fields.usize("recent_rounds", default.recent_rounds, 1..=5_000),
            summarize_beyond: fields.bool("summarize_beyond", default.summarize_beyond),
        };
        fields.finish();
        read
    }
}
