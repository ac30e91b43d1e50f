//! The gateway as an agent for other programs.
//!
//! One account is one agent. Whoever calls it is a person of the platform, known by a token or by the user of a Unix
//! socket, and what he calls session is a conversation: a call goes the way of everybody's messages. [`build`] makes the
//! adapter; `docs/agents.md` is the protocol. This crate never decides what a caller may do.

mod a2a;
mod acp;
mod adapter;
mod call;
mod callers;
mod fault;
mod format;
mod hub;
mod passed;
mod preview;
mod recall;
mod said;
pub mod settings;
mod submit;

pub use adapter::{Interop, build};
pub use format::Marked;
pub use settings::Settings;

/// The platform's name in agent.yaml and in every key.
pub const PLATFORM: &str = "interop";

/// What a new agent.yaml says of the platform: the lines under its name.
pub const STARTER: &str = "\
# This gateway as an agent for programs of the same user.
accounts:
  default:
    acp: {}
";
