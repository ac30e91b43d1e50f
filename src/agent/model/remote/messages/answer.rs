//! Assembles one answer of the messages format from its events, or from one JSON object.
//!
//! Pure: text in, deltas out. Events of kinds that are not known are skipped, as the format demands. It never
//! touches the network.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::super::super::{
    Delta, FinishReason, ModelError, Usage,
    calls::{Assembler, Piece},
    fault,
    sse::Event,
    think,
};
use super::super::assemble::{Assemble, broken_off, count, other_reason, push_piece, unreadable};
use super::sealed::Seals;

/// Kinds of events that say something; the format may get others at any time.
const KNOWN: [&str; 6] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "message_delta",
    "message_stop",
    "error",
];

/// What an event is.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "type", default)]
    kind: &'a str,
}

/// One event of a stream, or a whole answer.
#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(rename = "type", default)]
    kind: &'a str,
    #[serde(default)]
    index: i64,
    #[serde(default)]
    message: Option<Started>,
    #[serde(borrow, default)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
    #[serde(default)]
    usage: Option<Counted>,
    #[serde(borrow, default)]
    content: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct Started {
    #[serde(default)]
    usage: Option<Counted>,
}

#[derive(Deserialize, Default)]
struct Counted {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
}

/// A block at its beginning, or a change of it.
#[derive(Deserialize, Default)]
pub(super) struct Content {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    pub(super) thinking: Option<String>,
    #[serde(default)]
    pub(super) signature: Option<String>,
    #[serde(default)]
    partial_json: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    input: Option<Value>,
    #[serde(default)]
    stop_reason: Option<String>,
}

impl Content {
    fn read(raw: Option<&RawValue>) -> Self {
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default()
    }
}

/// The state of one answer.
#[derive(Debug, Default)]
pub(in super::super) struct Answer {
    ready: VecDeque<Delta>,
    calls: Assembler,
    seals: Seals,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    done: bool,
    bytes: usize,
}

impl Answer {
    fn take(&mut self, wire: &Wire<'_>) -> Result<(), ModelError> {
        match wire.kind {
            "message_start" => {
                let usage = wire.message.as_ref().and_then(|start| start.usage.as_ref());
                self.count(usage);
            }
            "content_block_start" => {
                let block = Content::read(wire.content_block);
                let bytes = self.seals.begin(wire.index, &block, wire.content_block);
                count(&mut self.bytes, bytes)?;
                self.block(wire.index, &block, false)?;
            }
            "content_block_delta" => {
                let delta = Content::read(wire.delta);
                self.words(&delta)?;
                let bytes = self.seals.go_on(wire.index, &delta);
                count(&mut self.bytes, bytes)?;
                if let Some(more) = &delta.partial_json {
                    self.call(Piece {
                        index: Some(wire.index),
                        arguments: Some(more),
                        ..Piece::default()
                    })?;
                }
            }
            "message_delta" => {
                self.stop(Content::read(wire.delta).stop_reason.as_deref());
                self.count(wire.usage.as_ref());
            }
            "message_stop" => self.done = true,
            _ => {}
        }
        Ok(())
    }

    /// A block at its beginning; in a stream its arguments follow, and what stands there is no part of them.
    fn block(&mut self, index: i64, block: &Content, whole: bool) -> Result<(), ModelError> {
        self.words(block)?;
        let Some(name) = &block.name else {
            return Ok(());
        };
        let input = block.input.as_ref().filter(|_| whole);
        let input = input.map(Value::to_string);
        self.call(Piece {
            index: Some(index),
            id: block.id.as_deref(),
            name: Some(name),
            arguments: input.as_deref(),
        })
    }

    fn call(&mut self, piece: Piece<'_>) -> Result<(), ModelError> {
        let words = [piece.id, piece.name, piece.arguments];
        let bytes = words.iter().map(|word| word.map_or(0, str::len)).sum();
        count(&mut self.bytes, bytes)?;
        self.calls.event(&[piece]);
        Ok(())
    }

