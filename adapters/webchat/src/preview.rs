//! Answers that are being written, shown in the page while they grow.
//!
//! Owns one running preview: it renders from the first block on that may have changed, and the room
//! sends what differs. It never waits for a client.

use std::time::Instant;

use async_trait::async_trait;
use weirgate_sdk::{Preview, PreviewStart, SendError, Streams, ToolUse, answer::Block};

use crate::{
    adapter::WebChat,
    draft::NoDraft,
    format::html,
    hub::{RoomHandle, with_session},
};

#[async_trait]
impl Streams for WebChat {
    async fn open(&self, start: PreviewStart) -> Result<Box<dyn Preview>, SendError> {
        if !self.is_running() {
            return Err(SendError::Unavailable("not running".into()));
        }
        let key = with_session(start.conversation.clone());
        let now = Instant::now();
        let (room, opened) = self
            .hub
            .enter(&key, now, |room| room.open_draft(&start, now));
        opened.map_err(refused)?;
        Ok(Box::new(Writing {
            room,
            start,
            count: 0,
        }))
    }

    fn shows_tools(&self) -> bool {
        true
    }
}

/// A preview that is being written.
struct Writing {
    room: RoomHandle,
    start: PreviewStart,
    /// How many blocks the last push had.
    count: usize,
}

#[async_trait]
impl Preview for Writing {
    async fn push(&mut self, blocks: &[Block]) -> Result<(), SendError> {
        // Only the last block of the earlier push may differ, and there may be more after it.
        let from = self.count.min(blocks.len()).saturating_sub(1);
        let changed = blocks.iter().skip(from);
        let html: Vec<String> = changed
            .map(|block| html(std::slice::from_ref(block)))
            .collect();
        self.count = blocks.len();
        let mut room = self.room.lock();
        room.push_draft(&self.start, from, html, Instant::now())
            .map_err(refused)
    }

    async fn tools(&mut self, calls: &[ToolUse]) {
        self.room.lock().show_tools(&self.start, calls);
    }

    async fn finish(self: Box<Self>) {}
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.room.lock().close_draft(&self.start, Instant::now());
    }
}

fn refused(reason: NoDraft) -> SendError {
    match reason {
        NoDraft::Over => SendError::Gone("the turn has a newer text".into()),
        NoDraft::TooLong => SendError::TooLong,
        NoDraft::TooMany => SendError::Unavailable("too many previews in one conversation".into()),
    }
}
