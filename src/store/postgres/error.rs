//! Why a database cannot be opened, and what an error says about a transaction.
//!
//! Owns the sorting of errors. No text here holds an address or a password.

/// Why the store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address cannot be read. It is not shown, because it may hold a password.
    #[error(
        "storage.url is no address of a PostgreSQL database\n  \
         hint: write postgres://user:password@host:5432/database, with special characters of the \
         password as %XX"
    )]
    Address,
    /// The server does not answer, or does not let us in.
    #[error(
        "the database {address} cannot be reached: {reason}\n  \
         hint: check storage.url (host, port, user, password, database) and that the server runs"
    )]
    Unreachable {
        /// Host, port and database.
        address: String,
        /// What was said.
        reason: String,
    },
    /// Another process has it.
    #[error(
        "the database {address} is in use by another process\n  \
         hint: stop that process, or give this one a database or schema of its own"
    )]
    InUse {
        /// Host, port and database.
        address: String,
    },
    /// A newer version of the program wrote it.
    #[error(
        "the database {address} has schema version {found}, and this program knows versions up to \
         {known}\n  hint: start the newer program, or put back a copy that was made before the update"
    )]
    Newer {
        /// Host, port and database.
        address: String,
        /// Its version.
        found: i64,
        /// The newest known version.
        known: i64,
    },
    /// The database failed.
    #[error("the database {address} cannot be used: {reason}")]
    Database {
        /// Host, port and database.
        address: String,
        /// What it said.
        reason: String,
    },
}

/// What an error means for the transaction in which it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The server refused this very statement: another one may pass.
    Statement,
    /// The server can write nothing now, or waited too long: others would fare alike.
    Everything,
    /// The connection is gone, and with it any answer.
    Connection,
}

/// Reads an error.
pub fn meaning(error: &sqlx::Error) -> Meaning {
    let sqlx::Error::Database(refusal) = error else {
        return match error {
            sqlx::Error::Encode(_)
            | sqlx::Error::Decode(_)
            | sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::RowNotFound
            | sqlx::Error::TypeNotFound { .. } => Meaning::Statement,
            _ => Meaning::Connection,
        };
    };
    let code = refusal.code().unwrap_or_default();
    match &*code {
        // Shut down by an administrator or a crash, a session ended by the server, or not up yet.
        "57P01" | "57P02" | "57P03" | "57P05" | "25P03" => Meaning::Connection,
        // Read-only, a lock that was not to be had, a statement that was stopped, deadlock.
        "25006" | "55P03" | "57014" | "40P01" | "40001" => Meaning::Everything,
        // Connection faults; resources that are used up, internal faults.
        code if code.starts_with("08") => Meaning::Connection,
        code if ["53", "58", "XX"]
            .iter()
            .any(|class| code.starts_with(class)) =>
        {
            Meaning::Everything
        }
        _ => Meaning::Statement,
    }
}

#[cfg(test)]
mod tests {
    use super::{Meaning, meaning};

    #[test]
    fn what_a_client_notices_of_a_connection_is_no_refusal() {
        let broken = sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into());
        assert_eq!(meaning(&broken), Meaning::Connection);
        assert_eq!(
            meaning(&sqlx::Error::Protocol("cut".to_owned())),
            Meaning::Connection
        );
        let encoded = sqlx::Error::Encode("too large".into());
        assert_eq!(meaning(&encoded), Meaning::Statement);
    }
}
