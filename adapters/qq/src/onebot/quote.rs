//! The text of a message that somebody answers, asked of the implementation.
//!
//! Owns when it is asked, for how long, and that it never tells one conversation what was said in another: ids of
//! messages are good in all of them.
//! Only what is said to the bot is looked into; the bot's own messages it knows.

use std::{borrow::Cow, time::Duration};

use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, timeout_at};
use weirgate_sdk::{ChatKind, Event, InboundMessage, Segment, UserId, text::line};

use super::{
    answer::Data,
    places::{Place, id_value},
    segment,
    send::Call,
    wire::{self, MAX_ID, Raw, WireSender},
};
use crate::qq::Shared;

/// Questions for one batch; further messages come without what they quote.
const MAX_QUESTIONS: usize = 8;
/// How long all of them may take together: events behind them wait meanwhile.
const LIMIT: Duration = Duration::from_secs(2);
/// Longest quoted text, in characters.
const MAX_TEXT: usize = 2_000;
/// Longest name, in characters.
const MAX_NAME: usize = 60;

/// Puts what they answer in front of the messages that are said to the bot.
pub async fn fill(shared: &Shared, events: &mut [Event]) {
    let now = Instant::now();
    if shared.patience.is_lost(now.into_std()) {
        return;
    }
    let until = now + LIMIT;
    let messages = events.iter_mut().filter_map(|event| match event {
        Event::Message(message) if is_asked_about(message) => Some(message),
        _ => None,
    });
    for message in messages.take(MAX_QUESTIONS) {
        let Some(answered) = &message.reply_to else {
            continue;
        };
        let call = Call {
            action: "get_msg",
            params: json!({ "message_id": id_value(answered.message.as_str()) }),
        };
        let asked = timeout_at(until, shared.request(&call, LIMIT)).await;
        let Ok(answer) = asked else {
            return shared.patience.lose(Instant::now().into_std());
        };
        let Ok(data) = answer else { continue };
        let Some(said) = read(&data, message, shared.links.bot().as_deref()) else {
            continue;
        };
        if let Some(answered) = &mut message.reply_to {
            answered.author = said.author.as_deref().map(UserId::from);
        }
        if let Some(quote) = said.quote {
            message.segments.insert(0, Segment::Quote(quote));
        }
    }
}

fn is_asked_about(message: &InboundMessage) -> bool {
    let foreign = message
        .reply_to
        .as_ref()
        .is_some_and(|answered| answered.to_bot != Some(true));
    // A command that names nobody means the author of the message that it answers.
    let commands = message
        .own_text()
        .trim_start()
        .starts_with(['/', '／', '!', '！']);
    foreign && (message.mentions_bot || commands || message.chat == ChatKind::Private)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireMessage<'a> {
    #[serde(borrow)]
    message_type: Raw<'a>,
    #[serde(borrow)]
    group_id: Raw<'a>,
    #[serde(borrow)]
    sender: Raw<'a>,
    #[serde(borrow)]
    message: Raw<'a>,
    #[serde(borrow)]
    raw_message: Raw<'a>,
}

/// An answered message.
struct Said {
    /// Who wrote it.
    author: Option<String>,
    /// What was said, with the name of who said it, unless that is nothing.
    quote: Option<String>,
}

/// What was said; `None` if it was said elsewhere, or nobody can tell.
fn read(data: &Data, of: &InboundMessage, bot: Option<&str>) -> Option<Said> {
    let said: WireMessage<'_> = wire::object(data.raw());
    let place = Place::parse(of.conversation.conversation.as_str())?;
    let author = author_here(&said, place, bot)?;
    let sender: WireSender<'_> = wire::object(said.sender);
    let content = segment::read(said.message, said.raw_message, bot.unwrap_or_default());
    let text = segment::describe(&content.segments, MAX_TEXT);
    let quote = (!text.trim().is_empty()).then(|| quoted(&text, &sender));
    Some(Said { author, quote })
}

/// Who wrote a message, if he is told; `None` if it was written elsewhere, or nobody can tell where.
#[must_use]
pub fn author(data: &Data, place: Place<'_>, bot: Option<&str>) -> Option<Option<String>> {
    author_here(&wire::object(data.raw()), place, bot)
}

fn author_here(
    said: &WireMessage<'_>,
    place: Place<'_>,
    bot: Option<&str>,
) -> Option<Option<String>> {
    let sender: WireSender<'_> = wire::object(said.sender);
    let author = wire::id(sender.user_id, MAX_ID);
    let here = match place {
        Place::Group(group) => wire::id(said.group_id, MAX_ID).as_deref() == Some(group),
        Place::Private(user) | Place::Temporary { user, .. } => {
            let private = wire::text(said.message_type).as_deref() == Some("private");
            let known = |author: &str| author == user || Some(author) == bot;
            private && author.as_deref().is_some_and(known)
        }
    };
    here.then(|| author.map(Cow::into_owned))
}

fn quoted(text: &str, sender: &WireSender<'_>) -> String {
    let names = [sender.card, sender.nickname];
    let name = names
        .iter()
        .filter_map(|name| wire::text(*name))
        .map(|name| line(&name, MAX_NAME))
        .find(|name| !name.is_empty());
    match name {
        Some(name) => format!("{name}: {text}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
