//! QQ through OneBot v11: over WebSocket, whoever connects to whom, or over HTTP.
//!
//! Owns the adapter of one QQ account: its settings, the connections of the OneBot implementation, the
//! decoding of events and the form of answers. It never writes a CQ string, never repeats a send, and
//! never acknowledges anything: OneBot has no acknowledgement, so what was read is kept until accepted.

pub mod format;
mod onebot;
mod qq;
pub mod settings;

use std::sync::Arc;

pub use qq::Qq;
pub use settings::Settings;
use weirgate_sdk::Setup;

/// The platform's name, as agent.yaml spells it. Stored: never rename it.
pub const PLATFORM: &str = "qq";

/// The adapter of one account. It listens from [`Qq::bind`] or the start of its run.
#[must_use]
pub fn build(setup: Setup, settings: Settings) -> Arc<Qq> {
    Arc::new(Qq::new(&setup, settings))
}
