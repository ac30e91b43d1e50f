//! Settings of one QQ account.
//!
//! Owns the keys under `platforms.qq.accounts.<name>`, less `addressing`, which the gateway reads.

use std::{
    collections::HashSet,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use weirgate_sdk::{
    Rates,
    settings::{Fields, Secret},
};

/// The longest message by default, in characters.
const MAX_LENGTH: usize = 1_500;
/// Bytes of UTF-8 in a message for each character of its limit: enough for Chinese text. At the default
/// it stays, with a quote, under the 5,000 units at which the strictest implementation refuses.
const BYTES_PER_CHARACTER: usize = 3;

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

/// Settings of one account.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Where the OneBot implementation connects to; one address for each account. Any path is taken.
    pub listen: SocketAddr,
    /// What the implementation must present; needed when listening beyond loopback.
    pub token: Option<Secret>,
    /// The bot's QQ number; connections of another one are refused.
    pub self_id: Option<String>,
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
    /// Users (other bots, which look like people here) whose messages are dropped.
    pub ignore: HashSet<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 6199),
            token: None,
            self_id: None,
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
            ignore: HashSet::new(),
        }
    }
}

impl Settings {
    /// Reads the settings of one account; faults are reported to the collector of `fields`.
    #[must_use]
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let default = Self::default();
        let listen = listen(fields).unwrap_or(default.listen);
        let token = fields.secret("token");
        let written = fields.has("token") || fields.has("token_file");
        if token.is_none() && !written && !listen.ip().is_loopback() {
            fields.invalid(
                "token",
                "anybody who reaches a listener beyond loopback could pose as the platform",
                Some("set token or token_file, or listen on 127.0.0.1"),
            );
        }
        let self_id = fields.id("self_id");
        if self_id.as_deref().is_some_and(|id| !is_number(id)) {
            fields.invalid("self_id", "not a QQ number", None);
        }
        Self {
            listen,
            token,
            self_id,
            reply: fields.choice(
                "reply",
                default.reply,
                &[
                    ("quote", Reply::Quote),
                    ("mention", Reply::Mention),
                    ("none", Reply::None),
                ],
            ),
            call_timeout: fields.seconds("call_timeout", default.call_timeout, 1.0..=120.0),
            heartbeat_timeout: fields
                .optional_f64("heartbeat_timeout", 1.0..=3_600.0)
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            max_length: fields.usize("max_length", default.max_length, 64..=6_000),
            rates: rates(fields),
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
