//! Text that stays text.
//!
//! Owns which characters would begin a mark, and where. A backslash before any sign that is no letter or digit shows
//! the sign alone. Addresses stay as they are: the platform reads them before it looks for marks, and a backslash
//! would become a part of them.

/// Signs that can begin or end a mark anywhere.
const SIGNS: &[char] = &['\\', '*', '_', '~', '`', '|', '<', '>', '[', ']'];
/// Signs that begin a mark at the beginning of a line, beside a number with a point.
const FIRST: &[char] = &['#', '-', '+'];
/// Signs at which an address ends, or after which it may not stand bare.
const NOT_IN_ADDRESS: &[char] = &['\\', '*', '~', '`', '|', '<', '>', '[', ']'];

/// Adds a piece of text without line breaks. `fresh` means that nothing but indentation stands before it in its line.
pub fn push(out: &mut String, text: &str, fresh: bool) {
    let mut rest = text;
    if fresh {
        let start = rest.trim_start_matches([' ', '\t']);
        let (white, after) = rest.split_at(rest.len() - start.len());
        out.push_str(white);
        rest = push_beginning(out, after);
    }
    while let Some(first) = rest.chars().next() {
        let length = address(rest);
        let (piece, after) = rest.split_at(length.max(first.len_utf8()));
        if length == 0 && SIGNS.contains(&first) {
            out.push('\\');
        }
        out.push_str(piece);
        rest = after;
    }
}

/// What would make the line a heading, or the item of a list. Gives what is left.
fn push_beginning<'a>(out: &mut String, text: &'a str) -> &'a str {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, after) = text.split_at(digits);
    if digits > 0 && after.starts_with('.') {
        out.push_str(number);
        out.push('\\');
        return after;
    }
    if text.starts_with(FIRST) {
        out.push('\\');
        let (sign, after) = text.split_at(1);
        out.push_str(sign);
        return after;
    }
    text
}

/// The length of the address at the beginning of a text, in bytes; 0 if there is none that can stand bare.
fn address(text: &str) -> usize {
    let is_address = text.starts_with("https://") || text.starts_with("http://");
    if !is_address {
        return 0;
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let word = text.get(..end).unwrap_or_default();
    if word.contains(NOT_IN_ADDRESS) {
        0
    } else {
        end
    }
}
