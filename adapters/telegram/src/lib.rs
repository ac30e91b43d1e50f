//! Telegram through its Bot API: updates by long polling or webhook, answers as plain text with entities.
//!
//! Owns the adapter of one bot: its settings, the calls, the reading of updates and the form of answers. Requests
//! are the payload types of `teloxide-core`; its dispatcher is not used, because it acknowledges before the work
//! is done, and neither are its types for incoming messages, because they read what they do not know as an empty
//! message. This crate never writes markup, never repeats a send whose outcome is unknown, and never acknowledges
//! an update that is not accepted.

mod albums;
mod api;
mod buttons;
mod check;
mod connect;
mod download;
mod floods;
pub mod format;
mod handles;
mod leave;
mod members;
mod menu;
mod moderate;
mod moves;
mod places;
mod poll;
mod receive;
mod send;
pub mod settings;
mod stream;
mod telegram;
mod upload;
mod webhook;
mod window;

use std::sync::Arc;

pub use settings::Settings;
pub use telegram::Telegram;
use weirgate_sdk::Setup;

/// The platform's name, as agent.yaml spells it. Stored: never rename it.
pub const PLATFORM: &str = "telegram";

/// What a new agent.yaml says of the platform: the lines under its name.
pub const STARTER: &str = "\
accounts:
  main:
    # What @BotFather gave you for the bot, or token_file.
    token: ${TELEGRAM_TOKEN}
";

/// The adapter of one account.
#[must_use]
pub fn build(setup: Setup, settings: Settings) -> Arc<Telegram> {
    Arc::new(Telegram::new(&setup, settings))
}
