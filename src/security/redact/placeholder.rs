//! Chooses a placeholder that cannot form a secret together with the text around it, so that
//! redacting a redacted text changes nothing.

/// The word inside a replacement placeholder.
const WORD: &str = "REDACTED";

/// Whether `pattern` is part of the placeholder and could never be told from it.
pub(super) fn is_part(pattern: &str, placeholder: &str) -> bool {
    placeholder.contains(pattern)
}

/// The wished placeholder, or, if a pattern could overlap it, the word between two marks that no
/// pattern holds. No pattern may be part of the word.
pub(super) fn choose(wished: &str, patterns: &[String]) -> String {
    if !wished.is_empty() && patterns.iter().all(|pattern| !touches(pattern, wished)) {
        return wished.to_owned();
    }
    let marks = "*#|~_".chars().chain('\u{2580}'..='\u{259f}');
    marks
        .map(|mark| format!("{mark}{WORD}{mark}"))
        .find(|candidate| patterns.iter().all(|pattern| !touches(pattern, candidate)))
        .unwrap_or_else(|| wished.to_owned())
}

/// Whether some text with `placeholder` in it could hold an occurrence of `pattern` that overlaps it.
fn touches(pattern: &str, placeholder: &str) -> bool {
    pattern.contains(placeholder)
        || placeholder.contains(pattern)
        || overlaps(pattern, placeholder)
        || overlaps(placeholder, pattern)
}

/// Whether an ending of `first` is a beginning of `second`.
fn overlaps(first: &str, second: &str) -> bool {
    first
        .char_indices()
        .any(|(at, _)| first.get(at..).is_some_and(|end| second.starts_with(end)))
}
