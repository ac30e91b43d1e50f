//! Who may open the socket: checks of the Host and Origin headers, before the upgrade.
//!
//! Browsers let any page open a WebSocket to any server and send along where the page came from, so
//! the origin is compared exactly with an allow-list. A foreign name that points at this machine (DNS
//! rebinding) shows up in Host, where only known names pass. Pure: headers in, verdict out.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The Host header is missing, or names a host that is not served here.
    Host,
    /// The page comes from elsewhere.
    Origin,
}

/// Whether this Host header names this server: a loopback name, a plain address (only a name can be
/// rebound), or one of `allowed`.
pub(crate) fn check_host(host: Option<&str>, allowed: &[String]) -> Result<(), Refusal> {
    let host = host.and_then(normal_host).ok_or(Refusal::Host)?;
    let (name, _) = split_port(&host).ok_or(Refusal::Host)?;
    // An entry without a port equals the bare name, so it stands for any port.
    let listed = allowed.iter().any(|entry| *entry == host || entry == name);
    if name == "localhost" || is_address(name) || listed {
        Ok(())
    } else {
        Err(Refusal::Host)
    }
}

/// Whether a page with this Origin header may open the socket: it must come from the host that the
/// request names, by http or https, or be one of `allowed`. No header at all is allowed: every browser
/// sends one with a WebSocket handshake, so its absence means a program, which no foreign page drives
/// and which still has to say who it is by a token.
pub(crate) fn check_origin(
    origin: Option<&str>,
    host: &str,
    allowed: &[String],
) -> Result<(), Refusal> {
    let Some(origin) = origin else { return Ok(()) };
    let origin = normal_origin(origin).ok_or(Refusal::Origin)?;
    let same = ["http", "https"]
        .iter()
        .any(|scheme| normal_origin(&format!("{scheme}://{host}")).as_ref() == Some(&origin));
    if same || allowed.contains(&origin) {
        Ok(())
    } else {
        Err(Refusal::Origin)
    }
}

/// An origin in lower case and without the default port; `None` for anything that is not exactly
/// scheme, host and port.
pub(crate) fn normal_origin(origin: &str) -> Option<String> {
    let lower = origin.to_ascii_lowercase();
    let (scheme, host) = lower.split_once("://")?;
    let default = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    let host = normal_host(host)?;
    Some(format!(
        "{scheme}://{}",
        host.strip_suffix(default).unwrap_or(&host)
    ))
}

/// A host under which pages are served, as an entry of the list that [`check_host`] reads: a default
/// port is left out, because clients leave it out of Host as well.
pub(crate) fn served_host(host: &str) -> Option<String> {
    let host = normal_host(host)?;
    let bare = [":80", ":443"]
        .iter()
        .find_map(|port| host.strip_suffix(port));
    Some(bare.unwrap_or(&host).to_owned())
}

/// A host, maybe with a port, in lower case; `None` for anything else.
fn normal_host(host: &str) -> Option<String> {
    let lower = host.to_ascii_lowercase();
    let (name, _) = split_port(&lower)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let valid = match name.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?.parse::<Ipv6Addr>().is_ok(),
        None => !name.is_empty() && name.len() <= 253 && name.chars().all(plain),
    };
    valid.then_some(lower)
}

/// Host and port of `name:port`, the port only if it is a number.
fn split_port(host: &str) -> Option<(&str, Option<u16>)> {
    if host.ends_with(']') {
        return Some((host, None));
    }
    match host.rsplit_once(':') {
        Some((name, port)) => Some((name, Some(port.parse().ok()?))),
        None => Some((host, None)),
    }
}

fn is_address(name: &str) -> bool {
    name.starts_with('[') || name.parse::<Ipv4Addr>().is_ok()
}

#[cfg(test)]
mod tests;
