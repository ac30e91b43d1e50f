//! The way out to one socket: a bounded queue that never makes a sender wait.
//!
//! Owns the bounds. A socket that does not keep up is cut off; whoever else is in the conversation does
//! not notice, and the client catches up when it comes again.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use axum::extract::ws::Utf8Bytes;
use tokio::sync::{Notify, mpsc, watch};

/// Most items that wait for one socket.
const MAX_ITEMS: usize = 256;
/// Free places below which the socket is not read: what its own messages bring must find a place.
const ROOM: usize = MAX_ITEMS / 2;
/// A socket for which more bytes wait is cut off.
const MAX_BYTES: usize = 1024 * 1024;

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
    /// The visitor opened more sockets than allowed. Do not reconnect by yourself.
    pub(crate) const REPLACED: Self = Self {
        code: 4001,
        reason: "too many sockets",
    };
}

/// The sending end.
#[derive(Debug)]
pub(crate) struct Outlet {
    /// Tells the sockets of this process apart.
    pub(crate) id: u64,
    queue: mpsc::Sender<Item>,
    waiting: AtomicUsize,
    /// Notified whenever an item was written.
    wrote: Notify,
    cut: watch::Sender<Option<Cut>>,
}

impl Outlet {
    /// A way out and the end that the socket's writer reads.
    pub(crate) fn new() -> (Arc<Self>, mpsc::Receiver<Item>) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (queue, items) = mpsc::channel(MAX_ITEMS);
        let outlet = Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            queue,
            waiting: AtomicUsize::new(0),
            wrote: Notify::new(),
            cut: watch::Sender::new(None),
        };
        (Arc::new(outlet), items)
    }

    /// Queues an item; `false` if the socket is closed or is now, because it does not keep up.
    pub(crate) fn push(&self, item: Item) -> bool {
        if self.cut.borrow().is_some() {
            return false;
        }
        let fits = self.waiting.fetch_add(size(&item), Ordering::Relaxed) <= MAX_BYTES;
        if fits && self.queue.try_send(item).is_ok() {
            return true;
        }
        self.cut(Cut::SLOW);
        false
    }

    /// Queues one frame.
    pub(crate) fn frame(&self, frame: Utf8Bytes) -> bool {
        self.push(Item::Frames(vec![frame]))
    }

    /// The writer has written an item of this size.
    pub(crate) fn written(&self, size: usize) {
        self.waiting.fetch_sub(size, Ordering::Relaxed);
        self.wrote.notify_one();
    }

    /// Whether the socket may be read on. A client that writes faster than its answers leave is made to
    /// wait, not cut off.
    pub(crate) fn has_room(&self) -> bool {
        self.queue.capacity() >= ROOM
    }

    /// Resolves when something was written since the last call.
    pub(crate) async fn wrote(&self) {
        self.wrote.notified().await;
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

/// The bytes that an item stands for.
pub(crate) fn size(item: &Item) -> usize {
    match item {
        Item::Frames(frames) => frames.iter().map(|frame| frame.as_str().len()).sum(),
        Item::Ping => 0,
    }
}
