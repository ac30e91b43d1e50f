//! How a store in a file is opened.
//!
//! Owns the options only; it never opens anything.

use std::path::PathBuf;

use super::{Durability, Retention};

/// How the store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// The database file; its folder is the data folder, made if it is missing.
    pub path: PathBuf,
    /// What a commit survives.
    pub durability: Durability,
    /// How long finished rows are kept.
    pub retention: Retention,
    /// Reading connections, at least 1.
    pub readers: u32,
    /// The time in milliseconds since 1970, for retention and the age of ambient messages.
    pub now: fn() -> i64,
}
