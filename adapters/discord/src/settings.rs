//! Settings of one bot.
//!
//! Owns the keys under `platforms.discord.accounts.<name>`, less `addressing`, which the gateway reads.

use std::{
    collections::{BTreeSet, HashSet},
    time::Duration,
};

use reqwest::Url;
pub use weirgate_net::session::Shards;
pub use weirgate_sdk::settings::Secret;
use weirgate_sdk::{Rates, settings::Fields};

use crate::places::{Snowflake, number};

/// Where the HTTP API is (Discord's documentation, API Reference).
const API: &str = "https://discord.com/api/v10";
/// The longest message, in code points.
pub const MAX_LENGTH: usize = 2_000;
/// One session may be begun in so many seconds (`max_concurrency` of a bot that is not sharded).
const IDENTIFY_PAUSE: Duration = Duration::from_secs(5);

/// The most servers that are given a menu of their own.
const MAX_COMMAND_SERVERS: usize = 50;

/// How the first part of an answer in a server shows what it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reply {
    /// It is a reply to the message.
    #[default]
    Quote,
    /// Not at all.
    None,
}

/// Settings of one account.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What the bot proves itself with. Without it the account cannot work.
    pub token: Option<Secret>,
    /// Where the HTTP API is, version included, without a slash at the end.
    pub api_url: String,
    /// The bot asks for the words of messages that do not name it, which has to be allowed in the developer portal.
    pub message_content: bool,
    /// The bot asks who comes and goes in its servers, which has to be allowed in the developer portal.
    pub members: bool,
    /// How many connections for events there are.
    pub shards: Shards,
    /// How far back messages are fetched that were sent while no session could be resumed; zero is not at all.
    pub catch_up: Duration,
    /// The longest pause between two attempts to reach the platform.
    pub reconnect: Duration,
    /// How long a call waits for its answer.
    pub call_timeout: Duration,
    /// How answers refer to messages.
    pub reply: Reply,
    /// The gateway's commands are offered in the platform's menu.
    pub slash_commands: bool,
    /// The servers in which they are; everywhere if there are none here.
    pub command_servers: BTreeSet<Snowflake>,
    /// The longest message, in code points.
    pub max_length: usize,
    /// How often the account sends.
    pub rates: Rates,
    /// Users whose messages are dropped.
    pub ignore: HashSet<String>,
    /// Least time between two sessions that are begun. Not in agent.yaml: the platform sets it.
    pub identify_pause: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            token: None,
            api_url: API.to_owned(),
            message_content: true,
            members: false,
            shards: Shards::Auto,
            catch_up: Duration::from_secs(3_600),
            reconnect: Duration::from_secs(60),
            call_timeout: Duration::from_secs(15),
            reply: Reply::Quote,
            slash_commands: true,
            command_servers: BTreeSet::new(),
            max_length: MAX_LENGTH,
            // Fifty calls a second in all, of which some are for other things; about five messages in five seconds
            // into a channel.
            rates: Rates {
                account: 40.0,
                account_burst: 40,
                conversation: 1.0,
                conversation_burst: 5,
            },
            ignore: HashSet::new(),
            identify_pause: IDENTIFY_PAUSE,
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
            fields.invalid("api_url", what, Some("the default is the platform's own"));
        }
        let replies = [("quote", Reply::Quote), ("none", Reply::None)];
        Self {
            token,
            api_url: api_url.trim_end_matches('/').to_owned(),
            message_content: fields.bool("message_content", default.message_content),
            members: fields.bool("members", default.members),
            shards: Shards::read(fields),
            catch_up: fields.seconds("catch_up", default.catch_up, 0.0..=86_400.0),
            reconnect: fields.seconds("reconnect", default.reconnect, 0.05..=3_600.0),
            call_timeout: fields.seconds("call_timeout", default.call_timeout, 1.0..=120.0),
            reply: fields.choice("reply", default.reply, &replies),
            slash_commands: fields.bool("slash_commands", default.slash_commands),
            command_servers: servers(fields),
            max_length: fields.usize("max_length", default.max_length, 64..=MAX_LENGTH),
            rates: Rates::read(fields, default.rates),
            ignore: fields
                .list("ignore")
                .into_iter()
                .filter_map(|id| id.id())
                .collect(),
            identify_pause: default.identify_pause,
        }
    }
}

/// What is wrong between accounts: two that are the same bot would hear and answer everything twice.
#[must_use]
pub fn conflicts(accounts: &[(&str, &Settings)]) -> Vec<String> {
    // The first part of a token is the bot's id.
    let bot = |settings: &Settings| {
        let (bot, _) = settings.token.as_ref()?.expose().split_once('.')?;
        Some((bot.to_owned(), settings.api_url.clone()))
    };
    let mut problems = Vec::new();
    for (index, (name, settings)) in accounts.iter().enumerate() {
        let Some(own) = bot(settings) else { continue };
        let mut earlier = accounts.iter().take(index);
        if let Some((other, _)) = earlier.find(|(_, other)| bot(other).as_ref() == Some(&own)) {
            problems.push(format!(
                "the accounts {other} and {name} have the token of one bot: it would answer everything twice"
            ));
        }
    }
    problems
}

fn token(fields: &mut Fields<'_>) -> Option<Secret> {
    let written = fields.has("token") || fields.has("token_file");
    let token = fields.secret("token");
    if !written {
        let hint = "from the developer portal, Bot > Reset Token; or token_file";
        fields.missing("token", Some(hint));
    }
    let is_token = |token: &Secret| is_token(token.expose());
    if token.as_ref().is_some_and(|token| !is_token(token)) {
        let what = "not a token of a bot: three words with dots between them, without \"Bot \" before them";
        let hint = "it is not the application's id, public key or client secret";
        fields.invalid("token", what, Some(hint));
    }
    token
}

/// The token becomes part of a header, so nothing may stand in it that means something there.
fn is_token(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let word = |part: &&str| {
        let fits = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'=');
        !part.is_empty() && part.bytes().all(fits)
    };
    parts.len() == 3 && parts.iter().all(word)
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

/// The servers that have a menu of their own.
fn servers(fields: &mut Fields<'_>) -> BTreeSet<Snowflake> {
    let written: Vec<String> = fields
        .list("command_servers")
        .into_iter()
        .filter_map(|id| id.id())
        .collect();
    let known: BTreeSet<Snowflake> = written.iter().filter_map(|id| number(id)).collect();
    if known.len() > MAX_COMMAND_SERVERS || written.iter().any(|id| number(id).is_none()) {
        let hint = "Developer Mode on, then right-click the server, Copy Server ID";
        let what = "not a list of at most 50 ids of servers";
        fields.invalid("command_servers", what, Some(hint));
        return BTreeSet::new();
    }
    known
}

#[cfg(test)]
mod tests;
