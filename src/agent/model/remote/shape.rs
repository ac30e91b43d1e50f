//! Tells what a body is by its first bytes, because content types lie.
//!
//! Pure. A stream is served as plain text, one JSON object comes although a stream was asked for,
//! a gateway answers with its own page and status 200: all of that is seen here.

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Too little has come.
    Unknown,
    /// Server-sent events.
    Events,
    /// One JSON value, perhaps with something behind it.
    Json,
    /// A page or plain words: no answer of an API.
    Foreign,
}

const FIELDS: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];
const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// Leading bytes that mean nothing in any shape: white space (sent as keep-alive also in front of
/// JSON) and a byte order mark.
pub(super) fn without_padding(mut bytes: &[u8]) -> &[u8] {
    loop {
        let trimmed = bytes.trim_ascii_start();
        let trimmed = trimmed.strip_prefix(BYTE_ORDER_MARK).unwrap_or(trimmed);
        if trimmed.len() == bytes.len() {
            return trimmed;
        }
        bytes = trimmed;
    }
}

/// The shape of a body that begins with `start` (padding removed). `declared` is whether the
/// content type says server-sent events; `ended` whether nothing more will come.
pub(super) fn shape(start: &[u8], declared: bool, ended: bool) -> Shape {
    let foreign = if declared {
        Shape::Events
    } else {
        Shape::Foreign
    };
    match start.first() {
        None if ended => foreign,
        None => Shape::Unknown,
        Some(b'{' | b'[') => Shape::Json,
        Some(b'<') => Shape::Foreign,
        Some(b':') => Shape::Events,
        Some(_) => {
            let opens = |field: &&[u8]| match start.strip_prefix(*field) {
                Some(rest) => matches!(rest.first(), Some(b':' | b'\n' | b'\r')),
                None => false,
            };
            let may_become = |whole: &&[u8]| whole.starts_with(start);
            if FIELDS.iter().any(opens) {
                Shape::Events
            } else if !ended && FIELDS.iter().chain([&BYTE_ORDER_MARK]).any(may_become) {
                Shape::Unknown
            } else {
                foreign
            }
        }
    }
}
