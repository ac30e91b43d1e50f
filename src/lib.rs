//! Weirgate: a chat bot gateway. Group chats and web chat in front of a language model, durable from
//! end to end.
//!
//! The path of a message: an adapter hands events to [`inbound`], which journals them in the [`store`]
//! and queues them; [`schedule`] chooses whose turn is next; the [`agent`] runs it, as a [`command`] or
//! with a model; [`outbound`] delivers the answer. `ARCHITECTURE.md` tells the whole story.

pub mod agent;
pub mod app;
pub mod cli;
pub mod clock;
pub mod command;
pub mod config;
pub mod current;
pub mod directory;
pub mod doctor;
mod hex;
pub mod hook;
pub mod http;
pub mod i18n;
pub mod inbound;
pub mod media;
pub mod operate;
pub mod outbound;
pub mod pending;
pub mod permission;
pub mod reason;
pub mod sandbox;
pub mod schedule;
pub mod security;
pub mod store;
pub mod telemetry;
pub mod trace;
