//! Reads addresses of HTTP services.
//!
//! Owns what an address may look like. It never shows one that is wrong, because it may hold a password,
//! and never resolves a name.

use std::net::IpAddr;

use weirgate_sdk::settings::Setting;

/// An address of a service: `http` or `https`, a host, perhaps a port and a path; no user, no question
/// mark, no fragment. Slashes at its end are cut off.
#[must_use]
pub fn base_url(setting: &Setting<'_>) -> Option<String> {
    let text = setting.word()?;
    match check(text) {
        Ok(()) => Some(text.trim_end_matches('/').to_owned()),
        Err(what) => {
            setting.invalid(what, Some("write it like https://api.example.com/v1"));
            None
        }
    }
}

fn check(text: &str) -> Result<(), &'static str> {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))
        .ok_or("the address does not begin with https:// or http://")?;
    if text.contains(|c: char| c.is_whitespace() || c.is_control() || "\"<>\\^`{|}".contains(c)) {
        return Err("the address has a character that cannot stand in one");
    }
    if text.contains(['?', '#']) {
        return Err("the address goes on after the path");
    }
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.contains('@') {
        return Err("the address has a user or password in it");
    }
    let (host, port) = host_and_port(authority).ok_or("the address has no host")?;
    if host.is_empty() {
        return Err("the address has no host");
    }
    match port {
        Some(port) if port.parse::<u16>().is_err() => Err("the port of the address is none"),
        _ => Ok(()),
    }
}

fn host_and_port(authority: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        return match after.strip_prefix(':') {
            Some(port) => Some((host, Some(port))),
            None if after.is_empty() => Some((host, None)),
            None => None,
        };
    }
    Some(
        authority
            .split_once(':')
            .map_or((authority, None), |(host, port)| (host, Some(port))),
    )
}

/// What goes to this address can be read on the way: it is not encrypted and does not stay on this
/// machine or, as far as can be seen, in a private network.
#[must_use]
pub fn is_open(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else {
        return false;
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = host_and_port(authority).map_or("", |(host, _)| host);
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => !(ip.is_loopback() || ip.is_private() || ip.is_link_local()),
        Ok(IpAddr::V6(ip)) => !(ip.is_loopback() || ip.is_unique_local()),
        // A name without a dot is one of the local network, such as a container's.
        Err(_) => host.contains('.') && !host.ends_with(".local") && !host.ends_with(".internal"),
    }
}

#[cfg(test)]
mod tests;
