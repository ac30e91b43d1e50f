//! Whether a message is meant for the bot.
//!
//! Owns the rules: private chat, mention, reply to the bot, command, wake word, or everything. Pure.
//! It never changes the message; what was said reaches the model as it was said.

use std::{borrow::Cow, collections::BTreeMap};

use weirgate_sdk::{ChatKind, InboundMessage, settings::Fields};

/// The keys under which a conversation has its own.
pub const KEYS: [&str; 2] = ["addressing", "wake_words"];

/// When the bot feels addressed in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// By mention, reply, command or wake word.
    #[default]
    Mention,
    /// By everything that is said.
    All,
}

/// The section `addressing` of an account.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Addressing {
    /// When the bot feels addressed in a group.
    pub mode: Mode,
    /// Words that address the bot at the beginning of a message, in lower case.
    pub wake_words: Vec<String>,
}

/// Most wake words of an account.
const MAX_WAKE_WORDS: usize = 64;
/// Longest wake word that is set in a conversation, in characters.
const MAX_WAKE_WORD: usize = 60;

impl Addressing {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let mode = fields.choice(
            "mode",
            Mode::Mention,
            &[("mention", Mode::Mention), ("all", Mode::All)],
        );
        let wake_words = fields.texts("wake_words", MAX_WAKE_WORDS);
        fields.finish();
        let wake_words = wake_words
            .into_iter()
            .map(|word| word.trim().to_lowercase())
            .filter(|word| !word.is_empty())
            .collect();
        Self { mode, wake_words }
    }

    /// The same with what was set in a conversation.
    #[must_use]
    pub fn within(&self, settings: &BTreeMap<String, String>) -> Cow<'_, Self> {
        let [mode, wake_words] = KEYS.map(|key| settings.get(key));
        if mode.is_none() && wake_words.is_none() {
            return Cow::Borrowed(self);
        }
        let mode = mode.and_then(|name| mode_of(name));
        Cow::Owned(Self {
            mode: mode.unwrap_or(self.mode),
            wake_words: wake_words.map_or_else(|| self.wake_words.clone(), |words| words_of(words)),
        })
    }

    /// Whether the message is for the bot. `command` says that it is one of the gateway's commands.
    #[must_use]
    pub fn is_addressed(&self, message: &InboundMessage, text: &str, command: bool) -> bool {
        let reply = message.reply_to.as_ref().and_then(|replied| replied.to_bot) == Some(true);
        message.chat == ChatKind::Private
            || self.mode == Mode::All
            || message.mentions_bot
            || reply
            || command
            || self.has_wake_word(text)
    }

    fn has_wake_word(&self, text: &str) -> bool {
        if self.wake_words.is_empty() {
            return false;
        }
        let text: String = text
            .trim_start()
            .chars()
            .take(256)
            .collect::<String>()
            .to_lowercase();
        self.wake_words.iter().any(|word| {
            text.strip_prefix(word.as_str())
                .is_some_and(|rest| ends_word(word, rest))
        })
    }
}

/// What is stored for a value that somebody sets in a conversation, where `none` means no wake words; `None` if it is no
/// value.
#[must_use]
pub fn valid(key: &str, value: &str) -> Option<String> {
    if key == KEYS[0] {
        let name = value.to_ascii_lowercase();
        return mode_of(&name).map(|_| name);
    }
    if value.eq_ignore_ascii_case("none") {
        return Some(String::new());
    }
    let words = words_of(value);
    let fits = |word: &String| word.chars().count() <= MAX_WAKE_WORD;
    let fit = !words.is_empty() && words.len() <= MAX_WAKE_WORDS && words.iter().all(fits);
    fit.then(|| words.join(", "))
}

fn mode_of(name: &str) -> Option<Mode> {
    match name {
        "mention" => Some(Mode::Mention),
        "all" => Some(Mode::All),
        _ => None,
    }
}

/// Words between commas, in lower case.
fn words_of(list: &str) -> Vec<String> {
    let words = list.split([',', '，', '、']);
    let words = words.map(|word| word.trim().to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

/// Whether a word ends where `rest` begins. Words of scripts without spaces end anywhere.
fn ends_word(word: &str, rest: &str) -> bool {
    let joins = |character: char| character.is_alphanumeric() && character < '\u{2e80}';
    !(word.chars().next_back().is_some_and(joins) && rest.chars().next().is_some_and(joins))
}

#[cfg(test)]
mod tests;
