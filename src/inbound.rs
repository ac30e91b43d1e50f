//! Inbound: from a platform's event to a journaled message in a bounded queue.
//!
//! Owns acceptance, dedupe, addressing, the keying of queues, overflow, edits and recalls, and the
//! notices about what is not answered. It never runs a turn and never talks to a platform.

pub mod accept;
pub mod addressing;
pub mod body;
pub mod burst;
pub mod config;
pub mod keying;
pub mod notice;
pub mod queue;
pub mod recover;
pub mod route;
#[cfg(test)]
mod sample;
pub mod sent;
pub mod sweep;
