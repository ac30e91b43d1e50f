//! Redaction by shape: keys, tokens and passwords that nobody configured, and the operator's own patterns.
//!
//! Owns the search for expressions of finite length in a text that comes in pieces. From each place where one may
//! begin an automaton reads on; nothing behind that place goes out until it is dead, which is when none can match
//! any more. What one place costs is bounded by the longest expression, so the time is linear in the text.

mod build;
mod formats;

use std::{borrow::Cow, fmt, sync::Arc};

use parking_lot::Mutex;
use regex::Regex;
use regex_automata::{
    Anchored, PatternID,
    hybrid::{
        LazyStateID,
        dfa::{Cache, DFA},
    },
    util::start,
};

use crate::telemetry::metrics;
pub(in crate::security) use build::{is_finite, longest};
use formats::Format;

/// Caches that are kept for the next text.
const CACHES: usize = 8;

/// Expressions, compiled together.
pub(super) struct Shapes {
    formats: Vec<Format>,
    dfa: DFA,
    /// The bytes with which one may begin: at a word's begin, and anywhere.
    at_word: [bool; 256],
    anywhere: [bool; 256],
    /// Expressions without a finite length. A text that is looked through for them goes out whole.
    endless: Vec<Regex>,
    caches: Mutex<Vec<Cache>>,
}

impl Shapes {
    /// The text without anything that has one of the shapes; `None` if there was nothing.
    pub(super) fn redact(self: &Arc<Self>, text: &str, placeholder: &str) -> Option<String> {
        let mut stream = Stream::new(Arc::clone(self));
        let mut out = String::new();
        stream.push(text, placeholder, &mut out);
        stream.finish(placeholder, &mut out);
        stream.replaced.then_some(out)
    }

    fn cache(&self) -> Cache {
        let kept = self.caches.lock().pop();
        kept.unwrap_or_else(|| self.dfa.create_cache())
    }
}

/// A place from which the automaton reads.
#[derive(Debug)]
struct Candidate {
    /// Where it began, in what is held.
    start: usize,
    /// Up to where it has read.
    read: usize,
    state: LazyStateID,
    /// The longest match of each expression so far: its end and its expression.
    matches: Vec<(usize, usize)>,
}

/// What becomes of text behind a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Swallow {
    Nothing,
    /// Letters that belong to the match of this expression.
    More(usize),
    /// Everything up to the end mark of this expression.
    Until(usize),
}

/// One text that is looked through piece by piece.
pub(super) struct Stream {
    shapes: Arc<Shapes>,
    cache: Option<Cache>,
    /// The text that has not been forgotten.
    held: String,
    /// The byte before it.
    before: Option<u8>,
    /// Up to here `held` went out or was replaced.
    done: usize,
    /// From here on the next place is looked for.
    from: usize,
    candidate: Option<Candidate>,
    swallow: Swallow,
    /// Something was replaced.
    pub(super) replaced: bool,
}

impl Stream {
    pub(super) fn new(shapes: Arc<Shapes>) -> Self {
        Self {
            cache: Some(shapes.cache()),
            shapes,
            held: String::new(),
            before: None,
            done: 0,
            from: 0,
            candidate: None,
            swallow: Swallow::Nothing,
            replaced: false,
        }
    }

    /// Takes the next piece and appends to `out` what is safe.
    pub(super) fn push(&mut self, delta: &str, placeholder: &str, out: &mut String) {
        self.held.push_str(delta);
        if self.shapes.endless.is_empty() {
            self.run(placeholder, false, out);
        }
    }

    /// Ends the text: appends what was held back.
    pub(super) fn finish(&mut self, placeholder: &str, out: &mut String) {
        for regex in &self.shapes.endless {
            let clean = regex.replace_all(&self.held, regex::NoExpand(placeholder));
            if let Cow::Owned(clean) = clean {
                self.held = clean;
                self.replaced = true;
                metrics::redacted(1);
            }
        }
        self.run(placeholder, true, out);
        self.restart();
    }

    /// Forgets the text.
    pub(super) fn restart(&mut self) {
        self.held.clear();
        self.before = None;
        (self.done, self.from) = (0, 0);
        self.candidate = None;
        self.swallow = Swallow::Nothing;
    }

    /// How many bytes are held back.
    pub(super) fn held_back(&self) -> usize {
        self.held.len() - self.done
    }

