//! The integration tests: one binary, everything through real sockets and real database files.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    reason = "in a test a broken assumption is a failed test"
)]

#[macro_use]
mod engine;

mod agents;
mod browser;
mod commands;
mod contract;
mod deploy;
mod discord;
mod durable;
mod ends;
mod errands;
mod example_adapter;
mod faults;
mod gateway;
mod hooks;
mod inbound_rules;
mod mcp;
mod memory;
mod observability;
mod paths;
mod postgres;
mod qq;
mod reasons;
mod redis;
mod reload;
mod secrets;
mod security;
mod sending;
mod several;
mod shell;
mod simulation;
mod skills;
mod soak;
mod startup;
mod store;
mod targets;
mod telegram;
mod tools;
mod turns;
mod webchat_adapter;
