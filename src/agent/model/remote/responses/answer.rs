//! Assembles one answer of the responses format from its events, or from one JSON object.
//!
//! Pure: text in, deltas out. Only the event that tells the state of the whole answer ends it. What came in pieces is
//! not taken again from the whole. Events and items of kinds that are not known are skipped. It never touches the
//! network.

use std::collections::{HashSet, VecDeque};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::super::{
    Delta, FinishReason, ModelError, Usage, fault, sse::Event, think::Piece,
};
use super::super::assemble::{
    Assemble, MAX_SEALED_BYTES, broken_off, count, other_reason, push_piece, unreadable,
};
use super::calls::{Calls, Told};

/// Kinds of events that say something; the format may get others at any time.
const KNOWN: [&str; 11] = [
    "response.output_text.delta",
    "response.refusal.delta",
    "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.output_item.added",
    "response.output_item.done",
    "response.completed",
    "response.incomplete",
    "response.failed",
];

/// What an event is.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "type", default)]
    kind: &'a str,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// One event of a stream.
#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(default)]
    item_id: Option<String>,
    #[serde(default)]
    output_index: Option<i64>,
    #[serde(default)]
    summary_index: Option<i64>,
    #[serde(default)]
    delta: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
    #[serde(borrow, default)]
    item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
}

/// One item of an answer.
#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    call_id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
    #[serde(default)]
    content: Option<Vec<Part>>,
    #[serde(default)]
    summary: Option<Vec<Part>>,
    #[serde(default)]
    encrypted_content: Option<String>,
}

/// A part of an item.
#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

impl Part {
    fn text(&self) -> &str {
        let text = self.text.as_deref().or(self.refusal.as_deref());
        text.unwrap_or_default()
    }
}

/// An answer as a whole.
#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(default)]
    status: Option<String>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    incomplete_details: Option<Incomplete>,
    #[serde(default)]
    usage: Option<Counted>,
}

#[derive(Deserialize)]
struct Incomplete {
    #[serde(default)]
    reason: Option<String>,
}

/// Input counts what the provider had at hand already, too.
#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    total_tokens: Option<u64>,
    #[serde(default)]
    input_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

/// Where pieces of one kind came from so far.
#[derive(Debug, Default)]
struct Taken {
    /// Some came by themselves.
    streamed: bool,
    /// The part that the newest one belongs to.
    newest: Option<(Option<i64>, Option<i64>)>,
    /// Items that were taken as a whole.
    whole: HashSet<Option<i64>>,
}

impl Taken {
    /// A piece of a part comes; says whether it is another part than before.
    fn is_next(&mut self, part: (Option<i64>, Option<i64>)) -> bool {
        self.newest
            .replace(part)
            .is_some_and(|before| before != part)
    }
}

/// The state of one answer.
#[derive(Debug, Default)]
pub(in super::super) struct Answer {
    ready: VecDeque<Delta>,
    calls: Calls,
    words: Taken,
    thoughts: Taken,
    /// Ids of items whose reasoning is among `sealed`.
    sealed_ids: HashSet<String>,
    sealed: Vec<String>,
    sealed_bytes: usize,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    done: bool,
    bytes: usize,
}

