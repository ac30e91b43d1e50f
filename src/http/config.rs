//! `http`: where the gateway listens for browsers, probes and metrics.
//!
//! Owns the section's keys and defaults. It never binds a socket.

use std::net::{Ipv4Addr, SocketAddr};

use weirgate_sdk::settings::{Fields, Secret, Setting};

use super::client::Network;
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
    /// Proxies whose word on who a client is counts.
    pub trusted_proxies: Vec<Network>,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8787)),
            public_url: None,
            admin_token: None,
            trusted_proxies: Vec::new(),
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
            trusted_proxies: networks(&fields.list("trusted_proxies")),
        };
        fields.finish();
        read
    }
}

fn networks(settings: &[Setting<'_>]) -> Vec<Network> {
    let network = |setting: &Setting<'_>| {
        let network = Network::parse(setting.word()?);
        if network.is_none() {
            let hint = "write an address or a network, such as 127.0.0.1 or 10.0.0.0/8";
            setting.invalid("not an address", Some(hint));
        }
        network
    };
    settings.iter().filter_map(network).collect()
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
