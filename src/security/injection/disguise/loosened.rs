//! Letters that stand apart and digits that stand for letters.
//!
//! Owns one second form of a text in which single letters are joined (`f o r g e t`) and digits inside of words
//! are read as the letters that they look like (`f0rget`). Most texts have neither, and no second form.

use crate::security::normalise::Normalised;

/// Fewest single letters in a row that are joined.
const SPELT: usize = 4;
/// Longest word in which digits are read as letters; longer ones are keys and numbers.
const WORD: usize = 20;

/// The second form with the place of each of its bytes; `None` if it would be the same.
pub(super) fn loosened(source: &str, form: &Normalised) -> Option<(String, Vec<u32>)> {
    let text = form.text();
    if !is_suspicious(text.as_bytes()) {
        return None;
    }
    let words = words(text);
    let spelt = spelt(&words);
    let leet = words.iter().any(|(_, word)| is_leet(word));
    if spelt.is_empty() && !leet {
        return None;
    }
    let (mut out, mut places) = (String::with_capacity(text.len()), Vec::new());
    let mut push = |letter: char, at: usize| {
        out.push(letter);
        let place = u32::try_from(at).unwrap_or(u32::MAX);
        places.extend(std::iter::repeat_n(place, letter.len_utf8()));
    };
    for (index, (at, word)) in words.iter().enumerate() {
        let joins = spelt.iter().any(|run| run.start < index && index < run.end);
        if index > 0 && !(joins && is_single_gap(source, form, *at)) {
            push(' ', at.saturating_sub(1));
        }
        let leet = is_leet(word);
        for (offset, letter) in word.char_indices() {
            let read = if leet {
                plain(word, offset, letter)
            } else {
                letter
            };
            push(read, at + offset);
        }
    }
    Some((out, places))
}

/// A cheap look: some digit or sign stands beside a letter, or some single letters stand in a row.
fn is_suspicious(text: &[u8]) -> bool {
    let (mut before, mut single) = (b' ', 0_usize);
    let mut length = 0_usize;
    for byte in text.iter().chain(b" ") {
        if *byte == b' ' {
            single = if length == 1 { single + 1 } else { 0 };
            length = 0;
            if single >= SPELT {
                return true;
            }
        } else {
            let sign = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'@' | b'$');
            let beside = (sign(*byte) && before.is_ascii_lowercase())
                || (sign(before) && byte.is_ascii_lowercase());
            if beside {
                return true;
            }
            length += 1;
        }
        before = *byte;
    }
    false
}

/// The words of a normalised text with their places.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut at = 0;
    text.split(' ')
        .map(|word| {
            let here = at;
            at += word.len() + 1;
            (here, word)
        })
        .collect()
}

/// Runs of single letters that are long enough.
fn spelt(words: &[(usize, &str)]) -> Vec<std::ops::Range<usize>> {
    let mut runs = Vec::new();
    let mut start = None;
    for (index, (_, word)) in words.iter().chain([&(0, "")]).enumerate() {
        let single = word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match (single, start) {
            (true, None) => start = Some(index),
            (false, Some(from)) => {
                if index - from >= SPELT {
                    runs.push(from..index);
                }
                start = None;
            }
            _ => {}
        }
    }
    runs
}

/// One blank stands before the word at a place, so that it belongs to the letter before.
fn is_single_gap(source: &str, form: &Normalised, at: usize) -> bool {
    let (Some(before), here) = (at.checked_sub(2), form.source_of(at)) else {
        return true;
    };
    let before = form.range_of(before..before + 1, source);
    here.saturating_sub(before.end) <= 1
}

/// A short word in which letters stand beside digits or signs that stand for letters.
fn is_leet(word: &str) -> bool {
    if word.len() < 3 || word.len() > WORD {
        return false;
    }
    let letters = word.bytes().any(|byte| byte.is_ascii_lowercase());
    letters
        && word
            .bytes()
            .any(|byte| matches!(byte, b'0' | b'1' | b'3' | b'4' | b'5' | b'7' | b'@' | b'$'))
}

/// The letter that a digit or sign in a word stands for.
fn plain(word: &str, at: usize, letter: char) -> char {
    match letter {
        '0' => 'o',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        '1' => {
            let beside =
                |at: Option<usize>| at.and_then(|at| word.as_bytes().get(at)) == Some(&b'1');
            if beside(at.checked_sub(1)) || beside(Some(at + 1)) {
                'l'
            } else {
                'i'
            }
        }
        other => other,
    }
}
