//! The outbox in memory: one bounded queue of replies for each conversation, and who works on it.
//!
//! Owns the order of replies and their overflow. A reply that has begun is never dropped. What is here
//! is in the store as well; after a crash the store's rows are taken up again.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use parking_lot::{Mutex, RwLock};
use tokio::sync::oneshot;
use weirgate_sdk::ConversationKey;

use crate::{clock::Tick, inbound::config::OverflowStrategy, store::ReplyBody};

/// A reply that waits to be sent.
#[derive(Debug)]
pub struct Reply {
    /// The outbox row.
    pub id: i64,
    /// The conversation's number.
    pub conversation: i64,
    /// The conversation's key.
    pub key: Arc<ConversationKey>,
    /// The turn.
    pub turn: Option<i64>,
    /// The body.
    pub body: ReplyBody,
    /// The next part to send.
    pub part: u32,
    /// The intent of that part is already written.
    pub intent_written: bool,
    /// That part may have been sent before a crash; how often that has happened.
    pub doubts: u32,
    /// An earlier part is in doubt, so that the reply ends as unknown.
    pub doubtful: bool,
    /// When it was made, or taken up after a start: the age counts from here.
    pub since: Tick,
    /// Not before this.
    pub due: Tick,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Reply>,
    /// Somebody delivers from this queue.
    worked: bool,
    /// Told when the queue has room again. As many as turns of the conversation wait for it.
    wanting_room: Vec<oneshot::Sender<()>>,
}

impl Queue {
    fn tell_of_room(&mut self, max_size: usize) {
        if self.waiting.len() * 2 < max_size.max(2) {
            for told in self.wanting_room.drain(..) {
                // Who no longer waits does not mind.
                let _ = told.send(());
            }
        }
    }
}

/// What a push led to.
#[derive(Debug)]
pub struct Pushed {
    /// The queue has nobody who delivers: start one.
    pub start: bool,
    /// This reply does not fit: it, or an older one that has not begun, is given up.
    pub overflow: Option<Reply>,
}

/// How much may wait for one conversation, and what gives way.
#[derive(Debug, Clone, Copy)]
struct Limits {
    max_size: usize,
    overflow: OverflowStrategy,
}

/// The queues of all conversations.
#[derive(Debug)]
pub struct Outbox {
    limits: RwLock<Limits>,
    queues: Mutex<HashMap<i64, Queue>>,
}

impl Outbox {
    /// Empty queues of at most `max_size` replies each.
    #[must_use]
    pub fn new(max_size: usize, overflow: OverflowStrategy) -> Self {
        Self {
            limits: RwLock::new(Limits { max_size, overflow }),
            queues: Mutex::default(),
        }
    }

    /// Changes the bounds. What waits beyond a smaller one stays, and gives way to what comes.
    pub fn set_limits(&self, max_size: usize, overflow: OverflowStrategy) {
        *self.limits.write() = Limits { max_size, overflow };
    }

    /// Appends a reply.
    pub fn push(&self, reply: Reply) -> Pushed {
        let limits = *self.limits.read();
        let mut queues = self.queues.lock();
        let queue = queues.entry(reply.conversation).or_default();
        let mut overflow = None;
        if queue.waiting.len() >= limits.max_size {
            overflow = match limits.overflow {
                OverflowStrategy::DropNewest => {
                    return Pushed {
                        start: false,
                        overflow: Some(reply),
                    };
                }
                _ => {
                    let fresh = queue.waiting.iter().position(|reply| reply.part == 0);
                    fresh.and_then(|at| queue.waiting.remove(at))
                }
            };
        }
        queue.waiting.push_back(reply);
        let start = !std::mem::replace(&mut queue.worked, true);
        Pushed { start, overflow }
    }

    /// The next reply of a conversation for the one who works on it. `None` ends the work: a later push
    /// asks for somebody new.
    pub fn take(&self, conversation: i64) -> Option<Reply> {
        let most = self.limits.read().max_size;
        let mut queues = self.queues.lock();
        let next = queues.get_mut(&conversation).and_then(|queue| {
            let next = queue.waiting.pop_front();
            queue.tell_of_room(most);
            next
        });
        if next.is_none() {
            queues.remove(&conversation);
            if queues.capacity() > 1_024 && queues.len() * 8 < queues.capacity() {
                queues.shrink_to_fit();
            }
        }
        next
    }

    /// Takes a reply that waits out of the middle, with its place; `None` if it is not here or on its way.
    pub fn withdraw(&self, conversation: i64, id: i64) -> Option<(usize, Reply)> {
        let most = self.limits.read().max_size;
        let mut queues = self.queues.lock();
        let queue = queues.get_mut(&conversation)?;
        let place = queue.waiting.iter().position(|reply| reply.id == id)?;
        let reply = queue.waiting.remove(place)?;
        queue.tell_of_room(most);
        Some((place, reply))
    }

    /// Takes out all replies of a conversation that wait and have not begun.
    pub fn withdraw_all(&self, conversation: i64) -> Vec<Reply> {
        let most = self.limits.read().max_size;
        let mut queues = self.queues.lock();
        let Some(queue) = queues.get_mut(&conversation) else {
            return Vec::new();
        };
        let waiting = std::mem::take(&mut queue.waiting);
        let (fresh, begun): (Vec<Reply>, Vec<Reply>) =
            waiting.into_iter().partition(|reply| reply.part == 0);
        queue.waiting = begun.into();
        queue.tell_of_room(most);
        fresh
    }

