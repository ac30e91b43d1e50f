//! Settings of one bot.
//!
//! Owns the keys under `platforms.telegram.accounts.<name>`, less `addressing`, which the gateway reads.

use std::{collections::HashSet, time::Duration};

use reqwest::Url;
pub use weirgate_sdk::settings::Secret;
use weirgate_sdk::{Rates, settings::Fields};

/// Where the Bot API is.
const API: &str = "https://api.telegram.org";
/// The longest message, in UTF-16 units. The server counts code points, of which there are never more.
pub const MAX_LENGTH: usize = 4_096;

/// How the first part of an answer in a group shows what it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reply {
    /// It is a reply to the message.
    #[default]
    Quote,
    /// Not at all.
    None,
}

/// How updates come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// The gateway asks for them.
    #[default]
    Polling,
    /// The platform posts them to the gateway's web server.
    Webhook,
}

/// Settings of one account.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What the bot proves itself with. Without it the account cannot work.
    pub token: Option<Secret>,
    /// Where the Bot API is, without a slash at the end.
    pub api_url: String,
    /// How updates come.
    pub mode: Mode,
    /// How long a request for updates waits for one. The platform's own limit is 50 seconds.
    pub poll_timeout: Duration,
    /// The longest pause between two attempts to reach the platform.
    pub reconnect: Duration,
    /// How long any other call waits for its answer.
    pub call_timeout: Duration,
    /// How answers refer to messages.
    pub reply: Reply,
    /// The longest message, in UTF-16 units.
    pub max_length: usize,
    /// How often the account sends, to people.
    pub rates: Rates,
    /// How often it sends into one group: sends a second, and sends at once.
    pub group: (f64, u32),
    /// Users whose messages are dropped.
    pub ignore: HashSet<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            token: None,
            api_url: API.to_owned(),
            mode: Mode::Polling,
            poll_timeout: Duration::from_secs(30),
            reconnect: Duration::from_secs(60),
            call_timeout: Duration::from_secs(15),
            reply: Reply::Quote,
            max_length: MAX_LENGTH,
            // About thirty messages a second in all and one a second into a chat, of which the platform says so;
            // twenty a minute into a group.
            rates: Rates {
                account: 25.0,
                account_burst: 25,
                conversation: 1.0,
                conversation_burst: 3,
            },
            group: (1.0 / 3.3, 3),
            ignore: HashSet::new(),
        }
    }
}

impl Settings {
    /// Reads the settings of one account; faults are reported to the collector of `fields`.
    #[must_use]
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let default = Self::default();
        let token = token(fields);
        let api_url = fields.text("api_url", &default.api_url);
        if let Err(what) = address(&api_url) {
            let hint = Some("for example http://127.0.0.1:8081, for a Bot API server of your own");
            fields.invalid("api_url", what, hint);
        }
        let modes = [("polling", Mode::Polling), ("webhook", Mode::Webhook)];
        let mode = fields.choice("mode", default.mode, &modes);
        if mode == Mode::Webhook && fields.has("poll_timeout") {
            let why = Some("the platform posts updates, nobody asks for them");
            fields.invalid("poll_timeout", "belongs to mode polling", why);
        }
        let replies = [("quote", Reply::Quote), ("none", Reply::None)];
        let (rates, group) = limits(fields);
        Self {
            token,
            api_url: api_url.trim_end_matches('/').to_owned(),
            mode,
            poll_timeout: fields.seconds("poll_timeout", default.poll_timeout, 0.1..=50.0),
            reconnect: fields.seconds("reconnect", default.reconnect, 0.05..=3_600.0),
            call_timeout: fields.seconds("call_timeout", default.call_timeout, 1.0..=120.0),
            reply: fields.choice("reply", default.reply, &replies),
            max_length: fields.usize("max_length", default.max_length, 64..=MAX_LENGTH),
            rates,
            group,
            ignore: fields
                .list("ignore")
                .into_iter()
                .filter_map(|id| id.id())
                .collect(),
        }
    }
}

/// What is wrong between accounts: two that are the same bot would take each other's updates.
pub fn conflicts(accounts: &[(&str, &Settings)]) -> Vec<String> {
    let bot = |settings: &Settings| {
        let token = settings.token.as_ref()?;
        let (bot, _) = token.expose().split_once(':')?;
        Some((bot.to_owned(), settings.api_url.clone()))
    };
    let mut problems = Vec::new();
    for (index, (name, settings)) in accounts.iter().enumerate() {
        let Some(own) = bot(settings) else { continue };
        let earlier = accounts.iter().take(index);
        if let Some((other, _)) = earlier
            .into_iter()
            .find(|(_, other)| bot(other).as_ref() == Some(&own))
        {
            problems.push(format!(
                "the accounts {other} and {name} have the token of one bot: only one of them can receive"
            ));
        }
    }
    problems
}

fn token(fields: &mut Fields<'_>) -> Option<Secret> {
    let written = fields.has("token") || fields.has("token_file");
    let token = fields.secret("token");
    if !written {
        fields.missing("token", Some("what @BotFather gave you, or token_file"));
    }
    if token
        .as_ref()
        .is_some_and(|token| !is_token(token.expose()))
    {
        let what = "not a token of a bot: a number, a colon, and letters, digits, - and _";
        fields.invalid("token", what, Some("ask @BotFather for it with /token"));
    }
    token
}

/// The token becomes part of an address, so nothing may stand in it that means something there.
fn is_token(text: &str) -> bool {
    let Some((bot, secret)) = text.split_once(':') else {
        return false;
    };
    let word = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
    !bot.is_empty()
        && bot.bytes().all(|c| c.is_ascii_digit())
        && !secret.is_empty()
        && secret.bytes().all(word)
}

/// Checks an address: scheme, host, and nothing secret in it.
fn address(text: &str) -> Result<(), &'static str> {
    let url: Url = text.parse().map_err(|_| "not an address")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("not an address that begins with http:// or https://");
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err("what is secret belongs into token, not into the address");
    }
    Ok(())
}

fn limits(fields: &mut Fields<'_>) -> (Rates, (f64, u32)) {
    let mut limits = fields.section("limits");
    let each = |interval: f64| if interval > 0.0 { 1.0 / interval } else { 0.0 };
    let rates = Rates {
        account: limits.f64("account_per_second", 25.0, 0.0..=1_000.0),
        account_burst: limits.u32("account_burst", 25, 1..=100_000),
        conversation: each(limits.f64("conversation_interval", 1.0, 0.0..=3_600.0)),
        conversation_burst: limits.u32("conversation_burst", 3, 1..=100_000),
    };
    let group = each(limits.f64("group_interval", 3.3, 0.0..=3_600.0));
    let burst = limits.u32("group_burst", 3, 1..=100_000);
    limits.finish();
    (rates, (group, burst))
}

#[cfg(test)]
mod tests;
