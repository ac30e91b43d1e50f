//! Web chat: a page and a WebSocket protocol in front of the gateway.
//!
//! One account is one site. [`build`] makes its adapter, [`WebChat::router`] the routes that the
//! gateway's HTTP server mounts; `docs/protocol.md` is the protocol. This crate never listens
//! by itself, trusts an id that a client made up, or turns text into markup anywhere but in `format`.

mod adapter;
mod address;
mod arrival;
mod card;
mod download;
mod draft;
mod files;
mod format;
mod history;
mod http;
mod hub;
mod identity;
mod incoming;
mod origin;
mod outgoing;
mod outlet;
mod pace;
mod preview;
mod quota;
mod rest;
mod room;
mod session;
mod settings;
mod socket;
mod submit;
mod texts;
mod token;
mod upload;

pub use adapter::{WebChat, build};
pub use format::Html;
pub use quota::Limits;
pub use rest::openapi;
pub use settings::{Settings, Timing};

/// The platform's name in agent.yaml and in every key.
pub const PLATFORM: &str = "webchat";

/// What a new agent.yaml says of the platform: the lines under its name.
pub const STARTER: &str = "\
# The page is served at / of http.listen.
accounts:
  default: {}
";
