//! One place in a text: how the automaton reads on from it, and when a text ends inside of a key.
//!
//! Owns no text and no state. What is done about a match is decided elsewhere.

use regex_automata::{
    Anchored, PatternID,
    hybrid::{
        LazyStateID,
        dfa::{Cache, DFA},
    },
    util::start,
};

use super::{Candidate, Shapes, formats::Format};

/// Reads on from a place; says whether nothing can follow any more.
pub(super) fn read(
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
pub(super) fn begins_word(before: Option<u8>, byte: u8) -> bool {
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
pub(super) fn ends_within(shapes: &Shapes, cache: &mut Cache, rest: &str) -> bool {
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
    // Asked at the last words of every text, so only about the few that can be meant.
    let first = rest.bytes().next().map(usize::from);
    let mut formats = first
        .and_then(|first| shapes.given_away.get(first))
        .into_iter()
        .flatten();
    formats.any(|which| {
        shapes.formats.get(*which).is_some_and(given_away)
            && goes_on(&shapes.dfa, cache, *which, rest)
    })
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
