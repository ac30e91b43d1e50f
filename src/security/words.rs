//! Words that are not to be read: the blocklist, found in whatever way they are written.
//!
//! Owns the forms in which a text is looked at (by level), what counts as a word, and the exceptions. All words
//! together cost one pass. It finds and replaces; it never decides who may say what.

mod stream;

use std::{cmp::Reverse, collections::BTreeMap, ops::Range, sync::Arc};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::{Regex, RegexBuilder};

use super::{injection::Severity, normalise::Normalised, redact};
pub(super) use stream::Stream;

/// Ordinary words that have a blocked one in them or share its first characters, so that they are not cut.
const ORDINARY: &str = include_str!("words/ordinary.txt");
/// Most bytes that one expression may take.
const REGEX_BYTES: usize = 1 << 20;

/// How hard it is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// As it is written in the list.
    Minimal,
    /// Whatever the case and width, also with separators between single characters.
    Standard,
    /// Also with letters that look alike, and with letters repeated.
    Strict,
}

impl Level {
    /// The words of agent.yaml.
    pub const WORDS: [(&'static str, Self); 3] = [
        ("strict", Self::Strict),
        ("standard", Self::Standard),
        ("minimal", Self::Minimal),
    ];
}

/// An entry of the list: a word, an `/expression/`, or an exception (`!word`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// As it is written.
    pub text: String,
    /// What follows from it: low is only told, medium is taken out, and a message with a high one is not answered.
    pub severity: Severity,
}

impl From<&str> for Entry {
    /// An entry of which nothing is said is taken out.
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            severity: Severity::Medium,
        }
    }
}

/// One entry of the list that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The entry as it stands in the list.
    pub entry: Arc<str>,
    /// Its severity.
    pub severity: Severity,
    /// Where, in bytes of the text.
    pub span: Range<usize>,
}

/// The blocklist, compiled.
#[derive(Debug)]
pub struct Words {
    level: Level,
    /// Words and exceptions; those from `exceptions` on are exceptions.
    automaton: AhoCorasick,
    exceptions: usize,
    entries: Vec<Listed>,
    expressions: Vec<(Listed, Regex)>,
    /// How much of a text that comes in pieces may become part of a match, in bytes; `None` for all of it.
    reach: Option<usize>,
    replacement: String,
}

/// An entry that is looked for, as it is named to the operator.
type Listed = (Arc<str>, Severity);

impl Hit {
    /// It is replaced, and not only told.
    #[must_use]
    pub fn is_taken_out(&self) -> bool {
        self.severity > Severity::Low
    }
}

