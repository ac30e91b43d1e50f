//! What the calls are in a build without traces: nothing.

use super::super::config::Traces;
use super::{EndedRequest, EndedTurn, SentPart};
use crate::security::redact::Redactor;
use std::time::Duration;

/// Nothing is exported.
#[derive(Debug)]
pub struct Tracing(());

impl Tracing {
    /// Nothing waits.
    pub async fn finish(self) {}
}

/// Never starts anything; a configuration that asks for traces is refused when it is read.
///
/// # Errors
/// None.
pub fn install(_: Option<&Traces>, _: &[u8; 32], _: Redactor) -> Result<Option<Tracing>, String> {
    Ok(None)
}

/// Does nothing.
pub fn set_redactor(_: Redactor) {}

/// Does nothing.
pub fn accepted(_: i64, _: Duration) {}

/// Does nothing.
pub fn queued(_: i64, _: i64, _: Duration) {}

/// Does nothing.
pub fn turn_ended(_: &EndedTurn<'_>) {}

/// Does nothing.
pub fn model_request(_: &EndedRequest<'_>) {}

/// Does nothing.
pub fn sent(_: &SentPart<'_>) {}
