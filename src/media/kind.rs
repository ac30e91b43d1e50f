//! What a file is, by its first bytes.
//!
//! Owns the decision, pure. What a sender or platform says of a file has no part in it.

use weirgate_sdk::AttachmentKind;

/// Bytes from the beginning that are looked at.
pub(super) const HEAD: usize = 8 << 10;
/// The type of a text in UTF-8.
pub const TEXT: &str = "text/plain";
/// The type of what is nothing known.
const UNKNOWN: &str = "application/octet-stream";

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// The kind.
    pub(super) kind: AttachmentKind,
    /// The media type.
    pub(super) mime: &'static str,
}

/// What a file is that begins like this.
pub(super) fn of(head: &[u8]) -> Found {
    let found = |kind, mime| Found { kind, mime };
    let Some(known) = infer::get(head) else {
        let mime = if is_text(head) { TEXT } else { UNKNOWN };
        return found(AttachmentKind::File, mime);
    };
    match known.matcher_type() {
        infer::MatcherType::Image => found(AttachmentKind::Image, known.mime_type()),
        infer::MatcherType::Audio => found(AttachmentKind::Audio, known.mime_type()),
        infer::MatcherType::Video => found(AttachmentKind::Video, known.mime_type()),
        // HTML, XML and scripts are read like any other text, and never shown as what they are.
        infer::MatcherType::Text if is_text(head) => found(AttachmentKind::File, TEXT),
        _ => found(AttachmentKind::File, known.mime_type()),
    }
}

/// UTF-8 without NUL; the last character may be cut off.
fn is_text(head: &[u8]) -> bool {
    let whole = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && head.len() >= HEAD,
    };
    whole && !head.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(head: &[u8], kind: AttachmentKind, mime: &str) {
        assert_eq!((of(head).kind, of(head).mime), (kind, mime));
    }

    #[test]
    fn the_content_decides() {
        check(
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            AttachmentKind::Image,
            "image/png",
        );
        check(
            b"\xff\xd8\xff\xe0\0\x10JFIF\0",
            AttachmentKind::Image,
            "image/jpeg",
        );
        check(b"GIF89a\x01\0\x01\0", AttachmentKind::Image, "image/gif");
        check(
            b"RIFF\x24\0\0\0WEBPVP8 ",
            AttachmentKind::Image,
            "image/webp",
        );
        check(
            b"OggS\0\x02\0\0\0\0\0\0\0\0",
            AttachmentKind::Audio,
            "audio/ogg",
        );
        check(
            b"PK\x03\x04\x14\0\0\0",
            AttachmentKind::File,
            "application/zip",
        );
        check("你好, world\n".as_bytes(), AttachmentKind::File, TEXT);
        check(
            b"<!DOCTYPE html><script>x</script>",
            AttachmentKind::File,
            TEXT,
        );
        check(b"<svg onload=alert(1)>", AttachmentKind::File, TEXT);
        check(b"a\0b", AttachmentKind::File, UNKNOWN);
        check(b"\xff\xfe\xfd", AttachmentKind::File, UNKNOWN);
    }

    #[test]
    fn a_character_may_be_cut_at_the_end_of_what_is_looked_at_alone() {
        let mut head = vec![b'a'; HEAD - 1];
        head.push("好".as_bytes()[0]);
        assert_eq!(of(&head).mime, TEXT);
        assert_eq!(of(&head[HEAD - 8..]).mime, UNKNOWN);
    }
}
