//! `agent_collaboration.subagents`: how errands are given away, and where those are who can be named for them.
//!
//! Owns the section's keys, defaults and limits. It opens nothing.

use std::{path::PathBuf, time::Duration};

use weirgate_sdk::settings::Fields;

/// The section `agent_collaboration.subagents`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagents {
    /// Models may give errands.
    pub enabled: bool,
    /// Most of them at once in a turn.
    pub max_parallel: usize,
    /// Longest time of one.
    pub timeout: Duration,
    /// Where named ones are; `None` for a folder beside the database.
    pub path: Option<PathBuf>,
}

impl Default for Subagents {
    fn default() -> Self {
        Self {
            enabled: true,
            max_parallel: 3,
            timeout: Duration::from_secs(300),
            path: None,
        }
    }
}

impl Subagents {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let path = fields.text("path", "auto");
        let read = Self {
            enabled: fields.bool("enabled", default.enabled),
            max_parallel: fields.usize("max_parallel", default.max_parallel, 1..=64),
            timeout: fields.seconds("timeout", default.timeout, 0.1..=86_400.0),
            path: (!matches!(path.as_str(), "auto" | "")).then(|| PathBuf::from(path)),
        };
        fields.finish();
        read
    }
}
