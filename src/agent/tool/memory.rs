//! The tool with which a model remembers, looks up and forgets for the person who asks.
//!
//! Owns its arguments and what it says. Where something belongs and whether it may be kept is decided in
//! [`crate::agent::memory`]; what others said in a group, only they and who moderates can have forgotten.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{Access, Also, Call, Fault, Given, Spec, Tool};
use crate::{
    agent::{
        memory::{Kept, Memories, New},
        skill::Rights,
    },
    permission::Capability,
    security::fence::Origin,
    store::{MemoryKind, MemoryRow, MemorySource, MemoryTier, Place, StoreError},
};

/// Its name.
pub const NAME: &str = "memory";
/// What is said of it to a model whose person may not change what a group shares.
pub const LOOKS: &str =
    "The person who asks may have things found and his own forgotten here, and nothing remembered.";
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
        // In a group members look and have forgotten what is their own, as with the commands.
        let spec = Spec::reading(NAME, about, parameters);
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
            importance: importance.and_then(Value::as_f64).unwrap_or(0.6),
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
        let found = self
            .memories
            .look_up(call.rules, call.site, call.text("text"));
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
        let id = call.arguments.get("id").and_then(Value::as_i64);
        let rows = self.memories.entries(id.into_iter().collect()).await?;
        let site = call.site;
        let said = |row: &MemoryRow| row.from_person == site.person;
        let is_own = |row: &MemoryRow| match site.group {
            true => row.place == site.own() && said(row),
            // Also what comes from his words in groups, which he can look up here.
            false => row.place == site.own() || row.place != Place::GATEWAY && said(row),
        };
        let Some(row) = rows.into_iter().find(is_own) else {
            return Ok(Given::own(
                "There is no such entry, or the person who asks may not have it forgotten.",
            ));
        };
        if let Some((_, desk)) = call.counter {
            desk.note_forgotten(site).await?;
        }
        self.memories.forget(vec![row.id]).await?;
        Ok(Given::own(format!("Number {} is forgotten.", row.id)))
    }
}

/// What a call wants done.
fn action(arguments: &Map<String, Value>) -> &str {
    let action = arguments.get("action").and_then(Value::as_str);
    action.unwrap_or_default()
}

#[async_trait]
impl Tool for MemoryTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn changes(&self, arguments: &Map<String, Value>) -> Access {
        match action(arguments) {
            "remember" => Access::WriteShared,
            "forget" => Access::Write,
            _ => Access::Read,
        }
    }

    fn needs_also(&self, arguments: &Map<String, Value>) -> Option<Also> {
        // What was said here is told to whom may read it.
        (action(arguments) == "find").then(|| Also {
            rights: Rights {
                capability: Capability::READ,
                global: false,
            },
            next: Vec::new(),
        })
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let done = match action(call.arguments) {
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
