//! Repeats: the same message again and again is written a few times, then counted and summed up.
//! Pure: the time comes as an argument. The table is bounded; what leaves it is summed up, not lost.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;
use tracing::Level;

/// Bytes of a message that are kept for its summary.
const KEPT_BYTES: usize = 300;

/// When a message counts as repeated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// How many of one message are written in a window.
    pub(super) burst: u64,
    /// Length of a window; it begins with the first of the messages.
    pub(super) window: Duration,
    /// How many messages are watched at once.
    pub(super) capacity: usize,
}

/// What makes two events the same: level, target and text, the error's text included.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Message {
    pub(super) level: Level,
    pub(super) target: String,
    /// The first [`KEPT_BYTES`] bytes.
    pub(super) text: String,
    /// Hash of the whole text.
    hash: u64,
}

impl Message {
    /// The message of an event; `error` is the text of its error field, if any.
    pub(super) fn new(level: Level, target: &str, text: &str, error: Option<&str>) -> Self {
        let mut hasher = DefaultHasher::new();
        (text, error).hash(&mut hasher);
        let mut kept = start_of(text, KEPT_BYTES).to_owned();
        if let Some(error) = error {
            let room = KEPT_BYTES.saturating_sub(kept.len());
            kept.push_str(": ");
            kept.push_str(start_of(error, room));
        }
        Self {
            level,
            target: target.to_owned(),
            text: kept,
            hash: hasher.finish(),
        }
    }
}

/// The longest beginning of at most `bytes` bytes.
fn start_of(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes))
        .unwrap_or_default()
}

/// Messages that were not written, to be told of in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Summary {
    /// The message.
    pub(super) message: Arc<Message>,
    /// How many were not written.
    pub(super) count: u64,
    /// The time in which they came.
    pub(super) during: Duration,
}

/// The count of one message in its window.
struct Window {
    start: Duration,
    seen: u64,
}

/// Watches the messages of the last window.
pub(super) struct Repeats {
    limits: Limits,
    windows: HashMap<Arc<Message>, Window>,
    /// By the start of their windows, which are all equally long.
    order: VecDeque<Arc<Message>>,
}

impl Repeats {
    /// Nothing seen yet.
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            windows: HashMap::new(),
            order: VecDeque::new(),
        }
    }

    /// Whether this message is to be written at `now`, which never goes back. Summaries that have
    /// become due are appended to `due`.
    pub(super) fn admit(
        &mut self,
        message: Message,
        now: Duration,
        due: &mut Vec<Summary>,
    ) -> bool {
        self.due(now, due);
        if let Some(window) = self.windows.get_mut(&message) {
            window.seen += 1;
            return window.seen <= self.limits.burst;
        }
        if self.order.len() >= self.limits.capacity {
            self.end_oldest(now, due);
        }
        let message = Arc::new(message);
        self.order.push_back(Arc::clone(&message));
        self.windows.insert(
            message,
            Window {
                start: now,
                seen: 1,
            },
        );
        true
    }

    /// Ends the windows that are over.
    pub(super) fn due(&mut self, now: Duration, due: &mut Vec<Summary>) {
        while let Some(window) = self
            .order
            .front()
            .and_then(|oldest| self.windows.get(oldest))
        {
            if now.saturating_sub(window.start) < self.limits.window {
                break;
            }
            self.end_oldest(now, due);
        }
    }

    /// Ends all windows.
    pub(super) fn end(&mut self, now: Duration, due: &mut Vec<Summary>) {
        while !self.order.is_empty() {
            self.end_oldest(now, due);
        }
    }

    /// Ends the window that began first.
    fn end_oldest(&mut self, now: Duration, due: &mut Vec<Summary>) {
        let Some(message) = self.order.pop_front() else {
            return;
        };
        let Some(window) = self.windows.remove(&message) else {
            return;
        };
        let count = window.seen.saturating_sub(self.limits.burst);
        if count > 0 {
            let during = now.saturating_sub(window.start).min(self.limits.window);
            due.push(Summary {
                message,
                count,
                during,
            });
        }
    }
}

#[cfg(test)]
mod tests;
