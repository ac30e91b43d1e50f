//! What can go wrong with a model, and how a provider's own words for it are read.
//!
//! Owns the error type, the classes of the recovery policy and the clean-up of foreign text before
//! it enters an error. A message never holds a key, a URL's credentials or query, or more than
//! [`MAX_MESSAGE_CHARS`] characters.

use std::time::Duration;

use serde_json::Value;

use super::recovery::retry_after_in_body;

/// Most characters of an error's message.
pub const MAX_MESSAGE_CHARS: usize = 300;
/// Most characters quoted from a page that is no answer of an API at all.
pub const MAX_EXCERPT_CHARS: usize = 120;

/// Classes of errors; each has its own number of retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// The provider asked to slow down.
    RateLimit,
    /// No connection or no bytes within the time allowed.
    Timeout,
    /// The connection failed, or the answer broke off.
    Network,
    /// The provider answered with an error, or with something that is no answer.
    Api,
    /// The provider refused the content; never asked again.
    Security,
    /// A fault of our own, such as a value that cannot be sent.
    Internal,
}

impl ErrorClass {
    /// The name in metrics and in agent.yaml.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RateLimit => "rate_limit",
            Self::Timeout => "timeout",
            Self::Network => "network",
            Self::Api => "api",
            Self::Security => "security",
            Self::Internal => "internal",
        }
    }
}

/// One failed request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// Decides how often to try again.
    pub kind: ErrorClass,
    /// How long the provider asked to wait.
    pub retry_after: Option<Duration>,
    /// The HTTP status, or the one named inside a 200.
    pub status: Option<u16>,
    /// Whether the same request may succeed later.
    pub recoverable: bool,
    /// Short and free of secrets; for the log and for owners.
    pub message: String,
}

impl ModelError {
    /// An error of a class, with what is usual for it; the message is cleaned and bounded.
    #[must_use]
    pub fn new(kind: ErrorClass, message: &str) -> Self {
        Self {
            kind,
            retry_after: None,
            status: None,
            recoverable: kind != ErrorClass::Security,
            message: scrub(message, None, MAX_MESSAGE_CHARS),
        }
    }

    /// The same error, not worth another try.
    #[must_use]
    pub fn permanent(mut self) -> Self {
        self.recoverable = false;
        self
    }
}

/// Reads a provider's error: the whole body of a refusal, or the error object inside a 200.
/// `status` is the HTTP status unless that was a success.
#[must_use]
pub fn from_body(status: Option<u16>, body: &str, key: Option<&str>) -> ModelError {
    let value: Value = serde_json::from_str(body).unwrap_or(Value::Null);
    // Some compatible endpoints wrap the error into a list of one.
    let value = value.get(0).unwrap_or(&value);
    let object = value
        .get("error")
        .filter(|error| !error.is_null())
        .unwrap_or(value);
    let status = status.or_else(|| status_inside(object));
    let words = words_of(object);
    let (kind, recoverable) = classify(status, &words);
    let text = match message_of(object) {
        Some(text) => scrub(text, key, MAX_MESSAGE_CHARS),
        None => excerpt(body, key),
    };
    let place = match status {
        Some(status) => format!("provider error {status}"),
        None => "provider error".to_owned(),
    };
    let message = if text.is_empty() {
        place
    } else {
        format!("{place}: {text}")
    };
    ModelError {
        kind,
        retry_after: retry_after_in_body(value),
        status,
        recoverable,
        message: bounded(&message, MAX_MESSAGE_CHARS),
    }
}

/// Words for what a request carries beside words.
const FILES: [&str; 13] = [
    "image",
    "picture",
    "vision",
    "modal",
    "audio",
    "pdf",
    "document",
    "input_file",
    "media",
    "attachment",
    "content type",
    "content part",
    "base64",
];

/// Whether a provider refuses a request, as it seems, because of a file in it.
#[must_use]
pub fn refuses_files(error: &ModelError) -> bool {
    let refused = error.kind == ErrorClass::Api && !error.recoverable;
    let said = error.message.to_ascii_lowercase();
    let status = !matches!(error.status, Some(401..=403));
    refused && status && FILES.iter().any(|word| said.contains(word))
}

