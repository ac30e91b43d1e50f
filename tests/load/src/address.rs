//! Addresses that may be loaded.
//!
//! Owns the rule that everything stays on this machine: an address beyond loopback is refused before
//! anything is sent. It never resolves a name.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

use crate::Fault;

/// Where a WebSocket or web server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Address and port, on loopback.
    pub address: SocketAddr,
    /// What follows it, beginning with a slash.
    pub path: String,
}

/// Reads `127.0.0.1:PORT`, `[::1]:PORT` or `localhost:PORT`.
///
/// # Errors
/// The text is no address, or not one of this machine.
pub fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = match text.strip_prefix("localhost:") {
        Some(port) => {
            let port = port.parse().map_err(|_| format!("{text}: not a port"))?;
            SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)
        }
        None => text
            .parse()
            .map_err(|_| format!("{text}: not an address and port, such as 127.0.0.1:6199"))?,
    };
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err(format!("{text}: load is for loopback addresses only"))
    }
}

/// Reads `ws://…`.
///
/// # Errors
/// As [`loopback`], or another scheme.
pub fn socket_url(text: &str) -> Result<Target, String> {
    target(text, "ws://")
}

/// Reads `http://…`.
///
/// # Errors
/// As [`loopback`], or another scheme.
pub fn web_url(text: &str) -> Result<Target, String> {
    target(text, "http://")
}

fn target(text: &str, scheme: &str) -> Result<Target, String> {
    let rest = text
        .strip_prefix(scheme)
        .ok_or_else(|| format!("{text}: does not begin with {scheme}"))?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    Ok(Target {
        address: loopback(authority)?,
        path: format!("/{path}"),
    })
}

/// A port that is free now, on 127.0.0.1.
///
/// # Errors
/// The system gives none.
pub fn free() -> Result<SocketAddr, Fault> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

#[cfg(test)]
mod tests;