    fn run(&mut self, placeholder: &str, last: bool, out: &mut String) {
        let shapes = Arc::clone(&self.shapes);
        // Taken out and put back, so that a panic in between leaves a fresh one to be made.
        let cache = self.cache.take();
        let mut cache = cache.unwrap_or_else(|| shapes.dfa.create_cache());
        loop {
            self.swallow(&shapes);
            if self.swallow != Swallow::Nothing {
                break;
            }
            let candidate = self.candidate.take();
            let Some(mut candidate) = candidate.or_else(|| self.find(&shapes, &mut cache)) else {
                self.emit(self.held.len(), out);
                break;
            };
            if !read(
                &shapes,
                &mut cache,
                self.held.as_bytes(),
                &mut candidate,
                last,
            ) {
                self.emit(candidate.start, out);
                self.candidate = Some(candidate);
                break;
            }
            if !self.decide(&shapes, &mut cache, &candidate, placeholder, last, out) {
                let letter = self
                    .held
                    .get(candidate.start..)
                    .and_then(|rest| rest.chars().next());
                self.from = candidate.start + letter.map_or(1, char::len_utf8);
            }
        }
        self.cache = Some(cache);
        self.compact();
    }

    /// Drops what follows a match and belongs to it.
    fn swallow(&mut self, shapes: &Shapes) {
        let rest = self.held.get(self.done..).unwrap_or_default();
        let (mut gone, mut next) = (0, self.swallow);
        if let Swallow::Until(which) = next {
            let mark = shapes
                .formats
                .get(which)
                .and_then(|format| format.until.as_deref());
            let mark = mark.unwrap_or_default();
            match rest.find(mark) {
                Some(at) => {
                    gone = at + mark.len();
                    next = Swallow::More(which);
                }
                // The mark may come in pieces.
                None => gone = floor(rest, rest.len().saturating_sub(mark.len())),
            }
        }
        if let Swallow::More(which) = next {
            let more = shapes.formats.get(which).map(|format| &format.more);
            let belongs =
                |byte: &u8| more.and_then(|more| more.get(usize::from(*byte))) == Some(&true);
            gone += rest.bytes().skip(gone).take_while(belongs).count();
            if gone < rest.len() {
                next = Swallow::Nothing;
            }
        }
        self.swallow = next;
        self.done += gone;
        self.from = self.from.max(self.done);
    }

    /// The next place where an expression may begin.
    fn find(&self, shapes: &Shapes, cache: &mut Cache) -> Option<Candidate> {
        let bytes = self.held.as_bytes();
        let mut before = match self.from.checked_sub(1) {
            Some(last) => bytes.get(last).copied(),
            None => self.before,
        };
        for (at, byte) in bytes.iter().enumerate().skip(self.from) {
            let entry = usize::from(*byte);
            let begins = shapes.anywhere.get(entry) == Some(&true)
                || (shapes.at_word.get(entry) == Some(&true) && begins_word(before, *byte));
            if begins && self.held.is_char_boundary(at) {
                let config = start::Config::new()
                    .anchored(Anchored::Yes)
                    .look_behind(before);
                let state = shapes.dfa.start_state(cache, &config).ok()?;
                return Some(Candidate {
                    start: at,
                    read: at,
                    state,
                    matches: Vec::new(),
                });
            }
            before = Some(*byte);
        }
        None
    }

    /// Replaces what a place that is read to its end has matched; says whether it did.
    fn decide(
        &mut self,
        shapes: &Shapes,
        cache: &mut Cache,
        candidate: &Candidate,
        placeholder: &str,
        last: bool,
        out: &mut String,
    ) -> bool {
        // The longest first; of equally long ones the first of the list.
        let mut matches = candidate.matches.clone();
        matches.sort_by_key(|(end, which)| (std::cmp::Reverse(*end), *which));
        for (end, which) in matches {
            if let Some(format) = shapes.formats.get(which)
                && let Some(matched) = self.held.get(candidate.start..end)
                && let Some(part) = format.judge(matched, self.held.as_bytes().get(end).copied())
            {
                self.swallow = match (&format.until, part.end == matched.len()) {
                    (Some(_), _) => Swallow::Until(which),
                    (None, true) => Swallow::More(which),
                    (None, false) => Swallow::Nothing,
                };
                let start = candidate.start;
                self.replace(start + part.start, start + part.end, placeholder, out);
                return true;
            }
        }
        let rest = self.held.get(candidate.start..).unwrap_or_default();
        let cut = last && candidate.matches.is_empty() && candidate.read == self.held.len();
        if cut && ends_within(shapes, cache, rest) {
            self.replace(candidate.start, self.held.len(), placeholder, out);
            return true;
        }
        false
    }

