//! The words of a text, by which tools are found.
//!
//! Pure.

use std::collections::BTreeSet;

/// The words of a text in lower case; of Chinese and the like each pair of neighbours.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let mut words = BTreeSet::new();
    for word in lower.split(|sign: char| !sign.is_alphanumeric()) {
        if word.is_ascii() {
            // Of two letters are words that say nothing.
            words.extend((word.len() > 2).then(|| word.to_owned()));
        } else {
            let signs: Vec<char> = word.chars().collect();
            words.extend(signs.windows(2).map(|pair| pair.iter().collect::<String>()));
        }
    }
    words
}
