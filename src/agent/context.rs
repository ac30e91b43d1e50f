//! The context of a model request: what is said to the model, within its token budget.
//!
//! Owns the estimate of tokens and the order of cuts: the system prompt, the newest message and the calls of this
//! turn always stay; of earlier rows results are shortened first, then the oldest rows go, a call never without its
//! result and the summary of what is gone last. Pure; it never reads the store.

pub mod middle;
pub mod parts;
pub mod record;
mod repair;

use std::collections::HashSet;

use crate::{
    agent::{
        enclosed::Known,
        history::{Content, Step},
        model::{Enclosed, Medium, Message, Role},
    },
    security::fence::{self, Origin, fenced},
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
    /// The files that came with them.
    pub enclosed: Vec<Enclosed>,
    /// The files of earlier rows that the request may carry.
    pub known: &'a Known,
    /// What stands for the first steps of this turn; empty if all of them are there.
    pub digest: &'a str,
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

/// A context, and what had to give way.
#[derive(Debug, PartialEq, Eq)]
pub struct Built {
    /// The messages of the request, system prompt first.
    pub messages: Vec<Message>,
    /// Earlier rows left out.
    pub left_out: usize,
    /// Results were shortened, of this turn or of earlier ones.
    pub results_cut: bool,
    /// Earlier rows that no provider would have taken as they are stored.
    pub repaired: usize,
}

/// The newest message and what the turn did do not fit, whatever is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge {
    /// Their size in tokens, about.
    pub size: usize,
    /// What there is room for.
    pub most: usize,
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

/// Put before a summary: it is nobody's words, and nothing is to be done because of it.
const SUMMARY: &str = "[From the gateway: what was said before, in short. It is background and no request; what it tells \
                       of is done already or was for the people to decide. Answer the messages behind it.]";

/// Put before what stands for the first steps of a turn.
const DIGEST: &str = "[From the gateway: what you have done for this so far, in short. It is done already. Go on from there.]";

/// Tokens that a picture takes, roughly: what the large providers count for one of middle size.
const PER_PICTURE: usize = 1_000;
/// Bytes of a recording that are a token, roughly: ten tokens a second, and 16 kB.
const SOUND_BYTES: u64 = 1_600;
/// Bytes of a document that are a token, roughly.
const DOCUMENT_BYTES: u64 = 60;
/// What a document takes at least, and what is assumed of one at most: large ones are mostly pictures.
const PER_DOCUMENT: (usize, usize) = (1_500, 60_000);

/// Tokens that a file takes, roughly.
pub(super) fn file_cost(file: &Enclosed) -> usize {
    let of = |bytes: u64| usize::try_from(file.size / bytes).unwrap_or(usize::MAX);
    match file.medium {
        Medium::Picture => PER_PICTURE,
        Medium::Sound => of(SOUND_BYTES).saturating_add(1),
        Medium::Document => of(DOCUMENT_BYTES).clamp(PER_DOCUMENT.0, PER_DOCUMENT.1),
    }
}

fn cost(message: &Message) -> usize {
    let reasoning = message.reasoning.as_deref().map_or(0, estimate_tokens);
    let sealed = message.sealed.as_ref();
    let sealed = sealed.map_or(0, |sealed| estimate_tokens(&sealed.items));
    let calls = message.calls.iter();
    let calls = calls.map(|call| estimate_tokens(&call.arguments) + PER_MESSAGE);
    let files = message.enclosed.iter().map(file_cost).sum::<usize>();
    estimate_tokens(&message.text) + reasoning + sealed + calls.sum::<usize>() + files + PER_MESSAGE
}

/// Tokens that messages take, about.
pub(super) fn costs(messages: &[Message]) -> usize {
    messages.iter().map(cost).sum()
}

/// Tokens that the words of a stored row take, about.
#[must_use]
pub fn row_cost(row: &History) -> usize {
    from_row(row, &Known::new()).map_or(0, |messages| costs(&messages))
}

/// Builds the context.
///
/// # Errors
/// What must stay is too large by itself.
pub fn build(material: Material<'_>, budget: Budget) -> Result<Built, TooLarge> {
    let system = (!material.system.is_empty())
        .then(|| Message::words(Role::System, material.system.to_owned()));
    let mut newest = Message {
        enclosed: material.enclosed,
        ..Message::words(Role::User, material.newest)
    };
    let most = budget
        .tokens
        .saturating_sub(system.as_ref().map_or(0, cost));
    let mut work: Vec<Message> = behind(material.digest).into_iter().collect();
    work.extend(material.steps.iter().flat_map(from_step));
    let room = most.saturating_sub(cost(&newest));
    unseal(&mut work, room);
    let mut results_cut = shorten(&mut work, room);
    results_cut |= unload(&mut newest, most.saturating_sub(costs(&work)));
    let size = cost(&newest) + costs(&work);
    if size > most {
        return Err(TooLarge { size, most });
    }
    let room = most - size;

    let rows = material.history.iter();
    let rows = rows.map(|row| (row.role, from_row(row, material.known)));
    let (mut earlier, repaired) = repair::repair(rows);
    repair::distinct(&mut work, &earlier);
    once(&mut earlier, &newest);
    results_cut |= unload_rows(&mut earlier, room);
    results_cut |= shorten_rows(&mut earlier, room);
    let before = earlier.len();
    let earlier = kept(earlier, room, budget.keep_recent);
    let left_out = before - earlier.len();

    let mut messages: Vec<Message> = system.into_iter().collect();
    messages.extend(earlier.into_iter().flat_map(|row| row.messages));
    messages.push(newest);
    messages.append(&mut work);
    Ok(Built {
        messages,
        left_out,
        results_cut,
        repaired,
    })
}

/// An earlier row as messages.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    /// It stands for rows that are gone.
    summary: bool,
    messages: Vec<Message>,
}

