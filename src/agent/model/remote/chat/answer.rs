//! Assembles one answer from its events, or from one JSON object.
//!
//! Pure: text in, deltas out. Owns the rules for what counts as an answer: keep-alives are
//! skipped, an error inside a success is an error, usage counts once, an answer without a reason
//! for its end is broken off. It never touches the network.

use std::collections::VecDeque;

use super::super::super::calls::{self, Assembler};
use super::super::super::fault;
use super::super::super::sse::Event;
use super::super::super::think::{Piece, ThinkFilter};
use super::super::super::{Delta, FinishReason, ModelError, Usage};
use super::super::assemble::{Assemble, broken_off, count, other_reason, push_piece, unreadable};
use super::{self as wire, Choice, Chunk, Function, Part};

/// The state of one answer.
#[derive(Debug, Default)]
pub(in super::super) struct Answer {
    ready: VecDeque<Delta>,
    think: Option<ThinkFilter>,
    calls: Assembler,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    done: bool,
    bytes: usize,
}

impl Answer {
    /// An answer at its beginning; `markers`: the model mixes reasoning into its text.
    pub(in super::super) fn new(markers: bool) -> Self {
        Self {
            think: markers.then(ThinkFilter::new),
            ..Self::default()
        }
    }

    fn chunk(
        &mut self,
        chunk: &Chunk<'_>,
        data: &str,
        key: Option<&str>,
    ) -> Result<(), ModelError> {
        if chunk.error.is_some() || chunk.object.as_str() == "error" {
            return Err(fault::from_body(None, data, key));
        }
        // Some providers repeat the running total in every chunk: the last one counts.
        if let Some(usage) = chunk.usage.and_then(wire::usage) {
            self.usage = Some(usage);
        }
        for choice in chunk.choices.iter().flatten() {
            if choice.index.unwrap_or(0) == 0 {
                self.choice(choice)?;
            }
        }
        Ok(())
    }

    fn choice(&mut self, choice: &Choice<'_>) -> Result<(), ModelError> {
        if let Some(part) = choice.delta.as_ref().or(choice.message.as_ref()) {
            self.part(part)?;
        }
        let reason = choice.finish_reason.as_str();
        if !reason.is_empty() {
            self.finish = Some(match reason {
                "stop" | "end_turn" | "eos" => FinishReason::Stop,
                "length" | "max_tokens" => FinishReason::Length,
                "content_filter" | "sensitive" => FinishReason::ContentFilter,
                "tool_calls" | "function_call" => FinishReason::ToolCalls,
                other => other_reason(other),
            });
        }
        Ok(())
    }

    fn part(&mut self, part: &Part<'_>) -> Result<(), ModelError> {
        let reasoning = part
            .reasoning_content
            .0
            .as_ref()
            .or(part.reasoning.0.as_ref());
        let content = part.content.as_str();
        let content = if content.is_empty() {
            part.refusal.as_str()
        } else {
            content
        };
        let more = reasoning.map_or(0, |text| text.len()) + content.len() + self.called(part);
        count(&mut self.bytes, more)?;
        if let Some(reasoning) = reasoning {
            push_piece(&mut self.ready, Piece::Reasoning(reasoning));
        }
        if content.is_empty() {
            return Ok(());
        }
        match &mut self.think {
            Some(think) => think.push(content, |piece| push_piece(&mut self.ready, piece)),
            None => push_piece(&mut self.ready, Piece::Text(content)),
        }
        Ok(())
    }

    /// Takes the pieces of calls in a part; tells their bytes.
    fn called(&mut self, part: &Part<'_>) -> usize {
        let listed = part.tool_calls.iter().flatten();
        let older = part
            .function_call
            .iter()
            .map(|function| (Some(0), "", Some(function)));
        let pieces: Vec<_> = listed
            .map(|call| (call.index, call.id.as_str(), call.function.as_ref()))
            .chain(older)
            .map(|(index, id, function)| {
                let name = function.map(|function| function.name.as_str());
                let arguments = function.map(Function::arguments);
                (index, id, name, arguments)
            })
            .collect();
        if pieces.is_empty() {
            return 0;
        }
        let pieces: Vec<calls::Piece<'_>> = pieces
            .iter()
            .map(|(index, id, name, arguments)| calls::Piece {
                index: *index,
                id: Some(id),
                name: *name,
                arguments: arguments.as_deref(),
            })
            .collect();
        self.calls.event(&pieces);
        let bytes = |piece: &calls::Piece<'_>| {
            [piece.id, piece.name, piece.arguments]
                .iter()
                .map(|word| word.map_or(0, str::len))
                .sum::<usize>()
        };
        pieces.iter().map(bytes).sum()
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
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        if event.name == "error" {
            return Err(fault::from_body(None, data, key));
        }
        if !data.starts_with('{') {
            // A keep-alive that some proxies put where data belongs. If it replaced the answer,
            // the answer has no end, which is noticed.
            return Ok(());
        }
        let chunk = serde_json::from_str(data).map_err(unreadable)?;
        self.chunk(&chunk, data, key)
    }

    fn whole(&mut self, body: &str, key: Option<&str>) -> Result<(), ModelError> {
        let mut values = serde_json::Deserializer::from_str(body).into_iter::<Chunk<'_>>();
        match values.next() {
            Some(Ok(chunk)) if chunk.choices.is_some() || chunk.error.is_some() => {
                self.chunk(&chunk, body, key)?;
                self.finish.get_or_insert(FinishReason::Stop);
                self.done = true;
                Ok(())
            }
            Some(Err(error)) if error.is_eof() => Err(broken_off()),
            _ => Err(fault::from_body(None, body, key)),
        }
    }

    fn close(&mut self) -> Result<(), ModelError> {
        let finish = match self.finish.take() {
            Some(finish) => finish,
            None if self.done => FinishReason::Stop,
            None => return Err(broken_off()),
        };
        if let Some(mut think) = self.think.take() {
            let truncated = finish == FinishReason::Length;
            think.finish(truncated, |piece| push_piece(&mut self.ready, piece));
        }
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
