//! The integration tests: one binary, everything through real sockets and real database files.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice,
    reason = "in a test a broken assumption is a failed test"
)]

mod contract;
mod example_adapter;
mod qq;
mod store;
mod webchat_adapter;
