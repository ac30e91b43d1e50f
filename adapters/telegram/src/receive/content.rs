//! What a message says, as segments.
//!
//! Owns entities that change what was said: mentions, hidden addresses, commands for one bot among several. All else
//! that an entity can be is how it looks.

use serde_json::Value;
use weirgate_sdk::{
    Segment,
    text::{clean, line},
};

use super::{Bot, kinds, sender};

/// Entities that are looked at.
const MAX_ENTITIES: usize = 200;
/// Longest quoted text, in characters.
const MAX_QUOTE: usize = 2_000;

/// What a message says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The segments, in order.
    pub segments: Vec<Segment>,
    /// The bot is mentioned, or a command is addressed to it.
    pub mentions_bot: bool,
    /// It is a command for another bot.
    pub for_another_bot: bool,
}

/// Whose a user name is, if that is known.
type Bearer<'a> = &'a dyn Fn(&str) -> Option<i64>;

/// Reads what a message says.
#[must_use]
pub fn read(message: &Value, bot: &Bot, bearer: Bearer<'_>) -> Content {
    let mut content = Content::default();
    if let Some(quote) = quote(message, bot) {
        content.segments.push(Segment::Quote(quote));
    }
    let file = kinds::attachment(message);
    content
        .segments
        .extend(file.or_else(|| kinds::described(message)));
    let (text, entities) = match message["text"].as_str() {
        Some(text) => (text, &message["entities"]),
        None => (
            message["caption"].as_str().unwrap_or_default(),
            &message["caption_entities"],
        ),
    };
    if text.is_empty() {
        return content;
    }
    if !message["forward_origin"].is_null() {
        // Somebody else's words, whatever they are.
        let from = origin(&message["forward_origin"]);
        content.segments.push(Segment::Quote(quoted(&from, text)));
        return content;
    }
    let mut words = Words::new(text, bot, bearer);
    for entity in entities.as_array().into_iter().flatten().take(MAX_ENTITIES) {
        words.entity(entity);
    }
    words.rest();
    content.mentions_bot = words.mentions_bot;
    content.for_another_bot = words.for_another_bot;
    content.segments.append(&mut words.segments);
    content
}

/// What the message answers: the part that the sender picked, or the whole, unless it is the bot's own.
fn quote(message: &Value, bot: &Bot) -> Option<String> {
    let replied = &message["reply_to_message"];
    let (from, whole) = if replied.is_object() {
        if is_topic_start(replied) {
            return None;
        }
        if replied["from"]["id"] == bot.id && message["quote"].is_null() {
            return None;
        }
        let name = match &replied["sender_chat"] {
            Value::Null => sender::name(&replied["from"]),
            chat => sender::title(chat),
        };
        let text = replied["text"].as_str().or(replied["caption"].as_str());
        (name, text)
    } else {
        (origin(&message["external_reply"]["origin"]), None)
    };
    let picked = message["quote"]["text"].as_str();
    let text = picked.or(whole).filter(|text| !text.trim().is_empty())?;
    Some(quoted(&from, text))
}

/// The note that opens a topic: every message of the topic seems to answer it.
pub(super) fn is_topic_start(replied: &Value) -> bool {
    !replied["forum_topic_created"].is_null()
}

fn quoted(from: &str, text: &str) -> String {
    let text: String = clean(text).chars().take(MAX_QUOTE).collect();
    if from.is_empty() {
        text
    } else {
        format!("{from}: {text}")
    }
}

/// Whose a forwarded or answered message was.
fn origin(origin: &Value) -> String {
    let chat = |field: &str| sender::title(&origin[field]);
    let names = [
        sender::name(&origin["sender_user"]),
        line(origin["sender_user_name"].as_str().unwrap_or_default(), 200),
        chat("sender_chat"),
        chat("chat"),
    ];
    names
        .into_iter()
        .find(|name| !name.is_empty())
        .unwrap_or_default()
}

/// A place in a text.
#[derive(Debug, Clone, Copy, Default)]
struct Position {
    bytes: usize,
    /// In UTF-16.
    units: usize,
}

/// A text that is cut at its entities.
struct Words<'a> {
    text: &'a str,
    bot: &'a Bot,
    bearer: Bearer<'a>,
    /// How far it was read.
    at: Position,
    segments: Vec<Segment>,
    after_mention: bool,
    mentions_bot: bool,
    for_another_bot: bool,
}

impl<'a> Words<'a> {
    fn new(text: &'a str, bot: &'a Bot, bearer: Bearer<'a>) -> Self {
        let mut words = Self {
            text,
            bot,
            bearer,
            at: Position::default(),
            segments: Vec::new(),
            after_mention: false,
            mentions_bot: false,
            for_another_bot: false,
        };
        words.command();
        words
    }

