//! All conversations of one site that matter now, and all sockets of each visitor.
//!
//! Owns which rooms exist. A room lives while somebody listens or writes, and some minutes longer; a
//! room that was forgotten comes back with higher numbers, so that nobody can resume from its past and
//! everybody gets the whole view from the store instead. Lock order: rooms, then one room; no work is
//! done in a room under the lock of all rooms.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use weirgate_sdk::{ConversationKey, ThreadId};

use crate::{
    outlet::{Cut, Outlet},
    room::Room,
};

/// Most rooms that are kept without anybody in them.
const MAX_EMPTY: usize = 1_024;
/// The session of a visitor who never said anything.
pub(crate) const FIRST_SESSION: &str = "main";

/// A shared room.
pub(crate) type RoomHandle = Arc<Mutex<Room>>;

/// The rooms and sockets of one site.
#[derive(Debug)]
pub(crate) struct Hub {
    /// This process; random.
    pub(crate) epoch: Arc<str>,
    life: Duration,
    rooms: Mutex<Rooms>,
    visitors: Mutex<HashMap<String, Vec<Arc<Outlet>>>>,
}

#[derive(Debug, Default)]
struct Rooms {
    all: HashMap<ConversationKey, RoomHandle>,
    /// No room that was forgotten had a higher number.
    floor: u64,
    /// With so many rooms it is worth looking for empty ones again.
    look_at: usize,
}

impl Hub {
    /// No rooms yet. Empty ones are kept for `life`.
    pub(crate) fn new(epoch: Arc<str>, life: Duration) -> Self {
        Self {
            epoch,
            life,
            rooms: Mutex::default(),
            visitors: Mutex::default(),
        }
    }

    /// Does something in a room, which is made if it is not there. Whoever begins to listen or to write
    /// must do so here, so that the room cannot be forgotten meanwhile; the handle is then good for as
    /// long as he does.
    pub(crate) fn enter<T>(
        &self,
        key: &ConversationKey,
        now: Instant,
        act: impl FnOnce(&mut Room) -> T,
    ) -> (RoomHandle, T) {
        let mut rooms = self.rooms.lock();
        let room = rooms.get_or_make(key, &self.epoch, now);
        // From lock to lock: a room that somebody holds is not forgotten.
        let mut inside = room.lock();
        drop(rooms);
        let result = act(&mut inside);
        drop(inside);
        (room, result)
    }

    /// The room of a conversation, if anybody was there lately.
    pub(crate) fn find(&self, key: &ConversationKey) -> Option<RoomHandle> {
        self.rooms.lock().all.get(key).map(Arc::clone)
    }

    /// Forgets rooms that were empty for long enough.
    pub(crate) fn sweep(&self, now: Instant) {
        let Some(limit) = now.checked_sub(self.life) else {
            return;
        };
        self.rooms.lock().forget(|room| {
            room.sweep(now);
            room.is_idle(limit)
        });
    }

    /// How many rooms there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.rooms.lock().all.len()
    }

    /// A visitor opened a socket. With more than `most` his oldest is closed, and returned so that it
    /// can be told why.
    pub(crate) fn come(
        &self,
        visitor: &str,
        outlet: &Arc<Outlet>,
        most: usize,
    ) -> Option<Arc<Outlet>> {
        let mut visitors = self.visitors.lock();
        let sockets = visitors.entry(visitor.to_owned()).or_default();
        let oldest = (sockets.len() >= most).then(|| sockets.remove(0));
        sockets.push(Arc::clone(outlet));
        oldest
    }

    /// A visitor's socket is closed.
    pub(crate) fn go(&self, visitor: &str, outlet: &Outlet) {
        let mut visitors = self.visitors.lock();
        if let Some(sockets) = visitors.get_mut(visitor) {
            sockets.retain(|it| it.id != outlet.id);
            if sockets.is_empty() {
                visitors.remove(visitor);
            }
        }
    }

    /// Closes the sockets of all visitors.
    pub(crate) fn cut_all(&self, cut: Cut) {
        for outlet in self.visitors.lock().values().flatten() {
            outlet.cut(cut);
        }
    }
}

impl Rooms {
    fn get_or_make(&mut self, key: &ConversationKey, epoch: &Arc<str>, now: Instant) -> RoomHandle {
        if let Some(room) = self.all.get(key) {
            return Arc::clone(room);
        }
        if self.all.len() >= self.look_at.max(MAX_EMPTY) {
            self.make_space();
        }
        self.floor += 1;
        let room = Room::new(Arc::clone(epoch), session(key), self.floor, now);
        let room = Arc::new(Mutex::new(room));
        self.all.insert(key.clone(), Arc::clone(&room));
        room
    }

    fn forget(&mut self, mut over: impl FnMut(&mut Room) -> bool) {
        let mut floor = self.floor;
        self.all.retain(|_, room| {
            // Where somebody is at work there is somebody.
            let Some(mut room) = room.try_lock() else {
                return true;
            };
            let over = over(&mut room);
            if over {
                floor = floor.max(room.seq());
            }
            !over
        });
        self.floor = floor;
    }

    /// Too many rooms: of those with nobody in them, the older half goes.
    fn make_space(&mut self) {
        let mut times: Vec<Instant> = self
            .all
            .values()
            .filter_map(|room| {
                let room = room.try_lock()?;
                room.is_empty().then(|| room.touched())
            })
            .collect();
        if times.len() >= MAX_EMPTY / 2 {
            let middle = times.len() / 2;
            let limit = *times.select_nth_unstable(middle).1;
            self.forget(|room| room.is_idle(limit));
        }
        self.look_at = self.all.len() + MAX_EMPTY / 2;
    }
}

/// A key that always has a thread: without one the visitor's first session is meant.
pub(crate) fn with_session(mut key: ConversationKey) -> ConversationKey {
    key.thread.get_or_insert_with(|| FIRST_SESSION.into());
    key
}

fn session(key: &ConversationKey) -> Arc<str> {
    key.thread
        .as_ref()
        .map_or(FIRST_SESSION, ThreadId::as_str)
        .into()
}

#[cfg(test)]
mod tests;
