//! Collects the signed reasoning of an answer in the messages format, at its place among the other blocks.
//!
//! Owns what goes back within a turn: each thought as it came, and a mark for each block between, so that nothing is moved.
//! A thought without a signature is left out: the provider would refuse it. Pure.

use serde_json::{json, value::RawValue};

use super::super::assemble::MAX_SEALED_BYTES;
use super::answer::Content;

/// Bytes that a block is counted with beside its own, so that their number is bounded like their size.
const PER_BLOCK: usize = 16;

/// A block of the answer.
#[derive(Debug)]
enum Block {
    /// Reasoning, which grows until its signature has come.
    Thought { text: String, signature: String },
    /// Reasoning that is hidden even from us, as it came.
    Hidden(String),
    /// A mark of another block.
    Other(&'static str),
}

/// The blocks of an answer in order, each with its number.
#[derive(Debug, Default)]
pub(super) struct Seals(Vec<(i64, Block)>);

impl Seals {
    /// A block begins, or came whole. Gives the bytes to count beside those of the words.
    pub(super) fn begin(&mut self, index: i64, block: &Content, raw: Option<&RawValue>) -> usize {
        let (kept, bytes) = match block.kind.as_str() {
            "thinking" => {
                let signature = block.signature.clone().unwrap_or_default();
                let bytes = signature.len();
                let text = block.thinking.clone().unwrap_or_default();
                (Block::Thought { text, signature }, bytes)
            }
            "redacted_thinking" => {
                let whole = raw.map_or("{}", RawValue::get).to_owned();
                let bytes = whole.len();
                (Block::Hidden(whole), bytes)
            }
            "text" => (Block::Other("text"), 0),
            "tool_use" => (Block::Other("tool_use"), 0),
            _ => return 0,
        };
        self.0.push((index, kept));
        bytes + PER_BLOCK
    }

    /// A block goes on. Gives the bytes of a signature.
    pub(super) fn go_on(&mut self, index: i64, delta: &Content) -> usize {
        let found = self.0.iter_mut().rev().find(|(of, _)| *of == index);
        let Some((_, Block::Thought { text, signature })) = found else {
            return 0;
        };
        text.push_str(delta.thinking.as_deref().unwrap_or_default());
        let more = delta.signature.as_deref().unwrap_or_default();
        signature.push_str(more);
        more.len()
    }

    /// What goes back, as a JSON list; nothing if there is no signed reasoning, or more than is sent back.
    pub(super) fn finish(self) -> Option<String> {
        let mut thoughts = false;
        let mut items = Vec::with_capacity(self.0.len());
        for (_, block) in self.0 {
            match block {
                Block::Thought { signature, .. } if signature.is_empty() => {}
                Block::Thought { text, signature } => {
                    thoughts = true;
                    let item =
                        json!({"type": "thinking", "thinking": text, "signature": signature});
                    items.push(item.to_string());
                }
                Block::Hidden(whole) => {
                    thoughts = true;
                    items.push(whole);
                }
                Block::Other(kind) => items.push(json!({"type": kind}).to_string()),
            }
        }
        let list = format!("[{}]", items.join(","));
        (thoughts && list.len() <= MAX_SEALED_BYTES).then_some(list)
    }
}
