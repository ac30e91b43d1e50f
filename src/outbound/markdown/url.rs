//! Finds bare addresses in text, so that markers and cuts leave them alone.
//!
//! Owns what counts as an address. Never decodes, checks or opens one.

use std::ops::Range;

/// The addresses with a scheme (`https://…`) in `text`, in order: ranges of bytes.
pub(crate) fn find(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("://")) {
        let mark = from + at;
        let scheme = bytes.get(from..mark).unwrap_or_default();
        let length = scheme
            .iter()
            .rev()
            .take_while(|byte| is_scheme(**byte))
            .count();
        let end = mark + 3 + address_length(bytes.get(mark + 3..).unwrap_or_default());
        if length > 0 && end > mark + 3 {
            found.push(mark - length..end);
        }
        from = end;
    }
    found
}

fn is_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-')
}

/// Length of the address that starts here, without punctuation that belongs to the sentence.
fn address_length(bytes: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut length = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let twin = bytes.get(index + 1) == Some(byte) && matches!(byte, b'*' | b'~');
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => break,
            b')' => depth -= 1,
            b'<' | b'>' | b'"' | b'`' | b']' | b'|' | b'\\' => break,
            _ if twin || !byte.is_ascii_graphic() => break,
            _ => {}
        }
        length = index + 1;
    }
    let trailing = |byte: &&u8| b"*_~.,;:!?'([{".contains(*byte);
    length - bytes.iter().take(length).rev().take_while(trailing).count()
}
