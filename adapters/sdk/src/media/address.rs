//! Which addresses are public: what a stranger may make the gateway connect to.
//!
//! Owns the decision, pure. It resolves no name; whoever does asks for each address that it gets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address belongs to a machine that everybody can reach. Loopback, private and link-local networks,
/// those of carriers, documentation and benchmarks, multicast, and IPv6 forms of all of these are not
/// (IANA's special-purpose registries).
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_unspecified()
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // Shared by the customers of a carrier (RFC 6598).
        || (a == 100 && (64..128).contains(&b))
        // Protocol assignments (RFC 6890) and benchmarks (RFC 2544).
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (18..20).contains(&b));
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // An IPv4 address in the clothes of IPv6: mapped, compatible, NAT64 (RFC 6052) and 6to4 (RFC 3056).
    let octets = address.octets();
    let inner = |at: usize| -> Option<Ipv4Addr> {
        let four: [u8; 4] = octets.get(at..at + 4)?.try_into().ok()?;
        Some(Ipv4Addr::from(four))
    };
    let segments = address.segments();
    let embedded = match segments {
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => inner(12),
        [0x2002, ..] => inner(2),
        _ => None,
    };
    if let Some(inner) = embedded {
        return is_public_v4(inner);
    }
    // Only global unicast is given out; of that, documentation (RFC 3849) and Teredo (RFC 4380) lead nowhere good.
    let global = segments[0] & 0xe000 == 0x2000;
    let special =
        matches!(segments, [0x2001, 0xdb8, ..] | [0x2001, 0, ..]) || segments[0] == 0x3fff;
    global && !special
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(address: &str) -> bool {
        is_public(address.parse().unwrap())
    }

    #[test]
    fn private_addresses_are_told_from_public_ones_in_every_form() {
        for address in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "198.18.0.1",
            "192.0.0.8",
            "0.0.0.0",
            "0.1.2.3",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::7f00:1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "fe80::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
            "2001:db8::1",
            "2001:0:1::1",
        ] {
            assert!(!public(address), "{address}");
        }
        for address in [
            "1.1.1.1",
            "100.128.0.1",
            "172.32.0.1",
            "198.20.0.1",
            "192.0.1.1",
            "2606:4700:4700::1111",
            "64:ff9b::101:101",
            "2002:101:101::",
        ] {
            assert!(public(address), "{address}");
        }
    }
}
