//! What an operator is told of the account.
//!
//! Owns the questions. They change nothing and take no update away from a gateway that runs.

use reqwest::Url;
use serde_json::Value;
use teloxide_core::payloads::{GetMe, GetWebhookInfo};
use weirgate_sdk::Finding;

use crate::{
    api::{CallError, Trouble},
    settings::Mode,
    telegram::{Shared, unix_time},
    webhook,
};

/// Looks whether the platform knows the bot, what it lets it hear, and where its updates go.
pub async fn check(shared: &Shared, offline: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_hooked = shared.settings.mode == Mode::Webhook;
    if is_hooked && shared.hook.url().is_none() {
        findings.push(Finding::NoPublicUrl);
    }
    let Ok(api) = shared.calls() else {
        return findings;
    };
    if offline {
        return findings;
    }
    let limit = shared.settings.call_timeout;
    let me = match api.call(&GetMe::new(), limit).await {
        Ok(me) => me,
        Err(error) => {
            findings.push(failure(shared, &error));
            return findings;
        }
    };
    let name = me["username"].as_str().unwrap_or_default();
    findings.push(Finding::Reached {
        address: shared.settings.api_url.clone(),
        bot: format!("@{name}"),
        online: true,
    });
    if me["can_read_all_group_messages"] == false {
        findings.push(Finding::HearsOnlyItself);
    }
    match api.call(&GetWebhookInfo::new(), limit).await {
        Ok(info) => findings.extend(hook(shared, &info, is_hooked)),
        Err(error) => findings.push(failure(shared, &error)),
    }
    findings
}

fn hook(shared: &Shared, info: &Value, is_hooked: bool) -> Option<Finding> {
    let url = info["url"].as_str().filter(|url| !url.is_empty());
    if is_hooked && url == shared.hook.url() {
        return webhook::trouble(info, unix_time() / 1_000).map(Finding::NotPosted);
    }
    let url: Option<Url> = url?.parse().ok();
    let host = url.and_then(|url| url.host_str().map(str::to_owned));
    Some(Finding::PostedElsewhere(host.unwrap_or_default()))
}

fn failure(shared: &Shared, error: &CallError) -> Finding {
    let address = shared.settings.api_url.clone();
    match error {
        CallError::Refused(refusal) if refusal.trouble() == Trouble::Token => {
            Finding::TokenRefused { address }
        }
        error => Finding::NotReached {
            address,
            error: error.to_string(),
        },
    }
}
