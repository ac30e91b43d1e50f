//! The tool with which a model sees what fills its context, and drops what it needs no more.
//!
//! Owns its arguments and what it says. Who may have the words of a conversation dropped is who may reset it; what is
//! dropped is gone for good, and it never drops the system prompt or the newest message.

use std::collections::HashSet;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{Access, Asker, Call, Fault, Given, Spec, Tool};
use crate::{
    agent::{compact::parts::Replaced, context::parts::Part, request::contents::Contents},
    command::{Desk, reset},
    permission::{AuditEvent, Proof, decide},
    reason::Reason,
    security::fence::Origin,
    store::StoreError,
};

/// Its name.
pub const NAME: &str = "context";
/// Parts that are told of; of more, the largest.
const LISTED: usize = 40;
/// Parts that one call drops at most.
const AT_ONCE: usize = 20;
/// The longest name of a part, in characters.
const MAX_NAME: usize = 16;

/// The tool.
#[derive(Debug)]
pub struct ContextTool {
    spec: Spec,
}

impl Default for ContextTool {
    fn default() -> Self {
        let about = "What fills your context. show: how many tokens it takes, and its parts by size. drop: takes parts out of it \
                     for good, such as a long result that is not needed any more; only when the person wants it, or when room \
                     is needed.";
        let parameters = json!({
            "type": "object",
            "properties": {
                "action": { "type": "string", "enum": ["show", "drop"] },
                "parts": {
                    "type": "array",
                    "items": { "type": "string", "maxLength": MAX_NAME },
                    "maxItems": AT_ONCE,
                    "description": "the names of the parts to drop, as show tells them",
                },
            },
            "required": ["action"],
            "additionalProperties": false,
        });
        Self {
            spec: Spec {
                access: Access::Write,
                ..Spec::reading(NAME, about, parameters)
            },
        }
    }
}

/// The names of the parts that a call wants dropped.
#[must_use]
pub fn wanted(arguments: &Map<String, Value>) -> HashSet<String> {
    if arguments.get("action").and_then(Value::as_str) != Some("drop") {
        return HashSet::new();
    }
    let parts = arguments.get("parts").and_then(Value::as_array);
    let names = parts.into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| name.trim().to_owned()).collect()
}

#[async_trait]
impl Tool for ContextTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let (Some(contents), Some((asker, desk))) = (call.contents, call.counter) else {
            return Err(Fault::lasting("There is no conversation here."));
        };
        if call.text("action") == "show" {
            return Ok(show(contents));
        }
        let names = wanted(call.arguments);
        let there: Vec<&Part> = contents
            .parts
            .iter()
            .filter(|part| names.contains(&part.name))
            .collect();
        if there.is_empty() {
            return Err(Fault::lasting(
                "There are no such parts; show tells their names.",
            ));
        }
        let proof = may(&call, asker, desk)?;
        match contents
            .drop_parts(&names)
            .await
            .map_err(|error| away(&error))?
        {
            Replaced::Rows(_) => {}
            Replaced::Busy => {
                return Err(Fault::passing(
                    "The conversation is being made shorter just now.",
                ));
            }
        }
        let tokens: usize = there.iter().map(|part| part.tokens).sum();
        write_down(&call, desk, proof, (there.len(), tokens)).await;
        let told: HashSet<&str> = there.iter().map(|part| part.name.as_str()).collect();
        let mut text = format!("Dropped {} parts, about {tokens} tokens.", there.len());
        let missing = names
            .iter()
            .filter(|name| !told.contains(name.as_str()))
            .count();
        if missing > 0 {
            text.push_str(&format!(" {missing} of the names are those of no part."));
        }
        Ok(Given::own(text))
    }
}

/// The right to have the words of the conversation dropped: that of /reset. A refusal is recorded.
fn may(call: &Call<'_>, asker: Asker<'_>, desk: &Desk) -> Result<Proof, Fault> {
    let (capability, scope) = reset::needs(asker.place);
    decide(call.proof.actor(), capability, scope, call.now).map_err(|denial| {
        desk.traces
            .note(call.site.turn, Reason::ToolRefused, desk.now());
        let reason = json!({ "reason": Reason::ToolRefused.code() });
        let record = denial.record(
            AuditEvent::PermissionDenied,
            NAME.to_owned(),
            call.site.turn,
        );
        let record = record.within(call.site.conversation).with(&reason);
        call.has(record.into());
        Fault::lasting("The person who asks may not have that dropped here.")
    })
}

/// What is gone is gone also if the turn ends in a crash, so its record does not wait for the end.
async fn write_down(call: &Call<'_>, desk: &Desk, proof: Proof, (parts, tokens): (usize, usize)) {
    let target = call.conversation.encode();
    let record = proof.record(AuditEvent::ContextDropped, target, call.site.turn);
    let record = record.within(call.site.conversation);
    let effect = record
        .with(&json!({ "parts": parts, "tokens": tokens }))
        .into();
    let written = desk.write_down(call.site.conversation, vec![effect]).await;
    if let Err(error) = written {
        tracing::warn!(%error, "that parts of a context were dropped is not recorded");
    }
}

fn show(contents: &Contents) -> Given {
    let parts: usize = contents.parts.iter().map(|part| part.tokens).sum();
    let all = contents.system + contents.tools + contents.newest + contents.overheard + parts;
    let mut text = format!(
        "About {all} of {} tokens: {} the system prompt, {} the declarations of tools, {} the newest message, {} what people said \
         to each other, {parts} in {} parts that can be dropped.",
        contents.most,
        contents.system,
        contents.tools,
        contents.newest,
        contents.overheard,
        contents.parts.len(),
    );
    if all > contents.most {
        text.push_str(" That is more than fits: the oldest parts are shortened or left out.");
    }
    let mut largest: Vec<&Part> = contents.parts.iter().collect();
    largest.sort_by_key(|part| std::cmp::Reverse(part.tokens));
    let (listed, rest) = largest.split_at(largest.len().min(LISTED));
    for part in listed {
        let at = part.at.map_or("now".to_owned(), crate::clock::minute);
        text.push_str(&format!(
            "\n{} {} tokens ({at}) {}",
            part.name, part.tokens, part.what
        ));
    }
    if !rest.is_empty() {
        let tokens: usize = rest.iter().map(|part| part.tokens).sum();
        text.push_str(&format!(
            "\nand {} smaller ones, {tokens} tokens",
            rest.len()
        ));
    }
    Given {
        text,
        origin: Some(Origin::Record),
    }
}

fn away(error: &StoreError) -> Fault {
    tracing::warn!(%error, "parts of a context were not dropped");
    Fault::passing("The conversation cannot be written now.")
}
