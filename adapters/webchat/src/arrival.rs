//! Messages between a client's frame and their end.
//!
//! Owns two small lists of one conversation: the messages that were handed in and are not yet known to
//! be durable, and the frames with several messages of which not all have ended. Pure.

use serde_json::{Map, Value};

/// Most frames with several messages that are remembered.
const MAX_BATCHES: usize = 64;

/// What is under way in one conversation.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    waiting: Vec<Waiting>,
    batches: Vec<Vec<String>>,
}

#[derive(Debug)]
struct Waiting {
    message: String,
    shown: Map<String, Value>,
    /// How often it is under way: a client that comes again sends it again.
    times: usize,
}

impl Arrivals {
    /// A message is being handed in; `shown` is what other windows will be told of it.
    pub(crate) fn begin(&mut self, message: &str, shown: Map<String, Value>) {
        match self.waiting.iter_mut().find(|it| it.message == message) {
            Some(waiting) => waiting.times += 1,
            None => self.waiting.push(Waiting {
                message: message.to_owned(),
                shown,
                times: 1,
            }),
        }
    }

    /// The message turned out to be durable, by its receipt or because it is being answered; gives what
    /// to show, once.
    pub(crate) fn take(&mut self, message: &str) -> Option<Map<String, Value>> {
        let at = self.waiting.iter().position(|it| it.message == message)?;
        Some(self.waiting.remove(at).shown)
    }

    /// The message was shown before.
    pub(crate) fn forget(&mut self, message: &str) {
        self.waiting.retain(|it| it.message != message);
    }

    /// The message is under way once less: it was not accepted, or not in time.
    pub(crate) fn give_up(&mut self, message: &str) {
        self.waiting.retain_mut(|it| {
            if it.message == message {
                it.times -= 1;
            }
            it.times > 0
        });
    }

    /// Nothing is being handed in.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// These messages came in one frame.
    pub(crate) fn batch(&mut self, messages: Vec<String>) {
        if self.batches.len() >= MAX_BATCHES {
            self.batches.remove(0);
        }
        self.batches.push(messages);
    }

    /// The message has ended, one way or the other; `true` if it was the last of its frame.
    pub(crate) fn settle(&mut self, message: &str) -> bool {
        for at in 0..self.batches.len() {
            let Some(batch) = self.batches.get_mut(at) else {
                break;
            };
            let Some(found) = batch.iter().position(|id| id == message) else {
                continue;
            };
            batch.remove(found);
            if batch.is_empty() {
                self.batches.remove(at);
                return true;
            }
            return false;
        }
        false
    }
}
