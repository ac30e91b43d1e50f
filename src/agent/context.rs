//! The context of a model request: what is said to the model, within its token budget.
//!
//! Owns the estimate of tokens and the order of cuts: the system prompt, the newest message and the calls of this
//! turn always stay, older rows go first, a call never without its result. Pure; it never reads the store.

use crate::{
    agent::{
        history::{Content, Step},
        model::{Message, Picture, Role},
    },
    security::fence,
    store::{self, History},
};

/// What the context is built from.
#[derive(Debug)]
pub struct Material<'a> {
    /// The system prompt; may be empty.
    pub system: &'a str,
    /// Earlier rows, oldest first.
    pub history: &'a [History],
    /// The newest message: the words of this turn.
    pub newest: String,
    /// The pictures that came with them.
    pub pictures: Vec<Picture>,
    /// What the model called in this turn so far, oldest first.
    pub steps: &'a [Step],
}

/// Limits of a context.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Most tokens in all, as estimated here.
    pub tokens: usize,
    /// When the budget is exceeded, at most so many of the newest earlier messages are kept.
    pub keep_recent: usize,
}

/// A context, and how many earlier messages had to go.
#[derive(Debug, PartialEq, Eq)]
pub struct Built {
    /// The messages of the request, system prompt first.
    pub messages: Vec<Message>,
    /// Earlier messages left out.
    pub left_out: usize,
    /// The newest message alone was over the budget and was cut.
    pub newest_cut: bool,
    /// Results of this turn were shortened.
    pub results_cut: bool,
}

/// Put where a message was cut.
const CUT_MARK: &str = "\n[…]";

/// Tokens that a text takes, roughly and rather too high: a CJK character counts one, four bytes of
/// anything else count one.
#[must_use]
pub fn estimate_tokens(text: &str) -> usize {
    let (mut wide, mut bytes) = (0_usize, 0_usize);
    for character in text.chars() {
        if character >= '\u{2e80}' {
            wide += 1;
        } else {
            bytes += character.len_utf8();
        }
    }
    wide + bytes.div_ceil(4)
}

/// Tokens that a message takes beside its text.
const PER_MESSAGE: usize = 4;
/// What stays of a result that is shortened for want of room, in tokens.
const SHORTENED: usize = 40;
/// Stands where a call of an earlier turn has no result.
const NO_RESULT: &str = "[no result]";

/// Tokens that a picture takes, roughly: what the large providers count for one of middle size.
const PER_PICTURE: usize = 1_000;

fn cost(message: &Message) -> usize {
    let reasoning = message.reasoning.as_deref().map_or(0, estimate_tokens);
    let calls = message.calls.iter();
    let calls = calls.map(|call| estimate_tokens(&call.arguments) + PER_MESSAGE);
    let pictures = message.pictures.len() * PER_PICTURE;
    estimate_tokens(&message.text) + reasoning + calls.sum::<usize>() + pictures + PER_MESSAGE
}

fn costs(messages: &[Message]) -> usize {
    messages.iter().map(cost).sum()
}

/// Builds the context.
#[must_use]
pub fn build(material: Material<'_>, budget: Budget) -> Built {
    let system = (!material.system.is_empty())
        .then(|| Message::words(Role::System, material.system.to_owned()));
    let pictures = material.pictures.len() * PER_PICTURE;
    let fixed = system.as_ref().map_or(0, cost) + PER_MESSAGE + pictures;
    let room = budget.tokens.saturating_sub(fixed);
    let (newest, newest_cut) = cut(material.newest, room);
    let room = room.saturating_sub(estimate_tokens(&newest));

    let mut work: Vec<Message> = material.steps.iter().flat_map(from_step).collect();
    let results_cut = shorten(&mut work, room);
    let room = room.saturating_sub(costs(&work));

    let earlier: Vec<Vec<Message>> = material.history.iter().filter_map(from_row).collect();
    let first = first_kept(&earlier, room, budget.keep_recent);
    let mut messages: Vec<Message> = system.into_iter().collect();
    messages.extend(earlier.into_iter().skip(first).flatten());
    messages.push(Message {
        pictures: material.pictures,
        ..Message::words(Role::User, newest)
    });
    messages.append(&mut work);
    Built {
        messages,
        left_out: first,
        newest_cut,
        results_cut,
    }
}

