//! What a process that shares its database with others asks for, and what it gets.
//!
//! Owns the values only; `docs/decisions/0009-several-processes.md` says what they mean.

use weirgate_sdk::{AccountName, Platform};

use super::LastStop;

/// An account in whose name a process would receive and send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The platform.
    pub platform: Platform,
    /// The account.
    pub account: AccountName,
    /// Every process does so, each for those who come to it; else only one at a time.
    pub shared: bool,
}

/// A lease that is this process's from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The account.
    pub wanted: Wanted,
    /// The lease.
    pub lease: i64,
    /// How the process ended that had it before.
    pub before: LastStop,
}

/// What came of a look at the leases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    /// What this process holds since now.
    pub taken: Vec<Taken>,
    /// A holder has lost its connection to the database: what it has is free in a moment, unless it comes back.
    pub expiring: bool,
}