impl Answer {
    fn take(&mut self, kind: &str, wire: &Wire<'_>, key: Option<&str>) -> Result<(), ModelError> {
        let delta = wire.delta.as_deref().unwrap_or_default();
        let told = Told {
            place: wire.output_index,
            item: wire.item_id.as_deref().unwrap_or_default(),
            ..Told::default()
        };
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.words.streamed = true;
                self.say((wire.output_index, None), delta)
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.thoughts.streamed = true;
                self.think((wire.output_index, wire.summary_index), delta)
            }
            "response.function_call_arguments.delta" => {
                count(&mut self.bytes, delta.len())?;
                self.calls.piece(told, delta);
                Ok(())
            }
            "response.function_call_arguments.done" => {
                let whole = wire.arguments.as_deref().unwrap_or_default();
                count(&mut self.bytes, whole.len())?;
                self.calls.whole(told, whole);
                Ok(())
            }
            "response.output_item.added" => self.item(wire.output_index, wire.item, false),
            "response.output_item.done" => self.item(wire.output_index, wire.item, true),
            "response.completed" | "response.incomplete" | "response.failed" => {
                let body = wire.response.map_or("{}", RawValue::get);
                self.end(body, kind.strip_prefix("response."), key)
            }
            _ => Ok(()),
        }
    }

    fn say(&mut self, part: (Option<i64>, Option<i64>), text: &str) -> Result<(), ModelError> {
        if text.is_empty() {
            return Ok(());
        }
        count(&mut self.bytes, text.len())?;
        if self.words.is_next(part) {
            push_piece(&mut self.ready, Piece::Text("\n\n"));
        }
        push_piece(&mut self.ready, Piece::Text(text));
        Ok(())
    }

    fn think(&mut self, part: (Option<i64>, Option<i64>), text: &str) -> Result<(), ModelError> {
        if text.is_empty() {
            return Ok(());
        }
        count(&mut self.bytes, text.len())?;
        if self.thoughts.is_next(part) {
            push_piece(&mut self.ready, Piece::Reasoning("\n\n"));
        }
        push_piece(&mut self.ready, Piece::Reasoning(text));
        Ok(())
    }

    /// An item at its beginning or, if it is `whole`, at its end.
    fn item(
        &mut self,
        place: Option<i64>,
        raw: Option<&RawValue>,
        whole: bool,
    ) -> Result<(), ModelError> {
        let Some(raw) = raw else { return Ok(()) };
        let item: Item = serde_json::from_str(raw.get()).map_err(unreadable)?;
        match item.kind.as_str() {
            "function_call" => {
                let arguments = whole.then(|| item.arguments.as_deref().unwrap_or_default());
                let words = [&item.id, &item.call_id, &item.name];
                let [id, call, name] = words.map(|word| word.as_deref().unwrap_or_default());
                let bytes = id.len() + call.len() + name.len() + arguments.map_or(0, str::len);
                count(&mut self.bytes, bytes)?;
                let told = Told {
                    place,
                    item: id,
                    call,
                    name,
                };
                self.calls.item(told, arguments);
            }
            "message" if whole && !self.words.streamed && self.words.whole.insert(place) => {
                for part in item.content.iter().flatten() {
                    self.say((place, None), part.text())?;
                }
            }
            "reasoning" if whole => self.reasoning(place, &item)?,
            _ => {}
        }
        Ok(())
    }

    fn reasoning(&mut self, place: Option<i64>, item: &Item) -> Result<(), ModelError> {
        if !self.thoughts.streamed && self.thoughts.whole.insert(place) {
            for (index, part) in (0_i64..).zip(item.summary.iter().flatten()) {
                self.think((place, Some(index)), part.text())?;
            }
        }
        let (Some(id), Some(sealed)) = (&item.id, &item.encrypted_content) else {
            return Ok(());
        };
        if !self.sealed_ids.insert(id.clone()) {
            return Ok(());
        }
        let summary = item.summary.iter().flatten();
        let summary: Vec<_> = summary
            .map(|part| serde_json::json!({"type": "summary_text", "text": part.text()}))
            .collect();
        let kept = serde_json::json!({"type": "reasoning", "id": id, "summary": summary,
            "encrypted_content": sealed});
        let kept = kept.to_string();
        count(&mut self.bytes, kept.len())?;
        self.sealed_bytes = self.sealed_bytes.saturating_add(kept.len());
        self.sealed.push(kept);
        Ok(())
    }

    /// The state of the whole answer, which is its end. `kind` is what the event says of it.
    fn end(&mut self, body: &str, kind: Option<&str>, key: Option<&str>) -> Result<(), ModelError> {
        let whole: Whole<'_> = serde_json::from_str(body).map_err(unreadable)?;
        let status = whole.status.as_deref().or(kind).unwrap_or_default();
        if whole.error.is_some() || !matches!(status, "completed" | "incomplete") {
            return Err(fault::from_body(None, body, key));
        }
        for (place, item) in (0_i64..).zip(whole.output.iter().flatten()) {
            self.item(Some(place), Some(item), true)?;
        }
        self.usage = whole.usage.map(|counted| {
            let prompt = counted.input_tokens.unwrap_or(0);
            let completion = counted.output_tokens.unwrap_or(0);
            let sum = prompt.saturating_add(completion);
            let details = counted.input_tokens_details;
            Usage {
                prompt,
                completion,
                total: counted.total_tokens.unwrap_or(sum),
                cached: details.and_then(|one| one.cached_tokens).unwrap_or(0),
                cache_written: 0,
            }
        });
        let reason = whole.incomplete_details.and_then(|details| details.reason);
        self.finish = Some(match (status, reason.as_deref()) {
            ("completed", _) if self.calls.is_empty() => FinishReason::Stop,
            ("completed", _) => FinishReason::ToolCalls,
            (_, Some("max_output_tokens" | "max_tokens")) => FinishReason::Length,
            (_, Some("content_filter")) => FinishReason::ContentFilter,
            (_, reason) => other_reason(reason.unwrap_or("incomplete")),
        });
        self.done = true;
        Ok(())
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
        if data == "[DONE]" {
            // Some servers end with it; it does not say that the answer is whole.
            self.done = true;
        }
        if self.done || !data.starts_with('{') {
            return Ok(());
        }
        let Kind { kind, error } = serde_json::from_str(data).map_err(unreadable)?;
        if event.name == "error" || kind == "error" || (kind.is_empty() && error.is_some()) {
            return Err(fault::from_body(None, data, key));
        }
        if !KNOWN.contains(&kind) {
            return Ok(());
        }
        let wire = serde_json::from_str(data).map_err(unreadable)?;
        self.take(kind, &wire, key)
    }

    fn whole(&mut self, body: &str, key: Option<&str>) -> Result<(), ModelError> {
        match serde_json::from_str::<Whole<'_>>(body) {
            Ok(whole) if whole.output.is_some() => self.end(body, None, key),
            Err(error) if error.is_eof() => Err(broken_off()),
            _ => Err(fault::from_body(None, body, key)),
        }
    }

    fn close(&mut self) -> Result<(), ModelError> {
        let finish = self.finish.take().ok_or_else(broken_off)?;
        if !self.sealed.is_empty() && self.sealed_bytes <= MAX_SEALED_BYTES {
            let items = format!("[{}]", self.sealed.join(","));
            self.ready.push_back(Delta::Sealed(items));
        }
        if !self.calls.is_empty() {
            let cut = !matches!(finish, FinishReason::Stop | FinishReason::ToolCalls);
            let calls = std::mem::take(&mut self.calls).finish(cut);
            self.ready.push_back(Delta::Calls(calls));
        }
        self.ready.extend(self.usage.take().map(Delta::Usage));
        self.ready.push_back(Delta::Finish(finish));
        Ok(())
    }
}
