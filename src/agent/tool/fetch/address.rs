//! Which addresses a tool may reach on behalf of a model: those of the public internet.
//!
//! Owns the list of ranges that are not public and the hosts that an operator allows all the same. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// What is told of an address that is not public.
pub const NOT_PUBLIC: &str = "This address is not on the public internet and must not be reached.";

/// What may be reached.
#[derive(Debug, Clone, Default)]
pub struct Allowed(Vec<String>);

impl Allowed {
    /// Public addresses and these hosts, `host` or `host:port`.
    #[must_use]
    pub fn new(hosts: &[String]) -> Self {
        Self(hosts.iter().map(|host| host.to_ascii_lowercase()).collect())
    }

    /// Whether an address may be opened, as far as it can be told without asking for its name.
    ///
    /// # Errors
    /// What is told if not.
    pub fn check(&self, url: &Url) -> Result<(), &'static str> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err("Only http and https can be read.");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("An address with a name and a password is not opened.");
        }
        let Some(host) = url.host_str() else {
            return Err("The address names no host.");
        };
        let port = url.port_or_known_default().unwrap_or_default();
        let here = format!("{host}:{port}");
        if self.0.iter().any(|known| *known == host || *known == here) {
            return Ok(());
        }
        // A host that is allowed with one port is not reached on the others.
        let elsewhere = self.0.iter().any(|known| host_of(known) == host);
        let literal = host.trim_matches(['[', ']']).parse::<IpAddr>();
        match literal {
            _ if elsewhere => Err(NOT_PUBLIC),
            Ok(address) if !is_public(address) => Err(NOT_PUBLIC),
            // A name is looked at again when its address is known.
            _ => Ok(()),
        }
    }

    /// Whether a name may lead to an address. The port was looked at with the whole address.
    #[must_use]
    pub fn name_may(&self, name: &str, address: IpAddr) -> bool {
        let name = name.to_ascii_lowercase();
        is_public(address) || self.0.iter().any(|known| host_of(known) == name)
    }
}

/// What stands before the port, if there is one.
fn host_of(known: &str) -> &str {
    match known.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => host,
        _ => known,
    }
}

/// Whether an address is on the public internet.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // Shared by providers, for protocols, for measurements, and the old way from IPv6.
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a == 198 && (b == 18 || b == 19))
        || (a, b, c) == (192, 88, 99);
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let inner = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match (a, b) {
        // An IPv4 address in another form is what it is.
        (0, 0) if (c, d, e) == (0, 0, 0) && (f == 0xffff || f == 0) => inner(g, h),
        (0x64, 0xff9b) if (c, d, e, f) == (0, 0, 0, 0) => inner(g, h),
        (0x2002, _) => inner(b, c),
        // Teredo, documentation, benchmarks, and the like.
        (0x2001, 0..0x200 | 0xdb8) | (0x3fff, _) => false,
        // All that is given out is in here.
        _ => (0x2000..0x4000).contains(&a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may(allowed: &[&str], url: &str) -> bool {
        let hosts: Vec<String> = allowed.iter().map(|host| (*host).to_owned()).collect();
        Allowed::new(&hosts)
            .check(&Url::parse(url).unwrap())
            .is_ok()
    }

    #[test]
    fn only_public_addresses_may_be_reached() {
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0/",
            "http://[::1]/",
            "http://10.1.2.3/",
            "http://172.31.0.1/",
            "http://192.168.1.1:8080/",
            "http://169.254.169.254/meta",
            "http://100.64.0.1/",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://[64:ff9b::a00:1]/",
            "http://[2002:a00:1::]/",
            "http://[::]/",
            "http://255.255.255.255/",
            "http://224.0.0.1/",
            "http://[ff02::1]/",
            "http://192.0.2.1/",
            "http://[2001:db8::1]/",
            "ftp://example.com/",
            "file:///etc/passwd",
            "http://user:pass@example.com/",
        ] {
            assert!(!may(&[], url), "{url}");
        }
        for url in [
            "https://example.com/",
            "http://8.8.8.8/",
            "http://[2606:4700::1111]/",
        ] {
            assert!(may(&[], url), "{url}");
        }
    }

    #[test]
    fn what_the_operator_allows_may_be_reached_too() {
        assert!(may(&["127.0.0.1:8080"], "http://127.0.0.1:8080/x"));
        assert!(!may(&["127.0.0.1:8080"], "http://127.0.0.2:8080/x"));
        assert!(!may(&["127.0.0.1:8080"], "http://127.0.0.1:9/x"));
        assert!(!may(&["wiki.local:8080"], "http://wiki.local:9/x"));
        assert!(may(&["127.0.0.1"], "http://127.0.0.1:9/x"));
        assert!(may(&["[::1]:8080"], "http://[::1]:8080/x"));
        assert!(!may(&["[::1]:8080"], "http://[::1]:9/x"));
        let allowed = Allowed::new(&["Wiki.local".to_owned()]);
        assert!(allowed.name_may("wiki.LOCAL", [10, 0, 0, 1].into()));
        assert!(!allowed.name_may("other.local", [10, 0, 0, 1].into()));
        assert!(allowed.name_may("other.local", [9, 9, 9, 9].into()));
    }
}
