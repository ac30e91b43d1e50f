//! Tags: how an answer is known to belong to a message.
//!
//! Owns the form `#<run>x<sequence>`, a word of letters and digits that passes through any bot unchanged.
//! Pure.

/// Most tags that are read in one text.
const MAX_TAGS: usize = 64;

/// The tag of one message of one run.
#[must_use]
pub fn write(run: &str, sequence: usize) -> String {
    format!("#{run}x{sequence}")
}

/// All words that follow a `#` in a text, without it, in order.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split('#')
        .skip(1)
        .filter_map(|rest| {
            let end = rest
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(rest.len());
            rest.get(..end).filter(|word| !word.is_empty())
        })
        .take(MAX_TAGS)
}

/// The sequence number in a word, if it is of this run.
#[must_use]
pub fn sequence(run: &str, word: &str) -> Option<usize> {
    let number = word.strip_prefix(run)?.strip_prefix('x')?;
    let canonical = number == "0" || !number.starts_with('0');
    number.parse().ok().filter(|_| canonical)
}

#[cfg(test)]
mod tests;
