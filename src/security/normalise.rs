//! The form of a text in which rules look at it, with the way back to the text itself.
//!
//! Compatibility forms are unfolded (NFKC), accents of Latin letters and everything invisible are gone, letters
//! that only look Latin are folded, the rest is lower case, and every run of white space is one blank. Nothing
//! that is stored, shown or sent on ever has this form: rules look at it, and what they find is mapped back.

mod lookalike;

use std::ops::Range;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// A text in the form for rules.
#[derive(Debug, Clone, Default)]
pub struct Normalised {
    text: String,
    /// Where runs begin in which both texts go on byte by byte: (here, in the source), in order.
    places: Vec<(u32, u32)>,
    /// Where lines begin here, behind marks such as `> ` and `**`.
    lines: Vec<u32>,
    /// Length of the source, in bytes.
    source: usize,
}

impl Normalised {
    /// The form of a text. Linear time.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self::with(text, true)
    }

    /// The form of a text with letters as they are: look-alikes are not folded and accents stay.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Self::with(text, false)
    }

    /// A text as it is.
    #[must_use]
    pub fn unchanged(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            source: text.len(),
            ..Self::default()
        }
    }

    fn with(text: &str, folds: bool) -> Self {
        let mut builder = Builder::new(text.len(), folds);
        let mut at = 0;
        while let Some(rest) = text.get(at..) {
            let word = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
            if let Some(word) = rest.get(..word).filter(|word| !word.is_empty()) {
                builder.word(word, at);
                at += word.len();
                continue;
            }
            let Some(letter) = rest.chars().next() else {
                break;
            };
            if letter.is_ascii() {
                builder.ascii(letter, at);
            } else {
                builder.wide(letter, at);
            }
            at += letter.len_utf8();
        }
        builder.finish()
    }

    /// The text in this form.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A line of the source begins here, apart from marks of quotes, lists and emphasis.
    #[must_use]
    pub fn begins_line(&self, at: usize) -> bool {
        u32::try_from(at).is_ok_and(|at| self.lines.binary_search(&at).is_ok())
    }

    /// The place in the source that a place here comes from.
    #[must_use]
    pub fn source_of(&self, at: usize) -> usize {
        let wanted = u32::try_from(at).unwrap_or(u32::MAX);
        let run = self.places.partition_point(|(here, _)| *here <= wanted);
        let (here, there) = match run.checked_sub(1).and_then(|run| self.places.get(run)) {
            Some((here, there)) => (*here as usize, *there as usize),
            None => (0, 0),
        };
        let next = self
            .places
            .get(run)
            .map_or(self.source, |(_, next)| *next as usize);
        (there + at.saturating_sub(here)).min(next.max(there))
    }

    /// The part of `source` that a part of this text comes from, at character boundaries.
    #[must_use]
    pub fn range_of(&self, range: Range<usize>, source: &str) -> Range<usize> {
        if range.is_empty() {
            let at = floor(source, self.source_of(range.start));
            return at..at;
        }
        let start = floor(source, self.source_of(range.start));
        let last = floor(source, self.source_of(range.end - 1));
        let length = source.get(last..).and_then(|rest| rest.chars().next());
        start..last + length.map_or(0, char::len_utf8)
    }
}

impl Normalised {
    /// The part of this text that comes from a part of the source.
    #[must_use]
    pub fn form_of(&self, part: Range<usize>) -> Range<usize> {
        self.at(part.start)..self.at(part.end)
    }

    /// The first place here that comes from a place in the source or behind it.
    fn at(&self, source: usize) -> usize {
        let wanted = short(source);
        let run = self.places.partition_point(|(_, there)| *there <= wanted);
        let next = self
            .places
            .get(run)
            .map_or(self.text.len(), |(here, _)| *here as usize);
        match run.checked_sub(1).and_then(|run| self.places.get(run)) {
            Some((here, there)) => (*here as usize + source - *there as usize).min(next),
            None => 0,
        }
    }
}

/// The nearest character boundary at or before a place.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Builds the form from left to right.
struct Builder {
    made: Normalised,
    /// Look-alikes are folded, and accents are left out.
    folds: bool,
    /// The present word, and whether it has letters that only look Latin.
    word: usize,
    suspicious: bool,
    /// The next visible character begins a line.
    fresh: bool,
    /// Where the next byte of an unbroken run would come from.
    expected: usize,
}

impl Builder {
    fn new(length: usize, folds: bool) -> Self {
        Self {
            folds,
            made: Normalised {
                text: String::with_capacity(length),
                places: Vec::new(),
                lines: Vec::new(),
                source: length,
            },
            word: 0,
            suspicious: false,
            fresh: true,
            expected: usize::MAX,
        }
    }

    #[inline]
    fn ascii(&mut self, letter: char, at: usize) {
        match letter {
            'a'..='z' | '0'..='9' => self.letter(letter, at),
            'A'..='Z' => self.letter(letter.to_ascii_lowercase(), at),
            '\n' => {
                self.blank(at);
                self.fresh = true;
            }
            ' ' | '\t' | '\r' | '\u{b}' | '\u{c}' => self.blank(at),
            '!'..='~' => self.mark(letter, at),
            // Control characters are invisible.
            _ => {}
        }
    }

