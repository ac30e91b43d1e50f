//! How much a visitor may say in a minute and in a day.
//!
//! Owns the counts, in memory and bounded: of very many visitors those are forgotten whose minute and day are over, and
//! then those who came first. Pure: the time is an argument.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// Most visitors whose messages are counted.
const MAX_VISITORS: usize = 20_000;
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// The limits of a site; 0 is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Messages of one visitor in a minute.
    pub minute: u32,
    /// Messages of one visitor in a day.
    pub day: u32,
}

/// Which limit a message is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// That of a minute.
    Minute,
    /// That of a day.
    Day,
}

/// What the visitors have said.
#[derive(Debug, Default)]
pub(crate) struct Quotas {
    visitors: HashMap<String, Said>,
}

#[derive(Debug, Clone, Copy)]
struct Said {
    minute: (Instant, u32),
    day: (Instant, u32),
}

impl Quotas {
    /// Counts a message, unless it is over a limit. A minute and a day begin with the first message after the last ended.
    pub(crate) fn take(&mut self, visitor: &str, limits: Limits, now: Instant) -> Result<(), Over> {
        if limits == Limits::default() {
            return Ok(());
        }
        if !self.visitors.contains_key(visitor) {
            self.make_space(now);
        }
        let said = self.visitors.entry(visitor.to_owned()).or_insert(Said {
            minute: (now, 0),
            day: (now, 0),
        });
        for (window, length) in [(&mut said.minute, MINUTE), (&mut said.day, DAY)] {
            if now.saturating_duration_since(window.0) >= length {
                *window = (now, 0);
            }
        }
        let full = |count: u32, limit: u32| limit > 0 && count >= limit;
        if full(said.day.1, limits.day) {
            return Err(Over::Day);
        }
        if full(said.minute.1, limits.minute) {
            return Err(Over::Minute);
        }
        said.minute.1 += 1;
        said.day.1 += 1;
        Ok(())
    }

    fn make_space(&mut self, now: Instant) {
        if self.visitors.len() < MAX_VISITORS {
            return;
        }
        self.visitors
            .retain(|_, said| now.saturating_duration_since(said.day.0) < DAY);
        if self.visitors.len() < MAX_VISITORS {
            return;
        }
        let mut begun: Vec<Instant> = self.visitors.values().map(|said| said.day.0).collect();
        let middle = begun.len() / 2;
        let limit = *begun.select_nth_unstable(middle).1;
        self.visitors.retain(|_, said| said.day.0 > limit);
    }
}

#[cfg(test)]
mod tests;
