//! Whether an account can work, for an operator who asks.
//!
//! Owns what is asked of the platform, and what it means. It connects nowhere for events, and leaves nothing behind.

use weirgate_sdk::Finding;

use crate::{
    api::{Call, Trouble},
    channels::id,
    discord::Shared,
};

/// Privileged intents among the flags of an application (Application Flags): asked for in the portal, and for a bot that
/// grew large granted by the platform.
const CONTENT: u64 = 1 << 18 | 1 << 19;
const MEMBERS: u64 = 1 << 14 | 1 << 15;

/// Looks whether the account can work.
pub async fn check(shared: &Shared, offline: bool) -> Vec<Finding> {
    if offline {
        return Vec::new();
    }
    let (settings, address) = (&shared.settings, shared.settings.api_url.clone());
    let api = match shared.calls() {
        Ok(api) => api,
        Err(error) => {
            let error = error.to_string();
            return vec![Finding::NotReached { address, error }];
        }
    };
    let bot = match api.get(Call::Me, settings.call_timeout).await {
        Ok(me) => id(&me["id"]).unwrap_or_default().to_string(),
        Err(error) if error.trouble() == Some(Trouble::Token) => {
            return vec![Finding::TokenRefused { address }];
        }
        Err(error) => {
            let error = error.to_string();
            return vec![Finding::NotReached { address, error }];
        }
    };
    let mut findings = vec![Finding::Reached {
        address: address.clone(),
        bot,
        online: true,
    }];
    let granted = match api.get(Call::Application, settings.call_timeout).await {
        Ok(application) => application["flags"].as_u64().unwrap_or(0),
        Err(error) => {
            let error = error.to_string();
            findings.push(Finding::NotReached { address, error });
            return findings;
        }
    };
    let wanted = [
        (
            settings.message_content,
            CONTENT,
            "Message Content Intent",
            "message_content",
        ),
        (
            settings.members,
            MEMBERS,
            "Server Members Intent",
            "members",
        ),
    ];
    for (wanted, flags, what, key) in wanted {
        if wanted && granted & flags == 0 {
            findings.push(Finding::NotGranted {
                what: what.to_owned(),
                key: key.to_owned(),
            });
        }
    }
    findings
}
