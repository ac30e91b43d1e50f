//! The WebSocket over which events come.
//!
//! Owns what may be dialled, the form of frames, and what the end of a connection means (bot-docs, WebSocket close
//! codes). It never dials without encryption, unless the HTTP API itself is not encrypted.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use weirgate_sdk::{AdapterError, text::line};

use crate::onebot::dial;

/// How long a frame may take to leave.
const WRITE_LIMIT: Duration = Duration::from_secs(10);
/// How long the platform wants nothing after too many frames.
const TOO_FAST: Duration = Duration::from_secs(60);
/// Longest reason that is repeated, in characters.
const MAX_TEXT: usize = 120;

/// A connection.
pub struct Socket(dial::Socket);

/// What came.
#[derive(Debug)]
pub enum Item {
    /// A frame.
    Frame(Value),
    /// Something that is none.
    Unreadable,
    /// The end, with its close code.
    End(Option<u16>, String),
}

/// What follows the end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// The session goes on over a new connection, if there is one.
    Resume,
    /// The same, after this time.
    Later(Duration),
    /// A new session.
    Anew,
    /// The same as [`After::Resume`], with a new access token.
    Token,
    /// Nothing: somebody has to change something.
    Never(AdapterError),
    /// Nothing: the gateway ends.
    Stopping,
}

impl Socket {
    /// Connects to the address that the platform named.
    ///
    /// # Errors
    /// Why not, for the operator.
    pub async fn dial(url: &str, encrypted: bool) -> Result<Self, String> {
        let is_safe = url.starts_with("wss://") || (!encrypted && url.starts_with("ws://"));
        if !is_safe {
            return Err("the platform gave an address that is not encrypted".to_owned());
        }
        dial::dial(url, None).await.map(Self)
    }

    /// The next item. Nothing is lost if the wait for it is given up.
    pub async fn next(&mut self) -> Item {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Text(text))) => {
                    return match serde_json::from_str(text.as_str()) {
                        Ok(frame) => Item::Frame(frame),
                        Err(_) => Item::Unreadable,
                    };
                }
                Some(Ok(Message::Close(close))) => {
                    let code = close.as_ref().map(|close| u16::from(close.code));
                    let reason = close.map(|close| line(close.reason.as_str(), MAX_TEXT));
                    return Item::End(code, reason.unwrap_or_default());
                }
                Some(Ok(Message::Binary(_))) => return Item::Unreadable,
                Some(Ok(_)) => {}
                Some(Err(error)) => return Item::End(None, line(&error.to_string(), MAX_TEXT)),
                None => return Item::End(None, "the connection ended".to_owned()),
            }
        }
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// Why it did not leave.
    pub async fn send(&mut self, frame: &Value) -> Result<(), String> {
        let sent = self.0.send(Message::text(frame.to_string()));
        match timeout(WRITE_LIMIT, sent).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(line(&error.to_string(), MAX_TEXT)),
            Err(_) => Err(format!("a frame did not leave in {WRITE_LIMIT:?}")),
        }
    }
}

/// What an end means.
#[must_use]
pub fn ended(code: Option<u16>, why: &str) -> (After, String) {
    let Some(code) = code else {
        return (After::Resume, why.to_owned());
    };
    let after = match code {
        4_004 => After::Token,
        4_006 | 4_007 | 4_900..=4_913 => After::Anew,
        4_008 => After::Later(TOO_FAST),
        4_010..=4_012 => never(
            "the platform does not take the gateway's way of connecting",
            code,
        ),
        4_013 | 4_014 => never(
            "the bot may not hear what events asks for: leave out what the developer console does not grant, \
             such as all_channels, which is for private-domain bots",
            code,
        ),
        4_914 => never(
            "the bot is not online: outside of the sandbox only published bots may connect (set api_url to the \
             sandbox's address, or publish the bot)",
            code,
        ),
        4_915 => never("the bot is banned: see the developer console", code),
        _ => After::Resume,
    };
    (
        after,
        format!("the platform ended the connection: {why} ({code})"),
    )
}

fn never(why: &str, code: u16) -> After {
    After::Never(AdapterError::Config(format!("{why} (close code {code})")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_somebody_has_to_mend_ends_the_account() {
        for code in [4_010, 4_013, 4_014, 4_914, 4_915] {
            let (after, _) = ended(Some(code), "");
            assert!(
                matches!(after, After::Never(AdapterError::Config(_))),
                "{code}"
            );
        }
        for code in [4_006, 4_007, 4_900, 4_913] {
            assert_eq!(ended(Some(code), "").0, After::Anew, "{code}");
        }
        for code in [1_000, 1_006, 4_001, 4_009, 4_999] {
            assert_eq!(ended(Some(code), "").0, After::Resume, "{code}");
        }
        assert_eq!(ended(Some(4_004), "").0, After::Token);
        assert_eq!(ended(Some(4_008), "").0, After::Later(TOO_FAST));
        assert_eq!(ended(None, "reset"), (After::Resume, "reset".into()));
    }

    #[tokio::test]
    async fn an_open_address_is_not_dialled_for_an_encrypted_api() {
        for url in ["ws://127.0.0.1:1", "http://127.0.0.1", ""] {
            let refused = Socket::dial(url, true).await.err();
            assert!(
                refused
                    .as_ref()
                    .is_some_and(|why| why.contains("not encrypted")),
                "{refused:?}"
            );
        }
    }
}
