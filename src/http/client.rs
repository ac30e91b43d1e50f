//! Who a request comes from: the peer, or behind a proxy that the operator trusts the client that it names.
//!
//! Owns the reading of X-Forwarded-For. What a client writes into it by himself is never believed: only what trusted
//! proxies have added counts, from the last of them back to the first address that is none. Where nobody can tell,
//! nothing is said.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    extract::{ConnectInfo, Request, State},
    http::HeaderMap,
    middleware::Next,
    response::Response,
};
use weirgate_sdk::ClientAddress;

/// Where proxies write whom they speak for.
const HEADER: &str = "x-forwarded-for";
/// Addresses of a header that are looked at, from the last.
const MOST: usize = 32;

/// A range of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// How many bits from the first are the network's.
    bits: u32,
}

impl Network {
    /// Reads `10.0.0.0/8`, `fd00::/8`, or a single address.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= most)?,
            None => most,
        };
        Some(Self { address, bits })
    }

    /// Whether an address is in it.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let differs = match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros()
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros()
            }
            _ => return false,
        };
        differs >= self.bits
    }
}

/// The client of a request; `None` where nobody can tell: a proxy on this machine or in its own network speaks for
/// somebody, and is not trusted.
fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> Option<IpAddr> {
    let peer = peer.to_canonical();
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    if !is_trusted(peer) {
        let speaks_for_another = headers.contains_key(HEADER) && is_near(peer);
        return (!speaks_for_another).then_some(peer);
    }
    let values: Vec<&str> = headers
        .get_all(HEADER)
        .iter()
        .map(|value| value.to_str().unwrap_or_default())
        .collect();
    let mut client = peer;
    for entry in values
        .iter()
        .rev()
        .flat_map(|value| value.rsplit(','))
        .take(MOST)
    {
        // What cannot be read was not written by a proxy that could be trusted.
        let Some(address) = address(entry.trim()) else {
            break;
        };
        client = address;
        if !is_trusted(address) {
            break;
        }
    }
    Some(client)
}

/// An address, as proxies write it: maybe with a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let plain = bare.unwrap_or(text).parse::<IpAddr>().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|it| it.ip());
    plain.or_else(with_port).map(|it| it.to_canonical())
}

/// Addresses that nobody has on the open net.
fn is_near(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

/// Which proxies are trusted, and whether it was said that one is not.
#[derive(Debug)]
pub(super) struct Proxies {
    trusted: Vec<Network>,
    warned: AtomicBool,
}

impl Proxies {
    pub(super) fn new(trusted: Vec<Network>) -> Arc<Self> {
        Arc::new(Self {
            trusted,
            warned: AtomicBool::new(false),
        })
    }
}

/// Writes into a request where it comes from.
pub(super) async fn locate(
    State(proxies): State<Arc<Proxies>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    match client(peer.ip(), request.headers(), &proxies.trusted) {
        Some(client) => {
            request.extensions_mut().insert(ClientAddress(client));
        }
        None if !proxies.warned.swap(true, Ordering::Relaxed) => {
            tracing::warn!(
                proxy = %peer.ip(),
                "requests come by a proxy that is not in http.trusted_proxies: limits for each address do not hold"
            );
        }
        None => {}
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn at(address: &str) -> IpAddr {
        address.parse().unwrap()
    }

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], trusted: &[&str], expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(HEADER, HeaderValue::from_str(value).unwrap());
        }
        let trusted: Vec<Network> = trusted
            .iter()
            .map(|it| Network::parse(it).unwrap())
            .collect();
        assert_eq!(
            client(at(peer), &headers, &trusted),
            expected.map(at),
            "{peer} {forwarded:?}"
        );
    }

    #[test]
    fn without_a_trusted_proxy_the_peer_is_the_client() {
        check("203.0.113.7", &[], &[], Some("203.0.113.7"));
        check("::ffff:203.0.113.7", &[], &[], Some("203.0.113.7"));
        // What a client writes by himself is nothing.
        check("203.0.113.7", &["198.51.100.1"], &[], Some("203.0.113.7"));
        check(
            "203.0.113.7",
            &["198.51.100.1"],
            &["10.0.0.0/8"],
            Some("203.0.113.7"),
        );
        // Somebody near who speaks for another is a proxy of which nobody said so.
        check("127.0.0.1", &["198.51.100.1"], &[], None);
        check("10.0.0.9", &["198.51.100.1"], &[], None);
        check("127.0.0.1", &[], &[], Some("127.0.0.1"));
    }

    #[test]
    fn of_a_chain_only_what_trusted_proxies_wrote_counts() {
        let trusted = ["127.0.0.1", "10.0.0.0/8"];
        check(
            "127.0.0.1",
            &["198.51.100.1"],
            &trusted,
            Some("198.51.100.1"),
        );
        check(
            "127.0.0.1",
            &["1.1.1.1, 198.51.100.1, 10.2.3.4"],
            &trusted,
            Some("198.51.100.1"),
        );
        check(
            "127.0.0.1",
            &["1.1.1.1", "198.51.100.1"],
            &trusted,
            Some("198.51.100.1"),
        );
        check(
            "127.0.0.1",
            &["198.51.100.1:4711"],
            &trusted,
            Some("198.51.100.1"),
        );
        check(
            "127.0.0.1",
            &["[2001:db8::1]:4711"],
            &trusted,
            Some("2001:db8::1"),
        );
        check("127.0.0.1", &["10.1.1.1"], &trusted, Some("10.1.1.1"));
        check("127.0.0.1", &["evil, 10.1.1.1"], &trusted, Some("10.1.1.1"));
        check("127.0.0.1", &["unknown"], &trusted, Some("127.0.0.1"));
        check("127.0.0.1", &[], &trusted, Some("127.0.0.1"));
    }

    #[test]
    fn networks_hold_what_is_in_them() {
        for (network, address, held) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("0.0.0.0/0", "203.0.113.7", true),
            ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("fd00::/8", "fdff::1", true),
            ("fd00::/8", "fe00::1", false),
            ("::/0", "192.0.2.1", false),
        ] {
            let found = Network::parse(network).unwrap().contains(at(address));
            assert_eq!(found, held, "{address} in {network}");
        }
        for wrong in [
            "",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/x",
            "proxy",
            "10.0.0.0/-1",
        ] {
            assert_eq!(Network::parse(wrong), None, "{wrong}");
        }
    }
}
