//! `media`: which files are kept, and what of them the model gets.
//!
//! Owns the section's keys, defaults and limits. It never touches a file.

use std::time::Duration;

use weirgate_sdk::{AttachmentKind, settings::Fields};

/// The section `media`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// Most bytes of all kept files together.
    pub max_bytes: u64,
    /// The largest files.
    pub max_size: MaxSize,
    /// The time in which a file must be there.
    pub timeout: Duration,
    /// Most pictures of a request to a model.
    pub images_per_request: usize,
    /// Most recordings and documents of a request to a model.
    pub files_per_request: usize,
    /// Most bytes of all files of a request to a model.
    pub bytes_per_request: u64,
    /// Most bytes of a text file that the model reads.
    pub text_bytes: u64,
}

/// The section `media.max_size`, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaxSize {
    /// Pictures.
    pub image: u64,
    /// All other files.
    pub file: u64,
}

impl MaxSize {
    /// The largest file of a kind.
    #[must_use]
    pub fn of(&self, kind: AttachmentKind) -> u64 {
        match kind {
            AttachmentKind::Image => self.image,
            AttachmentKind::Audio | AttachmentKind::Video | AttachmentKind::File => self.file,
        }
    }
}

impl Default for Media {
    fn default() -> Self {
        Self {
            max_bytes: 1 << 30,
            max_size: MaxSize::default(),
            timeout: Duration::from_secs(60),
            images_per_request: 4,
            files_per_request: 2,
            bytes_per_request: 20 << 20,
            text_bytes: 32 << 10,
        }
    }
}

impl Default for MaxSize {
    fn default() -> Self {
        Self {
            image: 10 << 20,
            file: 20 << 20,
        }
    }
}

impl Media {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            max_bytes: bytes(&mut fields, "max_bytes", default.max_bytes, 1 << 50),
            max_size: MaxSize::read(fields.section("max_size")),
            timeout: fields.seconds("timeout", default.timeout, 1.0..=3600.0),
            images_per_request: fields.usize(
                "images_per_request",
                default.images_per_request,
                0..=32,
            ),
            files_per_request: fields.usize("files_per_request", default.files_per_request, 0..=32),
            // As much as one request may hold in memory.
            bytes_per_request: bytes(
                &mut fields,
                "bytes_per_request",
                default.bytes_per_request,
                64 << 20,
            ),
            text_bytes: bytes(&mut fields, "text_bytes", default.text_bytes, 1 << 20),
        };
        fields.finish();
        read
    }
}

impl MaxSize {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            // As much as one request may hold in memory.
            image: bytes(&mut fields, "image", default.image, 64 << 20),
            file: bytes(&mut fields, "file", default.file, 2 << 30),
        };
        fields.finish();
        read
    }
}

fn bytes(fields: &mut Fields<'_>, key: &str, default: u64, most: u64) -> u64 {
    let small = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let read = fields.usize(key, small(default), 0..=small(most));
    u64::try_from(read).unwrap_or(u64::MAX)
}
