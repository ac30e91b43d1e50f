//! Whether a message is meant for the bot.
//!
//! Owns the rules: private chat, mention, reply to the bot, command, wake word, or everything. Pure.
//! It never changes the message; what was said reaches the model as it was said.

use weirgate_sdk::{ChatKind, InboundMessage, settings::Fields};

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

/// Whether a word ends where `rest` begins. Words of scripts without spaces end anywhere.
fn ends_word(word: &str, rest: &str) -> bool {
    let joins = |character: char| character.is_alphanumeric() && character < '\u{2e80}';
    !(word.chars().next_back().is_some_and(joins) && rest.chars().next().is_some_and(joins))
}

#[cfg(test)]
mod tests;
