//! Why a connection ended, and what to do then.
//!
//! Owns the meaning of the platform's close codes (bot-docs, WebSocket close codes).

use std::time::Duration;

use weirgate_net::session::{After, End};
use weirgate_sdk::AdapterError;

/// How long the platform wants nothing after too many frames.
const TOO_FAST: Duration = Duration::from_secs(60);

/// What an end means.
#[must_use]
pub fn read(code: Option<u16>, why: &str) -> End {
    let Some(code) = code else {
        return (After::Resume, why.to_owned());
    };
    let after = match code {
        4_004 => After::Token,
        4_006 | 4_007 | 4_900..=4_913 => After::Anew,
        4_008 => After::Later(TOO_FAST),
        4_010 | 4_011 => never(
            "the platform wants the bot's events over another number of connections: set shards: auto",
            code,
        ),
        4_012 => never(
            "the platform has given up this version of its protocol",
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
            let (after, _) = read(Some(code), "");
            assert!(
                matches!(after, After::Never(AdapterError::Config(_))),
                "{code}"
            );
        }
        for code in [4_006, 4_007, 4_900, 4_913] {
            assert_eq!(read(Some(code), "").0, After::Anew, "{code}");
        }
        for code in [1_000, 1_006, 4_001, 4_009, 4_999] {
            assert_eq!(read(Some(code), "").0, After::Resume, "{code}");
        }
        assert_eq!(read(Some(4_004), "").0, After::Token);
        assert_eq!(read(Some(4_008), "").0, After::Later(TOO_FAST));
        assert_eq!(read(None, "reset"), (After::Resume, "reset".into()));
    }
}
