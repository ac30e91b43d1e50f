//! Why a store was not moved.
//!
//! Owns the texts. None of them holds an address or a password.

use std::path::PathBuf;

use crate::store::{postgres, sqlite};

/// Why a store was not moved.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// There is no file.
    #[error("there is no database at {0}")]
    NoSource(PathBuf),
    /// The data folder of the source cannot be used; above all, a gateway runs on it.
    #[error(transparent)]
    Source(#[from] sqlite::OpenError),
    /// An older version of the program wrote the source.
    #[error(
        "the database {path} has schema version {found}, and only version {known} can be moved\n  \
         hint: start the gateway on it once and stop it, which brings it up to date"
    )]
    Old {
        /// The database file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The version that can be moved.
        known: i64,
    },
    /// The source cannot be read.
    #[error(
        "the database {path} cannot be read: {reason}\n  hint: put a copy back if it is damaged"
    )]
    Read {
        /// The database file.
        path: PathBuf,
        /// What it said.
        reason: String,
    },
    /// The target cannot be opened; above all, a gateway runs on it.
    #[error(transparent)]
    Target(#[from] postgres::OpenError),
    /// The target has rows.
    #[error(
        "the database {address} is not empty: there is something in its table {table}\n  \
         hint: name an empty database or schema; nothing is ever mixed"
    )]
    NotEmpty {
        /// Host, port and database.
        address: String,
        /// The first table that has rows.
        table: &'static str,
    },
    /// The target did not take something.
    #[error(
        "the database {address} did not take it: {reason}\n  hint: it is as it was before; mend it and try again"
    )]
    Write {
        /// Host, port and database.
        address: String,
        /// What it said.
        reason: String,
    },
    /// The target has another number of rows than were read.
    #[error(
        "{found} rows of {table} arrived in the database {address}, and {sent} were sent; it is as it was \
         before"
    )]
    Count {
        /// Host, port and database.
        address: String,
        /// The table.
        table: &'static str,
        /// Rows that were sent.
        sent: u64,
        /// Rows that are there.
        found: u64,
    },
    /// The answer to the commit was lost.
    #[error(
        "the connection to the database {address} broke at the very end: {reason}\n  \
         hint: run it again; if it then says that the database is not empty, everything has arrived"
    )]
    Unsure {
        /// Host, port and database.
        address: String,
        /// What broke.
        reason: String,
    },
}
