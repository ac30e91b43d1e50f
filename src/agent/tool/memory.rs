//! The tool with which a model remembers, looks up and forgets for the person who asks.
//!
//! Owns its arguments and what it says. Where something belongs and whether it may be kept is decided in
//! [`crate::agent::memory`]; what others said in a group, only they and who moderates can have forgotten.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::{Access, Call, Fault, Given, Spec, Tool};
use crate::{
    agent::memory::{Kept, Memories, New, forgotten},
    security::fence::Origin,
    store::{MemoryKind, MemorySource, MemoryTier, StoreError},
};

/// Its name.
pub const NAME: &str = "memory";
/// Entries that are found at once.
const FOUND: usize = 10;

/// The tool.
#[derive(Debug)]
pub struct MemoryTool {
    spec: Spec,
    memories: Arc<Memories>,
}

impl MemoryTool {
    /// A tool for a memory.
    #[must_use]
    pub fn new(memories: Arc<Memories>) -> Self {
        let about = "What is remembered over conversations. remember: keep what will matter later, or what somebody asks \
                     you to remember, as one sentence that is understood alone. find: look up what is remembered. \
                     forget: delete an entry by its number.";
        let parameters = json!({
            "type": "object",
            "properties": {
                "action": { "type": "string", "enum": ["remember", "find", "forget"] },
                "text": { "type": "string", "description": "what to remember, or words to find" },
                "keep": {
                    "type": "string",
                    "enum": ["long", "days", "day"],
                    "description": "how long to remember it; long by default",
                },
                "importance": { "type": "number", "minimum": 0, "maximum": 1 },
                "id": { "type": "integer", "description": "the entry to forget" },
            },
            "required": ["action"],
            "additionalProperties": false,
        });
        let spec = Spec {
            access: Access::WriteShared,
            ..Spec::reading(NAME, about, parameters)
        };
        Self { spec, memories }
    }

    async fn remember(&self, call: &Call<'_>) -> Result<Given, StoreError> {
        let importance = call.arguments.get("importance");
        let new = New {
            content: call.text("text").to_owned(),
            kind: MemoryKind::Semantic,
            tier: match call.text("keep") {
                "days" => MemoryTier::Daily,
                "day" => MemoryTier::Misc,
                _ => MemoryTier::Important,
            },
            name: None,
            importance: importance
                .and_then(serde_json::Value::as_f64)
                .unwrap_or(0.6),
            source: MemorySource::Tool,
        };
        let kept = self.memories.keep(call.rules, call.site, new).await?;
        Ok(Given::own(match kept {
            Kept::Added(id) => format!("Remembered as number {id}."),
            Kept::Updated(id) => format!("It was known; number {id} says it now."),
            Kept::Empty => "Nothing was kept: the text is empty.".to_owned(),
            Kept::Suspicious => {
                "Nothing was kept: it reads like an attempt to change your instructions.".to_owned()
            }
            Kept::Full => "Nothing was kept: there is no room left.".to_owned(),
        }))
    }

    async fn find(&self, call: &Call<'_>) -> Result<Given, StoreError> {
        let places = call.site.recalled_from();
        let found = self.memories.find(call.rules, &places, call.text("text"));
        let found = found.await?;
        if found.is_empty() {
            return Ok(Given::own("Nothing is remembered of that."));
        }
        let lines = found.iter().take(FOUND).map(|(row, _)| {
            let at = crate::clock::minute(row.updated_at);
            format!("{}: {} ({at})", row.id, row.content)
        });
        Ok(Given {
            text: lines.collect::<Vec<_>>().join("\n"),
            origin: Some(Origin::Memory),
        })
    }

    async fn forget(&self, call: &Call<'_>) -> Result<Given, StoreError> {
        let id = call.arguments.get("id").and_then(serde_json::Value::as_i64);
        let rows = self.memories.entries(id.into_iter().collect()).await?;
        let site = call.site;
        let own = rows
            .into_iter()
            .find(|row| row.place == site.own() && (!site.group || row.from_person == site.person));
        let Some(row) = own else {
            return Ok(Given::own(
                "There is no such entry, or the person who asks may not have it forgotten.",
            ));
        };
        self.memories.forget(vec![row.id]).await?;
        call.has(forgotten(site, call.now));
        Ok(Given::own(format!("Number {} is forgotten.", row.id)))
    }
}

#[async_trait]
impl Tool for MemoryTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let done = match call.text("action") {
            "remember" => self.remember(&call).await,
            "find" => self.find(&call).await,
            _ => self.forget(&call).await,
        };
        done.map_err(|error| {
            tracing::warn!(%error, "the memory did not answer");
            Fault::passing("The memory does not answer now.")
        })
    }
}
