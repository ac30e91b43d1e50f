//! What an adapter finds when an operator asks whether its account can work.
//!
//! Owns the findings. The gateway puts them into words, in the operator's language.

use std::net::SocketAddr;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The address to listen on is free.
    CanListen(SocketAddr),
    /// Somebody listens there already: this account itself, if the gateway runs.
    InUse(SocketAddr),
    /// Nobody can listen there.
    CannotListen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        error: String,
    },
    /// Whoever reaches the address is believed: no token is set.
    NoToken(SocketAddr),
}

impl Finding {
    /// Looks whether an address can be listened on, by doing so for a moment.
    #[must_use]
    pub fn listen(address: SocketAddr) -> Self {
        match std::net::TcpListener::bind(address) {
            Ok(_) => Self::CanListen(address),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Self::InUse(address),
            Err(error) => Self::CannotListen {
                address,
                error: error.to_string(),
            },
        }
    }
}
