//! The way out to one socket: a bounded queue that never makes a sender wait.
//!
//! Owns the bounds. A socket that does not keep up is cut off; whoever else is in the conversation does
//! not notice, and the client catches up when it comes again. Of a draft only the newest form of a block
//! waits, so that text which grows does not fill the queue of a slow client.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::extract::ws::Utf8Bytes;
use parking_lot::Mutex;
use tokio::{
    sync::{Notify, watch},
    time::timeout,
};

/// Most items that wait for one socket.
const MAX_ITEMS: usize = 256;
/// A socket for which more bytes wait is cut off.
const MAX_BYTES: usize = 1024 * 1024;
/// With more items or bytes waiting the socket is not read: what its own requests bring, a page of
/// history each, must find a place.
const ROOM_ITEMS: usize = MAX_ITEMS / 2;
const ROOM_BYTES: usize = MAX_BYTES / 4;
/// Longest wait for room in the middle of a frame with several requests.
const ROOM_WAIT: Duration = Duration::from_secs(30);

/// Something for one socket.
#[derive(Debug)]
pub(crate) enum Item {
    /// Frames that belong together.
    Frames(Vec<Utf8Bytes>),
    /// A sign of life.
    Ping,
}

/// Why a socket is closed: the close code and its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The WebSocket close code.
    pub(crate) code: u16,
    /// A few words for whoever debugs a client.
    pub(crate) reason: &'static str,
}

impl Cut {
    /// The client went by itself.
    pub(crate) const DONE: Self = Self {
        code: 1000,
        reason: "",
    };
    /// The gateway stops.
    pub(crate) const STOPPING: Self = Self {
        code: 1001,
        reason: "stopping",
    };
    /// The client broke a rule.
    pub(crate) const POLICY: Self = Self {
        code: 1008,
        reason: "say hello first",
    };
    /// What the client sent is no WebSocket.
    pub(crate) const PROTOCOL: Self = Self {
        code: 1002,
        reason: "not the WebSocket protocol",
    };
    /// A text frame is not UTF-8.
    pub(crate) const NOT_TEXT: Self = Self {
        code: 1007,
        reason: "not UTF-8",
    };
    /// A frame is over the limit.
    pub(crate) const TOO_BIG: Self = Self {
        code: 1009,
        reason: "frame too big",
    };
    /// Something that the socket needs does not work now.
    pub(crate) const TRY_LATER: Self = Self {
        code: 1013,
        reason: "try again later",
    };
    /// The client does not read fast enough.
    pub(crate) const SLOW: Self = Self {
        code: 1013,
        reason: "too slow",
    };
    /// Two pings without an answer.
    pub(crate) const SILENT: Self = Self {
        code: 4000,
        reason: "no answer to pings",
    };
    /// The visitor did not show a good identity. Do not reconnect without another one.
    pub(crate) const NOT_SIGNED_IN: Self = Self {
        code: 4003,
        reason: "not signed in",
    };
    /// The visitor opened more sockets than allowed. Do not reconnect by yourself.
    pub(crate) const REPLACED: Self = Self {
        code: 4001,
        reason: "too many sockets",
    };
}

/// A frame of a draft: which block of which text it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DraftBlock {
    /// The turn that writes.
    pub(crate) turn: Arc<str>,
    /// The index of the block. The frame drops what is shown from here on.
    pub(crate) block: usize,
    /// The frame drops everything that is shown of the turn.
    pub(crate) replace: bool,
}

impl DraftBlock {
    /// Whether a client that gets `newer` need not get this.
    fn is_outdone_by(&self, newer: &Self) -> bool {
        // A frame that drops everything is outdone only by another one that does.
        self.turn == newer.turn && (newer.replace || (self.block >= newer.block && !self.replace))
    }
}

/// The sending end.
#[derive(Debug)]
pub(crate) struct Outlet {
    /// Tells the sockets of this process apart.
    pub(crate) id: u64,
    queue: Mutex<Queue>,
    /// Notified whenever an item was queued.
    queued: Notify,
    /// Notified whenever an item was written.
    wrote: Notify,
    cut: watch::Sender<Option<Cut>>,
    /// The client wants to be told what is remembered.
    memory: AtomicBool,
}

#[derive(Debug, Default)]
struct Queue {
    items: VecDeque<(Item, Option<DraftBlock>)>,
    /// Bytes of the items, and of the one that is being written.
    bytes: usize,
}

/// The end that the socket's writer reads.
#[derive(Debug)]
pub(crate) struct Items(Arc<Outlet>);

impl Items {
    /// The next item, in the order of the pushes. Safe to cancel.
    pub(crate) async fn recv(&mut self) -> Item {
        loop {
            if let Some(item) = self.try_recv() {
                return item;
            }
            self.0.queued.notified().await;
        }
    }

