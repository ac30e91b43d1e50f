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
    /// The other side was reached, and says for whom it speaks.
    Reached {
        /// Its address, without secrets.
        address: String,
        /// The bot's id on the platform.
        bot: String,
        /// The bot is logged in, as far as the other side tells.
        online: bool,
    },
    /// The other side was reached and does not take the token.
    TokenRefused {
        /// Its address, without secrets.
        address: String,
    },
    /// The other side was not reached, or is not what it should be.
    NotReached {
        /// Its address, without secrets.
        address: String,
        /// Why, in one short line without secrets.
        error: String,
    },
    /// The platform does not give what the configuration asks for.
    NotGranted {
        /// What, by the platform's name for it.
        what: String,
        /// The key that asks for it.
        key: String,
    },
    /// In groups the account hears only what is said to it.
    HearsOnlyItself,
    /// The platform posts the account's events to somebody else: the host.
    PostedElsewhere(String),
    /// The platform could not post the account's events here. What it says of the last time.
    NotPosted(String),
    /// The platform needs to know how it reaches the gateway, and `http.public_url` does not say.
    NoPublicUrl,
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
