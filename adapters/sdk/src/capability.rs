//! What a platform can do, as data, for each conversation.
//!
//! Owns the description that drives splitting, streaming and pace. It never names a platform.

use std::time::Duration;

use crate::{button::ButtonLimits, media::MediaKind, settings::Fields};

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

/// The files that a platform takes, each limit in bytes; 0 where it takes none of the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MediaLimits {
    /// Files of any content, to be saved.
    pub file: u64,
    /// Pictures that are shown.
    pub image: u64,
    /// Pictures that are shown small, as a word among words.
    pub sticker: u64,
    /// Recordings that are heard as somebody's voice.
    pub voice: u64,
    /// Music and other sound.
    pub audio: u64,
    /// Videos that are played.
    pub video: u64,
    /// The most pictures that one message shows ([`MediaKind::joins`]); with 0 and 1 each is a message of its own.
    pub album: usize,
    /// The most bytes of those together.
    pub album_bytes: u64,
}

impl MediaLimits {
    /// No files at all.
    pub const NONE: Self = Self {
        file: 0,
        image: 0,
        sticker: 0,
        voice: 0,
        audio: 0,
        video: 0,
        album: 0,
        album_bytes: 0,
    };

    /// The largest of one kind, in bytes.
    #[must_use]
    pub fn of(&self, kind: MediaKind) -> u64 {
        match kind {
            MediaKind::File => self.file,
            MediaKind::Image => self.image,
            MediaKind::Sticker => self.sticker,
            MediaKind::Voice => self.voice,
            MediaKind::Audio => self.audio,
            MediaKind::Video => self.video,
        }
    }

    /// As what a file of this kind and size goes out: as what it is, as something near to that, or as a file to be saved.
    /// `None` if it does not go out at all.
    #[must_use]
    pub fn fit(&self, kind: MediaKind, size: u64) -> Option<MediaKind> {
        let mut forms = std::iter::successors(Some(kind), |form| form.plainer());
        forms.find(|form| self.of(*form) > 0 && size <= self.of(*form))
    }

    /// The most bytes of a file of this kind in any form; 0 if it has none.
    #[must_use]
    pub fn most(&self, kind: MediaKind) -> u64 {
        self.of(kind).max(self.file)
    }
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
    /// The files that can be sent.
    pub media: MediaLimits,
    /// Its rates.
    pub rates: Rates,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_goes_out_as_what_it_is_or_as_something_near_or_not() {
        let limits = MediaLimits {
            file: 100,
            image: 10,
            sticker: 5,
            ..MediaLimits::NONE
        };
        let fit = |kind, size| limits.fit(kind, size);
        assert_eq!(fit(MediaKind::Sticker, 5), Some(MediaKind::Sticker));
        assert_eq!(fit(MediaKind::Sticker, 6), Some(MediaKind::Image));
        assert_eq!(fit(MediaKind::Sticker, 11), Some(MediaKind::File));
        assert_eq!(fit(MediaKind::Voice, 1), Some(MediaKind::File));
        assert_eq!(fit(MediaKind::Video, 101), None);
        assert_eq!(MediaLimits::NONE.fit(MediaKind::Image, 1), None);
        assert_eq!(limits.most(MediaKind::Image), 100);
    }
}
