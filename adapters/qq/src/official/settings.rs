//! Settings of one official bot.
//!
//! Owns the keys under `platforms.qq.accounts.<name>.official`.

use std::time::Duration;

use reqwest::Url;
use weirgate_net::http::is_local;
pub use weirgate_net::session::Shards;
pub use weirgate_sdk::settings::Secret;
use weirgate_sdk::{Rates, settings::Fields};

use crate::settings::Reply;

/// Where the HTTP API is (bot-docs, api-v2; since August 2026 in the place of `api.sgroup.qq.com`; the sandbox has an
/// address of its own).
const API: &str = "https://api.bot.qq.com";
/// Where access tokens are issued (as there, in the place of `bots.qq.com`).
const TOKENS: &str = "https://api.bot.qq.com/app/getAppAccessToken";
/// The longest message by default, in characters. The platform documents no limit; beyond about 4,000 it was
/// seen to refuse texts or to cut them.
const MAX_LENGTH: usize = 1_800;
/// The longest message that can be set.
const LONGEST: usize = 3_900;
/// How many messages may answer one by default: bot-docs says five, later reports four.
const REPLIES: u32 = 4;

/// One session may be begun in so many seconds (bot-docs, `max_concurrency`).
const SESSION_PAUSE: Duration = Duration::from_secs(5);

/// How events come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    /// Over a connection that the gateway opens.
    #[default]
    Gateway,
    /// The platform posts them to the gateway's web server.
    Webhook,
}

/// A kind of events that is asked for over a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Events {
    /// Groups (mentions of the bot) and private chats.
    Groups,
    /// Mentions of the bot in guild channels.
    Channels,
    /// Every message in guild channels; for private-domain bots only.
    AllChannels,
    /// Direct messages of guild members.
    Direct,
    /// Who comes, goes, or has another role in guilds, and where the bot itself comes and goes.
    Members,
    /// What became of answers in guild channels that the platform reviewed.
    Reviews,
}

impl Events {
    /// The platform's bit (bot-docs, Intents).
    #[must_use]
    pub fn intent(self) -> u64 {
        match self {
            Self::Groups => 1 << 25,
            Self::Channels => 1 << 30,
            Self::AllChannels => 1 << 9,
            Self::Direct => 1 << 12,
            // GUILDS and GUILD_MEMBERS
            Self::Members => 1 << 0 | 1 << 1,
            // MESSAGE_AUDIT
            Self::Reviews => 1 << 27,
        }
    }
}

/// Settings of one account.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The bot's id in the developer console.
    pub app_id: String,
    /// What the bot proves itself with. Without it the account cannot work.
    pub app_secret: Option<Secret>,
    /// How events come.
    pub way: Way,
    /// What is asked for over a connection.
    pub events: Vec<Events>,
    /// Where the HTTP API is, without a slash at the end.
    pub api_url: String,
    /// Where access tokens are issued.
    pub token_url: String,
    /// Answers are sent as Markdown, to which the bot must be entitled.
    pub markdown: bool,
    /// Questions have buttons, to which the bot must be entitled.
    pub buttons: bool,
    /// Answers in private chats are shown while they are written.
    pub streaming: bool,
    /// How many connections for events there are.
    pub shards: Shards,
    /// How many messages may answer one message.
    pub replies: u32,
    /// How answers refer to messages.
    pub reply: Reply,
    /// The longest pause between two attempts to reach the platform.
    pub reconnect: Duration,
    /// How long a call waits for its answer.
    pub call_timeout: Duration,
    /// The longest message, in characters.
    pub max_length: usize,
    /// How often the account sends.
    pub rates: Rates,
    /// Least time between two sessions that are begun. Not in agent.yaml: the platform sets it.
    pub session_pause: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            app_id: String::new(),
            app_secret: None,
            way: Way::Gateway,
            events: vec![Events::Groups, Events::Channels, Events::Direct],
            api_url: API.to_owned(),
            token_url: TOKENS.to_owned(),
            markdown: false,
            buttons: false,
            streaming: false,
            shards: Shards::Auto,
            replies: REPLIES,
            reply: Reply::Quote,
            reconnect: Duration::from_secs(60),
            call_timeout: Duration::from_secs(15),
            max_length: MAX_LENGTH,
            // The platform takes about fifty calls a second of a bot; into one conversation one a second is safe.
            rates: Rates {
                account: 20.0,
                account_burst: 20,
                conversation: 1.0,
                conversation_burst: 4,
            },
            session_pause: SESSION_PAUSE,
        }
    }
}

