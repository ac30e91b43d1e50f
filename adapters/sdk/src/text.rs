//! Foreign text, made safe to keep.
//!
//! Owns what is taken out of names and messages before they enter the gateway. It changes no words.

/// A text without carriage returns and control characters, except line feed and tab.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                if characters.peek() != Some(&'\n') {
                    cleaned.push('\n');
                }
            }
            '\n' | '\t' => cleaned.push(character),
            other if other.is_control() => {}
            other => cleaned.push(other),
        }
    }
    cleaned
}

/// A single line of at most `longest` characters: white space and control characters become single
/// spaces, characters that turn the direction of writing are dropped.
#[must_use]
pub fn line(text: &str, longest: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    let mut gap = false;
    for character in text.chars() {
        if count >= longest {
            break;
        }
        if matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}') {
            continue;
        }
        if character.is_control() || character.is_whitespace() {
            gap = count > 0;
            continue;
        }
        if gap {
            gap = false;
            line.push(' ');
            count += 1;
            if count >= longest {
                break;
            }
        }
        line.push(character);
        count += 1;
    }
    line
}

#[cfg(test)]
mod tests;
