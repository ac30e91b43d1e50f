//! `http`: where the gateway listens for browsers, probes and metrics.
//!
//! Owns the section's keys and defaults. It never binds a socket.

use std::net::{Ipv4Addr, SocketAddr};

use weirgate_sdk::settings::{Fields, Secret, Setting};

use crate::config::address;

/// The section `http`.
#[derive(Debug, Clone, PartialEq)]
pub struct Http {
    /// Address and port; port 0 takes any free one.
    pub listen: SocketAddr,
    /// How the outside reaches the gateway, without a slash at the end.
    pub public_url: Option<String>,
    /// From `admin_token_file`: what opens /metrics to others than this machine.
    pub admin_token: Option<Secret>,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8787)),
            public_url: None,
            admin_token: None,
        }
    }
}

impl Http {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            listen: fields
                .get("listen")
                .and_then(|s| listen(&s))
                .unwrap_or(default.listen),
            public_url: fields
                .get("public_url")
                .and_then(|setting| address::base_url(&setting)),
            admin_token: fields.get("admin_token_file").and_then(|s| s.secret_file()),
        };
        fields.refused("trusted_proxies", "is not available in this version");
        fields.finish();
        read
    }
}

fn listen(setting: &Setting<'_>) -> Option<SocketAddr> {
    let text = setting.word()?;
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let hint = "write an IP address and a port, such as \"127.0.0.1:8787\" or \"[::]:8787\"";
    setting.invalid("not an address to listen on", Some(hint));
    None
}