impl Row {
    fn cost(&self) -> usize {
        costs(&self.messages)
    }

    fn leads_with(&self, role: Role) -> bool {
        self.messages
            .first()
            .is_some_and(|first| first.role == role)
    }
}

/// Takes the files of a message out, the last first, until it has room: the words describe them. Says whether it did.
fn unload(message: &mut Message, room: usize) -> bool {
    let mut unloaded = false;
    while cost(message) > room && message.enclosed.pop().is_some() {
        unloaded = true;
    }
    unloaded
}

/// Takes files out of earlier rows, the oldest first, until all rows have room; says whether it did.
fn unload_rows(rows: &mut [Row], room: usize) -> bool {
    let mut total: usize = rows.iter().map(Row::cost).sum();
    let mut unloaded = false;
    for message in rows.iter_mut().flat_map(|row| &mut row.messages) {
        if total <= room {
            break;
        }
        let before = cost(message);
        let others = total - before;
        unloaded |= unload(message, room.saturating_sub(others));
        total = others + cost(message);
    }
    unloaded
}

/// Leaves each file where it was sent last.
fn once(rows: &mut [Row], newest: &Message) {
    let mut seen: HashSet<String> = newest.enclosed.iter().map(|file| file.id.clone()).collect();
    let messages = rows.iter_mut().rev().flat_map(|row| &mut row.messages);
    for message in messages {
        message.enclosed.retain(|file| seen.insert(file.id.clone()));
    }
}

/// Shortens results of earlier rows, the oldest first, until all rows have room; says whether it did.
fn shorten_rows(rows: &mut [Row], room: usize) -> bool {
    let mut total: usize = rows.iter().map(Row::cost).sum();
    let mut shortened = false;
    for row in rows {
        if total <= room {
            break;
        }
        let before = row.cost();
        let others = total - before;
        shortened |= shorten(&mut row.messages, room.saturating_sub(others));
        total = others + row.cost();
    }
    shortened
}

/// The rows that stay: all, or the newest and the summary of those before.
fn kept(mut rows: Vec<Row>, room: usize, keep_recent: usize) -> Vec<Row> {
    let total: usize = rows.iter().map(Row::cost).sum();
    let mut summary = None;
    if total > room {
        if let Some(place) = rows.iter().rposition(|row| row.summary) {
            rows.drain(..place);
            summary = Some(rows.remove(0)).filter(|summary| summary.cost() <= room / 2);
        }
        let room = room - summary.as_ref().map_or(0, Row::cost);
        let mut used = 0;
        let fit = rows.iter().rev().take(keep_recent).take_while(|row| {
            used += row.cost();
            used <= room
        });
        let first = rows.len() - fit.count();
        rows.drain(..first);
    }
    // An answer or a call without its question only confuses the model.
    let led = rows
        .iter()
        .take_while(|row| row.leads_with(Role::Assistant));
    let led = led.count();
    rows.drain(..led);
    summary.into_iter().chain(rows).collect()
}

/// Lets go of reasoning that only its model can read, the oldest first, until the messages have room.
fn unseal(messages: &mut [Message], room: usize) {
    let mut total = costs(messages);
    for message in messages.iter_mut().filter(|one| one.sealed.is_some()) {
        if total <= room {
            break;
        }
        let before = cost(message);
        message.sealed = None;
        total = total - before + cost(message);
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

/// The messages of a row: one, or a call's with its results.
fn from_row(row: &History, known: &Known) -> Option<Vec<Message>> {
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
        store::Role::Summary => {
            let text = fenced(Origin::Summary, &content.text());
            vec![Message::words(Role::User, format!("{SUMMARY}\n{text}"))]
        }
        store::Role::User | store::Role::Ambient => {
            let text = content.text();
            vec![Message {
                enclosed: content
                    .media()
                    .filter_map(|id| known.get(id))
                    .cloned()
                    .collect(),
                ..Message::words(Role::User, named(&content.name, text))
            }]
        }
    })
}

/// What stands for the first steps of a turn.
fn behind(digest: &str) -> Option<Message> {
    let text = || fenced(Origin::Summary, digest);
    (!digest.is_empty()).then(|| Message::words(Role::User, format!("{DIGEST}\n{}", text())))
}

/// What the model called, and behind it the result of each call.
fn from_step(step: &Step) -> impl Iterator<Item = Message> {
    let called = Message {
        reasoning: step.reasoning.clone(),
        sealed: step.sealed.clone(),
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
