//! Why the gateway did not start.

use crate::config::EXIT_CONFIG;

/// Why the gateway did not start. The text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration cannot work although it is well-formed.
    #[error("{0}")]
    Config(String),
    /// The store could not be opened.
    #[error(transparent)]
    Open(#[from] crate::store::sqlite::OpenError),
    /// The store on a server could not be opened.
    #[error(transparent)]
    OpenServer(#[from] crate::store::postgres::OpenError),
    /// The store failed while the gateway was starting.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
    /// The address of the web server cannot be used.
    #[error("cannot listen on {address} (http.listen): {error}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// What the system said.
        error: std::io::Error,
    },
}

impl StartError {
    /// Another process has the store.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        use crate::store::{postgres, sqlite};
        matches!(
            self,
            Self::Open(sqlite::OpenError::Locked { .. })
                | Self::OpenServer(postgres::OpenError::InUse { .. })
        )
    }

    /// The exit code: 78 for what the configuration can mend, else 1.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Listen { .. } => EXIT_CONFIG,
            Self::Open(_) | Self::OpenServer(_) | Self::Store(_) => 1,
        }
    }
}
