//! Settings of one QQ account.
//!
//! Owns the keys under `platforms.qq.accounts.<name>`, less `addressing`, which the gateway reads.

use std::{
    collections::HashSet,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use tokio_tungstenite::tungstenite::http::Uri;
pub use weirgate_sdk::settings::Secret;
use weirgate_sdk::{Rates, settings::Fields};

/// The longest message by default, in characters.
const MAX_LENGTH: usize = 1_500;
/// Bytes of UTF-8 in a message for each character of its limit: enough for Chinese text. At the default
/// it stays, with a quote, under the 5,000 units at which the strictest implementation refuses.
const BYTES_PER_CHARACTER: usize = 3;

/// Where an account listens by default.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 6199);

/// How the first part of an answer in a group shows what it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reply {
    /// It quotes the message.
    #[default]
    Quote,
    /// It mentions the author.
    Mention,
    /// Not at all.
    None,
}

/// The words of agent.yaml for them.
pub const REPLIES: &[(&str, Reply)] = &[
    ("quote", Reply::Quote),
    ("mention", Reply::Mention),
    ("none", Reply::None),
];

/// How the account and the OneBot implementation reach each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// The implementation connects to the gateway by WebSocket.
    Reverse {
        /// Where it connects to. Any path is taken. Accounts may share an address if each names its bot.
        listen: SocketAddr,
    },
    /// The gateway connects to the implementation by WebSocket.
    Forward {
        /// Where: `ws://` or `wss://`.
        url: String,
    },
    /// The implementation posts events to the gateway's web server, and the gateway posts calls to it.
    Http {
        /// Where calls go: `http://` or `https://`, without the action's name.
        url: String,
        /// What events are signed with.
        secret: Secret,
    },
}

/// What is done with a request of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnRequest {
    /// Nothing: it waits in the account's own client.
    #[default]
    Ignore,
    /// It is granted.
    Accept,
    /// It is refused.
    Reject,
    /// An owner of the gateway is asked.
    Ask,
}

/// What is done with requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requests {
    /// Somebody wants to be the account's friend.
    pub friend: OnRequest,
    /// Somebody wants the account in a group.
    pub invite: OnRequest,
    /// Somebody wants to join a group in which the account is an admin.
    pub join: OnRequest,
    /// Who is asked, by his number: an owner of the gateway.
    pub owner: Option<String>,
}

/// What is done with a poke of the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnPoke {
    /// Nothing.
    #[default]
    Ignore,
    /// It is answered like a message.
    Answer,
}

impl Requests {
    fn read(mut fields: Fields<'_>) -> Self {
        let words = [
            ("ignore", OnRequest::Ignore),
            ("accept", OnRequest::Accept),
            ("reject", OnRequest::Reject),
            ("ask", OnRequest::Ask),
        ];
        let mut one = |key| fields.choice(key, OnRequest::Ignore, &words);
        let (friend, invite, join) = (one("friend"), one("invite"), one("join"));
        let owner = fields.id("owner");
        if owner.as_deref().is_some_and(|id| !is_number(id)) {
            fields.invalid("owner", "not a QQ number", None);
        }
        if owner.is_none() && [friend, invite, join].contains(&OnRequest::Ask) {
            let hint =
                Some("the QQ number of an owner of the gateway who is a friend of the account");
            fields.invalid("owner", "nobody is named who could be asked", hint);
        }
        fields.finish();
        Self {
            friend,
            invite,
            join,
            owner,
        }
    }
}

