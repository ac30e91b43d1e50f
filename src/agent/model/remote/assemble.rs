//! What makes an answer of events, in whatever format they are.
//!
//! Owns the interface between the clock of an answer (`stream`) and the formats. Pure.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::{
    Delta, ErrorClass, FinishReason, ModelError, fault::bounded, sse::Event, think::Piece,
};

/// Most characters kept of a finish reason of the provider's own.
const MAX_REASON_CHARS: usize = 40;

/// Most bytes of one answer, reasoning and calls included.
pub(super) const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// Most bytes of reasoning that only its model can read; more of it is not sent back.
pub(super) const MAX_SEALED_BYTES: usize = 512 * 1024;

/// One answer on its way. `key` is masked in errors.
pub(super) trait Assemble: Send {
    /// The next delta that is ready.
    fn pop(&mut self) -> Option<Delta>;

    /// The model has said why it stopped; at most its usage is still to come.
    fn has_finished(&self) -> bool;

    /// The end marker of the stream was seen.
    fn is_done(&self) -> bool;

    /// Takes one event of a stream.
    fn event(&mut self, event: &Event<'_>, key: Option<&str>) -> Result<(), ModelError>;

    /// Takes a whole answer that came as one JSON value.
    fn whole(&mut self, body: &str, key: Option<&str>) -> Result<(), ModelError>;

    /// Ends the answer: the last deltas become ready.
    fn close(&mut self) -> Result<(), ModelError>;
}

/// The answer has no end.
pub(super) fn broken_off() -> ModelError {
    ModelError::new(ErrorClass::Network, "the answer broke off before its end")
}

/// An event is not of the format.
pub(super) fn unreadable(_: serde_json::Error) -> ModelError {
    ModelError::new(ErrorClass::Api, "the provider sent an unreadable event")
}

/// Counts the bytes of an answer.
pub(super) fn count(so_far: &mut usize, more: usize) -> Result<(), ModelError> {
    *so_far = so_far.saturating_add(more);
    if *so_far > MAX_ANSWER_BYTES {
        let message = format!("the answer is longer than {MAX_ANSWER_BYTES} bytes");
        return Err(ModelError::new(ErrorClass::Api, &message).permanent());
    }
    Ok(())
}

/// A reason of the provider's own for the end of an answer.
pub(super) fn other_reason(reason: &str) -> FinishReason {
    FinishReason::Other(bounded(reason, MAX_REASON_CHARS))
}

/// Adds a piece; pieces of one kind that came in one read are joined.
pub(super) fn push_piece(ready: &mut VecDeque<Delta>, piece: Piece<'_>) {
    match (ready.back_mut(), piece) {
        (Some(Delta::Text(last)), Piece::Text(more))
        | (Some(Delta::Reasoning(last)), Piece::Reasoning(more)) => last.push_str(more),
        (_, Piece::Text(text)) => ready.push_back(Delta::Text(text.to_owned())),
        (_, Piece::Reasoning(text)) => ready.push_back(Delta::Reasoning(text.to_owned())),
    }
}

/// The kind of a block or an item.
pub(super) fn kind(block: &RawValue) -> &str {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(rename = "type", borrow, default)]
        kind: &'a str,
    }
    let kind = serde_json::from_str::<Kind<'_>>(block.get());
    kind.map(|kind| kind.kind).unwrap_or_default()
}
