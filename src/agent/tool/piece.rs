//! Long texts that a tool gives piece by piece.
//!
//! Owns how many lines fit, and what is said of the rest. Nothing is lost between two pieces. Pure.

use std::fmt::Write as _;

use crate::agent::context::estimate_tokens;

/// Tokens that are left for what stands around a text.
const AROUND: usize = 40;
/// Longest line, in characters; a longer one counts as several.
const MAX_LINE: usize = 2_000;

/// As many lines of a text as fit, from one on; says where to go on. What is `behind` it stands behind its end.
pub(in crate::agent) fn piece(text: &str, behind: &str, from: usize, tokens: usize) -> String {
    let room = tokens.saturating_sub(AROUND);
    let whole = estimate_tokens(text) + estimate_tokens(behind) <= room;
    if whole && from <= 1 {
        return format!("{text}{behind}");
    }
    let lines = lines(text, room.clamp(16, MAX_LINE));
    let (mut out, mut used, mut next) = (String::new(), 0, from);
    for line in lines.iter().skip(from.saturating_sub(1)) {
        used += estimate_tokens(line) + 1;
        if used > room && !out.is_empty() {
            break;
        }
        out.push_str(line);
        out.push('\n');
        next += 1;
    }
    if next <= lines.len() {
        // Writing to a string does not fail.
        let _ = write!(
            out,
            "[{} lines in all; go on with from: {next}]",
            lines.len()
        );
    } else if out.is_empty() {
        let _ = write!(out, "[there are only {} lines]", lines.len());
    } else if used + estimate_tokens(behind) <= room {
        out.push_str(behind);
    }
    out
}

/// The lines of a text, of at most so many characters.
fn lines(text: &str, most: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some((at, _)) = rest.char_indices().nth(most) {
            let (start, end) = rest.split_at(at);
            lines.push(start);
            rest = end;
        }
        lines.push(rest);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_given_line_by_line_and_none_is_lost() {
        let mut text: String = (1..=500)
            .map(|n| format!("line {n} says something\n"))
            .collect();
        text.push_str(&"长".repeat(1_000));
        let (mut from, mut got, mut pieces) = (1, String::new(), 0);
        loop {
            let piece = piece(&text, "", from, 300);
            assert!(estimate_tokens(&piece) <= 310, "{piece}");
            pieces += 1;
            let Some((lines, rest)) = piece.rsplit_once("[504 lines in all; go on with from: ")
            else {
                got.push_str(&piece);
                break;
            };
            got.push_str(lines);
            from = rest.trim_end_matches(']').parse().unwrap();
        }
        assert_eq!(got.replace("长\n长", "长长").trim_end(), text);
        assert!(pieces > 5);
        assert_eq!(piece("a\nb", "\n[files]", 1, 300), "a\nb\n[files]");
        assert_eq!(piece("a\nb", "", 9, 300), "[there are only 2 lines]");
        assert!(piece("a\nb\nc", "", 2, 300).starts_with("b\nc"));
    }
}
