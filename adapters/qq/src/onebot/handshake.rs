//! The checks of a handshake, before the upgrade is answered.
//!
//! Owns who is let in, and as which account: several accounts may listen at one address, told apart by the
//! bot that a client names. Pure. A token is compared in constant time and never logged.

use subtle::ConstantTimeEq;
use tokio_tungstenite::tungstenite::http::{HeaderMap, StatusCode, Uri};

use super::{links::Role, wire::MAX_ID};
use crate::qq::Shared;

/// Who connects, from a handshake that was found good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// The bot that it serves.
    pub bot: String,
    /// What the connection is for.
    pub role: Role,
}

/// Why a handshake was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// No token.
    NoToken,
    /// A wrong token.
    WrongToken,
    /// No bot id, or none that is a number.
    NoBot,
    /// A role that OneBot does not have.
    UnknownRole,
    /// Another bot than the configured or connected one.
    OtherBot,
    /// The account is not running yet, or no more.
    NotRunning,
}

impl Refusal {
    /// The HTTP status that says so.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::NoToken => StatusCode::UNAUTHORIZED,
            Self::WrongToken | Self::OtherBot => StatusCode::FORBIDDEN,
            Self::NoBot | Self::UnknownRole => StatusCode::BAD_REQUEST,
            Self::NotRunning => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// Checks a handshake at an address where these accounts listen; gives the index of the account.
///
/// # Errors
/// The first thing that is wrong; the token comes first, so that a stranger learns nothing else, not
/// even which bots there are.
pub fn examine(
    accounts: &[&Shared],
    headers: &HeaderMap,
    uri: &Uri,
) -> Result<(usize, Peer), Refusal> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let shown = match header("authorization") {
        Some(value) => Some(bearer(value).to_owned()),
        None => uri.query().and_then(access_token),
    };
    let shown = shown.filter(|shown| !shown.is_empty());
    let fits = |account: &&Shared| match (&account.settings.token, &shown) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(token), Some(shown)) => shown.as_bytes().ct_eq(token.expose().as_bytes()).into(),
    };
    let bot = header("x-self-id").map_or("", str::trim);
    let named = |account: &&Shared| account.settings.self_id.as_deref() == Some(bot);
    let any = |account: &&Shared| account.settings.self_id.is_none();
    let account = accounts
        .iter()
        .position(named)
        .or_else(|| accounts.iter().position(any));
    let admitted = match account.and_then(|index| accounts.get(index)) {
        Some(account) => fits(account),
        // Nobody's bot: whoever has one of the tokens may know.
        None => accounts.iter().any(fits),
    };
    if !admitted {
        return Err(match shown {
            None => Refusal::NoToken,
            Some(_) => Refusal::WrongToken,
        });
    }
    if bot.is_empty() || bot.len() > MAX_ID || !bot.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refusal::NoBot);
    }
    let role = Role::parse(header("x-client-role")).ok_or(Refusal::UnknownRole)?;
    let index = account.ok_or(Refusal::OtherBot)?;
    if !accounts
        .get(index)
        .is_some_and(|account| account.links.admits(bot))
    {
        return Err(Refusal::OtherBot);
    }
    let peer = Peer {
        bot: bot.to_owned(),
        role,
    };
    Ok((index, peer))
}

fn bearer(value: &str) -> &str {
    let value = value.trim();
    match value.split_once(' ') {
        Some((scheme, token))
            if ["bearer", "token"]
                .iter()
                .any(|known| scheme.eq_ignore_ascii_case(known)) =>
        {
            token.trim()
        }
        _ => value,
    }
}

fn access_token(query: &str) -> Option<String> {
    let value = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("access_token="))?;
    Some(percent_decode(value))
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = |byte: &u8| {
            char::from(*byte)
                .to_digit(16)
                .and_then(|hex| u8::try_from(hex).ok())
        };
        if let (b'%', [high, low, ..]) = (first, after)
            && let (Some(high), Some(low)) = (hex(high), hex(low))
        {
            bytes.push(high * 16 + low);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests;
