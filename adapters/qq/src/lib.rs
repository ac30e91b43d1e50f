//! QQ: personal accounts through OneBot v11 (over WebSocket, whoever connects to whom, or over HTTP), and
//! official bots through the platform's own API (over its gateway connection or a webhook).
//!
//! Owns the adapter of one QQ account of either kind: its settings, its connections, the decoding of events
//! and the form of answers. It never writes a CQ string, never repeats a send, and never acknowledges what
//! is not accepted; OneBot has no acknowledgement, so what was read there is kept until accepted.

pub mod account;
pub mod format;
mod intake;
mod key;
pub mod official;
mod onebot;
mod qq;
pub mod settings;
mod web;

use std::sync::Arc;

pub use official::bot::Official;
pub use qq::Qq;
pub use settings::Settings;
use weirgate_sdk::Setup;

/// The platform's name, as agent.yaml spells it. Stored: never rename it.
pub const PLATFORM: &str = "qq";

/// What a new agent.yaml says of the platform: the lines under its name.
pub const STARTER: &str = "\
accounts:
  main:
    # Where the OneBot implementation connects to (reverse WebSocket).
    listen: 127.0.0.1:6199
    # What it must present; needed when listening beyond 127.0.0.1.
    # token: ${QQ_TOKEN}
";

/// The adapter of one official bot.
#[must_use]
pub fn official(setup: &Setup, settings: official::settings::Settings) -> Arc<Official> {
    Arc::new(Official::new(setup, settings))
}

/// The adapter of one account that is reached through OneBot. It listens from [`Qq::bind`] or the start of its run.
#[must_use]
pub fn build(setup: Setup, settings: Settings) -> Arc<Qq> {
    Arc::new(Qq::new(&setup, settings))
}
