//! The tool by which a model gives an errand away.
//!
//! Owns its arguments. What an errand may and how it runs is `errand`'s; which tools it has is looked at call by call.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{Agents, config::Subagents};
use crate::agent::tool::{Access, Also, Call, Fault, Given, Spec, Tool};

/// Its name.
pub const NAME: &str = "delegate";
/// Longest task, in characters.
const MAX_TASK: usize = 20_000;
/// An errand ends by itself in its time, but it may have to wait until others have ended: so many of them at most.
const TURNS: u32 = 64;

/// The tool.
#[derive(Debug)]
pub struct Delegate {
    spec: Spec,
    /// Those that can be named.
    agents: Option<Arc<Agents>>,
    longest: Duration,
}

impl Delegate {
    /// The tool; `agents` are those that can be named.
    #[must_use]
    pub fn new(settings: &Subagents, agents: Option<Arc<Agents>>) -> Self {
        let about = "Has a part of the work done by a sub-agent, which begins with nothing but your task: it knows neither \
                     the conversation nor what you found. Good for what takes many steps, and for parts that do not need \
                     each other: several calls in one answer are done side by side. Write into the task everything that \
                     it has to know and what it is to bring back. It cannot ask, and cannot delegate.";
        let parameters = json!({
            "type": "object",
            "properties": {
                "agent": {"type": "string", "maxLength": 100,
                    "description": "the name of an agent that is listed; left out: one without a name"},
                "task": {"type": "string", "minLength": 1, "maxLength": MAX_TASK},
            },
            "required": ["task"],
            "additionalProperties": false,
        });
        Self {
            spec: Spec {
                // What it changes it changes by calls of its own, which are looked at one by one.
                access: Access::Write,
                ..Spec::reading(NAME, about, parameters)
            },
            agents,
            longest: settings.timeout.saturating_mul(TURNS),
        }
    }
}

#[async_trait]
impl Tool for Delegate {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn needs_also(&self, arguments: &Map<String, Value>) -> Option<Also> {
        let name = arguments.get("agent")?.as_str()?;
        let named = self.agents.as_ref()?.named(name)?;
        Some(Also {
            rights: named.rights,
            next: Vec::new(),
        })
    }

    fn gives_errands(&self) -> bool {
        true
    }

    fn longest(&self) -> Option<Duration> {
        Some(self.longest)
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let Some(errands) = call.errands else {
            return Err(Fault::lasting("An errand gives no errands."));
        };
        let brought = errands.delegate(call.text("agent"), call.text("task"));
        let brought = brought.await?;
        if let Some(sending) = call.sending {
            sending.taken.lock().extend(brought.files);
        }
        Ok(brought.given)
    }
}
