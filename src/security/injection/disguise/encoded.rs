//! Encoded stretches of a text: Base64, hex, bits and escapes.
//!
//! Owns what counts as such a stretch and what it says. Whatever is not a readable text when it is decoded (a
//! picture, a key, a long word) is no text and is passed over.

use std::ops::Range;

use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

/// Shortest encoded stretch, in bytes.
const SHORTEST: usize = 16;
/// Longest text that is decoded of one stretch, in bytes of its encoding.
const LONGEST: usize = 16 * 1024;
/// Most stretches of one text.
const MOST: usize = 32;

/// Padding or not, and bits left over at the end: whatever a model would take.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

/// Hands over each stretch with its name and what it says.
pub(super) fn each(text: &str, found: &mut dyn FnMut(&'static str, Range<usize>, String)) {
    let mut left = MOST;
    let mut take = |name, range: Range<usize>, bytes: Option<Vec<u8>>| {
        let Some(decoded) = bytes.and_then(readable).filter(|_| left > 0) else {
            return false;
        };
        left -= 1;
        found(name, range, decoded);
        true
    };
    let stretches = Stretches::of(text);
    for run in stretches.letters {
        let piece = text.get(run.clone()).unwrap_or_default();
        if !take("hex", run.clone(), hex(piece)) {
            take("base64", run, base64(piece));
        }
    }
    for run in stretches.bits {
        let is_group = |group: &str| matches!(group.len(), 7 | 8);
        if let Some((groups, range)) = stretch(text, run, is_group) {
            let byte = |group: &&str| u8::from_str_radix(group, 2).ok();
            take("bits", range, groups.iter().map(byte).collect());
        }
    }
    for run in stretches.digits {
        let is_group = |group: &str| group.trim_start_matches("0x").len() == 2;
        if let Some((groups, range)) = stretch(text, run, is_group) {
            let digits = groups
                .iter()
                .flat_map(|group| group.trim_start_matches("0x").bytes());
            take("hex", range, pairs(&digits.collect::<Vec<_>>()));
        }
    }
    if text.contains(['%', '\\', '&']) {
        for word in text
            .split_ascii_whitespace()
            .filter(|word| word.len() <= LONGEST)
        {
            // Where it stands is where its slice begins.
            let at = word.as_ptr().addr() - text.as_ptr().addr();
            take("escapes", at..at + word.len(), unescape(word));
        }
    }
}

/// The stretches of a text that are long enough to be looked at.
#[derive(Debug, Default)]
struct Stretches {
    /// Of the letters of Base64.
    letters: Vec<Range<usize>>,
    /// Of bits and blanks.
    bits: Vec<Range<usize>>,
    /// Of digits to the base of 16, apart.
    digits: Vec<Range<usize>>,
}

const LETTER: u8 = 1;
const BIT: u8 = 2;
const DIGIT: u8 = 4;

/// What each byte belongs to.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        let mut class = 0;
        if letter.is_ascii_alphanumeric() || matches!(letter, b'+' | b'/' | b'-' | b'_' | b'=') {
            class |= LETTER;
        }
        if matches!(letter, b'0' | b'1' | b' ') {
            class |= BIT;
        }
        if letter.is_ascii_hexdigit() || matches!(letter, b' ' | b'\\' | b'x' | b',') {
            class |= DIGIT;
        }
        classes[byte] = class;
        byte += 1;
    }
    classes
};

impl Stretches {
    /// In one pass.
    fn of(text: &str) -> Self {
        let mut found = Self::default();
        let mut starts = [0; 3];
        let mut before = 0;
        for (at, byte) in text.bytes().chain([0]).enumerate() {
            let class = CLASSES[usize::from(byte)];
            if class == before {
                continue;
            }
            let lists = [&mut found.letters, &mut found.bits, &mut found.digits];
            for ((bit, list), start) in [LETTER, BIT, DIGIT].into_iter().zip(lists).zip(&mut starts)
            {
                match (before & bit != 0, class & bit != 0) {
                    (false, true) => *start = at,
                    (true, false) if (SHORTEST..=LONGEST).contains(&(at - *start)) => {
                        list.push(*start..at);
                    }
                    _ => {}
                }
            }
            before = class;
        }
        found
    }
}