    fn words(&mut self, content: &Content) -> Result<(), ModelError> {
        if let Some(text) = content.text.as_ref().filter(|text| !text.is_empty()) {
            count(&mut self.bytes, text.len())?;
            push_piece(&mut self.ready, think::Piece::Text(text));
        }
        if let Some(thinking) = content.thinking.as_ref().filter(|text| !text.is_empty()) {
            count(&mut self.bytes, thinking.len())?;
            push_piece(&mut self.ready, think::Piece::Reasoning(thinking));
        }
        Ok(())
    }

    fn stop(&mut self, reason: Option<&str>) {
        let Some(reason) = reason.filter(|reason| !reason.is_empty()) else {
            return;
        };
        self.finish = Some(match reason {
            "end_turn" | "stop_sequence" => FinishReason::Stop,
            "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
            "tool_use" => FinishReason::ToolCalls,
            "refusal" => FinishReason::ContentFilter,
            other => other_reason(other),
        });
    }

    /// The figures are running totals; what the end says counts.
    fn count(&mut self, counted: Option<&Counted>) {
        let Some(counted) = counted else { return };
        let before = self.usage.unwrap_or_default();
        let (cached, cache_written, prompt) = match counted.input_tokens {
            Some(tokens) => {
                let read = counted.cache_read_input_tokens.unwrap_or(0);
                let written = counted.cache_creation_input_tokens.unwrap_or(0);
                let all = [read, written];
                let prompt = all.into_iter().fold(tokens, u64::saturating_add);
                (read, written, prompt)
            }
            None => (before.cached, before.cache_written, before.prompt),
        };
        let completion = counted.output_tokens.unwrap_or(before.completion);
        self.usage = Some(Usage {
            prompt,
            completion,
            total: prompt.saturating_add(completion),
            cached,
            cache_written,
        });
    }
}

impl Assemble for Answer {
    fn pop(&mut self) -> Option<Delta> {
        self.ready.pop_front()
    }

    fn has_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn event(&mut self, event: &Event<'_>, key: Option<&str>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if self.done || data.is_empty() {
            return Ok(());
        }
        let Kind { kind } = serde_json::from_str(data).map_err(unreadable)?;
        if event.name == "error" || kind == "error" {
            return Err(fault::from_body(None, data, key));
        }
        if !KNOWN.contains(&kind) {
            return Ok(());
        }
        self.take(&serde_json::from_str(data).map_err(unreadable)?)
    }

    fn whole(&mut self, body: &str, key: Option<&str>) -> Result<(), ModelError> {
        let wire = match serde_json::from_str::<Wire<'_>>(body) {
            Ok(wire) if wire.content.is_some() => wire,
            Err(error) if error.is_eof() => return Err(broken_off()),
            _ => return Err(fault::from_body(None, body, key)),
        };
        self.count(wire.usage.as_ref());
        for (index, block) in (0_i64..).zip(wire.content.iter().flatten()) {
            let content = Content::read(Some(block));
            let bytes = self.seals.begin(index, &content, Some(block));
            count(&mut self.bytes, bytes)?;
            self.block(index, &content, true)?;
        }
        self.stop(Some(wire.stop_reason.as_deref().unwrap_or("end_turn")));
        self.done = true;
        Ok(())
    }

    fn close(&mut self) -> Result<(), ModelError> {
        // The end mark alone does not say that the answer is whole.
        let finish = self.finish.take().ok_or_else(broken_off)?;
        let sealed = std::mem::take(&mut self.seals).finish();
        self.ready.extend(sealed.map(Delta::Sealed));
        if !self.calls.is_empty() {
            let cut = matches!(finish, FinishReason::Length | FinishReason::ContentFilter);
            let calls = std::mem::take(&mut self.calls).finish(cut);
            self.ready.push_back(Delta::Calls(calls));
        }
        self.ready.extend(self.usage.take().map(Delta::Usage));
        self.ready.push_back(Delta::Finish(finish));
        Ok(())
    }
}
