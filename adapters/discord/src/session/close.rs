//! Why a connection ended, and what to do then.
//!
//! Owns the meaning of the platform's close codes (Opcodes and Status Codes, Gateway).

use serenity::constants::close_codes as codes;
use weirgate_net::session::{After, End};
use weirgate_sdk::AdapterError;

/// What an end means.
#[must_use]
pub fn read(code: Option<u16>, why: &str) -> End {
    let Some(code) = code else {
        return (After::Resume, why.to_owned());
    };
    let after = match code {
        codes::AUTHENTICATION_FAILED => After::Never(token_refused()),
        codes::DISALLOWED_GATEWAY_INTENTS => never(
            "the platform does not give what agent.yaml asks for (close code 4014): switch on \"Message Content Intent\" \
             in the developer portal under Bot, or set message_content: false; and \"Server Members Intent\" there \
             where members: true is set",
        ),
        codes::INVALID_GATEWAY_INTENTS => {
            never("the platform does not know an intent that was asked for (close code 4013)")
        }
        codes::SHARDING_REQUIRED | codes::INVALID_SHARD => never(
            "the platform wants more connections for a bot in so many servers (close codes 4010, 4011): set shards: auto",
        ),
        // INVALID_API_VERSION
        4012 => never("the platform has given up this version of its protocol (close code 4012)"),
        codes::NOT_AUTHENTICATED
        | codes::ALREADY_AUTHENTICATED
        | codes::INVALID_SEQUENCE
        | codes::SESSION_TIMEOUT => After::Anew,
        _ => After::Resume,
    };
    (
        after,
        format!("the platform ended the connection: {why} ({code})"),
    )
}

/// The platform does not take the token.
#[must_use]
pub fn token_refused() -> AdapterError {
    AdapterError::Config(
        "the platform does not take the token: copy it anew from the developer portal, Bot > Reset Token".into(),
    )
}

fn never(why: &str) -> After {
    After::Never(AdapterError::Config(why.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_somebody_has_to_mend_ends_the_account() {
        for code in [4_004, 4_010, 4_011, 4_012, 4_013, 4_014] {
            let (after, _) = read(Some(code), "");
            assert!(
                matches!(after, After::Never(AdapterError::Config(_))),
                "{code}"
            );
        }
        for code in [4_003, 4_007, 4_009] {
            assert_eq!(read(Some(code), "").0, After::Anew, "{code}");
        }
        for code in [1_000, 1_001, 1_006, 4_000, 4_001, 4_002, 4_008, 4_999] {
            assert_eq!(read(Some(code), "").0, After::Resume, "{code}");
        }
        assert_eq!(read(None, "reset"), (After::Resume, "reset".into()));
    }
}
