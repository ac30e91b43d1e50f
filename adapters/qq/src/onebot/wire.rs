//! Frames as they come over the wire, borrowed from the socket's buffer.
//!
//! Owns lenient reading: a field of a wrong type reads as absent, so that one odd field never loses an
//! event. Ids never pass through a float: they are read from the digits as they were written.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// One field, not yet read. `null` is absent.
pub type Raw<'a> = Option<&'a RawValue>;

/// The longest chat or user id, in bytes. Longer ones read as absent.
pub const MAX_ID: usize = 40;

/// The longest message id, in bytes. Longer ones read as absent.
pub const MAX_MESSAGE_ID: usize = 96;

/// An event, or the answer to a call: the fields of all kinds, all of them optional.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Frame<'a> {
    /// Which kind of event; absent in answers.
    #[serde(borrow)]
    pub post_type: Raw<'a>,
    /// `private` or `group`.
    #[serde(borrow)]
    pub message_type: Raw<'a>,
    /// Kind of notice.
    #[serde(borrow)]
    pub notice_type: Raw<'a>,
    /// Kind of request.
    #[serde(borrow)]
    pub request_type: Raw<'a>,
    /// `lifecycle` or `heartbeat`.
    #[serde(borrow)]
    pub meta_event_type: Raw<'a>,
    /// Finer kind.
    #[serde(borrow)]
    pub sub_type: Raw<'a>,
    /// Seconds since the epoch.
    #[serde(borrow)]
    pub time: Raw<'a>,
    /// The bot.
    #[serde(borrow)]
    pub self_id: Raw<'a>,
    /// Who.
    #[serde(borrow)]
    pub user_id: Raw<'a>,
    /// Which group.
    #[serde(borrow)]
    pub group_id: Raw<'a>,
    /// Notice: whom somebody poked.
    #[serde(borrow)]
    pub target_id: Raw<'a>,
    /// Notice: the file that somebody put into a group, an object.
    #[serde(borrow)]
    pub file: Raw<'a>,
    /// Request: what whoever asks says to it.
    #[serde(borrow)]
    pub comment: Raw<'a>,
    /// Request: what it is answered by.
    #[serde(borrow)]
    pub flag: Raw<'a>,
    /// Which message.
    #[serde(borrow)]
    pub message_id: Raw<'a>,
    /// The content: an array of segments, one segment, or a CQ string. In answers: the error text.
    #[serde(borrow)]
    pub message: Raw<'a>,
    /// The content as a CQ string.
    #[serde(borrow)]
    pub raw_message: Raw<'a>,
    /// Details of the sender.
    #[serde(borrow)]
    pub sender: Raw<'a>,
    /// Details of an anonymous sender.
    #[serde(borrow)]
    pub anonymous: Raw<'a>,
    /// Heartbeat: pause between two, in milliseconds.
    #[serde(borrow)]
    pub interval: Raw<'a>,
    /// Heartbeat: the state (an object). Answer: `ok`, `async` or `failed`.
    #[serde(borrow)]
    pub status: Raw<'a>,
    /// Answer: result code.
    #[serde(borrow)]
    pub retcode: Raw<'a>,
    /// Answer: the result.
    #[serde(borrow)]
    pub data: Raw<'a>,
    /// Answer: error code name.
    #[serde(borrow)]
    pub msg: Raw<'a>,
    /// Answer: error text for people.
    #[serde(borrow)]
    pub wording: Raw<'a>,
    /// Answer: which call.
    #[serde(borrow)]
    pub echo: Raw<'a>,
}

/// Details of a sender.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireSender<'a> {
    /// Who.
    #[serde(borrow)]
    pub user_id: Raw<'a>,
    /// The group of a temporary session.
    #[serde(borrow)]
    pub group_id: Raw<'a>,
    /// Account name.
    #[serde(borrow)]
    pub nickname: Raw<'a>,
    /// Name in the group; may be empty.
    #[serde(borrow)]
    pub card: Raw<'a>,
    /// `owner`, `admin` or `member`.
    #[serde(borrow)]
    pub role: Raw<'a>,
}

/// Details of an anonymous sender.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireAnonymous<'a> {
    /// Who, for as long as the platform keeps the mask.
    #[serde(borrow)]
    pub id: Raw<'a>,
    /// The name of the mask.
    #[serde(borrow)]
    pub name: Raw<'a>,
}

/// The state in a heartbeat.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireStatus<'a> {
    /// Logged in; absent or null if the implementation does not know.
    #[serde(borrow)]
    pub online: Raw<'a>,
}

/// Reads an object leniently: anything else gives the default.
#[must_use]
pub fn object<'a, T: Deserialize<'a> + Default>(raw: Raw<'a>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}

/// A string as it is, a number or boolean as its text; anything else is absent.
#[must_use]
pub fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    let raw = raw?.get();
    match raw.as_bytes().first()? {
        b'"' => string(raw),
        b'{' | b'[' | b'n' => None,
        _ => Some(Cow::Borrowed(raw)),
    }
}

/// An id in decimal or as the string that it is: never empty, never longer than `longest` bytes, and
/// none of the words that stand for a value that was never set.
#[must_use]
pub fn id(raw: Raw<'_>, longest: usize) -> Option<Cow<'_, str>> {
    let written = raw?.get();
    let id = match written.as_bytes().first()? {
        b'"' => match string(written)? {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        },
        b'-' | b'0'..=b'9' if is_integer(written) => Cow::Borrowed(written),
        _ => return None,
    };
    let unset = ["undefined", "null", "nan", "none"]
        .iter()
        .any(|word| id.eq_ignore_ascii_case(word));
    let odd = id.is_empty() || id.len() > longest || id.chars().any(char::is_control);
    (!odd && !unset).then_some(id)
}

/// Digits, perhaps after a minus.
#[must_use]
pub fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// An integer that fits 64 bits, written as a number or as a string.
#[must_use]
pub fn integer(raw: Raw<'_>) -> Option<i64> {
    text(raw)?.trim().parse().ok()
}

/// A boolean, exactly.
#[must_use]
pub fn boolean(raw: Raw<'_>) -> Option<bool> {
    match raw?.get() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// Whether a field holds something: not absent, `null`, or an empty text, list or object.
#[must_use]
pub fn is_set(raw: Raw<'_>) -> bool {
    raw.is_some_and(|raw| !matches!(raw.get(), "null" | "\"\"" | "[]" | "{}"))
}

/// Decodes a JSON string, borrowing where it holds no escape.
fn string(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str(raw).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

#[cfg(test)]
mod tests;
