//! What is said of files that could not be had, in every language of the gateway.

use weirgate_sdk::{AttachmentKind, MediaKind};

use super::Language;

/// Why a file is missing from an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaNote {
    /// It is too large.
    TooLarge {
        /// What it was said to be.
        kind: AttachmentKind,
        /// Its name, harmless; may be empty.
        what: String,
        /// The most bytes.
        limit: u64,
    },
    /// Its content is something else.
    OtherType {
        /// What it was said to be.
        kind: AttachmentKind,
        /// Its name, harmless; may be empty.
        what: String,
    },
    /// It could not be fetched or kept.
    Failed {
        /// What it was said to be.
        kind: AttachmentKind,
        /// Its name, harmless; may be empty.
        what: String,
    },
    /// It was to be sent, and the platform does not take it.
    NotSent {
        /// As what it was to be shown.
        kind: MediaKind,
        /// Its name, harmless.
        what: String,
    },
}

impl MediaNote {
    /// What the person is told.
    #[must_use]
    pub fn render(&self, language: Language) -> String {
        match language {
            Language::En => self.en(),
            Language::Zh => self.zh(),
        }
    }

    /// What the model is told behind the description of the file.
    #[must_use]
    pub fn for_model(&self, described: &str) -> String {
        let why = match self {
            Self::TooLarge { .. } => "too large to be read",
            Self::OtherType { .. } => "not what it claims to be",
            Self::Failed { .. } => "could not be fetched",
            Self::NotSent { .. } => "could not be sent",
        };
        let open = described.strip_suffix(']').unwrap_or(described);
        format!("{open} ({why})]")
    }

    fn en(&self) -> String {
        let named = |kind: &AttachmentKind, what: &str| {
            let kind = match kind {
                AttachmentKind::Image => "picture",
                AttachmentKind::Audio => "recording",
                AttachmentKind::Video => "video",
                AttachmentKind::File => "file",
            };
            if what.is_empty() {
                format!("a {kind}")
            } else {
                format!("the {kind} {what}")
            }
        };
        match self {
            Self::TooLarge { kind, what, limit } => format!(
                "(I could not look at {}: it is larger than {}.)",
                named(kind, what),
                size(*limit)
            ),
            Self::OtherType { kind, what } => format!(
                "(I could not look at {}: its content is something else.)",
                named(kind, what)
            ),
            Self::Failed { kind, what } => {
                format!(
                    "(I could not fetch {}; send it again to retry.)",
                    named(kind, what)
                )
            }
            Self::NotSent { kind, what } => {
                let kind = match kind {
                    MediaKind::Image => "picture",
                    MediaKind::Sticker => "sticker",
                    MediaKind::Voice | MediaKind::Audio => "recording",
                    MediaKind::Video => "video",
                    MediaKind::File => "file",
                };
                format!("(The {kind} {what} could not be sent here.)")
            }
        }
    }

    fn zh(&self) -> String {
        let named = |kind: &AttachmentKind, what: &str| {
            let kind = match kind {
                AttachmentKind::Image => "图片",
                AttachmentKind::Audio => "语音",
                AttachmentKind::Video => "视频",
                AttachmentKind::File => "文件",
            };
            if what.is_empty() {
                kind.to_owned()
            } else {
                format!("{kind} {what} ")
            }
        };
        match self {
            Self::TooLarge { kind, what, limit } => {
                format!("（{}超过 {}，无法读取。）", named(kind, what), size(*limit))
            }
            Self::OtherType { kind, what } => {
                format!("（{}的内容与类型不符，无法读取。）", named(kind, what))
            }
            Self::Failed { kind, what } => {
                format!("（{}获取失败，可重新发送再试。）", named(kind, what))
            }
            Self::NotSent { kind, what } => {
                let kind = match kind {
                    MediaKind::Image => "图片",
                    MediaKind::Sticker => "表情",
                    MediaKind::Voice | MediaKind::Audio => "语音",
                    MediaKind::Video => "视频",
                    MediaKind::File => "文件",
                };
                format!("（{kind} {what} 无法发送到这里。）")
            }
        }
    }
}

/// A number of bytes as people read it.
fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{} KiB", bytes.div_ceil(1 << 10))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_names_the_file_and_the_limit_in_each_language() {
        let note = MediaNote::TooLarge {
            kind: AttachmentKind::Image,
            what: "cat.png".into(),
            limit: 10 << 20,
        };
        for language in Language::ALL {
            let told = note.render(language);
            assert!(
                told.contains("cat.png") && told.contains("10 MiB"),
                "{told}"
            );
        }
        assert_eq!(
            note.for_model("[image: cat.png]"),
            "[image: cat.png (too large to be read)]"
        );
    }
}
