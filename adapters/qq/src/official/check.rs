//! Whether an account can work, for an operator who asks.
//!
//! Owns what is asked of the platform, and what it means. It connects nowhere for events, sends nothing, and leaves nothing
//! behind. What the bot is entitled to the platform tells nobody before it refuses it.

use weirgate_sdk::Finding;

use super::{
    api::{Api, CallError},
    bot::Shared,
    settings::Way,
};

/// Looks whether the account can work. `public_origin` is how the outside reaches the gateway.
pub async fn check(shared: &Shared, public_origin: Option<&str>, offline: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    if shared.settings.way == Way::Webhook && public_origin.is_none() {
        findings.push(Finding::NoPublicUrl);
    }
    if offline {
        return findings;
    }
    let address = shared.settings.api_url.clone();
    match shared.calls() {
        Ok(api) => findings.extend(reached(shared, api, address).await),
        Err(error) => findings.push(Finding::NotReached {
            address,
            error: error.to_string(),
        }),
    }
    findings
}

async fn reached(shared: &Shared, api: &Api, address: String) -> Vec<Finding> {
    let me = match api.get("/users/@me").await {
        Ok(me) => me,
        Err(CallError::Secret(_)) => return vec![Finding::TokenRefused { address }],
        Err(error) => return vec![lost(address, &error)],
    };
    let bot = me["id"].as_str().unwrap_or(&shared.settings.app_id);
    let mut findings = vec![Finding::Reached {
        address: address.clone(),
        bot: bot.to_owned(),
        online: true,
    }];
    // Whether events may be heard over connections is granted by itself.
    if shared.settings.way == Way::Gateway
        && let Err(error) = api.get("/gateway/bot").await
    {
        findings.push(lost(format!("{address}/gateway/bot"), &error));
    }
    findings
}

fn lost(address: String, error: &CallError) -> Finding {
    Finding::NotReached {
        address,
        error: error.to_string(),
    }
}