    /// The next item, if one waits. Its bytes count until [`Outlet::written`].
    pub(crate) fn try_recv(&mut self) -> Option<Item> {
        Some(self.0.queue.lock().items.pop_front()?.0)
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        // Nobody writes any more.
        self.0.cut(Cut::DONE);
    }
}

impl Outlet {
    /// A way out and the end that the socket's writer reads.
    pub(crate) fn new() -> (Arc<Self>, Items) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let outlet = Arc::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            queue: Mutex::default(),
            queued: Notify::new(),
            wrote: Notify::new(),
            cut: watch::Sender::new(None),
            memory: AtomicBool::new(false),
        });
        (Arc::clone(&outlet), Items(outlet))
    }

    /// Says whether the client wants to be told what its conversations remember.
    pub(crate) fn set_memory(&self, wanted: bool) {
        self.memory.store(wanted, Ordering::Relaxed);
    }

    /// Whether it does.
    pub(crate) fn wants_memory(&self) -> bool {
        self.memory.load(Ordering::Relaxed)
    }

    /// Queues an item; `false` if the socket is closed or is now, because it does not keep up.
    pub(crate) fn push(&self, item: Item) -> bool {
        self.queue(item, None)
    }

    /// Queues one frame.
    pub(crate) fn frame(&self, frame: Utf8Bytes) -> bool {
        self.push(Item::Frames(vec![frame]))
    }

    /// Queues one frame of a draft. Frames of the same text that it makes needless are taken back, if
    /// they still wait.
    pub(crate) fn draft(&self, block: DraftBlock, frame: Utf8Bytes) -> bool {
        self.queue(Item::Frames(vec![frame]), Some(block))
    }

    fn queue(&self, item: Item, draft: Option<DraftBlock>) -> bool {
        if self.cut.borrow().is_some() {
            return false;
        }
        let fits = {
            let mut queue = self.queue.lock();
            if let Some(newer) = &draft {
                queue.take_back(newer);
            }
            let fits = queue.bytes <= MAX_BYTES && queue.items.len() < MAX_ITEMS;
            if fits {
                queue.bytes += size(&item);
                queue.items.push_back((item, draft));
            }
            fits
        };
        if fits {
            self.queued.notify_one();
        } else {
            self.cut(Cut::SLOW);
        }
        fits
    }

    /// The writer has written an item of this size.
    pub(crate) fn written(&self, size: usize) {
        let mut queue = self.queue.lock();
        queue.bytes = queue.bytes.saturating_sub(size);
        drop(queue);
        self.wrote.notify_one();
    }

    /// Whether the socket may be read on. A client that asks faster than its answers leave is made to
    /// wait, not cut off.
    pub(crate) fn has_room(&self) -> bool {
        let queue = self.queue.lock();
        queue.items.len() <= ROOM_ITEMS && queue.bytes <= ROOM_BYTES
    }

    /// Resolves when something was written since the last call.
    pub(crate) async fn wrote(&self) {
        self.wrote.notified().await;
    }

    /// Waits until there is room, for the second and later requests of one frame. A client that takes
    /// nothing meanwhile is cut off.
    pub(crate) async fn room(&self) {
        let room = async {
            while !self.has_room() {
                self.wrote().await;
            }
        };
        tokio::select! {
            () = async {
                if timeout(ROOM_WAIT, room).await.is_err() {
                    self.cut(Cut::SLOW);
                }
            } => {}
            _ = self.until_cut() => {}
        }
    }

    /// Closes the socket. The first reason holds.
    pub(crate) fn cut(&self, cut: Cut) {
        self.cut.send_if_modified(|now| {
            let first = now.is_none();
            if first {
                *now = Some(cut);
            }
            first
        });
    }

    /// Resolves when the socket is to be closed.
    pub(crate) async fn until_cut(&self) -> Cut {
        let mut cut = self.cut.subscribe();
        // The sender is part of self, so waiting cannot fail.
        cut.wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|cut| *cut)
            .unwrap_or(Cut::DONE)
    }
}

impl Queue {
    fn take_back(&mut self, newer: &DraftBlock) {
        let bytes = &mut self.bytes;
        self.items.retain(|(item, draft)| {
            let needless = draft.as_ref().is_some_and(|it| it.is_outdone_by(newer));
            if needless {
                *bytes = bytes.saturating_sub(size(item));
            }
            !needless
        });
    }
}

/// The bytes that an item stands for.
pub(crate) fn size(item: &Item) -> usize {
    match item {
        Item::Frames(frames) => frames.iter().map(|frame| frame.as_str().len()).sum(),
        Item::Ping => 0,
    }
}

#[cfg(test)]
mod tests;