    /// Puts back what was withdrawn, about where it was. Says whether somebody is to be started.
    pub fn put_back(&self, place: usize, reply: Reply) -> bool {
        let mut queues = self.queues.lock();
        let queue = queues.entry(reply.conversation).or_default();
        queue.waiting.insert(place.min(queue.waiting.len()), reply);
        !std::mem::replace(&mut queue.worked, true)
    }

    /// The replies that wait for a conversation are as much younger.
    pub fn forgive(&self, conversation: i64, time: Tick) {
        if let Some(queue) = self.queues.lock().get_mut(&conversation) {
            for reply in &mut queue.waiting {
                reply.since = reply.since.saturating_add(time);
            }
        }
    }

    /// `None` if the queue of a conversation is less than half full; else what tells when it is.
    #[must_use]
    pub fn room(&self, conversation: i64) -> Option<oneshot::Receiver<()>> {
        let most = self.limits.read().max_size;
        let mut queues = self.queues.lock();
        let queue = queues.get_mut(&conversation)?;
        if queue.waiting.len() * 2 < most.max(2) {
            return None;
        }
        queue.wanting_room.retain(|told| !told.is_closed());
        let (sender, receiver) = oneshot::channel();
        queue.wanting_room.push(sender);
        Some(receiver)
    }

    /// Whether a reply that is pushed now would be the next to be sent.
    #[must_use]
    pub fn is_free(&self, conversation: i64) -> bool {
        !self.queues.lock().contains_key(&conversation)
    }

    /// Replies that wait, without those being delivered.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queues
            .lock()
            .values()
            .map(|queue| queue.waiting.len())
            .sum()
    }

    /// Whether nothing waits and nobody works.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.queues.lock().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(id: i64, conversation: i64) -> Reply {
        let key = ConversationKey {
            platform: "p".into(),
            account: "a".into(),
            conversation: conversation.to_string().into(),
            thread: None,
        };
        let body = ReplyBody {
            text: "x".into(),
            format: weirgate_sdk::answer::Format::Plain,
            parts: Vec::new(),
            answers: Vec::new(),
            author: None,
            reply_context: None,
            pauses: Vec::new(),
            buttons: Vec::new(),
            file: None,
            media: Vec::new(),
            private: false,
        };
        Reply {
            id,
            conversation,
            key: Arc::new(key),
            turn: None,
            body,
            part: 0,
            intent_written: false,
            doubts: 0,
            doubtful: false,
            since: 0,
            due: 0,
        }
    }

    #[test]
    fn one_worker_for_each_conversation_and_order_within() {
        let outbox = Outbox::new(10, OverflowStrategy::DropOldest);
        assert!(outbox.push(reply(1, 7)).start);
        assert!(!outbox.push(reply(2, 7)).start);
        assert!(outbox.push(reply(3, 8)).start);
        let taken: Vec<i64> = std::iter::from_fn(|| outbox.take(7))
            .map(|reply| reply.id)
            .collect();
        assert_eq!(taken, [1, 2]);
        assert!(outbox.push(reply(4, 7)).start, "the worker left");
        assert_eq!(outbox.waiting(), 2);
    }

    #[test]
    fn what_is_withdrawn_can_be_put_back_where_it_was() {
        let outbox = Outbox::new(10, OverflowStrategy::DropOldest);
        for id in 1..=4 {
            outbox.push(reply(id, 7));
        }
        assert_eq!(outbox.take(7).map(|begun| begun.id), Some(1));
        assert!(outbox.withdraw(7, 1).is_none(), "it is on its way");
        assert!(outbox.withdraw(8, 3).is_none());
        let (place, withdrawn) = outbox.withdraw(7, 3).unwrap();
        assert!(!outbox.put_back(place, withdrawn));
        let left: Vec<i64> = std::iter::from_fn(|| outbox.take(7))
            .map(|reply| reply.id)
            .collect();
        assert_eq!(left, [2, 3, 4]);
        assert!(outbox.put_back(5, reply(9, 7)), "the worker left");
    }

    #[test]
    fn overflow_takes_whole_replies_that_have_not_begun() {
        let oldest = Outbox::new(2, OverflowStrategy::DropOldest);
        oldest.push(reply(1, 7));
        assert_eq!(oldest.take(7).map(|begun| begun.id), Some(1));
        oldest.push(reply(2, 7));
        oldest.push(reply(3, 7));
        let pushed = oldest.push(reply(4, 7));
        assert_eq!(pushed.overflow.map(|dropped| dropped.id), Some(2));

        oldest.set_limits(1, OverflowStrategy::DropNewest);
        assert_eq!(oldest.waiting(), 2, "what waits stays");
        let pushed = oldest.push(reply(5, 7));
        assert_eq!(pushed.overflow.map(|dropped| dropped.id), Some(5));

        let newest = Outbox::new(1, OverflowStrategy::DropNewest);
        newest.push(reply(1, 7));
        let pushed = newest.push(reply(2, 7));
        assert_eq!(pushed.overflow.map(|dropped| dropped.id), Some(2));
        assert_eq!(newest.take(7).map(|kept| kept.id), Some(1));
    }
}
