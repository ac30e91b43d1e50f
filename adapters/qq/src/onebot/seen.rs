//! How far the account has listened: the time of the newest message that was read, and of which bot.
//!
//! Owns that one mark. It tells after a pause what may have been missed; whether something was seen
//! already is for the gateway's duplicate check to say.

use parking_lot::Mutex;

/// The mark of one account.
#[derive(Debug, Default)]
pub struct Seen(Mutex<Option<Mark>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    bot: String,
    newest: i64,
}

impl Seen {
    /// A message of that time, in seconds since the epoch, was read. Another bot begins anew.
    pub fn remember(&self, bot: &str, time: i64) {
        let mut mark = self.0.lock();
        match &mut *mark {
            Some(mark) if mark.bot == bot => mark.newest = mark.newest.max(time),
            other => {
                *other = Some(Mark {
                    bot: bot.to_owned(),
                    newest: time,
                });
            }
        }
    }

    /// The time of the newest message of this bot; `None` if none was ever read.
    #[must_use]
    pub fn newest(&self, bot: &str) -> Option<i64> {
        let mark = self.0.lock();
        mark.as_ref()
            .filter(|mark| mark.bot == bot)
            .map(|mark| mark.newest)
    }

    /// The bot and the time of its newest message.
    #[must_use]
    pub fn mark(&self) -> Option<(String, i64)> {
        let mark = self.0.lock();
        mark.as_ref().map(|mark| (mark.bot.clone(), mark.newest))
    }
}

#[cfg(test)]
mod tests;
