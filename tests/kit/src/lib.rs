//! The test kit: fakes that are real servers, a virtual clock, and the contract suite of adapters.
//!
//! Everything listens on loopback and stops when dropped. Never part of the gateway.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test kit a broken assumption is a failed test"
)]

pub mod browser;
pub mod clock;
pub mod contract;
pub mod discord;
mod exchange;
pub mod ingress;
pub mod lines;
pub mod model;
pub mod onebot;
pub mod qq;
pub mod scripted;
mod server;
pub mod telegram;
pub mod upload;
pub mod webchat;
