//! What people see of a message.
//!
//! Owns the part of the platform's dialect that text must not fall into: marks, mentions and emoji that are not escaped
//! are shown as what they do.

/// The text as it is seen: escaped signs are themselves, marks are gone, codes in brackets are `(code)`.
#[must_use]
pub fn visible(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(line).collect();
    lines.join("\n")
}

fn line(line: &str) -> String {
    let body = line.trim_start();
    let marks = ["# ", "## ", "### ", "-# ", "- ", "* ", "> ", ">>> "];
    let mark = marks.iter().find(|mark| body.starts_with(**mark));
    let mut rest = mark.map_or(line, |mark| body.get(mark.len()..).unwrap_or_default());
    let mut seen = String::new();
    while let Some(first) = rest.chars().next() {
        let is_address = rest.starts_with("https://") || rest.starts_with("http://");
        let length = if is_address {
            let end = rest.find([' ', '\\', '<']).unwrap_or(rest.len());
            seen.push_str(rest.get(..end).unwrap_or_default());
            end
        } else if let Some(sign) = escaped(rest) {
            seen.push(sign);
            1 + sign.len_utf8()
        } else if first == '<' && rest.contains('>') {
            seen.push_str("(code)");
            rest.find('>').unwrap_or(0) + 1
        } else if matches!(first, '*' | '_' | '`' | '~' | '|') {
            1
        } else {
            seen.push(first);
            first.len_utf8()
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    seen
}

/// The sign behind a backslash, if it can be escaped.
fn escaped(text: &str) -> Option<char> {
    let sign = text.strip_prefix('\\')?.chars().next()?;
    (!sign.is_alphanumeric() && !sign.is_whitespace()).then_some(sign)
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn marks_have_their_effect_unless_they_are_escaped() {
        for (text, seen) in [
            ("**bold** `code`", "bold code"),
            (r"\*\*bold\*\*", "**bold**"),
            ("> quote\n# title", "quote\ntitle"),
            (r"\> no quote", "> no quote"),
            ("<@1> hi", "(code) hi"),
            (r"\<@1\> hi", "<@1> hi"),
            (r"a\nb \ c", r"a\nb \ c"),
            ("https://a.example/b_c d_e", "https://a.example/b_c de"),
        ] {
            assert_eq!(visible(text), seen, "{text}");
        }
    }
}
