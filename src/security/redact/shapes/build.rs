//! From expressions to the automaton.
//!
//! Owns what an expression may be so that it can be looked for while a text comes in: of finite length. Marks of
//! a word's ends mean ASCII words here; an automaton cannot tell others.

use std::sync::atomic::AtomicUsize;

use parking_lot::Mutex;
use regex::RegexBuilder;
use regex_automata::{
    Anchored, MatchKind,
    hybrid::dfa::{Config, DFA},
    nfa::thompson,
    util::start,
};
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, Hir, HirKind, Look};

use super::{Shapes, formats, formats::Format};

/// Longest match that is waited for, in bytes.
const LONGEST: usize = 4096;
/// Most bytes that the automaton's cache may take, for each text that is looked through at once.
const CACHE_BYTES: usize = 2 << 20;
/// Most bytes that one expression without a finite length may take.
const REGEX_BYTES: usize = 1 << 20;

impl Shapes {
    /// The maintained formats.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(in crate::security::redact) fn known() -> Result<Self, String> {
        Self::build(formats::all()?, &[])
    }

    /// The operator's expressions, replaced as they are written.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub(in crate::security::redact) fn written(expressions: &[String]) -> Result<Self, String> {
        let (finite, endless): (Vec<&String>, Vec<&String>) = expressions
            .iter()
            .partition(|expression| is_finite(expression));
        let finite = finite
            .into_iter()
            .map(|expression| Format::as_written(expression));
        Self::build(finite.collect(), &endless)
    }

    fn build(formats: Vec<Format>, endless: &[&String]) -> Result<Self, String> {
        let mut parsed = Vec::new();
        for format in &formats {
            let hir = in_ascii(&parse(&format.regex)?);
            parsed.push(if format.by_bytes { by_bytes(&hir) } else { hir });
        }
        let nfa = thompson::Compiler::new()
            .configure(thompson::Config::new().nfa_size_limit(Some(16 << 20)))
            .build_many_from_hir(&parsed)
            .map_err(|error| error.to_string())?;
        let config = Config::new()
            .match_kind(MatchKind::All)
            .starts_for_each_pattern(true)
            .cache_capacity(CACHE_BYTES)
            .skip_cache_capacity_check(true);
        let dfa = DFA::builder()
            .configure(config)
            .build_from_nfa(nfa)
            .map_err(|error| error.to_string())?;
        let endless = endless.iter().map(|expression| {
            let regex = RegexBuilder::new(expression)
                .size_limit(REGEX_BYTES)
                .build();
            regex.map_err(|error| error.to_string())
        });
        let begins = begins(&dfa)?;
        let words_only = formats.iter().all(|format| format.at_word);
        Ok(Self {
            at_word: begins,
            anywhere: if words_only { [false; 256] } else { begins },
            given_away: given_away(&formats),
            formats,
            dfa,
            endless: endless.collect::<Result<_, _>>()?,
            caches: Mutex::default(),
            held: AtomicUsize::new(0),
        })
    }
}

/// Under each byte the formats with a marker that begins with it, in the order of the list.
fn given_away(formats: &[Format]) -> Vec<Vec<usize>> {
    let mut under = vec![Vec::new(); 256];
    for (which, format) in formats.iter().enumerate() {
        for first in format
            .markers
            .iter()
            .filter_map(|marker| marker.as_bytes().first())
        {
            if let Some(list) = under.get_mut(usize::from(*first))
                && list.last() != Some(&which)
            {
                list.push(which);
            }
        }
    }
    under
}

fn parse(expression: &str) -> Result<Hir, String> {
    regex_syntax::parse(expression).map_err(|error| error.to_string())
}

/// Whether every match of an expression is short enough to be waited for. One that is not valid is none.
pub(in crate::security) fn is_finite(expression: &str) -> bool {
    longest(expression).is_some()
}

/// The longest match of an expression that is short enough to be waited for, in bytes.
pub(in crate::security) fn longest(expression: &str) -> Option<usize> {
    let hir = parse(expression).ok()?;
    hir.properties()
        .maximum_len()
        .filter(|longest| *longest <= LONGEST)
}

/// The expression with the ends of words as ASCII has them.
fn in_ascii(hir: &Hir) -> Hir {
    let all = |parts: &[Hir]| parts.iter().map(in_ascii).collect();
    match hir.kind() {
        HirKind::Look(look) => Hir::look(match look {
            Look::WordUnicode => Look::WordAscii,
            Look::WordUnicodeNegate => Look::WordAsciiNegate,
            Look::WordStartUnicode => Look::WordStartAscii,
            Look::WordEndUnicode => Look::WordEndAscii,
            Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
            Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
            other => *other,
        }),
        HirKind::Repetition(repetition) => {
            Hir::repetition(repetition.with(in_ascii(&repetition.sub)))
        }
        HirKind::Capture(capture) => in_ascii(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) => hir.clone(),
    }
}

/// The expression with every class of "anything but" read byte by byte: a letter in UTF-8 takes a dozen states for
/// each repetition, its bytes take one. A match may end within a letter then, and hold white space that is none in
/// ASCII: [`Format::judge`] reads it again, exactly.
fn by_bytes(hir: &Hir) -> Hir {
    let all = |parts: &[Hir]| parts.iter().map(by_bytes).collect();
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => Hir::class(narrow(class)),
        HirKind::Repetition(repetition) => {
            Hir::repetition(repetition.with(by_bytes(&repetition.sub)))
        }
        HirKind::Capture(capture) => by_bytes(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
    }
}

/// A class by bytes, if it holds nearly all that is not ASCII.
fn narrow(class: &ClassUnicode) -> Class {
    if class.ranges().last().map(|last| last.end()) != Some(char::MAX) {
        return Class::Unicode(class.clone());
    }
    let ascii = class
        .ranges()
        .iter()
        .filter(|range| range.start().is_ascii());
    let ascii = ascii.filter_map(|range| {
        let end = u8::try_from(range.end()).unwrap_or(0x7f).min(0x7f);
        Some(ClassBytesRange::new(u8::try_from(range.start()).ok()?, end))
    });
    let letters = ClassBytesRange::new(0x80, 0xff);
    Class::Bytes(ClassBytes::new(ascii.chain([letters])))
}

/// The bytes with which a match may begin, whatever stands before.
fn begins(dfa: &DFA) -> Result<[bool; 256], String> {
    let mut begins = [false; 256];
    let mut cache = dfa.create_cache();
    for before in [None, Some(b' '), Some(b'a'), Some(b'\n'), Some(0xff)] {
        for byte in 0..=u8::MAX {
            let config = start::Config::new()
                .anchored(Anchored::Yes)
                .look_behind(before);
            let state = dfa
                .start_state(&mut cache, &config)
                .map_err(|error| error.to_string())?;
            let next = dfa
                .next_state(&mut cache, state, byte)
                .map_err(|error| error.to_string())?;
            if let Some(entry) = begins.get_mut(usize::from(byte)) {
                *entry |= !next.is_dead();
            }
        }
    }
    Ok(begins)
}
