//! What a platform can do, as data, for each conversation.
//!
//! Owns the description that drives splitting, streaming and pace. It never names a platform.

use std::time::Duration;

use crate::{button::ButtonLimits, settings::Fields};

/// The unit in which a platform counts length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LengthUnit {
    /// UTF-16 code units.
    Utf16,
    /// Unicode scalar values.
    Characters,
    /// UTF-8 bytes.
    Bytes,
}

impl LengthUnit {
    /// The length of a text in this unit.
    #[must_use]
    pub fn measure(self, text: &str) -> usize {
        match self {
            Self::Utf16 => text.chars().map(char::len_utf16).sum(),
            Self::Characters => text.chars().count(),
            Self::Bytes => text.len(),
        }
    }
}

/// The longest message that a platform takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// The most units.
    pub limit: usize,
    /// The unit.
    pub unit: LengthUnit,
}

/// How text that is still being written can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streaming {
    /// Not at all.
    None,
    /// Pieces are added to what is shown.
    Delta,
    /// What is shown is replaced by a newer text.
    Replace {
        /// A block that is complete never changes again, so that the adapter may keep it.
        prefix_stable: bool,
    },
    /// A message is edited.
    Edit {
        /// Least time between two edits.
        min_interval: Duration,
    },
    /// A draft beside the messages is replaced; it vanishes by itself.
    Draft {
        /// Least time between two drafts.
        min_interval: Duration,
        /// How long a draft lives.
        ttl: Duration,
    },
}

/// How often an account may send. Everything that goes out draws from these.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Sends a second of the whole account; 0 is no limit.
    pub account: f64,
    /// Sends of the account at once before the rate holds.
    pub account_burst: u32,
    /// Sends a second into one conversation; 0 is no limit.
    pub conversation: f64,
    /// Sends into one conversation at once before the rate holds.
    pub conversation_burst: u32,
}

impl Rates {
    /// Reads `limits` of an account that counts its sends a second, with the pause in one conversation in seconds; what is
    /// not written is the default, one second for the pause.
    pub fn read(fields: &mut Fields<'_>, default: Self) -> Self {
        let mut limits = fields.section("limits");
        let interval = limits.f64("conversation_interval", 1.0, 0.0..=3_600.0);
        let rates = Self {
            account: limits.f64("account_per_second", default.account, 0.0..=1_000.0),
            account_burst: limits.u32("account_burst", default.account_burst, 1..=100_000),
            conversation: if interval > 0.0 { 1.0 / interval } else { 0.0 },
            conversation_burst: limits.u32(
                "conversation_burst",
                default.conversation_burst,
                1..=100_000,
            ),
        };
        limits.finish();
        rates
    }

    /// No limits at all.
    pub const UNLIMITED: Self = Self {
        account: 0.0,
        account_burst: 1,
        conversation: 0.0,
        conversation_burst: 1,
    };
}

/// What one conversation of an account can do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capabilities {
    /// The longest message.
    pub max_length: Length,
    /// How text that is being written is shown.
    pub streaming: Streaming,
    /// A sent message can be a reply to another.
    pub reply: bool,
    /// The platform drops a second send with the same key, so that an unknown outcome may be repeated.
    pub idempotent: bool,
    /// The adapter shows past messages from the gateway's store ([`crate::Transcript`]), which then
    /// keeps them findable by conversation.
    pub transcript: bool,
    /// The buttons that a message can have; `None` where it can have none. An adapter that has some offers
    /// [`crate::Buttons`].
    pub buttons: Option<ButtonLimits>,
    /// A message is shown as pending until its end, so that the adapter is told of those that end without an answer
    /// ([`crate::Adapter::ended`]).
    pub pending: bool,
    /// The largest file that can be sent, in bytes; `None` if none can be.
    pub files: Option<u64>,
    /// Its rates.
    pub rates: Rates,
}