/// Shortens results, the oldest first, until the messages have room; says whether it did.
fn shorten(messages: &mut [Message], room: usize) -> bool {
    let mut total = costs(messages);
    let mut shortened = false;
    let results = messages.iter_mut().filter(|one| one.role == Role::Tool);
    for message in results {
        if total <= room {
            break;
        }
        let before = cost(message);
        let (text, cut) = cut(std::mem::take(&mut message.text), SHORTENED);
        message.text = text;
        shortened |= cut;
        total = total - before + cost(message);
    }
    shortened
}

/// The index of the first earlier row that stays.
fn first_kept(earlier: &[Vec<Message>], room: usize, keep_recent: usize) -> usize {
    let total: usize = earlier.iter().map(|row| costs(row)).sum();
    let mut first = 0;
    if total > room {
        first = earlier.len();
        let mut used = 0;
        for (index, row) in earlier.iter().enumerate().rev().take(keep_recent) {
            used += costs(row);
            if used > room {
                break;
            }
            first = index;
        }
    }
    // An answer or a call without its question only confuses the model.
    while earlier
        .get(first)
        .and_then(|row| row.first())
        .is_some_and(|message| message.role == Role::Assistant)
    {
        first += 1;
    }
    first
}

/// The messages of a row: one, or a call's with its results.
fn from_row(row: &History) -> Option<Vec<Message>> {
    let content = Content::decode(&row.parts)?;
    Some(match row.role {
        store::Role::Assistant => {
            let step = content.as_step();
            if step.calls.is_empty() {
                vec![Message {
                    reasoning: step.reasoning,
                    ..Message::words(Role::Assistant, step.text)
                }]
            } else {
                from_step(&step).collect()
            }
        }
        store::Role::User | store::Role::Ambient => {
            let text = content.text();
            vec![Message {
                pictures: content.pictures().map(Picture::of).collect(),
                ..Message::words(Role::User, named(&content.name, text))
            }]
        }
    })
}

/// What the model called, and behind it the result of each call.
fn from_step(step: &Step) -> impl Iterator<Item = Message> {
    let called = Message {
        reasoning: step.reasoning.clone(),
        calls: step.calls.clone(),
        ..Message::words(Role::Assistant, step.text.clone())
    };
    let results = step.calls.iter().zip(&step.results);
    let results = results.map(|(call, result)| {
        let text = result.clone().unwrap_or_else(|| NO_RESULT.to_owned());
        Message {
            answers: Some(call.id.clone()),
            ..Message::words(Role::Tool, text)
        }
    });
    std::iter::once(called).chain(results)
}

/// A person's words with the speaker's name in front, as in a group.
#[must_use]
pub fn named(name: &str, text: String) -> String {
    let name = clean_name(name);
    if name.is_empty() {
        text
    } else {
        format!("{name}: {text}")
    }
}

/// A name that cannot pose as structure: one line, no direction marks, at most 40 characters.
#[must_use]
pub(super) fn clean_name(name: &str) -> String {
    let name: String = fence::label(name).chars().take(40).collect();
    name.trim().to_owned()
}

/// Cuts a text to a number of tokens, at a character.
pub(super) fn cut(text: String, tokens: usize) -> (String, bool) {
    if estimate_tokens(&text) <= tokens {
        return (text, false);
    }
    let room = tokens.saturating_sub(estimate_tokens(CUT_MARK));
    let (mut quarters, mut end) = (0_usize, 0);
    for (index, character) in text.char_indices() {
        // In quarters of a token, as the estimate counts.
        quarters += if character >= '\u{2e80}' {
            4
        } else {
            character.len_utf8()
        };
        if quarters > room * 4 {
            break;
        }
        end = index + character.len_utf8();
    }
    let kept = text.get(..end).unwrap_or_default();
    (format!("{kept}{CUT_MARK}"), true)
}

#[cfg(test)]
mod tests;
