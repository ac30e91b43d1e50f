//! Albums: several updates that are one message.
//!
//! Owns when an album is whole, and how its items become one message. Nothing says which item is the last, so an
//! album waits for a moment in which none comes; meanwhile its updates stay with the platform. Pure: the time is an
//! argument.

use std::{collections::HashMap, time::Duration};

use serde_json::Value;
use tokio::time::Instant;
use weirgate_sdk::{ConversationKey, Event, InboundMessage, Segment};

/// An album to which nothing came for so long is whole.
pub const SETTLE: Duration = Duration::from_millis(800);
/// The most items of an album (Bot API, `sendMediaGroup`).
const MOST: usize = 10;
/// An item that was sent so many seconds ago waits for no other: they come together.
const OLD: i64 = 5;

/// Albums that wait for more items.
#[derive(Debug, Default)]
pub struct Albums {
    /// How many items there were, and since when there are no more.
    waiting: HashMap<(i64, String), (usize, Instant)>,
}

impl Albums {
    /// How many of these updates may be handed in: all before the first item of an album that may still grow. `clock` is
    /// the time in seconds since the epoch.
    pub fn whole(&mut self, updates: &[Value], now: Instant, clock: i64) -> usize {
        let mut found: HashMap<(i64, String), (usize, usize, i64)> = HashMap::new();
        for (index, update) in updates.iter().enumerate() {
            if let Some((album, date)) = item(update) {
                let (_, count, newest) = found.entry(album).or_insert((index, 0, date));
                *count += 1;
                *newest = (*newest).max(date);
            }
        }
        self.waiting.retain(|album, _| found.contains_key(album));
        let mut whole = updates.len();
        for (album, (first, count, date)) in found {
            let (known, since) = self.waiting.entry(album).or_insert((count, now));
            if *known != count {
                (*known, *since) = (count, now);
            }
            let is_whole = count >= MOST || clock - date >= OLD || now - *since >= SETTLE;
            if !is_whole {
                whole = whole.min(first);
            }
        }
        whole
    }
}

/// The album of an update, and when the update's message was sent.
fn item(update: &Value) -> Option<((i64, String), i64)> {
    let message = [&update["message"], &update["channel_post"]]
        .into_iter()
        .find(|message| message.is_object())?;
    let group = message["media_group_id"].as_str()?;
    let chat = message["chat"]["id"].as_i64()?;
    Some((
        (chat, group.to_owned()),
        message["date"].as_i64().unwrap_or_default(),
    ))
}

/// Makes one message of each album among these events, in its first item's place. Its items stand in the order of their
/// ids; each caption begins a line; it is a command only if its first caption begins as one.
#[must_use]
pub fn merged(events: Vec<Event>) -> Vec<Event> {
    let mut merged = Vec::with_capacity(events.len());
    let mut albums: HashMap<(ConversationKey, Box<str>), (usize, Vec<InboundMessage>)> =
        HashMap::new();
    for event in events {
        match event {
            Event::Message(message) => match message.group_key.clone() {
                Some(group) => {
                    let album = (message.conversation.clone(), group);
                    let (_, items) = albums.entry(album).or_insert_with(|| {
                        // Kept for the album.
                        merged.push(Event::OwnMessage);
                        (merged.len() - 1, Vec::new())
                    });
                    items.push(*message);
                }
                None => merged.push(Event::Message(message)),
            },
            event => merged.push(event),
        }
    }
    for (place, items) in albums.into_values() {
        if let Some((place, album)) = merged.get_mut(place).zip(join(items)) {
            *place = Event::Message(Box::new(album));
        }
    }
    merged
}

fn join(mut items: Vec<InboundMessage>) -> Option<InboundMessage> {
    // The update that came first names the album, also when it comes again.
    let dedupe = items.first()?.dedupe.clone();
    items.sort_by_key(|item| item.id.as_str().parse::<i64>().unwrap_or_default());
    let mut items = items.into_iter();
    let mut album = items.next()?;
    album.dedupe = dedupe;
    let mut has_words = !album.own_text().is_empty();
    for item in items {
        let speaks = !item.own_text().is_empty();
        if has_words && speaks {
            album.segments.push(Segment::Text("\n".into()));
        }
        has_words |= speaks;
        album.segments.extend(item.segments);
        album.mentions_bot |= item.mentions_bot;
        album.reply_to = album.reply_to.or(item.reply_to);
    }
    Some(album)
}

#[cfg(test)]
mod tests;