/// Settings of one account.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How it is reached.
    pub transport: Transport,
    /// What whoever connects must present; needed when listening beyond loopback.
    pub token: Option<Secret>,
    /// The bot's QQ number; connections of another one are refused.
    pub self_id: Option<String>,
    /// The longest pause between two attempts to reach the implementation.
    pub reconnect: Duration,
    /// How far back is asked for what was said while nobody was connected; zero does not ask.
    pub catch_up: Duration,
    /// How answers refer to messages.
    pub reply: Reply,
    /// How long a call waits for its answer.
    pub call_timeout: Duration,
    /// A connection without any message for so long is dead. Without it: three announced heartbeats.
    pub heartbeat_timeout: Option<Duration>,
    /// The longest message, in characters.
    pub max_length: usize,
    /// How often the account sends.
    pub rates: Rates,
    /// What is done with requests.
    pub requests: Requests,
    /// What is done with a poke of the bot.
    pub poke: OnPoke,
    /// Users (other bots, which look like people here) whose messages are dropped.
    pub ignore: HashSet<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            transport: Transport::Reverse { listen: LISTEN },
            token: None,
            self_id: None,
            reconnect: Duration::from_secs(60),
            catch_up: Duration::from_secs(600),
            reply: Reply::Quote,
            call_timeout: Duration::from_secs(15),
            heartbeat_timeout: None,
            max_length: MAX_LENGTH,
            rates: Rates {
                account: 1.0,
                account_burst: 20,
                conversation: 1.0,
                conversation_burst: 3,
            },
            requests: Requests::default(),
            poke: OnPoke::Ignore,
            ignore: HashSet::new(),
        }
    }
}

impl Settings {
    /// Reads the settings of one account; faults are reported to the collector of `fields`.
    #[must_use]
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let default = Self::default();
        let transport = transport(fields);
        let token = fields.secret("token");
        let written = fields.has("token") || fields.has("token_file");
        let open = matches!(transport, Transport::Reverse { listen } if !listen.ip().is_loopback());
        if token.is_none() && !written && open {
            fields.invalid(
                "token",
                "anybody who reaches a listener beyond loopback could pose as the platform",
                Some("set token or token_file, or listen on 127.0.0.1"),
            );
        }
        let shown = !matches!(transport, Transport::Reverse { .. });
        let plain = |token: &Secret| {
            token
                .expose()
                .bytes()
                .all(|byte| (b' '..=b'~').contains(&byte))
        };
        if shown && token.as_ref().is_some_and(|token| !plain(token)) {
            let what =
                "a token that is presented in a header holds printable ASCII characters only";
            fields.invalid("token", what, None);
        }
        let self_id = fields.id("self_id");
        if self_id.as_deref().is_some_and(|id| !is_number(id)) {
            fields.invalid("self_id", "not a QQ number", None);
        }
        Self {
            transport,
            token,
            self_id,
            reconnect: fields.seconds("reconnect", default.reconnect, 0.05..=3_600.0),
            catch_up: fields.seconds("catch_up", default.catch_up, 0.0..=86_400.0),
            reply: fields.choice("reply", default.reply, REPLIES),
            call_timeout: fields.seconds("call_timeout", default.call_timeout, 1.0..=120.0),
            heartbeat_timeout: fields
                .optional_f64("heartbeat_timeout", 1.0..=3_600.0)
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            max_length: fields.usize("max_length", default.max_length, 64..=6_000),
            rates: rates(fields),
            requests: Requests::read(fields.section("requests")),
            poke: fields.choice(
                "poke",
                default.poke,
                &[("ignore", OnPoke::Ignore), ("answer", OnPoke::Answer)],
            ),
            ignore: fields
                .list("ignore")
                .into_iter()
                .filter_map(|id| id.id())
                .collect(),
        }
    }

    /// The longest message in bytes of UTF-8.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.max_length.saturating_mul(BYTES_PER_CHARACTER)
    }
}

/// What is wrong between accounts: those that listen at one address and cannot be told apart.
pub fn conflicts(accounts: &[(&str, &Settings)]) -> Vec<String> {
    let mut seen: Vec<(&str, SocketAddr, Option<&str>)> = Vec::new();
    let mut problems = Vec::new();
    for &(name, settings) in accounts {
        let Transport::Reverse { listen } = settings.transport else {
            continue;
        };
        let bot = settings.self_id.as_deref();
        let clashes = |(_, other, its): &&(&str, SocketAddr, Option<&str>)| {
            *other == listen
                && listen.port() != 0
                && (bot.is_none() || bot == *its || its.is_none())
        };
        if let Some((other, ..)) = seen.iter().find(clashes) {
            problems.push(format!(
                "the accounts {other} and {name} listen at {listen}: each needs a self_id of its own"
            ));
        }
        seen.push((name, listen, bot));
    }
    problems
}

