//! The official API for QQ bots: groups, private chats, guild channels and their direct messages.
//!
//! Owns the list of its parts. `settings`, `places`, `sign`, `receive`, `send` and `escape` are pure;
//! `session` and `webhook` are the two ways in, `api` (with `token`) is the way out, `bot` the adapter, and
//! `media`, `moderate`, `press` and `stream` are its abilities beyond sending. Every answer draws on what one message of a person allows; what that is goes with the
//! message as its reply context, so that an answer can be fitted before it is split.

pub mod api;
pub mod bot;
pub mod check;
pub mod escape;
pub mod intake;
pub mod media;
pub mod moderate;
pub mod parts;
pub mod places;
pub mod press;
pub mod receive;
pub mod send;
pub mod session;
pub mod settings;
pub mod sign;
pub mod standing;
pub mod stream;
pub mod token;
pub mod webhook;