impl Words {
    /// A list of entries. `None` if there is nothing to look for.
    ///
    /// # Errors
    /// What is wrong with an expression.
    pub fn new<'a>(
        list: impl IntoIterator<Item = &'a Entry>,
        level: Level,
        replacement: &str,
    ) -> Result<Option<Self>, String> {
        let (mut words, mut exceptions) = (Vec::new(), Vec::new());
        let (mut entries, mut expressions) = (Vec::new(), Vec::new());
        let mut longest = Some(0);
        for Entry { text, severity } in list {
            let entry = text.trim();
            if let Some(expression) = expression(entry) {
                let regex =
                    compile(expression, level).map_err(|error| format!("{entry}: {error}"))?;
                let length = redact::longest(expression);
                longest = longest.zip(length).map(|(one, other)| one.max(other));
                expressions.push(((entry.into(), *severity), regex));
                continue;
            }
            let (list, word) = match entry.strip_prefix('!') {
                Some(word) => (&mut exceptions, word),
                None => (&mut words, entry),
            };
            let folded = fold(word, level).text().trim().to_owned();
            if folded.is_empty() {
                continue;
            }
            longest = longest.map(|longest: usize| longest.max(folded.len()));
            if !entry.starts_with('!') {
                entries.push((entry.into(), *severity));
            }
            list.push(folded);
        }
        if words.is_empty() && expressions.is_empty() {
            return Ok(None);
        }
        let ordinary = ORDINARY.split_whitespace();
        exceptions.extend(ordinary.map(|word| fold(word, level).text().to_owned()));
        let first = words.len();
        words.extend(exceptions);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(words);
        Ok(Some(Self {
            level,
            automaton: automaton.map_err(|error| error.to_string())?,
            exceptions: first,
            entries,
            expressions,
            // A letter may be of four bytes and have a separator beside it.
            reach: longest.map(|longest| (longest * 5 + 8).min(2_048)),
            replacement: replacement.to_owned(),
        }))
    }

    /// Everything that is found, in the order of the text; none overlaps another.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<Hit> {
        let form = fold(text, self.level);
        let mut hits = Vec::new();
        self.look(form.text(), &mut |(entry, severity), span| {
            hits.push(Hit {
                entry: Arc::clone(entry),
                severity: *severity,
                span: form.range_of(span, text),
            });
        });
        for (second, places) in self.second_forms(form.text()) {
            self.look(&second, &mut |(entry, severity), span| {
                let at = |index: usize| places.get(index).map_or(0, |place| *place as usize);
                let place = at(span.start)..span.end.checked_sub(1).map_or(0, at) + 1;
                hits.push(Hit {
                    entry: Arc::clone(entry),
                    severity: *severity,
                    span: form.range_of(place, text),
                });
            });
        }
        apart(hits)
    }

    /// The text with what is found replaced, if it is more than to be told, and all that is found; `None` if there is
    /// nothing.
    #[must_use]
    pub fn replace(&self, text: &str) -> Option<(String, Vec<Hit>)> {
        let hits = self.find(text);
        if hits.is_empty() {
            return None;
        }
        let (mut out, mut done) = (String::with_capacity(text.len()), 0);
        for hit in hits.iter().filter(|hit| hit.is_taken_out()) {
            out.push_str(text.get(done..hit.span.start).unwrap_or_default());
            out.push_str(&self.replacement);
            done = hit.span.end;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Some((out, hits))
    }

    /// What the list finds in one form of a text.
    fn look(&self, text: &str, found: &mut dyn FnMut(&Listed, Range<usize>)) {
        let (mut words, mut ordinary) = (Vec::new(), Vec::new());
        for hit in self.automaton.find_overlapping_iter(text) {
            let which = hit.pattern().as_usize();
            if which >= self.exceptions {
                ordinary.push(hit.range());
            } else if is_word(text, hit.range()) {
                words.push((which, hit.range()));
            }
        }
        for (which, range) in words {
            // An ordinary word that covers it, or whose end is its beginning.
            let is_part = |word: &Range<usize>| {
                let covers =
                    word.start <= range.start && range.end <= word.end && word.len() > range.len();
                covers || (word.start < range.start && range.start < word.end)
            };
            if let Some(entry) = self
                .entries
                .get(which)
                .filter(|_| !ordinary.iter().any(is_part))
            {
                found(entry, range);
            }
        }
        for (entry, regex) in &self.expressions {
            for matched in regex.find_iter(text) {
                found(entry, matched.range());
            }
        }
    }

    /// The forms beside the first: single characters joined, and repeated letters as one and as two. Each with the
    /// place of each of its bytes in the first.
    fn second_forms(&self, text: &str) -> Vec<(String, Vec<u32>)> {
        let mut forms = Vec::new();
        if self.level != Level::Minimal {
            forms.extend(picked(text, &joined(text)));
        }
        if self.level == Level::Strict {
            for kept in [1, 2] {
                forms.extend(picked(text, &unrepeated(text, kept)));
            }
        }
        forms
    }
}

/// What is found without overlaps, in the order of the text: nothing hides what is more severe, and of equals the first
/// and longest counts.
fn apart(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (Reverse(hit.severity), hit.span.start, Reverse(hit.span.end)));
    let mut kept: BTreeMap<usize, Hit> = BTreeMap::new();
    for hit in hits {
        let before = kept.range(..hit.span.end).next_back();
        let is_free = before.is_none_or(|(_, other)| other.span.end <= hit.span.start);
        if is_free && !hit.span.is_empty() {
            kept.insert(hit.span.start, hit);
        }
    }
    kept.into_values().collect()
}

/// The text between the slashes of an expression.
pub(super) fn expression(entry: &str) -> Option<&str> {
    let inner = entry.strip_prefix('/')?.strip_suffix('/')?;
    (!inner.is_empty()).then_some(inner)
}