fn base64(piece: &str) -> Option<Vec<u8>> {
    let piece = piece.trim_end_matches('=');
    let alphabet = if piece.contains(['-', '_']) {
        &URL_SAFE
    } else {
        &STANDARD
    };
    // A single character over is no part of it.
    let whole = piece.len() - usize::from(piece.len() % 4 == 1);
    GeneralPurpose::new(alphabet, LENIENT)
        .decode(piece.get(..whole)?)
        .ok()
}

fn hex(piece: &str) -> Option<Vec<u8>> {
    let digits = piece.strip_prefix("0x").unwrap_or(piece);
    let whole = digits.len().is_multiple_of(2);
    whole.then(|| pairs(digits.as_bytes()))?
}

fn pairs(digits: &[u8]) -> Option<Vec<u8>> {
    let value = |digit: &u8| char::from(*digit).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(value(high)? * 16 + value(low)?).ok(),
        _ => None,
    };
    (digits.len() >= SHORTEST / 2).then(|| digits.chunks(2).map(byte).collect())?
}

/// The longest part of a run in which every group is one of the encoding, with its place.
fn stretch(
    text: &str,
    run: Range<usize>,
    is_group: impl Fn(&str) -> bool,
) -> Option<(Vec<&str>, Range<usize>)> {
    let piece = text.get(run.clone())?;
    let (mut best, mut present) = ((Vec::new(), run.clone()), (Vec::new(), run.clone()));
    let mut at = run.start;
    // The `x` of `\\x41` parts as a blank does; that of `0x41` belongs to its group.
    let marks = |letter: char| matches!(letter, ' ' | '\\' | ',');
    for group in piece.split(marks) {
        let bare = group.strip_prefix('x').unwrap_or(group);
        if is_group(bare) {
            if present.0.is_empty() {
                present.1.start = at;
            }
            present.0.push(bare);
            present.1.end = at + group.len();
        } else if !group.is_empty() {
            present.0.clear();
        }
        if present.0.len() > best.0.len() {
            best = present.clone();
        }
        at += group.len() + 1;
    }
    (best.0.len() >= SHORTEST / 4).then_some(best)
}

/// Percent signs, `\u0041` and `&#65;`, if there are enough of them.
fn unescape(piece: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(piece.len());
    let (mut rest, mut escapes) = (piece, 0);
    while let Some(first) = rest.chars().next() {
        if let Some((bytes, length)) = escape(rest) {
            out.extend(bytes);
            escapes += 1;
            rest = rest.get(length..)?;
        } else {
            out.extend(first.encode_utf8(&mut [0; 4]).as_bytes());
            rest = rest.get(first.len_utf8()..)?;
        }
    }
    (escapes >= 3).then_some(out)
}

/// The escape at the start of a text: what it means and how long it is.
fn escape(text: &str) -> Option<(Vec<u8>, usize)> {
    let number = |range: Range<usize>, radix| u32::from_str_radix(text.get(range)?, radix).ok();
    if text.starts_with('%') {
        return Some((vec![u8::try_from(number(1..3, 16)?).ok()?], 3));
    }
    let (code, length) = if text.starts_with("\\u") {
        (number(2..6, 16)?, 6)
    } else if text.starts_with("\\x") {
        (number(2..4, 16)?, 4)
    } else if text.starts_with("&#") {
        let end = text.find(';').filter(|end| *end <= 9)?;
        let code = match text.get(2..3)? {
            "x" | "X" => number(3..end, 16)?,
            _ => number(2..end, 10)?,
        };
        (code, end + 1)
    } else {
        return None;
    };
    let letter = char::from_u32(code)?;
    Some((letter.to_string().into_bytes(), length))
}

/// A text in which at least nine of ten characters are letters, digits, blanks or common marks.
fn readable(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let (mut all, mut plain) = (0, 0);
    for letter in text.chars() {
        all += 1;
        plain += usize::from(
            letter.is_alphanumeric() || letter.is_whitespace() || letter.is_ascii_punctuation(),
        );
    }
    (all >= 8 && plain * 10 >= all * 9 && text.contains(char::is_alphabetic)).then_some(text)
}
