//! What the platform says when it refuses a call.
//!
//! Owns which of its codes mean what. The public list (bot-docs, error codes) is older than the service; codes
//! that only others have reported are named as such.

use std::{fmt, time::Duration};

use serde_json::Value;
use weirgate_sdk::text::line;

use super::MAX_TEXT;

/// The pause after too many calls: the platform does not say how long.
const PAUSE: Duration = Duration::from_secs(2);

/// A refused call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The platform's own code; the status where it gives none.
    pub code: u64,
    /// What the platform says of it: one short line.
    pub text: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.text, self.code)?;
        match self.trouble().hint() {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// What a refusal means, whatever was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Too many calls; wait so long.
    Flood(Duration),
    /// The access token is not valid any more.
    Token,
    /// This machine's address is not on the bot's list.
    Address,
    /// The same message was taken before.
    Repeated,
    /// The text is too long.
    TooLong,
    /// What was to be answered cannot be answered any more, by time or by number.
    Expired,
    /// A message that answers nothing is not allowed.
    NoPush,
    /// The bot may not send Markdown.
    NoMarkdown,
    /// The bot may not send buttons.
    NoButtons,
    /// The text has an address that is not registered.
    NoLinks,
    /// It waits for a review; who sent it hears no more of it here.
    Reviewed,
    /// The bot is not connected, and the platform wants that before it sends.
    NotConnected,
    /// The bot may not do that there.
    Forbidden,
    /// The place or the person is gone.
    Gone,
    /// Anything else.
    Other,
}

impl Trouble {
    /// What the operator can do about it.
    #[must_use]
    pub fn hint(self) -> Option<&'static str> {
        match self {
            Self::Address => Some(
                "add this machine's public address to the IP whitelist of the developer console (Development)",
            ),
            Self::NoLinks => Some(
                "register the domains that answers may name in the developer console (Development > URL)",
            ),
            Self::NoMarkdown => Some("the bot is not entitled to Markdown: set markdown: false"),
            Self::NoButtons => Some("the bot is not entitled to buttons: set buttons: false"),
            _ => None,
        }
    }
}

impl Refusal {
    /// Reads an answer; `None` if it is a result.
    #[must_use]
    pub fn read(status: u16, answer: &Value) -> Option<Self> {
        let code = |field: &str| answer[field].as_u64().filter(|code| *code > 0);
        let code = code("code").or_else(|| code("err_code"))?;
        let text = answer["message"]
            .as_str()
            .or_else(|| answer["msg"].as_str());
        Some(Self {
            status,
            code,
            text: line(text.unwrap_or("no reason given"), MAX_TEXT),
        })
    }

    /// An answer that says nothing.
    #[must_use]
    pub fn bare(status: u16) -> Self {
        Self {
            status,
            code: status.into(),
            text: format!("HTTP status {status}"),
        }
    }

    /// The code says what it is about, so the call was not carried out.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.trouble() != Trouble::Other
    }

    /// What it means.
    #[must_use]
    pub fn trouble(&self) -> Trouble {
        match self.code {
            // 50002: reported of streams; 20028 and 304045 to 304050: a channel's own limits.
            50_002 | 20_028 | 304_045..=304_050 | 22_006 => Trouble::Flood(PAUSE),
            11_241..=11_244 | 11_261 | 11_262 => Trouble::Token,
            11_298 | 40_023_002 => Trouble::Address,
            // Reported: "deduplicated, check msgseq".
            40_054_005 => Trouble::Repeated,
            // Reported; 1000001 of channels.
            40_054_007 | 1_000_001 => Trouble::TooLong,
            // Reported: 22009 "msg limit exceed", 40034024 "msg_id invalid".
            22_009 | 40_034_024 | 40_034_005 | 40_034_006 | 304_026..=304_028 => Trouble::Expired,
            40_034_102 | 304_022 => Trouble::NoPush,
            50_056 | 40_034_090 => Trouble::NoMarkdown,
            304_037..=304_040 => Trouble::NoButtons,
            304_003 => Trouble::NoLinks,
            304_023 | 304_024 => Trouble::Reviewed,
            304_018 => Trouble::NotConnected,
            11_253 | 11_251 | 11_254 | 301_000..=301_007 | 304_002 => Trouble::Forbidden,
            10_001 | 10_003 | 10_004 | 11_281 | 11_282 => Trouble::Gone,
            _ if self.text.contains("markdown") => Trouble::NoMarkdown,
            _ => match self.status {
                401 => Trouble::Token,
                429 => Trouble::Flood(PAUSE),
                403 => Trouble::Forbidden,
                404 => Trouble::Gone,
                413 => Trouble::TooLong,
                _ => Trouble::Other,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn trouble(status: u16, answer: Value) -> Trouble {
        let read = Refusal::read(status, &answer);
        read.unwrap_or_else(|| Refusal::bare(status)).trouble()
    }

    #[test]
    fn codes_say_more_than_statuses() {
        let coded = |code: u64| json!({ "code": code, "message": "x" });
        let cases = [
            (400, coded(40_054_005), Trouble::Repeated),
            (400, coded(40_034_024), Trouble::Expired),
            (200, coded(22_009), Trouble::Expired),
            (400, coded(304_003), Trouble::NoLinks),
            (400, coded(304_037), Trouble::NoButtons),
            (202, coded(304_023), Trouble::Reviewed),
            (500, coded(11_244), Trouble::Token),
            (401, coded(11_298), Trouble::Address),
            (400, coded(40_054_007), Trouble::TooLong),
            (400, coded(12_345), Trouble::Other),
            (
                400,
                json!({ "code": 1, "message": "不允许发送原生 markdown" }),
                Trouble::NoMarkdown,
            ),
            (
                400,
                json!({ "err_code": 40_034_102, "message": "x" }),
                Trouble::NoPush,
            ),
            (401, json!(null), Trouble::Token),
            (404, json!({}), Trouble::Gone),
            (429, json!({ "message": "slow" }), Trouble::Flood(PAUSE)),
        ];
        for (status, answer, expected) in cases {
            assert_eq!(trouble(status, answer.clone()), expected, "{answer}");
        }
    }

    #[test]
    fn a_result_is_no_refusal() {
        for result in [
            json!({ "id": "x", "timestamp": "2026-12-01T00:00:00+08:00" }),
            json!({ "code": 0, "message": "" }),
            json!(null),
            json!([]),
            json!({ "code": "odd" }),
        ] {
            assert_eq!(Refusal::read(200, &result), None, "{result}");
        }
    }

    #[test]
    fn who_has_to_do_something_is_told_what() {
        let read = Refusal::read(
            401,
            &json!({ "code": 11_298, "message": "not in the list" }),
        );
        let told = read.expect("a refusal").to_string();
        assert!(
            told.contains("IP whitelist") && told.contains("11298"),
            "{told}"
        );
    }
}
