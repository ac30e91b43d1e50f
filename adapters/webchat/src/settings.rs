//! Settings of one account, read from agent.yaml.
//!
//! Owns their defaults and limits. It never opens a file or a socket.

use std::time::Duration;

use weirgate_sdk::{
    Rates,
    settings::{Fields, Secret},
};

use crate::{
    origin::{normal_origin, served_host},
    quota::Limits,
};

/// Longest texts in characters, and the most suggested questions.
const MAX_TITLE: usize = 100;
const MAX_GREETING: usize = 1_000;
const MAX_PLACEHOLDER: usize = 100;
const MAX_SUGGESTION: usize = 200;
const MAX_SUGGESTIONS: usize = 8;
/// The least and the most that the largest frame may be, in bytes: the longest message fits into the one, and a picture
/// of a phone into the other.
const MIN_FRAME: usize = 128 * 1024;
const MAX_FRAME: usize = 16 * 1024 * 1024;

/// What one site is like.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Shown at the top of the page.
    pub title: String,
    /// Shown in an empty conversation; empty is the element's own words.
    pub greeting: String,
    /// Shown in the empty field for a message; empty is the element's own words.
    pub placeholder: String,
    /// The button stands at the other side of the page: where a line begins.
    pub left: bool,
    /// Questions that a visitor can ask with one press.
    pub suggestions: Vec<String>,
    /// The colour of buttons and of the visitor's messages, as CSS has it; empty is the element's own.
    pub color: String,
    /// Origins beside the server's own from which a page may open the socket, such as
    /// `https://www.example.com`; compared exactly.
    pub origins: Vec<String>,
    /// Values of the Host header beside loopback and plain addresses that are served, such as
    /// `chat.example.com`; without a port, or with 80 or 443, any port is meant.
    pub hosts: Vec<String>,
    /// Longest message of a visitor in characters.
    pub max_message: usize,
    /// Visitors may send files.
    pub files: bool,
    /// Largest frame of a client in bytes.
    pub max_frame: usize,
    /// Most open sockets.
    pub max_sockets: usize,
    /// Most open sockets of one visitor; a further one closes his oldest.
    pub max_sockets_per_visitor: usize,
    /// Most open sockets of one address; 0 is no limit.
    pub max_sockets_per_address: usize,
    /// What the site's own server signs the identity of its visitors with.
    pub identity_secret: Option<Secret>,
    /// Nobody is let in without such an identity.
    pub identity_required: bool,
    /// How much a visitor may say.
    pub visitor_limits: Limits,
    /// How much may come from one address, from all visitors there together.
    pub address_limits: Limits,
    /// How fast answers go out; 0 is no limit, and none is needed here.
    pub rates: Rates,
    /// Fixed times, not in agent.yaml.
    pub timing: Timing,
}

/// The adapter's times. Only tests change them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Between two pings; a socket that missed two is dead.
    pub ping: Duration,
    /// In which a new socket must say hello.
    pub hello: Duration,
    /// How long recent frames are kept after the last socket of a conversation went.
    pub room: Duration,
    /// Before a message that the store did not take is handed in again; doubles each time.
    pub retry: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            ping: Duration::from_secs(25),
            hello: Duration::from_secs(10),
            room: Duration::from_secs(300),
            retry: Duration::from_millis(250),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            title: "Weirgate".to_owned(),
            greeting: String::new(),
            placeholder: String::new(),
            left: false,
            suggestions: vec![],
            color: String::new(),
            origins: vec![],
            hosts: vec![],
            max_message: 8_000,
            files: false,
            max_frame: MIN_FRAME,
            max_sockets: 1_000,
            max_sockets_per_visitor: 8,
            max_sockets_per_address: 100,
            identity_secret: None,
            identity_required: false,
            visitor_limits: Limits::default(),
            address_limits: Limits::default(),
            rates: Rates::UNLIMITED,
            timing: Timing::default(),
        }
    }
}