    fn wide(&mut self, letter: char, at: usize) {
        if is_plain(letter) {
            self.letter(letter, at);
        } else if let Some(hidden) = lookalike::tagged(letter) {
            // Tag characters are ASCII that nobody sees, but a model reads.
            self.ascii(hidden, at);
        } else if is_invisible(letter) {
            // Nothing to see, nothing to look at.
        } else if matches!(letter, '\u{85}' | '\u{2028}' | '\u{2029}') {
            self.ascii('\n', at);
        } else if letter.is_whitespace() {
            self.blank(at);
        } else if let Some(ascii) = lookalike::always(letter).filter(|_| self.folds) {
            self.ascii(ascii, at);
        } else if self.folds && is_combining_mark(letter) && self.after_latin() {
            // An accent of its own.
        } else if self.folds && letter.nfkd().next().is_some_and(|base| base.is_ascii()) {
            letter
                .nfkd()
                .filter(|part| !is_combining_mark(*part))
                .for_each(|part| self.part(part, at));
        } else {
            letter
                .nfkc()
                .flat_map(char::to_lowercase)
                .for_each(|part| self.part(part, at));
        }
    }

    /// A character as it is unfolded.
    fn part(&mut self, part: char, at: usize) {
        if part.is_ascii() {
            self.ascii(part, at);
        } else if part.is_alphanumeric() || is_combining_mark(part) {
            self.letter(part, at);
        } else {
            self.mark(part, at);
        }
    }

    fn after_latin(&self) -> bool {
        self.made
            .text
            .ends_with(|last: char| last.is_ascii_alphabetic())
    }

    /// ASCII letters and digits: as many as there are at once.
    fn word(&mut self, word: &str, at: usize) {
        self.begin_line();
        let here = self.made.text.len();
        if at != self.expected {
            self.made.places.push((short(here), short(at)));
        }
        self.made.text.push_str(word);
        if let Some(word) = self.made.text.get_mut(here..) {
            word.make_ascii_lowercase();
        }
        self.expected = at + word.len();
    }

    /// What comes now begins a line, if the one before has ended.
    fn begin_line(&mut self) {
        if std::mem::take(&mut self.fresh) {
            self.made.lines.push(short(self.made.text.len()));
        }
    }

    /// A letter or digit, in lower case.
    #[inline]
    fn letter(&mut self, letter: char, at: usize) {
        self.begin_line();
        let foreign = matches!(letter, '\u{80}'..='\u{58f}');
        self.suspicious |= self.folds && foreign && lookalike::of(letter).is_some();
        self.push(letter, at);
    }

    fn mark(&mut self, mark: char, at: usize) {
        self.end_word();
        // What a line is decorated with does not begin it.
        if !matches!(
            mark,
            '>' | '*' | '#' | '-' | '_' | '(' | '"' | '\'' | '+' | '|'
        ) {
            self.begin_line();
        }
        self.push(mark, at);
        self.word = self.made.text.len();
    }

    fn blank(&mut self, at: usize) {
        if !self.made.text.is_empty() && !self.made.text.ends_with(' ') {
            self.end_word();
            self.push(' ', at);
            self.word = self.made.text.len();
        }
    }

    #[inline]
    fn push(&mut self, letter: char, at: usize) {
        if at != self.expected {
            self.made
                .places
                .push((short(self.made.text.len()), short(at)));
        }
        self.made.text.push(letter);
        self.expected = at + letter.len_utf8();
    }

    /// Folds a word in which Latin letters stand beside their look-alikes, or that has nothing else.
    fn end_word(&mut self) {
        if !std::mem::take(&mut self.suspicious) {
            return;
        }
        let Some(word) = self.made.text.get(self.word..).map(str::to_owned) else {
            return;
        };
        let mixed = word.contains(|letter: char| letter.is_ascii_alphabetic());
        if !mixed && !word.chars().all(lookalike::strong) {
            return;
        }
        let places: Vec<usize> = word
            .char_indices()
            .map(|(at, _)| self.made.source_of(self.word + at))
            .collect();
        self.made.text.truncate(self.word);
        let kept = short(self.word);
        self.made.places.retain(|(here, _)| *here < kept);
        self.expected = usize::MAX;
        for (letter, at) in word.chars().zip(places) {
            self.push(lookalike::of(letter).unwrap_or(letter), at);
        }
    }

    fn finish(mut self) -> Normalised {
        self.end_word();
        self.made
    }
}

/// Ideographs, kana and Hangul syllables: nothing is to be done about them.
fn is_plain(letter: char) -> bool {
    matches!(letter, '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}')
}

/// Format characters, variation selectors and fillers that show nothing.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
        || letter.is_control() && letter != '\u{85}'
}

/// A place as it is kept. Texts are far shorter; a longer one loses the exactness of its places only.
fn short(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
