//! Separates `<think>` reasoning from the answer in the text of models that mix the two.
//!
//! Used only for models whose configuration says so. Pure: pieces of text in, pieces out, the
//! same whatever the cuts. A tag inside a code span or a code block is text. When only the closing
//! tag comes (the opening one was part of the prompt), all before it was reasoning; so nothing is
//! shown before the first tag or the end has been seen. It never lets unclosed reasoning out.

/// The opening marker.
const OPEN: &str = "<think>";
/// The closing marker.
const CLOSE: &str = "</think>";
/// Most bytes to look ahead for the end of a code span; a longer one is not a span.
const MAX_SPAN_BYTES: usize = 4096;

/// What a stretch of the model's text turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Words for the person.
    Text(&'a str),
    /// Hidden reasoning.
    Reasoning(&'a str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mode {
    /// No tag seen yet: what came may be answer or reasoning.
    #[default]
    Unknown,
    Text,
    Reasoning,
}

/// The filter for one answer.
#[derive(Debug, Default)]
pub struct ThinkFilter {
    mode: Mode,
    /// Came, but cannot be judged before more comes.
    pending: String,
    /// Judged free of tags while the mode is unknown.
    held: String,
    /// Length of the backtick run that opened the code block we are in; 0 outside.
    fence: usize,
    /// Since the last line feed only blanks have passed.
    line_start: LineStart,
    /// White space right after a closing tag belongs to neither side.
    skip_white: bool,
}

/// True at the beginning of an answer, unlike a plain `bool`'s default.
#[derive(Debug, Clone, Copy)]
struct LineStart(bool);

impl Default for LineStart {
    fn default() -> Self {
        Self(true)
    }
}

/// What stands at the head of the pending text, and its length in bytes.
enum Token {
    /// Not yet to be told.
    Wait,
    Plain(usize),
    /// A code span, or the backticks of a run that opens none.
    Code(usize),
    Fence(usize),
    Open,
    Close,
}

impl ThinkFilter {
    /// A filter at the beginning of an answer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece of the model's text.
    pub fn push(&mut self, text: &str, mut sink: impl FnMut(Piece<'_>)) {
        self.pending.push_str(text);
        self.advance(false, &mut sink);
    }

    /// Ends the answer. When no tag came at all, what was held back is the answer, unless the
    /// model was cut off (`truncated`): then it may be reasoning and is kept back as such.
    pub fn finish(&mut self, truncated: bool, mut sink: impl FnMut(Piece<'_>)) {
        self.advance(true, &mut sink);
        let held = std::mem::take(&mut self.held);
        if self.mode == Mode::Unknown && !held.is_empty() {
            sink(if truncated {
                Piece::Reasoning(&held)
            } else {
                Piece::Text(&held)
            });
        }
    }

    fn advance(&mut self, last: bool, sink: &mut impl FnMut(Piece<'_>)) {
        let pending = std::mem::take(&mut self.pending);
        let mut rest = pending.as_str();
        while !rest.is_empty() {
            let length = match self.token(rest, last) {
                Token::Wait => break,
                Token::Plain(length) | Token::Code(length) => length,
                Token::Fence(length) => {
                    self.fence = if self.fence == 0 { length } else { 0 };
                    length
                }
                Token::Open => {
                    self.opened(sink);
                    rest = rest.get(OPEN.len()..).unwrap_or_default();
                    continue;
                }
                Token::Close => {
                    self.closed(sink);
                    rest = rest.get(CLOSE.len()..).unwrap_or_default();
                    continue;
                }
            };
            let Some((piece, after)) = rest.split_at_checked(length.max(1)) else {
                break;
            };
            self.emit(piece, sink);
            rest = after;
        }
        self.pending.push_str(rest);
    }

    fn token(&self, rest: &str, last: bool) -> Token {
        let in_fence = self.fence > 0;
        let special = |c: char| matches!(c, '\n' | '`') || (c == '<' && !in_fence);
        match rest.chars().next() {
            Some('`') => self.backticks(rest, last),
            Some('<') if !in_fence => tag(rest, last),
            Some('\n') => Token::Plain(1),
            Some(first) => {
                let from = first.len_utf8();
                let more = rest.get(from..).and_then(|tail| tail.find(special));
                Token::Plain(more.map_or(rest.len(), |at| from + at))
            }
            None => Token::Wait,
        }
    }

    /// Judges a run of backticks: the fence of a code block, a code span on one line, or nothing.
    fn backticks(&self, rest: &str, last: bool) -> Token {
        let run = rest.len() - rest.trim_start_matches('`').len();
        let after = rest.get(run..).unwrap_or_default();
        if after.is_empty() && !last {
            return Token::Wait;
        }
        if self.fence > 0 {
            let closes = self.line_start.0 && run >= self.fence;
            return if closes {
                Token::Fence(run)
            } else {
                Token::Code(run)
            };
        }
        let line_end = after.find('\n');
        let line = line_end.and_then(|at| after.get(..at)).unwrap_or(after);
        if let Some(length) = span_end(line, run, line_end.is_some() || last) {
            return Token::Code(run + length);
        }
        if line_end.is_none() && !last && line.len() <= MAX_SPAN_BYTES {
            return Token::Wait;
        }
        // Reasoning is often sloppy Markdown: an open block there must not hide the closing tag.
        if self.line_start.0 && run >= 3 && self.mode != Mode::Reasoning {
            Token::Fence(run)
        } else {
            Token::Code(run)
        }
    }

    fn emit(&mut self, piece: &str, sink: &mut impl FnMut(Piece<'_>)) {
        if piece.contains('\n') {
            self.line_start = LineStart(true);
        } else if !piece.trim_start_matches([' ', '\t']).is_empty() {
            self.line_start = LineStart(false);
        }
        let piece = if self.skip_white {
            piece.trim_start()
        } else {
            piece
        };
        if piece.is_empty() {
            return;
        }
        self.skip_white = false;
        match self.mode {
            Mode::Unknown => self.held.push_str(piece),
            Mode::Text => sink(Piece::Text(piece)),
            Mode::Reasoning => sink(Piece::Reasoning(piece)),
        }
    }

    fn opened(&mut self, sink: &mut impl FnMut(Piece<'_>)) {
        let held = std::mem::take(&mut self.held);
        if !held.trim().is_empty() {
            sink(Piece::Text(&held));
        }
        self.enter(Mode::Reasoning);
    }

    fn closed(&mut self, sink: &mut impl FnMut(Piece<'_>)) {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            sink(Piece::Reasoning(&held));
        }
        self.enter(Mode::Text);
        self.skip_white = true;
    }

    fn enter(&mut self, mode: Mode) {
        self.mode = mode;
        self.fence = 0;
        self.line_start = LineStart(true);
        self.skip_white = false;
    }
}

fn tag(rest: &str, last: bool) -> Token {
    if rest.starts_with(OPEN) {
        Token::Open
    } else if rest.starts_with(CLOSE) {
        Token::Close
    } else if !last && (OPEN.starts_with(rest) || CLOSE.starts_with(rest)) {
        Token::Wait
    } else {
        Token::Plain(1)
    }
}

/// Where the code span that a run of `run` backticks opened ends in the rest of its line.
/// `complete`: no more of this line will come, so a run at its very end cannot grow.
fn span_end(line: &str, run: usize, complete: bool) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = line.get(at..).and_then(|tail| tail.find('`')) {
        let start = at + start;
        let tail = line.get(start..)?;
        let length = tail.len() - tail.trim_start_matches('`').len();
        at = start + length;
        if length == run && (complete || at < line.len()) {
            return (at <= MAX_SPAN_BYTES).then_some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests;
