//! What a message says, as segments.
//!
//! Owns the platform's codes in a text: mentions, emoji of a server. A code for somebody whom the platform does not
//! name beside the text is only text.

use serde_json::Value;
use weirgate_sdk::{
    Segment,
    text::{clean, line},
};

use super::{kinds, message};
use crate::{
    channels::id,
    places::{Snowflake, number},
};

/// Longest quoted text, in characters.
const MAX_QUOTE: usize = 2_000;
/// Longest name of an emoji; the platform allows 32 characters.
const MAX_EMOJI: usize = 32;
/// Forwarded messages of one message that are read; the platform allows one.
const MAX_FORWARDED: usize = 5;

/// What a message says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The segments, in order.
    pub segments: Vec<Segment>,
    /// The bot is mentioned in the text.
    pub mentions_bot: bool,
}

/// Reads what a message says.
#[must_use]
pub fn read(message: &Value, bot: Snowflake) -> Content {
    let mut words = Words::of(message, bot, false);
    if message::is_forward(message) {
        let snapshots = message["message_snapshots"].as_array();
        for snapshot in snapshots.into_iter().flatten().take(MAX_FORWARDED) {
            // Somebody else's words, whatever they are.
            let forwarded = &snapshot["message"];
            let text = forwarded["content"].as_str().unwrap_or_default();
            words.quote("", text);
            words.segments.extend(kinds::beside_text(forwarded));
        }
    } else {
        let answered = &message["referenced_message"];
        if message["type"] != 0
            && answered.is_object()
            && id(&answered["author"]["id"]) != Some(bot)
        {
            let text = answered["content"].as_str().unwrap_or_default();
            words.quote(&message::name(&answered["author"]), text);
        }
    }
    words.segments.extend(kinds::beside_text(message));
    words.said()
}

/// Reads what was filled in behind a command. The platform names the people in fields of their own; a code in a field of
/// words is the one that its own interface put there, and means whom it says.
#[must_use]
pub fn filled_in(message: &Value, bot: Snowflake) -> Content {
    Words::of(message, bot, true).said()
}

/// A text that is cut at its codes.
struct Words<'a> {
    message: &'a Value,
    bot: Snowflake,
    segments: Vec<Segment>,
    after_mention: bool,
    mentions_bot: bool,
    /// A code means somebody although the platform does not name him beside the text.
    anybody: bool,
}

impl<'a> Words<'a> {
    fn of(message: &'a Value, bot: Snowflake, anybody: bool) -> Self {
        Self {
            message,
            bot,
            segments: Vec::new(),
            after_mention: false,
            mentions_bot: false,
            anybody,
        }
    }

    fn said(mut self) -> Content {
        self.text(self.message["content"].as_str().unwrap_or_default());
        Content {
            segments: self.segments,
            mentions_bot: self.mentions_bot,
        }
    }

    fn quote(&mut self, from: &str, text: &str) {
        let text: String = clean(text).chars().take(MAX_QUOTE).collect();
        if text.trim().is_empty() {
            return;
        }
        self.segments.push(Segment::Quote(if from.is_empty() {
            text
        } else {
            format!("{from}: {text}")
        }));
    }

    fn text(&mut self, text: &str) {
        let mut rest = text;
        let mut plain = String::new();
        while let Some(at) = rest.find(['<', '@']) {
            let (before, code) = rest.split_at(at);
            plain.push_str(before);
            let length = self.code(code, &mut plain);
            let (taken, after) = code.split_at(length.max(1));
            if length == 0 {
                plain.push_str(taken);
            }
            rest = after;
        }
        plain.push_str(rest);
        self.piece(&plain);
    }

    /// Reads the code at the beginning of a text. Says how many bytes it has; 0 is none.
    fn code(&mut self, text: &str, plain: &mut String) -> usize {
        if let Some(rest) = text.strip_prefix('@') {
            let all = ["everyone", "here"].iter();
            let word = all.clone().find(|word| rest.starts_with(**word));
            let Some(word) = word.filter(|_| self.message["mention_everyone"] == true) else {
                return 0;
            };
            self.piece(&std::mem::take(plain));
            self.segments.push(Segment::MentionAll);
            return 1 + word.len();
        }
        let Some((code, _)) = text.split_once('>') else {
            return 0;
        };
        let length = code.len() + 1;
        let code = code.strip_prefix('<').unwrap_or(code);
        if let Some(user) = code.strip_prefix('@') {
            let user = number(user.strip_prefix('!').unwrap_or(user));
            let Some((user, name)) = user.and_then(|user| Some((user, self.mentioned(user)?)))
            else {
                return 0;
            };
            self.piece(&std::mem::take(plain));
            self.mention(user, name);
            return length;
        }
        match emoji(code) {
            Some(name) => {
                plain.push_str(&format!(":{name}:"));
                length
            }
            None => 0,
        }
    }

    /// The name of somebody whom the platform says to be mentioned.
    fn mentioned(&self, user: Snowflake) -> Option<String> {
        let users = self.message["mentions"].as_array()?;
        let found = users.iter().find(|known| id(&known["id"]) == Some(user));
        let Some(found) = found else {
            return self.anybody.then(|| user.to_string());
        };
        let name = match found["member"]["nick"].as_str() {
            Some(nick) => line(nick, 200),
            None => message::name(found),
        };
        // Only the bot's own mention has no name.
        Some(
            Some(name)
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| user.to_string()),
        )
    }

    fn mention(&mut self, user: Snowflake, name: String) {
        let is_bot = user == self.bot;
        self.mentions_bot |= is_bot;
        self.after_mention = is_bot;
        self.segments.push(Segment::Mention {
            user: user.to_string().into(),
            name: if is_bot { String::new() } else { name },
        });
    }

    fn piece(&mut self, piece: &str) {
        let mut piece = clean(piece);
        if std::mem::take(&mut self.after_mention) {
            piece = piece.trim_start().to_owned();
        }
        if !piece.is_empty() {
            self.segments.push(Segment::Text(piece));
        }
    }
}

/// The name of an emoji of a server, from its code without brackets.
fn emoji(code: &str) -> Option<&str> {
    let code = code.strip_prefix('a').unwrap_or(code);
    let (name, id) = code.strip_prefix(':')?.split_once(':')?;
    let is_word = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
    let fits = !name.is_empty() && name.len() <= MAX_EMOJI && name.bytes().all(is_word);
    number(id).filter(|_| fits).map(|_| name)
}
