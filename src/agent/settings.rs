//! What the agent is told by the configuration, and what follows from several of its keys.
//!
//! Owns no defaults and no limits of keys: those stand in each section's `config`. Pure.

use std::time::Duration;

use super::{
    config::Context, limits::Limits, memory::config::Memory, subagent::config::Subagents,
    tool::config::ToolCalling,
};
use crate::{clock::Zone, i18n::Language, permission::Permissions};

/// What the agent is told by the configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The context of model requests.
    pub context: Context,
    /// Most tokens of a request to who summarises, the answer not counted.
    pub summary_tokens: u32,
    /// What is kept of what was said.
    pub memory: Memory,
    /// Who may do what.
    pub permissions: Permissions,
    /// How much.
    pub limits: Limits,
    /// The language, unless a person chose his own; `None` follows the messages.
    pub language: Option<Language>,
    /// The longest turn.
    pub turn_timeout: Duration,
    /// What the hint about dropped messages begins with.
    pub overflow_hint: String,
    /// How turns use tools.
    pub tool_calling: ToolCalling,
    /// How errands are given away.
    pub subagents: Subagents,
    /// Most calls that are made again in a turn.
    pub tool_retries: u32,
    /// The zone in which people speak of time.
    pub zone: Zone,
}

impl Settings {
    /// Most tokens of a record that is to be summarised or looked through.
    #[must_use]
    pub fn record_budget(&self) -> usize {
        usize::try_from(self.summary_tokens).unwrap_or(usize::MAX) / 4 * 3
    }

    /// The newest messages that stay word for word.
    #[must_use]
    pub fn keep_recent(&self) -> usize {
        let rounds = self.memory.context_window.recent_rounds;
        self.context.keep_recent_messages.max(2 * rounds)
    }

    /// The rows of a history that are read for one turn; the token budget decides what of them is used. Enough that
    /// what is to stay word for word is among them, and what is to be summarised by its rounds.
    #[must_use]
    pub fn history_rows(&self) -> usize {
        let rounds = self.memory.retention.auto_summary_threshold;
        let wished = self.keep_recent().max(2 * rounds);
        LEAST_ROWS.max(wished / 2 * 3)
    }
}

/// The rows of a history that are read at least.
const LEAST_ROWS: usize = 200;
