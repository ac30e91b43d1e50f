//! The time in front of a reason, or behind a role.
//!
//! Owns what is taken for a time and what is refused because it may be meant as one: what is done for a time must not be
//! done for good because somebody writes the time in another way. Pure.

use std::time::Duration;

use weirgate_sdk::TIME_ENDS;

use super::words::Words;
use crate::{
    clock::{begins_like_span, span, trailing_span},
    i18n::moderation::Moderation,
};

/// Words that a time has at most: `7 days`.
const MOST_WORDS: usize = 2;
/// What somebody writes who means [`TIME_ENDS`], or what his keyboard makes of it.
const DASHES: [&str; 4] = [TIME_ENDS, "–", "—", "——"];
/// Signs behind a time that are not of it.
const STOPS: [char; 8] = [',', '，', ':', '：', ';', '；', '.', '。'];
/// A word in front of a time that is not of a reason alone.
const FOR: &str = "for";
/// Characters of a wrong time that are shown.
const LONGEST: usize = 40;

/// Takes the time away that stands in front of a reason; `None` if there is none.
///
/// # Errors
/// What to tell the caller if something is no time and may be meant as one.
pub fn before_reason(words: &mut Words) -> Result<Option<Duration>, Moderation> {
    // A leading dash may be of any kind: keyboards make one of two. Elsewhere it is a sign like others.
    if words.front(1).first().is_some_and(is_dash) {
        words.skip(1);
        return Ok(None);
    }
    if let Some(mut before) = words.until(TIME_ENDS) {
        let given = before.rest();
        let time = leading(&mut before).filter(|_| before.is_empty());
        return time.map(Some).ok_or_else(|| wrong(&given));
    }
    if let Some(time) = leading(words) {
        if words.front(1).first().is_some_and(is_dash) {
            words.skip(1);
        }
        return Ok(Some(time));
    }
    let front = words.front(1 + MOST_WORDS);
    let Some(first) = front.first() else {
        return Ok(None);
    };
    if begins_like_span(first) {
        return Err(wrong(first));
    }
    let behind = front.get(1..).filter(|_| first.eq_ignore_ascii_case(FOR));
    let given = match behind.and_then(of_front) {
        Some((_, given)) => Some(given),
        None => trailing_span(&words.back(MOST_WORDS)).map(str::to_owned),
    };
    match given {
        Some(given) => Err(Moderation::TimeBehind { given }),
        None => Ok(None),
    }
}

/// Takes a time away that is all that is left; `None` if nothing is.
///
/// # Errors
/// What was written instead of a time.
pub fn last(words: &mut Words) -> Result<Option<Duration>, String> {
    let mut time = words
        .until(TIME_ENDS)
        .unwrap_or_else(|| std::mem::take(words));
    if time.is_empty() {
        return Ok(None);
    }
    let given = time.rest().chars().take(LONGEST).collect();
    let found = leading(&mut time).filter(|_| time.is_empty());
    found.map(Some).ok_or(given)
}

/// Takes the time away that the words begin with.
fn leading(words: &mut Words) -> Option<Duration> {
    let (time, count) = {
        let front = words.front(MOST_WORDS);
        let (time, given) = of_front(&front)?;
        (time, given.split(' ').count())
    };
    words.skip(count);
    Some(time)
}

/// The time that the first words make up, and these words.
fn of_front(front: &[&str]) -> Option<(Duration, String)> {
    (1..=front.len().min(MOST_WORDS)).find_map(|count| {
        let given = front.get(..count)?.join(" ");
        let time = span(given.trim_end_matches(STOPS))?;
        Some((time, given))
    })
}

fn is_dash(word: &&str) -> bool {
    DASHES.contains(word)
}

fn wrong(given: &str) -> Moderation {
    Moderation::NoTime {
        given: given.chars().take(LONGEST).collect(),
    }
}
