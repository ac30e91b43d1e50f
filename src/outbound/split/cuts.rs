//! Lists the places in a stretch of text at which a cut would do, by kind.
//!
//! Owns the rules of sentences, words and clusters. Knows no limits and no markup.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// Cuts behind sentences in `range` of `text`: UAX #29 and the marks of Chinese and Japanese. A line
/// break ends a sentence. The end of the range is none.
pub(super) fn sentences(text: &str, range: Range<usize>) -> Vec<usize> {
    let part = text.get(range.clone()).unwrap_or_default();
    let mut cuts = Vec::new();
    for (at, sentence) in part.split_sentence_bound_indices() {
        extra_ends(sentence, range.start + at, &mut cuts);
        let end = range.start + at + sentence.len();
        let rest = text.get(end..range.end).unwrap_or_default();
        if rest.is_empty() {
            break;
        }
        let behind = rest.trim_start_matches(['*', '_', '~', '`']);
        if ends_sentence(sentence) {
            cuts.push(end);
        } else if behind.len() < rest.len() && behind.starts_with(char::is_whitespace) {
            // A Latin mark inside closing markers.
            cuts.push(range.end - behind.len());
        }
    }
    cuts.dedup();
    cuts
}

/// Whether the stretch that UAX #29 calls a sentence ends as one. In `a?b` nothing ends: behind a
/// Latin mark there must be white space, behind a wide one need not.
fn ends_sentence(sentence: &str) -> bool {
    if sentence.ends_with(char::is_whitespace) {
        return true;
    }
    let last = sentence.trim_end_matches(is_closing).chars().next_back();
    last.is_some_and(|c| !c.is_ascii())
}

/// Ends that UAX #29 does not see: behind `；` and behind a run of `…`, with their closing quotes, if
/// text without spaces follows.
fn extra_ends(sentence: &str, start: usize, cuts: &mut Vec<usize>) {
    let mut armed = false;
    for (at, c) in sentence.char_indices() {
        if matches!(c, '；' | '…') {
            armed = true;
        } else if armed && !is_closing(c) && !is_wide_end(c) {
            armed = false;
            if is_ideographic(c) || is_opening(c) {
                cuts.push(start + at);
            }
        }
    }
}

/// Cuts behind words: behind white space, and around the characters of scripts without spaces.
/// Closing marks stay with what they close.
pub(super) fn words(text: &str, range: Range<usize>) -> Vec<usize> {
    let part = text.get(range.clone()).unwrap_or_default();
    let mut before: Option<char> = None;
    let mut cuts = Vec::new();
    for (at, cluster) in part.grapheme_indices(true) {
        let next = cluster.chars().next().unwrap_or(' ');
        if let Some(last) = before {
            let spaced = last.is_whitespace() && !next.is_whitespace();
            let wide = (is_ideographic(last) || is_ideographic(next))
                && !next.is_whitespace()
                && !is_closing(next)
                && !is_wide_end(next)
                && !is_opening(last);
            if spaced || wide {
                cuts.push(range.start + at);
            }
        }
        before = cluster.chars().next_back();
    }
    cuts
}

/// Cuts between grapheme clusters.
pub(super) fn clusters(text: &str, range: Range<usize>) -> Vec<usize> {
    let part = text.get(range.clone()).unwrap_or_default();
    part.grapheme_indices(true)
        .skip(1)
        .map(|(at, _)| range.start + at)
        .collect()
}

/// Cuts between scalars.
pub(super) fn scalars(text: &str, range: Range<usize>) -> Vec<usize> {
    let part = text.get(range.clone()).unwrap_or_default();
    part.char_indices()
        .skip(1)
        .map(|(at, _)| range.start + at)
        .collect()
}

/// Cuts before the lines that begin in `range`.
pub(super) fn lines(text: &str, range: Range<usize>) -> Vec<usize> {
    let part = text.get(range.clone()).unwrap_or_default();
    let behind = part.match_indices('\n').map(|(at, _)| range.start + at + 1);
    behind.filter(|at| *at < range.end).collect()
}

/// Number of words; a character of a script without spaces is one.
pub(super) fn count_words(text: &str) -> usize {
    text.unicode_words()
        .map(|word| word.chars().filter(|c| is_ideographic(*c)).count().max(1))
        .sum()
}

/// Characters of scripts that put no spaces between words.
fn is_ideographic(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

/// Marks that stay with what stands before them.
pub(super) fn is_closing(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | ')'
            | ']'
            | '}'
            | '”'
            | '’'
            | '»'
            | '」'
            | '』'
            | '）'
            | '】'
            | '》'
            | '〉'
            | '］'
            | '｝'
            | '〕'
            | '〗'
            | '＂'
            | '＇'
            | '*'
            | '_'
            | '~'
            | '`'
    )
}

/// Marks that begin something and stay with what follows.
fn is_opening(c: char) -> bool {
    matches!(
        c,
        '(' | '['
            | '{'
            | '“'
            | '‘'
            | '«'
            | '「'
            | '『'
            | '（'
            | '【'
            | '《'
            | '〈'
            | '［'
            | '｛'
            | '〔'
            | '〖'
    )
}

/// Wide marks that never begin a line.
fn is_wide_end(c: char) -> bool {
    matches!(
        c,
        '。' | '！'
            | '？'
            | '；'
            | '，'
            | '、'
            | '：'
            | '…'
            | '—'
            | '．'
            | '｡'
            | '・'
            | 'ー'
            | '々'
            | '.'
            | ','
            | '!'
            | '?'
            | ';'
            | ':'
    )
}
