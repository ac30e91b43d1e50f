//! The agent card: what the gateway says of itself.
//!
//! Owns where it is and what it names. Pure.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use weirgate_sdk::AccountName;

use crate::adapter::Shared;

/// Where a card is, below a server or an agent.
pub(super) const FILE: &str = ".well-known/agent-card.json";
/// The longest name of a host, in bytes.
const MAX_HOST: usize = 255;

/// Where an agent is spoken to.
pub(super) fn path(account: &AccountName) -> String {
    let mut path = String::from("/a2a/");
    for byte in account.as_str().bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
    }
    path
}

/// The card for whoever reached the gateway under this name; `None` if nobody can tell where it is.
pub(super) fn card(shared: &Shared, host: Option<&str>) -> Option<Value> {
    let origin = match &shared.origin {
        Some(origin) => origin.clone(),
        None => format!("http://{}", host.filter(|host| is_host(host))?),
    };
    let settings = &shared.settings;
    let skills = settings.a2a.as_ref()?.skills.iter().map(|skill| {
        json!({ "id": skill.id, "name": skill.name, "description": skill.description,
            "tags": skill.tags })
    });
    let mut skills: Vec<Value> = skills.collect();
    if skills.is_empty() {
        skills.push(json!({ "id": "talk", "name": settings.name,
            "description": settings.description, "tags": ["chat"] }));
    }
    Some(json!({
        "name": settings.name,
        "description": settings.description,
        "version": shared.version,
        "supportedInterfaces": [{
            "url": format!("{origin}{}", path(&shared.account)),
            "protocolBinding": "JSONRPC",
            "protocolVersion": "1.0",
        }],
        "capabilities": { "streaming": true, "pushNotifications": false, "extendedAgentCard": false },
        "securitySchemes": { "bearer": { "httpAuthSecurityScheme": { "scheme": "Bearer" } } },
        "securityRequirements": [{ "schemes": { "bearer": { "list": [] } } }],
        "defaultInputModes": ["text/plain", "application/json"],
        "defaultOutputModes": ["text/markdown"],
        "skills": skills,
    }))
}

/// What tells one card from another.
pub(super) fn tag(card: &str) -> String {
    let digest = Sha256::digest(card.as_bytes());
    let digits: Vec<String> = digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("\"{}\"", digits.concat())
}

/// Whether a Host header can be one.
fn is_host(host: &str) -> bool {
    let fits =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']');
    (1..=MAX_HOST).contains(&host.len()) && host.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_a_path_of_its_own_whatever_it_is_called() {
        assert_eq!(path(&"desk".into()), "/a2a/desk");
        assert_eq!(path(&"a/{b} 好".into()), "/a2a/a%2F%7Bb%7D%20%E5%A5%BD");
    }

    #[test]
    fn a_host_is_a_name_and_nothing_else() {
        assert!(is_host("127.0.0.1:8787") && is_host("[::1]:8787") && is_host("a.example"));
        for odd in ["", "a/b", "a\"b", "a b", "@a", &"x".repeat(300)] {
            assert!(!is_host(odd), "{odd}");
        }
    }

    #[test]
    fn another_card_has_another_tag() {
        assert_eq!(tag("a"), tag("a"));
        assert_ne!(tag("a"), tag("b"));
    }
}