    fn replace(&mut self, from: usize, to: usize, placeholder: &str, out: &mut String) {
        self.emit(from, out);
        out.push_str(placeholder);
        self.done = to;
        self.from = to;
        self.replaced = true;
        metrics::redacted(1);
    }

    fn emit(&mut self, end: usize, out: &mut String) {
        out.push_str(self.held.get(self.done..end).unwrap_or_default());
        self.done = self.done.max(end);
        self.from = self.from.max(end);
    }

    /// Frees what went out.
    fn compact(&mut self) {
        let Some(last) = self.done.checked_sub(1) else {
            return;
        };
        self.before = self.held.as_bytes().get(last).copied();
        self.held.drain(..self.done);
        if let Some(candidate) = &mut self.candidate {
            candidate.start -= self.done;
            candidate.read -= self.done;
            for (end, _) in &mut candidate.matches {
                *end -= self.done;
            }
        }
        self.from -= self.done;
        self.done = 0;
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut caches = self.shapes.caches.lock();
        if caches.len() < CACHES {
            caches.extend(self.cache.take());
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("held_back", &self.held_back())
            .finish_non_exhaustive()
    }
}

/// Reads on from a place; says whether nothing can follow any more.
fn read(
    shapes: &Shapes,
    cache: &mut Cache,
    bytes: &[u8],
    candidate: &mut Candidate,
    last: bool,
) -> bool {
    let dfa = &shapes.dfa;
    while let Some(byte) = bytes.get(candidate.read) {
        let Ok(state) = dfa.next_state(cache, candidate.state, *byte) else {
            return true;
        };
        // The automaton tells a match one byte late.
        note(dfa, cache, state, candidate);
        candidate.state = state;
        if state.is_dead() || state.is_quit() {
            return true;
        }
        candidate.read += 1;
    }
    if last && let Ok(state) = dfa.next_eoi_state(cache, candidate.state) {
        note(dfa, cache, state, candidate);
    }
    last
}

fn note(dfa: &DFA, cache: &Cache, state: LazyStateID, candidate: &mut Candidate) {
    if !state.is_match() {
        return;
    }
    for index in 0..dfa.match_len(cache, state) {
        let which = dfa.match_pattern(cache, state, index).as_usize();
        match candidate
            .matches
            .iter_mut()
            .find(|(_, known)| *known == which)
        {
            Some((end, _)) => *end = candidate.read,
            None => candidate.matches.push((candidate.read, which)),
        }
    }
}

/// Whether a word may begin with a byte behind another. Words in names are parted by case (`dbPassword`,
/// `ANYpassword`), in addresses by escapes that end with a digit (`%26token`).
fn begins_word(before: Option<u8>, byte: u8) -> bool {
    let Some(before) = before.filter(u8::is_ascii_alphanumeric) else {
        return true;
    };
    match (before, byte) {
        (b'0'..=b'9', b'a'..=b'z' | b'A'..=b'Z') => true,
        (b'A'..=b'Z', b'a'..=b'z' | b'A'..=b'Z') | (b'a'..=b'z', b'A'..=b'Z') => true,
        _ => !byte.is_ascii_alphanumeric(),
    }
}

/// Whether a text ends inside of something that its marker gives away. A marker of three letters wants more than
/// lower case behind it: words begin so, too.
fn ends_within(shapes: &Shapes, cache: &mut Cache, rest: &str) -> bool {
    let telling = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let given_away = |format: &Format| {
        let behind = |marker: &String| rest.strip_prefix(marker.as_str());
        format.markers.iter().any(|marker| {
            behind(marker).is_some_and(|behind| {
                let enough = marker.len() > 3 || behind.len() >= 8 || behind.bytes().any(telling);
                !behind.is_empty() && enough
            })
        })
    };
    let mut formats = shapes.formats.iter().enumerate();
    formats.any(|(which, format)| given_away(format) && goes_on(&shapes.dfa, cache, which, rest))
}

/// Whether a text is the beginning of a match of one expression.
fn goes_on(dfa: &DFA, cache: &mut Cache, which: usize, text: &str) -> bool {
    let Ok(pattern) = PatternID::new(which) else {
        return false;
    };
    let config = start::Config::new().anchored(Anchored::Pattern(pattern));
    let Ok(mut state) = dfa.start_state(cache, &config) else {
        return false;
    };
    for byte in text.bytes() {
        match dfa.next_state(cache, state, byte) {
            Ok(next) if !next.is_dead() && !next.is_quit() => state = next,
            _ => return false,
        }
    }
    true
}

/// The nearest character boundary at or before a place.
fn floor(text: &str, at: usize) -> usize {
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests;
