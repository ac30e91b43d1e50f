//! What stands at the other end: its program, its version, its bot.
//!
//! Owns the questions that every implementation answers, and the names by which the four families that
//! differ are told apart. What they can do is asked of them where they can say so; a family is only looked
//! at where asking costs something.

use std::borrow::Cow;

use serde::Deserialize;
use weirgate_sdk::text::line;

use super::wire::{self, MAX_ID, Raw};

/// Asks which bot is logged in.
pub const LOGIN: &str = "get_login_info";
/// Asks what the implementation is.
pub const VERSION: &str = "get_version_info";

/// Longest name and version that are kept, in characters.
const MAX_NAME: usize = 60;

/// A family of implementations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// NapCat.
    NapCat,
    /// LLOneBot, since renamed LLBot.
    LlBot,
    /// Lagrange.OneBot.
    Lagrange,
    /// go-cqhttp and what forked from it.
    GoCqhttp,
    /// Any other.
    Other,
}

/// An implementation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Implementation {
    /// Its family.
    pub family: Family,
    /// Its name and version, as it says.
    pub name: String,
    /// The version of the protocol, as it says; empty if it does not.
    pub protocol: String,
}

impl Implementation {
    /// Reads the answer to [`VERSION`].
    #[must_use]
    pub fn read(data: Raw<'_>) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Wire<'a> {
            #[serde(borrow)]
            app_name: Raw<'a>,
            #[serde(borrow)]
            app_version: Raw<'a>,
            #[serde(borrow)]
            protocol_version: Raw<'a>,
        }
        let said: Wire<'_> = wire::object(data);
        let text = |raw| line(&wire::text(raw).unwrap_or_default(), MAX_NAME);
        let (name, version) = (text(said.app_name), text(said.app_version));
        Self {
            family: Family::named(&name),
            name: format!("{name} {version}").trim().to_owned(),
            protocol: text(said.protocol_version),
        }
    }

    /// It speaks another protocol than this one.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        !self.protocol.is_empty()
            && !self
                .protocol
                .trim_start_matches(['v', 'V'])
                .starts_with("11")
    }
}

impl Family {
    fn named(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let holds = |word: &str| name.contains(word);
        if holds("napcat") {
            Self::NapCat
        } else if holds("llonebot") || holds("llbot") || holds("luckylillia") {
            Self::LlBot
        } else if holds("lagrange") {
            Self::Lagrange
        } else if holds("cqhttp") {
            Self::GoCqhttp
        } else {
            Self::Other
        }
    }

    /// It keeps a list of the conversations in which something was said lately.
    #[must_use]
    pub fn lists_recent(self) -> bool {
        matches!(self, Self::NapCat | Self::Other)
    }

    /// It gives the history of private chats.
    #[must_use]
    pub fn keeps_private_history(self) -> bool {
        self != Self::GoCqhttp
    }
}

/// The bot in the answer to [`LOGIN`].
#[must_use]
pub fn login<'a>(data: Raw<'a>) -> Option<Cow<'a, str>> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Wire<'a> {
        #[serde(borrow)]
        user_id: Raw<'a>,
    }
    let said: Wire<'a> = wire::object(data);
    wire::id(said.user_id, MAX_ID).filter(|id| id != "0")
}

#[cfg(test)]
mod tests;
