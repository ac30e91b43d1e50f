//! Answers that are being written, told to those who wait for them.
//!
//! Owns one running preview. It never waits for a caller.

use std::sync::Arc;

use async_trait::async_trait;
use weirgate_sdk::{Preview, PreviewStart, SendError, Streams, answer::Block};

use crate::{adapter::Interop, call::Call, format::text};

#[async_trait]
impl Streams for Interop {
    async fn open(&self, start: PreviewStart) -> Result<Box<dyn Preview>, SendError> {
        if !self.is_running() {
            return Err(SendError::Unavailable("not running".into()));
        }
        let calls = self.shared.hub.find(&start.conversation, &start.answers);
        Ok(Box::new(Writing { calls }))
    }
}

/// A preview that is being written.
struct Writing {
    calls: Vec<Arc<Call>>,
}

#[async_trait]
impl Preview for Writing {
    async fn push(&mut self, blocks: &[Block]) -> Result<(), SendError> {
        let text = text(blocks);
        for call in &self.calls {
            call.draft(text.clone());
        }
        Ok(())
    }

    async fn finish(self: Box<Self>) {}
}
