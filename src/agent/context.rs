//! The context of a model request: what is said to the model, within its token budget.
//!
//! Owns the estimate of tokens and the order of cuts: the system prompt and the newest message always
//! stay, older messages go first. Pure; it never reads the store.

use crate::{
    agent::{
        history::Content,
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

/// Tokens that a picture takes, roughly: what the large providers count for one of middle size.
const PER_PICTURE: usize = 1_000;

fn cost(message: &Message) -> usize {
    let reasoning = message.reasoning.as_deref().map_or(0, estimate_tokens);
    let pictures = message.pictures.len() * PER_PICTURE;
    estimate_tokens(&message.text) + reasoning + pictures + PER_MESSAGE
}

/// Builds the context.
#[must_use]
pub fn build(material: Material<'_>, budget: Budget) -> Built {
    let system = (!material.system.is_empty())
        .then(|| message(Role::System, material.system.to_owned(), None));
    let pictures = material.pictures.len() * PER_PICTURE;
    let fixed = system.as_ref().map_or(0, cost) + PER_MESSAGE + pictures;
    let room = budget.tokens.saturating_sub(fixed);
    let (newest, newest_cut) = cut(material.newest, room);
    let room = room.saturating_sub(estimate_tokens(&newest));

    let earlier: Vec<Message> = material.history.iter().filter_map(from_row).collect();
    let first = first_kept(&earlier, room, budget.keep_recent);
    let mut messages: Vec<Message> = system.into_iter().collect();
    messages.extend(earlier.into_iter().skip(first));
    messages.push(Message {
        pictures: material.pictures,
        ..message(Role::User, newest, None)
    });
    Built {
        messages,
        left_out: first,
        newest_cut,
    }
}

/// The index of the first earlier message that stays.
fn first_kept(earlier: &[Message], room: usize, keep_recent: usize) -> usize {
    let total: usize = earlier.iter().map(cost).sum();
    if total <= room {
        return 0;
    }
    let mut used = 0;
    let mut first = earlier.len();
    for (index, message) in earlier.iter().enumerate().rev().take(keep_recent) {
        used += cost(message);
        if used > room {
            break;
        }
        first = index;
    }
    // An answer without its question only confuses the model.
    while earlier
        .get(first)
        .is_some_and(|message| message.role == Role::Assistant)
    {
        first += 1;
    }
    first
}

fn from_row(row: &History) -> Option<Message> {
    let content = Content::decode(&row.parts)?;
    let text = content.text();
    Some(match row.role {
        store::Role::Assistant => message(Role::Assistant, text, content.reasoning()),
        store::Role::User | store::Role::Ambient => Message {
            pictures: content.pictures().map(Picture::of).collect(),
            ..message(Role::User, named(&content.name, text), None)
        },
    })
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

fn message(role: Role, text: String, reasoning: Option<String>) -> Message {
    Message {
        role,
        text,
        name: None,
        reasoning,
        pictures: Vec::new(),
    }
}

/// Cuts a text to a number of tokens, at a character.
fn cut(text: String, tokens: usize) -> (String, bool) {
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
