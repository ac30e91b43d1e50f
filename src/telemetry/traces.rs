//! Traces of turns for an OpenTelemetry collector: accepted, waited, asked the model, sent.
//!
//! Owns what a span says. Ids are computed from the turn's own id, so that whoever knows a turn (the
//! deliverer after a restart, another process on the same database) adds to the same trace and nothing
//! has to be carried along. Before [`install`] and in builds without the feature `otel` all calls do
//! nothing. Words of people and of models are never in a span.

#[cfg(feature = "otel")]
mod encode;
#[cfg(feature = "otel")]
mod export;
#[cfg(feature = "otel")]
mod ids;
#[cfg(feature = "otel")]
mod record;
#[cfg(not(feature = "otel"))]
mod without;

#[cfg(feature = "otel")]
pub use record::{
    Tracing, accepted, install, model_request, queued, sent, set_redactor, turn_ended,
};
#[cfg(not(feature = "otel"))]
pub use without::{
    Tracing, accepted, install, model_request, queued, sent, set_redactor, turn_ended,
};

/// Whether this build can export traces.
pub const AVAILABLE: bool = cfg!(feature = "otel");

/// How long the last spans may take to leave when the gateway stops.
pub const FINISH: std::time::Duration = std::time::Duration::from_secs(3);

/// A turn that ended.
#[derive(Debug)]
pub struct EndedTurn<'a> {
    /// The turn.
    pub turn: i64,
    /// The other messages that it answered.
    pub merged: &'a [i64],
    /// Platform and account.
    pub account: (&'a str, &'a str),
    /// It was a command.
    pub command: bool,
    /// How it ended.
    pub outcome: &'static str,
    /// It ended with an error.
    pub failed: bool,
    /// Since its first message was accepted.
    pub took: std::time::Duration,
}

/// A request to a model that ended.
#[derive(Debug)]
pub struct EndedRequest<'a> {
    /// The turn, as people see it.
    pub turn: &'a str,
    /// The provider's id.
    pub provider: &'a str,
    /// The model, as `provider/model`.
    pub model: &'a str,
    /// Which request of the turn it was, the first being 1.
    pub attempt: u32,
    /// Tokens of the request and of the answer, if they were counted.
    pub tokens: Option<(u64, u64)>,
    /// The class of the error, if it failed.
    pub error: Option<&'static str>,
    /// Since it was sent.
    pub took: std::time::Duration,
}

/// One attempt to send a part.
#[derive(Debug)]
pub struct SentPart<'a> {
    /// The turn that the reply belongs to.
    pub turn: i64,
    /// The part's number, the first being 0, and how many there are.
    pub part: (u32, u32),
    /// The platform.
    pub platform: &'a str,
    /// What the platform said.
    pub outcome: &'static str,
    /// Since the send began.
    pub took: std::time::Duration,
}
