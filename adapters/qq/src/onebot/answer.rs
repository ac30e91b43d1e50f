//! Answers to calls, classified.
//!
//! Owns the mapping from result codes and error texts to [`SendError`]. It decides nothing: a result
//! that may hide a delivered message is always ambiguous, never a reason to send again.

use serde::Deserialize;
use serde_json::value::RawValue;
use weirgate_sdk::{MessageId, SendError, Sent, text::line};

use super::wire::{self, Frame, MAX_MESSAGE_ID, Raw};

/// Longest error text kept, in characters.
const MAX_ERROR: usize = 200;

/// Words of an unknown outcome.
const TIMED_OUT: &[&str] = &["timeout", "timed out", "time out", "超时"];
/// Words of a conversation that is no longer there for the bot.
const GONE: &[&str] = &[
    "移出该群",
    "移出了群",
    "已退出该群",
    "不在群",
    "群不存在",
    "已解散",
    "removed from",
];
/// Words of a conversation in which the bot may not write.
const FORBIDDEN: &[&str] = &[
    "禁言",
    "不是好友",
    "非好友",
    "拉黑",
    "muted",
    "not a friend",
];
/// Words of a text over the platform's length.
const TOO_LONG: &[&str] = &["过长", "too long"];

/// Words of a quoted message that nobody finds.
const NO_QUOTED: &[&str] = &[
    "reply",
    "quote",
    "引用",
    "回复",
    "消息不存在",
    "找不到消息",
    "message not found",
    "msg not found",
    "message not exist",
    "msg not exist",
];

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireSent<'a> {
    #[serde(borrow)]
    message_id: Raw<'a>,
}

/// The result of a call, as it was written.
#[derive(Debug, Clone, Default)]
pub struct Data {
    json: Option<Box<RawValue>>,
    later: bool,
}

impl Data {
    /// The JSON, for the readers of `wire`.
    #[must_use]
    pub fn raw(&self) -> Raw<'_> {
        self.json.as_deref()
    }

    /// The call was only taken, to be carried out later.
    #[must_use]
    pub fn is_later(&self) -> bool {
        self.later
    }

    /// What a send gives back: the id of the new message, if the implementation tells it.
    #[must_use]
    pub fn sent(&self) -> Sent {
        let data: WireSent<'_> = wire::object(self.raw());
        let message = wire::id(data.message_id, MAX_MESSAGE_ID).filter(|id| id != "0");
        Sent {
            message: message.map(|id| MessageId::from(&*id)),
        }
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        self.raw().map(RawValue::get) == other.raw().map(RawValue::get)
    }
}

/// Whether a refusal is about the message that was quoted, which somebody may have deleted meanwhile.
#[must_use]
pub fn refuses_quote(error: &SendError) -> bool {
    let SendError::Rejected(text) = error else {
        return false;
    };
    let said = text.to_lowercase();
    NO_QUOTED.iter().any(|word| said.contains(word))
}

/// Whether an answer to no call says that the token is missing or wrong: implementations let everybody
/// in, say so, and close.
#[must_use]
pub fn refuses_token(frame: &Frame<'_>) -> bool {
    frame.post_type.is_none()
        && frame.echo.is_none()
        && matches!(wire::integer(frame.retcode), Some(1401 | 1403))
}

/// What became of a call.
///
/// # Errors
/// The class of the failure that the answer tells.
pub fn outcome(frame: &Frame<'_>) -> Result<Data, SendError> {
    let code = wire::integer(frame.retcode);
    let done = match wire::text(frame.status).as_deref() {
        Some("ok" | "async") => true,
        Some(_) => false,
        None => matches!(code, Some(0 | 1)),
    };
    if !done {
        return Err(failure(code, &words(frame)));
    }
    Ok(Data {
        json: frame.data.map(ToOwned::to_owned),
        later: wire::text(frame.status).as_deref() == Some("async") || code == Some(1),
    })
}

/// The error texts of an answer, each once.
fn words(frame: &Frame<'_>) -> String {
    let mut words: Vec<String> = Vec::new();
    for raw in [frame.msg, frame.message, frame.wording] {
        let text = line(&wire::text(raw).unwrap_or_default(), MAX_ERROR);
        if !text.is_empty() && !words.contains(&text) {
            words.push(text);
        }
    }
    line(&words.join(": "), MAX_ERROR)
}

fn failure(number: Option<i64>, words: &str) -> SendError {
    let said = words.to_lowercase();
    let holds = |list: &[&str]| list.iter().any(|word| said.contains(word));
    let code = number.map_or_else(|| "failed".to_owned(), |code| format!("retcode {code}"));
    let text = if words.is_empty() {
        code
    } else {
        format!("{code}: {words}")
    };
    // A plain reason is certain even inside a time-out text; without one the message may have arrived.
    if holds(GONE) {
        SendError::Gone(text)
    } else if holds(FORBIDDEN) {
        SendError::Forbidden(text)
    } else if holds(TIMED_OUT) {
        SendError::Ambiguous(text)
    } else if holds(TOO_LONG) {
        SendError::TooLong
    } else if matches!(number, Some(1401 | 1403)) {
        // It was not carried out, and will be once the token is right.
        SendError::Unavailable(text)
    } else {
        SendError::Rejected(text)
    }
}

#[cfg(test)]
mod tests;