/// Which of the three ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reverse,
    Forward,
    Http,
}

/// Reads how the account is reached. Keys of another way are refused, because nothing would act on them.
fn transport(fields: &mut Fields<'_>) -> Transport {
    let kinds = [
        ("reverse", Kind::Reverse),
        ("forward", Kind::Forward),
        ("http", Kind::Http),
    ];
    let kind = fields.choice("connection", Kind::Reverse, &kinds);
    let listen = listen(fields);
    let schemes: &[&str] = match kind {
        Kind::Http => &["http", "https"],
        Kind::Reverse | Kind::Forward => &["ws", "wss"],
    };
    let url = fields.optional_text("url");
    let secret = fields.secret("secret");
    let foreign: &[(&str, &str)] = match kind {
        Kind::Reverse => &[
            ("url", "the implementation connects to listen"),
            ("secret", "the implementation presents token"),
            ("secret_file", "the implementation presents token"),
        ],
        Kind::Forward => &[
            ("listen", "the gateway connects to url"),
            ("secret", "the gateway presents token"),
            ("secret_file", "the gateway presents token"),
        ],
        Kind::Http => &[(
            "listen",
            "events come to the gateway's web server, see http.listen",
        )],
    };
    for (key, why) in foreign {
        if fields.has(key) {
            fields.invalid(key, "belongs to another connection", Some(why));
        }
    }
    let fallback = Transport::Reverse {
        listen: listen.unwrap_or(LISTEN),
    };
    if kind == Kind::Reverse {
        return fallback;
    }
    let Some(url) = url else {
        if !fields.has("url") {
            fields.missing("url", Some("where the implementation listens"));
        }
        return fallback;
    };
    if let Err(what) = address(&url, schemes) {
        fields.invalid("url", what, Some("for example ws://127.0.0.1:3001"));
        return fallback;
    }
    match (kind, secret) {
        (Kind::Http, Some(secret)) => Transport::Http { url, secret },
        (Kind::Http, None) => {
            if !fields.has("secret") && !fields.has("secret_file") {
                fields.missing("secret", Some("what the implementation signs events with"));
            }
            fallback
        }
        _ => Transport::Forward { url },
    }
}

/// Checks an address: scheme, host, and nothing secret in it.
fn address(url: &str, schemes: &[&str]) -> Result<(), String> {
    let uri: Uri = url.parse().map_err(|_| "not an address".to_owned())?;
    let scheme = uri.scheme_str().unwrap_or_default();
    if !schemes.contains(&scheme) {
        let schemes = schemes.join(":// or ");
        return Err(format!("not an address that begins with {schemes}://"));
    }
    if uri.host().is_none_or(str::is_empty) {
        return Err("names no host".to_owned());
    }
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    if authority.contains('@') || uri.query().is_some() {
        return Err("what is secret belongs into token, not into the address".to_owned());
    }
    Ok(())
}

fn listen(fields: &mut Fields<'_>) -> Option<SocketAddr> {
    let text = fields.optional_text("listen")?;
    let address = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}").parse(),
        None => text.parse(),
    };
    if address.is_err() {
        fields.invalid(
            "listen",
            "not an address and port",
            Some("for example 127.0.0.1:6199"),
        );
    }
    address.ok()
}

fn rates(fields: &mut Fields<'_>) -> Rates {
    let mut limits = fields.section("limits");
    let per_minute = limits.f64("account_per_minute", 60.0, 0.0..=100_000.0);
    let interval = limits.f64("conversation_interval", 1.0, 0.0..=3_600.0);
    let rates = Rates {
        account: per_minute / 60.0,
        account_burst: limits.u32("account_burst", 20, 1..=100_000),
        conversation: if interval > 0.0 { 1.0 / interval } else { 0.0 },
        conversation_burst: limits.u32("conversation_burst", 3, 1..=100_000),
    };
    limits.finish();
    rates
}

fn is_number(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