impl Settings {
    /// Reads the keys of an account. The caller finishes the fields.
    pub fn read(fields: &mut Fields) -> Self {
        let base = Self::default();
        let title = short(&fields.text("title", &base.title), MAX_TITLE);
        let greeting = fields.optional_text("greeting").unwrap_or_default();
        let placeholder = fields.optional_text("placeholder").unwrap_or_default();
        let suggestions = fields.texts("suggestions", MAX_SUGGESTIONS);
        let color = color(fields);
        let mut origins = vec![];
        for setting in fields.list("origins") {
            match setting.word().map(normal_origin) {
                Some(Some(origin)) => origins.push(origin),
                Some(None) => setting.invalid(
                    "not an origin",
                    Some("write scheme, name and port only, such as https://www.example.com"),
                ),
                None => {}
            }
        }
        let mut hosts = vec![];
        for setting in fields.list("hosts") {
            match setting.word().map(served_host) {
                Some(Some(host)) => hosts.push(host),
                Some(None) => setting.invalid(
                    "not a host",
                    Some("write a name and maybe a port, without a scheme"),
                ),
                None => {}
            }
        }
        Self {
            title,
            greeting: short(&greeting, MAX_GREETING),
            placeholder: short(&placeholder, MAX_PLACEHOLDER),
            left: fields.choice("position", base.left, &[("right", false), ("left", true)]),
            suggestions: suggestions
                .iter()
                .map(|it| short(it, MAX_SUGGESTION))
                .collect(),
            color,
            origins,
            hosts,
            // Ten thousand characters fit into one frame however they are escaped: at most twelve bytes
            // each.
            max_message: fields.usize("max_message", base.max_message, 1..=10_000),
            files: fields.bool("files", base.files),
            max_frame: fields.usize("max_frame", base.max_frame, MIN_FRAME..=MAX_FRAME),
            max_sockets: fields.usize("max_sockets", base.max_sockets, 1..=100_000),
            max_sockets_per_visitor: fields.usize(
                "max_sockets_per_visitor",
                base.max_sockets_per_visitor,
                1..=1_000,
            ),
            max_sockets_per_address: fields.usize(
                "max_sockets_per_address",
                base.max_sockets_per_address,
                0..=100_000,
            ),
            identity_secret: fields.secret("identity_secret"),
            identity_required: fields.bool("identity_required", base.identity_required),
            visitor_limits: message_limits(fields.section("visitor_limits")),
            address_limits: message_limits(fields.section("address_limits")),
            rates: rates(fields.section("limits"), base.rates),
            timing: base.timing,
        }
        .finished(fields)
    }

    /// Serves the origin under which the outside reaches the gateway, as if it stood in the settings.
    pub(crate) fn publish(&mut self, origin: Option<&str>) {
        let Some(origin) = origin.and_then(normal_origin) else {
            return;
        };
        let host = origin.split_once("://").map(|(_, host)| host);
        self.hosts.extend(host.and_then(served_host));
        self.origins.push(origin);
    }

    fn finished(self, fields: &Fields) -> Self {
        if self.max_sockets_per_visitor > self.max_sockets {
            fields.invalid("max_sockets_per_visitor", "more than max_sockets", None);
        }
        let has_secret = fields.has("identity_secret") || fields.has("identity_secret_file");
        if self.identity_required && !has_secret {
            fields.invalid(
                "identity_required",
                "nobody could come in without identity_secret",
                None,
            );
        }
        self
    }
}

/// `visitor_limits` and `address_limits`: messages of one visitor, or from one address.
fn message_limits(mut fields: Fields) -> Limits {
    let limits = Limits {
        minute: fields.u32("minute", 0, 0..=10_000),
        day: fields.u32("day", 0, 0..=1_000_000),
    };
    fields.finish();
    limits
}

/// The beginning of a text, in characters.
fn short(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// `color`: it goes into a style sheet, so only what can be nothing but a colour is taken.
fn color(fields: &mut Fields) -> String {
    let Some(setting) = fields.get("color") else {
        return String::new();
    };
    let Some(color) = setting.text().map(str::trim) else {
        return String::new();
    };
    let digits = color.strip_prefix('#').map(|digits| {
        matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    if !color.is_empty() && digits != Some(true) {
        setting.invalid("not a colour", Some("write it as #1f5fd6"));
        return String::new();
    }
    color.to_owned()
}

/// `limits`: sends a second and bursts, for the whole site and for one conversation.
fn rates(mut fields: Fields, base: Rates) -> Rates {
    let rates = Rates {
        account: fields.f64("account", base.account, 0.0..=100_000.0),
        account_burst: fields.u32("account_burst", base.account_burst, 1..=100_000),
        conversation: fields.f64("conversation", base.conversation, 0.0..=100_000.0),
        conversation_burst: fields.u32("conversation_burst", base.conversation_burst, 1..=100_000),
    };
    fields.finish();
    rates
}

#[cfg(test)]
mod tests;