/// The class of an error, and whether the same request may succeed later. `words` are the
/// provider's codes in lower case.
fn classify(status: Option<u16>, words: &str) -> (ErrorClass, bool) {
    let says = |list: &[&str]| list.iter().any(|word| words.contains(word));
    if says(&["insufficient_quota", "billing"]) {
        return (ErrorClass::Api, false);
    }
    if says(&[
        "content_filter",
        "content_policy",
        "responsibleai",
        "data_inspection",
    ]) {
        return (ErrorClass::Security, false);
    }
    let slow_down = [
        "rate_limit",
        "too_many_requests",
        "resource_exhausted",
        "throttl",
    ];
    if status == Some(429) || says(&slow_down) {
        return (ErrorClass::RateLimit, true);
    }
    if says(&["overloaded"]) {
        return (ErrorClass::Api, true);
    }
    let recoverable = match status {
        Some(408 | 409 | 425 | 500..) => true,
        Some(_) => false,
        None => !says(&[
            "invalid",
            "not_found",
            "auth",
            "permission",
            "context_length",
        ]),
    };
    (ErrorClass::Api, recoverable)
}

/// Codes and types of an error object, in lower case.
fn words_of(object: &Value) -> String {
    let mut words = String::new();
    for key in ["code", "type", "status"] {
        if let Some(word) = object.get(key).and_then(Value::as_str) {
            words.push_str(&word.to_ascii_lowercase());
            words.push(' ');
        }
    }
    if let Some(inner) = object.pointer("/innererror/code").and_then(Value::as_str) {
        words.push_str(&inner.to_ascii_lowercase());
    }
    words
}

/// The HTTP status that an error object names as its code.
fn status_inside(object: &Value) -> Option<u16> {
    ["code", "status", "status_code"].iter().find_map(|key| {
        let code = object.get(key)?;
        let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
        u16::try_from(number)
            .ok()
            .filter(|status| (400..600).contains(status))
    })
}

fn message_of(object: &Value) -> Option<&str> {
    if let Some(text) = object.as_str() {
        return Some(text);
    }
    ["message", "detail", "msg", "error"]
        .iter()
        .find_map(|key| object.get(key)?.as_str())
}

/// A short quotation of a body that is no answer: mark-up, scripts and secrets taken out.
#[must_use]
pub fn excerpt(body: &str, key: Option<&str>) -> String {
    let mut text = String::new();
    let mut rest = body;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let hidden = ["script", "style"].into_iter().find(|name| {
            after
                .get(..name.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(name))
        });
        let after = match hidden {
            Some(name) => after
                .split_once(&format!("</{name}"))
                .map_or("", |(_, tail)| tail),
            None => after,
        };
        rest = after.split_once('>').map_or("", |(_, tail)| tail);
    }
    text.push_str(rest);
    scrub(&text, key, MAX_EXCERPT_CHARS)
}

/// One line of at most `limit` characters in which the key, whatever looks like one, and a URL's
/// credentials and query are masked.
#[must_use]
pub fn scrub(text: &str, key: Option<&str>, limit: usize) -> String {
    let text = match key.filter(|key| !key.is_empty()) {
        Some(key) => text.replace(key, "***"),
        None => text.to_owned(),
    };
    let mut line = String::with_capacity(text.len().min(limit * 4));
    let mut after_bearer = false;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        if after_bearer {
            line.push_str("***");
        } else {
            push_masked(&mut line, word);
        }
        after_bearer = word.eq_ignore_ascii_case("bearer");
    }
    bounded(&line, limit)
}

fn push_masked(line: &mut String, word: &str) {
    if let Some((scheme, rest)) = word.split_once("://") {
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (authority, path) = rest
            .split_once('/')
            .map_or((rest, None), |(a, p)| (a, Some(p)));
        let host = authority.rsplit('@').next().unwrap_or_default();
        line.push_str(scheme);
        line.push_str("://");
        line.push_str(host);
        if let Some(path) = path {
            line.push('/');
            line.push_str(path);
        }
        return;
    }
    match word.split_once("sk-") {
        Some((before, tail)) if tail.len() >= 8 => {
            line.push_str(before);
            line.push_str("sk-***");
        }
        _ => line.push_str(word),
    }
}

/// The first `limit` characters.
#[must_use]
pub fn bounded(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => text.get(..at).unwrap_or_default().to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
