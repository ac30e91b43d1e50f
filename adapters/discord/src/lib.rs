//! Discord: events through its gateway connection, answers through its HTTP API.
//!
//! Owns the adapter of one bot: its settings, the connection, the reading of events and the form of answers.
//! Requests and numbers are the types of `serenity`; its gateway client is not used, because it hands events on in
//! tasks that overtake each other and keeps the position to resume from to itself, and neither are its types for
//! incoming messages, because one field that they do not expect hides the whole message. This crate never lets a
//! mention in an answer reach anybody, never repeats a send whose outcome is unknown, and never stores a position
//! that is not accepted.

mod api;
mod buttons;
mod channels;
mod check;
mod discord;
mod download;
pub mod format;
mod intake;
mod interaction;
mod leftover;
mod menu;
mod missed;
mod moderate;
mod pauses;
mod places;
mod position;
mod receive;
mod send;
mod server;
mod session;
pub mod settings;
mod stream;
mod upload;

use std::sync::Arc;

pub use discord::Discord;
pub use settings::Settings;
use weirgate_sdk::Setup;

/// The platform's name, as agent.yaml spells it. Stored: never rename it.
pub const PLATFORM: &str = "discord";

/// What a new agent.yaml says of the platform: the lines under its name.
pub const STARTER: &str = "\
accounts:
  main:
    # The bot's token from the developer portal (Bot > Reset Token), or token_file.
    token: ${DISCORD_TOKEN}
";

/// The adapter of one account.
#[must_use]
pub fn build(setup: Setup, settings: Settings) -> Arc<Discord> {
    Arc::new(Discord::new(&setup, settings))
}