    /// A command at the beginning that names its bot.
    fn command(&mut self) {
        let Some(rest) = self.text.strip_prefix('/') else {
            return;
        };
        let word = rest.split(char::is_whitespace).next().unwrap_or_default();
        let Some((name, bot)) = word.split_once('@') else {
            return;
        };
        let is_word = |word: &str| {
            !word.is_empty() && word.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
        };
        if !is_word(name) || !is_word(bot) {
            return;
        }
        if self.bot.is(bot) {
            self.mentions_bot = true;
            self.segments.push(Segment::Text(format!("/{name}")));
            let length = 1 + word.len();
            self.at = Position {
                bytes: length,
                units: length,
            };
        } else {
            self.for_another_bot = true;
        }
    }

    /// Cuts the text at an entity, if it matters. Those that do not lie behind the last one are passed over.
    fn entity(&mut self, entity: &Value) {
        let span = entity["offset"].as_u64().zip(entity["length"].as_u64());
        let span = span.and_then(|(offset, length)| {
            Some((usize::try_from(offset).ok()?, usize::try_from(length).ok()?))
        });
        let Some((start, inner, after)) =
            span.and_then(|(offset, length)| self.cut(offset, length))
        else {
            return;
        };
        match entity["type"].as_str() {
            Some("mention") => {
                let name = inner.strip_prefix('@').unwrap_or(inner);
                self.text_until(start, after);
                // The platform tells of a mention by user name nothing but that.
                if self.bot.is(name) {
                    self.mention(self.bot.id, "");
                } else if let Some(id) = (self.bearer)(name) {
                    self.mention(id, name);
                } else {
                    self.segments.push(Segment::Handle(line(name, 200)));
                }
            }
            Some("text_mention") => {
                if let Some(id) = entity["user"]["id"].as_i64() {
                    self.text_until(start, after);
                    self.mention(id, inner);
                }
            }
            Some("text_link") => {
                let url = entity["url"].as_str().unwrap_or_default();
                if !url.is_empty() && url != inner {
                    self.text_until(after, after);
                    let words = format!("link: {url}");
                    let words = line(&words, 500);
                    self.segments.push(Segment::Placeholder(words));
                }
            }
            _ => {}
        }
    }

    /// Where a span begins, its text, and where it ends.
    fn cut(&self, offset: usize, length: usize) -> Option<(Position, &'a str, Position)> {
        let from = self.bytes_of(offset.checked_sub(self.at.units)?, self.at.bytes)?;
        let to = self.bytes_of(length, from)?;
        let position = |bytes, units| Position { bytes, units };
        let inner = self.text.get(from..to)?;
        Some((position(from, offset), inner, position(to, offset + length)))
    }

    /// The byte that lies so many units behind the byte `from`.
    fn bytes_of(&self, units: usize, from: usize) -> Option<usize> {
        let mut left = units;
        let mut bytes = from;
        for character in self.text.get(from..)?.chars() {
            if left == 0 {
                break;
            }
            left = left.checked_sub(character.len_utf16())?;
            bytes += character.len_utf8();
        }
        (left == 0).then_some(bytes)
    }

    /// Takes the text up to `end` and goes on reading at `next`.
    fn text_until(&mut self, end: Position, next: Position) {
        let piece = self.text.get(self.at.bytes..end.bytes).unwrap_or_default();
        self.piece(piece);
        self.at = next;
    }

    fn piece(&mut self, piece: &str) {
        let mut piece = clean(piece);
        if std::mem::take(&mut self.after_mention) {
            piece = piece.trim_start().to_owned();
        }
        match self.segments.last_mut() {
            _ if piece.is_empty() => {}
            Some(Segment::Text(text)) => text.push_str(&piece),
            _ => self.segments.push(Segment::Text(piece)),
        }
    }

    fn mention(&mut self, user: i64, name: &str) {
        let is_bot = user == self.bot.id;
        self.mentions_bot |= is_bot;
        self.after_mention = is_bot;
        let shown = line(name.trim_start_matches('@'), 200);
        // Only the bot's own mention has no name.
        let name = match (is_bot, shown.is_empty()) {
            (true, _) => String::new(),
            (false, true) => user.to_string(),
            (false, false) => shown,
        };
        self.segments.push(Segment::Mention {
            user: user.to_string().into(),
            name,
        });
    }

    fn rest(&mut self) {
        let end = Position {
            bytes: self.text.len(),
            ..self.at
        };
        self.text_until(end, end);
    }
}

#[cfg(test)]
mod tests;