impl Settings {
    /// Reads the settings of one account; faults are reported to the collector of `fields`.
    #[must_use]
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let default = Self::default();
        let app_id = fields.id("app_id").unwrap_or_default();
        if app_id.is_empty() && !fields.has("app_id") {
            fields.missing(
                "app_id",
                Some("the AppID of the developer console, under Development"),
            );
        }
        if !app_id.bytes().all(|byte| byte.is_ascii_digit()) {
            fields.invalid("app_id", "not an AppID, which is a number", None);
        }
        let app_secret = fields.secret("app_secret");
        if app_secret.is_none() && !fields.has("app_secret") && !fields.has("app_secret_file") {
            fields.missing(
                "app_secret",
                Some("the AppSecret of the developer console, or app_secret_file"),
            );
        }
        let ways = [("gateway", Way::Gateway), ("webhook", Way::Webhook)];
        let way = fields.choice("connection", default.way, &ways);
        let events = events(fields, default.events);
        if way == Way::Webhook && fields.has("events") {
            let hint = "with a webhook the developer console says what is posted";
            fields.invalid("events", "belongs to connection: gateway", Some(hint));
        }
        let shards = Shards::read(fields);
        if way == Way::Webhook && fields.has("shards") {
            fields.invalid("shards", "belongs to connection: gateway", None);
        }
        let markdown = fields.bool("markdown", default.markdown);
        let buttons = fields.bool("buttons", default.buttons);
        if buttons && !markdown {
            let hint = "set markdown: true, to which the bot must be entitled as well";
            fields.invalid(
                "buttons",
                "the platform has them under Markdown alone",
                Some(hint),
            );
        }
        Self {
            app_id,
            app_secret,
            way,
            events,
            api_url: address(fields, "api_url", &default.api_url),
            token_url: address(fields, "token_url", &default.token_url),
            markdown,
            buttons,
            streaming: fields.bool("streaming", default.streaming),
            shards,
            replies: fields.u32("replies", default.replies, 1..=5),
            reply: fields.choice("reply", default.reply, crate::settings::REPLIES),
            reconnect: fields.seconds("reconnect", default.reconnect, 0.05..=3_600.0),
            call_timeout: fields.seconds("call_timeout", default.call_timeout, 5.0..=120.0),
            max_length: fields.usize("max_length", default.max_length, 64..=LONGEST),
            rates: Rates::read(fields, default.rates),
            session_pause: default.session_pause,
        }
    }
}

fn events(fields: &mut Fields<'_>, default: Vec<Events>) -> Vec<Events> {
    let options = [
        ("groups", Events::Groups),
        ("channels", Events::Channels),
        ("all_channels", Events::AllChannels),
        ("direct", Events::Direct),
        ("members", Events::Members),
        ("reviews", Events::Reviews),
    ];
    let written = fields.has("events");
    let mut events: Vec<Events> = Vec::new();
    for item in fields.list("events") {
        if let Some(kind) = item.choice(&options)
            && !events.contains(&kind)
        {
            events.push(kind);
        }
    }
    if written && events.is_empty() {
        let hint = "groups, channels, all_channels, direct, members, reviews";
        fields.invalid("events", "the bot would hear nothing", Some(hint));
    }
    if events.is_empty() { default } else { events }
}

/// An address of the platform. What is not on this machine has to be encrypted: the secret goes there.
fn address(fields: &mut Fields<'_>, key: &str, default: &str) -> String {
    let text = fields.text(key, default);
    if let Err(what) = checked(&text) {
        fields.invalid(key, what, Some("the default is the platform's own"));
    }
    text.trim_end_matches('/').to_owned()
}

fn checked(text: &str) -> Result<(), &'static str> {
    let url: Url = text.parse().map_err(|_| "not an address")?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
    if !is_web {
        return Err("not an address that begins with https://");
    }
    if url.scheme() == "http" && !is_local(text) {
        return Err("the bot's secret would go over a connection that is not encrypted: https://");
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err("what is secret belongs into app_secret, not into the address");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