/// Compiles an expression within its limits, with what is wrong with it in a few words.
pub(super) fn compile(expression: &str, level: Level) -> Result<Regex, String> {
    let regex = RegexBuilder::new(expression)
        .case_insensitive(level != Level::Minimal)
        .size_limit(REGEX_BYTES)
        .dfa_size_limit(REGEX_BYTES)
        .build();
    match regex {
        Ok(regex) if regex.is_match("") => Err("it matches an empty text".to_owned()),
        Ok(regex) => Ok(regex),
        Err(error) => {
            let shown = error.to_string();
            let last = shown.lines().last().unwrap_or_default();
            Err(last.trim_start_matches("error: ").to_owned())
        }
    }
}

fn fold(text: &str, level: Level) -> Normalised {
    match level {
        Level::Minimal => Normalised::unchanged(text),
        Level::Standard => Normalised::plain(text),
        Level::Strict => Normalised::of(text),
    }
}

/// A word of Latin letters and digits is not part of a longer one. Other scripts have no blanks between words.
fn is_word(text: &str, range: Range<usize>) -> bool {
    let before = text
        .get(..range.start)
        .and_then(|text| text.chars().next_back());
    let after = text.get(range.end..).and_then(|text| text.chars().next());
    let word = text.get(range).unwrap_or_default();
    let joins = |one: Option<char>, other: Option<char>| {
        one.is_some_and(is_spaced) && other.is_some_and(is_spaced)
    };
    !joins(before, word.chars().next()) && !joins(word.chars().next_back(), after)
}

/// A letter of a script that parts words by blanks.
fn is_spaced(letter: char) -> bool {
    letter.is_alphanumeric() && letter < '\u{2e80}'
}

/// The places of characters that stay when the separators between single characters are dropped; empty if all do.
fn joined(text: &str) -> Vec<usize> {
    let letters: Vec<(usize, char)> = text.char_indices().collect();
    let is_letter = |at: usize| {
        letters
            .get(at)
            .is_some_and(|(_, letter)| letter.is_alphanumeric())
    };
    let is_mark = |at: usize| {
        let mark = letters.get(at).map(|(_, letter)| *letter);
        mark.is_some_and(|mark| {
            matches!(
                mark,
                ' ' | '-' | '_' | '.' | '*' | '+' | '/' | '|' | '~' | '·' | ','
            )
        })
    };
    // A single character has no letter of a spaced script beside it.
    let spaced = |at: usize| {
        letters
            .get(at)
            .is_some_and(|(_, letter)| is_spaced(*letter))
    };
    let single = |at: usize| {
        is_letter(at) && !(spaced(at) && ((at > 0 && spaced(at - 1)) || spaced(at + 1)))
    };
    let dropped = |at: usize| at > 0 && is_mark(at) && single(at - 1) && single(at + 1);
    let kept: Vec<usize> = (0..letters.len()).filter(|at| !dropped(*at)).collect();
    if kept.len() == letters.len() {
        return Vec::new();
    }
    kept.iter()
        .filter_map(|at| letters.get(*at).map(|(place, _)| *place))
        .collect()
}

/// The places of characters that stay when three or more of a kind become `kept`; empty if all do.
fn unrepeated(text: &str, kept: usize) -> Vec<usize> {
    let letters: Vec<(usize, char)> = text.char_indices().collect();
    let mut places = Vec::with_capacity(letters.len());
    for run in letters.chunk_by(|one, other| one.1 == other.1) {
        let length = if run.len() > 2 { kept } else { run.len() };
        places.extend(run.iter().take(length).map(|(place, _)| *place));
    }
    if places.len() == letters.len() {
        return Vec::new();
    }
    places
}

/// The characters at some places, with the place of each byte; `None` for no places.
fn picked(text: &str, places: &[usize]) -> Option<(String, Vec<u32>)> {
    if places.is_empty() {
        return None;
    }
    let (mut out, mut from) = (
        String::with_capacity(text.len()),
        Vec::with_capacity(text.len()),
    );
    for place in places {
        let letter = text.get(*place..).and_then(|rest| rest.chars().next())?;
        out.push(letter);
        for offset in 0..letter.len_utf8() {
            from.push(u32::try_from(place + offset).unwrap_or(u32::MAX));
        }
    }
    Some((out, from))
}

#[cfg(test)]
mod tests;
