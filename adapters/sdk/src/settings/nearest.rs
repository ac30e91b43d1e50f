//! The known word that is most like a misspelt one.
//!
//! Pure. Bounded: words over 64 characters have no neighbour.

/// Longest word that is compared, in characters.
const LONGEST: usize = 64;

/// The candidate nearest to `word`: at most one edit in three characters (an edit inserts, removes or
/// replaces a character or swaps two neighbours); case and `-` for `_` count nothing. The first of
/// equals wins.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word)?;
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let Some(other) = folded(candidate) else {
            continue;
        };
        let distance = distance(&word, &other);
        let allowed = (word.len().max(other.len()) / 3).max(1);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn folded(word: &str) -> Option<Vec<char>> {
    let fold = |c: char| {
        if c == '-' {
            '_'
        } else {
            c.to_ascii_lowercase()
        }
    };
    let word: Vec<char> = word.chars().take(LONGEST + 1).map(fold).collect();
    (!word.is_empty() && word.len() <= LONGEST).then_some(word)
}

/// Edit distance with swaps of neighbours (each place is edited once).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(x != y);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == y && x == b[j - 1] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(a.len())
}
