//! Stand-ins for characters that Markdown would misread, put in before it is parsed.
//!
//! Owns two repairs. Markers inside an address are no markers. And `**注意：**请看` is bold: the rule
//! that a closing marker behind punctuation wants a space after it was made for scripts with spaces.
//! A stand-in is as long as what it stands for, in bytes, so offsets stay valid.

use std::borrow::Cow;

use super::url;

/// Control characters that stand for ASCII: markers in addresses, then punctuation.
const ASCII: [(u8, u8); 11] = [
    (b'_', 0x01),
    (b'*', 0x02),
    (b'~', 0x03),
    (b':', 0x04),
    (b'.', 0x05),
    (b',', 0x06),
    (b'?', 0x07),
    (b';', 0x08),
    (b'%', 0x0e),
    (b'"', 0x0f),
    (b'!', 0x10),
];

/// The first of [`ASCII`] that is punctuation.
const FIRST_PUNCTUATION: usize = 3;

/// Wide punctuation: three bytes each. The nth is stood for by the nth character for private use.
const WIDE: &str = "。，、；：？！…—（）《》〈〉「」『』【】〔〕“”‘’～％＂＇［］｛｝．";

/// Private use, three bytes each.
const PRIVATE: char = '\u{e000}';

/// What a control character of the text itself becomes: it shows nothing anyway.
const SUBSTITUTE: u8 = 0x1a;

/// `text` with stand-ins; see [`unmask`].
pub(crate) fn mask(text: &str) -> Cow<'_, str> {
    let taken = has_stand_ins(text);
    if !taken && !text.contains("://") && !text.contains(['*', '~']) {
        return Cow::Borrowed(text);
    }
    let clean: Cow<'_, str> = if taken {
        Cow::Owned(without_stand_ins(text))
    } else {
        text.into()
    };
    let mut bytes = clean.as_bytes().to_vec();
    mask_flanks(&clean, &mut bytes);
    mask_addresses(&clean, &mut bytes);
    // Characters were replaced by whole characters of the same length, so this is always text.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// What the stand-ins stand for.
pub(crate) fn unmask(text: &str) -> Cow<'_, str> {
    if !has_stand_ins(text) {
        return Cow::Borrowed(text);
    }
    let restore = |c: char| {
        if let Some(index) = private_index(c) {
            return WIDE.chars().nth(index).unwrap_or(c);
        }
        let ascii = ASCII
            .iter()
            .find(|(_, stand_in)| char::from(*stand_in) == c);
        ascii.map_or(c, |(byte, _)| char::from(*byte))
    };
    Cow::Owned(text.chars().map(restore).collect())
}

/// Place of a character among the stand-ins for wide punctuation.
fn private_index(c: char) -> Option<usize> {
    let index = usize::try_from(u32::from(c).checked_sub(u32::from(PRIVATE))?).ok()?;
    (index < WIDE.len() / 3).then_some(index)
}

fn has_stand_ins(text: &str) -> bool {
    // 0xEE begins the characters for private use.
    text.bytes()
        .any(|byte| byte == 0xee || ASCII.iter().any(|(_, stand_in)| *stand_in == byte))
}

/// The text with stand-ins of its own made harmless, byte for byte.
fn without_stand_ins(text: &str) -> String {
    let harmless = |c: char| match c {
        c if private_index(c).is_some() => char::REPLACEMENT_CHARACTER,
        c if ASCII.iter().any(|(_, stand_in)| char::from(*stand_in) == c) => char::from(SUBSTITUTE),
        c => c,
    };
    text.chars().map(harmless).collect()
}

fn mask_addresses(text: &str, bytes: &mut [u8]) {
    for range in url::find(text) {
        // The target of a link is no text: nothing in it is a marker, and it takes no stand-ins.
        let before = text.get(..range.start).unwrap_or_default();
        if before.ends_with("](") || before.ends_with("]: ") || before.ends_with('<') {
            continue;
        }
        for byte in bytes.get_mut(range).unwrap_or_default() {
            let markers = ASCII.iter().take(FIRST_PUNCTUATION);
            if let Some((_, stand_in)) = markers.into_iter().find(|(marker, _)| marker == byte) {
                *byte = *stand_in;
            }
        }
    }
}

/// Punctuation beside a marker, where the script around has no spaces.
fn mask_flanks(text: &str, bytes: &mut [u8]) {
    for (at, marker) in text.match_indices(['*', '~']) {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + marker.len()..).unwrap_or_default();
        if let Some(c) = before {
            put_wide(c, at - c.len_utf8(), bytes);
            let punctuation = ASCII.iter().skip(FIRST_PUNCTUATION);
            if let Some((_, stand_in)) = punctuation.into_iter().find(|(p, _)| char::from(*p) == c)
                && before_wide(after)
                && let Some(byte) = bytes.get_mut(at - 1)
            {
                *byte = *stand_in;
            }
        }
        if let Some(c) = after.chars().next() {
            put_wide(c, at + marker.len(), bytes);
        }
    }
}

/// Whether a letter of a script other than Latin follows the markers.
fn before_wide(after: &str) -> bool {
    let next = after.trim_start_matches(['*', '~']).chars().next();
    next.is_some_and(|next| !next.is_ascii() && next.is_alphabetic())
}

fn put_wide(c: char, at: usize, bytes: &mut [u8]) {
    let index = WIDE
        .chars()
        .position(|wide| wide == c)
        .and_then(|index| u32::try_from(index).ok());
    let stand_in = index.and_then(|index| char::from_u32(u32::from(PRIVATE) + index));
    if let (Some(stand_in), Some(place)) = (stand_in, bytes.get_mut(at..at + c.len_utf8()))
        && place.len() == stand_in.len_utf8()
    {
        stand_in.encode_utf8(place);
    }
}
