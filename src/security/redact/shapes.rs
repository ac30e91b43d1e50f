//! Redaction by shape: keys, tokens and passwords that nobody configured, and the operator's own patterns.
//!
//! Owns the search for expressions of finite length in a text that comes in pieces. From each place where one may
//! begin an automaton reads on; nothing behind that place goes out until it is dead, which is when none can match
//! any more. What one place costs is bounded by the longest expression, so the time is linear in the text.

mod build;
mod formats;
mod steps;

use std::{
    borrow::Cow,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use regex::Regex;
use regex_automata::{
    Anchored,
    hybrid::{
        LazyStateID,
        dfa::{Cache, DFA},
    },
    util::start,
};

use crate::telemetry::metrics;
pub(in crate::security) use build::{is_finite, longest};
use formats::Format;
use steps::{begins_word, ends_within, read};

/// Caches that are kept for the next piece: as many as threads look through text at once, about.
const CACHES: usize = 4;
/// Texts that keep their cache between two pieces, because a place is not read to its end. Each takes half a
/// megabyte and more; texts beyond these read such a place again.
const HELD: usize = 8;

/// Expressions, compiled together.
pub(super) struct Shapes {
    formats: Vec<Format>,
    dfa: DFA,
    /// The bytes with which one may begin: at a word's begin, and anywhere.
    at_word: [bool; 256],
    anywhere: [bool; 256],
    /// Under each byte the formats with a marker that begins with it.
    given_away: Vec<Vec<usize>>,
    /// Expressions without a finite length. A text that is looked through for them goes out whole.
    endless: Vec<Regex>,
    caches: Mutex<Vec<Cache>>,
    held: AtomicUsize,
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

    /// A cache for as long as one piece is looked through: it is large, and there are many texts at once.
    fn cache(&self) -> Cache {
        let kept = self.caches.lock().pop();
        kept.unwrap_or_else(|| self.dfa.create_cache())
    }

    fn give_back(&self, cache: Cache) {
        let mut caches = self.caches.lock();
        if caches.len() < CACHES {
            caches.push(cache);
        }
    }
}

/// A place that is not read to its end.
enum Pending {
    /// It goes on where it stopped.
    Held(Candidate, Box<HeldCache>),
    /// It is read again.
    Place(usize),
}

/// A cache that a text keeps between two pieces.
struct HeldCache {
    shapes: Arc<Shapes>,
    cache: Option<Cache>,
}

impl Drop for HeldCache {
    fn drop(&mut self) {
        self.shapes.held.fetch_sub(1, Ordering::AcqRel);
        if let Some(cache) = self.cache.take() {
            self.shapes.give_back(cache);
        }
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
    /// The text that has not been forgotten.
    held: String,
    /// The byte before it.
    before: Option<u8>,
    /// Up to here `held` went out or was replaced.
    done: usize,
    /// From here on the next place is looked for.
    from: usize,
    /// A place where an expression may have begun.
    pending: Option<Pending>,
    swallow: Swallow,
    /// Something was replaced.
    pub(super) replaced: bool,
    /// Bytes that the automaton read.
    #[cfg(test)]
    steps: usize,
}

impl Stream {
    pub(super) fn new(shapes: Arc<Shapes>) -> Self {
        Self {
            shapes,
            held: String::new(),
            before: None,
            done: 0,
            from: 0,
            pending: None,
            swallow: Swallow::Nothing,
            replaced: false,
            #[cfg(test)]
            steps: 0,
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
        self.pending = None;
        self.swallow = Swallow::Nothing;
    }

    /// How many bytes are held back.
    pub(super) fn held_back(&self) -> usize {
        self.held.len() - self.done
    }

    fn run(&mut self, placeholder: &str, last: bool, out: &mut String) {
        let shapes = Arc::clone(&self.shapes);
        let (mut cache, mut candidate) = self.take_up(&shapes);
        let mut open = None;
        loop {
            self.swallow(&shapes);
            if self.swallow != Swallow::Nothing {
                break;
            }
            let next = candidate.take().or_else(|| {
                let place = self.find(&shapes)?;
                self.begin(&shapes, &mut cache, place)
            });
            let Some(mut candidate) = next else {
                self.emit(self.held.len(), out);
                break;
            };
            let bytes = self.held.as_bytes();
            #[cfg(test)]
            let from = candidate.read;
            let is_over = read(&shapes, &mut cache, bytes, &mut candidate, last);
            #[cfg(test)]
            {
                self.steps += candidate.read - from;
            }
            if !is_over {
                self.emit(candidate.start, out);
                open = Some(candidate);
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
        self.put_down(shapes, cache, open);
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

    /// A cache, and the place that was not read to its end.
    fn take_up(&mut self, shapes: &Shapes) -> (Cache, Option<Candidate>) {
        match self.pending.take() {
            Some(Pending::Held(candidate, mut held)) => match held.cache.take() {
                Some(cache) => (cache, Some(candidate)),
                None => (shapes.cache(), None),
            },
            Some(Pending::Place(place)) => {
                let mut cache = shapes.cache();
                let candidate = self.begin(shapes, &mut cache, place);
                (cache, candidate)
            }
            None => (shapes.cache(), None),
        }
    }

    fn put_down(&mut self, shapes: Arc<Shapes>, cache: Cache, open: Option<Candidate>) {
        let Some(candidate) = open else {
            return shapes.give_back(cache);
        };
        if shapes.held.fetch_add(1, Ordering::AcqRel) < HELD {
            let cache = Some(cache);
            self.pending = Some(Pending::Held(
                candidate,
                Box::new(HeldCache { shapes, cache }),
            ));
        } else {
            shapes.held.fetch_sub(1, Ordering::AcqRel);
            shapes.give_back(cache);
            self.pending = Some(Pending::Place(candidate.start));
        }
    }

    /// The byte before a place.
    fn before(&self, place: usize) -> Option<u8> {
        match place.checked_sub(1) {
            Some(last) => self.held.as_bytes().get(last).copied(),
            None => self.before,
        }
    }

    /// Begins to read at a place.
    fn begin(&self, shapes: &Shapes, cache: &mut Cache, place: usize) -> Option<Candidate> {
        let config = start::Config::new()
            .anchored(Anchored::Yes)
            .look_behind(self.before(place));
        let state = shapes.dfa.start_state(cache, &config).ok()?;
        Some(Candidate {
            start: place,
            read: place,
            state,
            matches: Vec::new(),
        })
    }

    /// The next place where an expression may begin.
    fn find(&self, shapes: &Shapes) -> Option<usize> {
        let bytes = self.held.as_bytes();
        let mut before = self.before(self.from);
        for (at, byte) in bytes.iter().enumerate().skip(self.from) {
            let entry = usize::from(*byte);
            let begins = shapes.anywhere.get(entry) == Some(&true)
                || (shapes.at_word.get(entry) == Some(&true) && begins_word(before, *byte));
            if begins && self.held.is_char_boundary(at) {
                return Some(at);
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
            // Read by bytes, a match may end within a letter.
            let end = floor(&self.held, end);
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
        match &mut self.pending {
            Some(Pending::Place(place)) => *place -= self.done,
            Some(Pending::Held(candidate, _)) => {
                candidate.start -= self.done;
                candidate.read -= self.done;
                for (end, _) in &mut candidate.matches {
                    *end -= self.done;
                }
            }
            None => {}
        }
        self.from -= self.done;
        self.done = 0;
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("held_back", &self.held_back())
            .finish_non_exhaustive()
    }
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
