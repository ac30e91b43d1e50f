//! Answers that are still being written, as the clients of one conversation see them.
//!
//! Owns what of each running turn is shown, block by block, with the number of the frame that showed
//! it, so that a client that was away gets exactly the blocks that it misses. Pure. A draft is never
//! the answer: the final text takes its place.

use std::{sync::Arc, time::Instant};

use serde_json::{Map, Value, json};
use weirgate_sdk::{MessageId, PreviewStart};

use crate::outgoing::{object, put_answers};

/// Most drafts in one conversation.
const MAX_DRAFTS: usize = 16;
/// Most bytes of one draft.
const MAX_BYTES: usize = 256 * 1024;

/// Why a draft cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoDraft {
    /// It was replaced by a newer attempt or by the final text.
    Over,
    /// It is too long.
    TooLong,
    /// There are too many.
    TooMany,
}

/// The drafts of one conversation.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    all: Vec<Draft>,
}

#[derive(Debug)]
struct Draft {
    turn: Arc<str>,
    attempt: u32,
    answers: Vec<MessageId>,
    blocks: Vec<Shown>,
    /// The number of the first frame; 0 before it.
    opened: u64,
    /// Somebody still writes it.
    live: bool,
    touched: Instant,
}

#[derive(Debug)]
struct Shown {
    seq: u64,
    html: String,
}

/// A frame of a draft.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DraftFrame {
    /// Its number.
    pub(crate) seq: u64,
    /// The block that it shows.
    pub(crate) block: usize,
    /// It drops all that is shown of the turn.
    pub(crate) replace: bool,
    /// Its body.
    pub(crate) body: Map<String, Value>,
}

impl Drafts {
    /// Begins an attempt; an earlier one of the same turn is forgotten.
    pub(crate) fn open(&mut self, start: &PreviewStart, now: Instant) -> Result<(), NoDraft> {
        if self
            .all
            .iter()
            .any(|it| it.turn == start.turn && it.attempt > start.attempt)
        {
            return Err(NoDraft::Over);
        }
        self.all.retain(|it| it.turn != start.turn);
        if self.all.len() >= MAX_DRAFTS {
            let stale = self
                .all
                .iter()
                .position(|it| !it.live)
                .ok_or(NoDraft::TooMany)?;
            self.all.remove(stale);
        }
        self.all.push(Draft {
            turn: Arc::clone(&start.turn),
            attempt: start.attempt,
            answers: start.answers.clone(),
            blocks: vec![],
            opened: 0,
            live: true,
            touched: now,
        });
        Ok(())
    }

    /// Takes the blocks from index `from` on and returns a frame for each that differs from what is
    /// shown, numbered after `seq`.
    pub(crate) fn push(
        &mut self,
        turn: &str,
        attempt: u32,
        from: usize,
        html: Vec<String>,
        mut seq: u64,
        now: Instant,
    ) -> Result<Vec<DraftFrame>, NoDraft> {
        let draft = self
            .all
            .iter_mut()
            .find(|it| *it.turn == *turn && it.attempt == attempt)
            .ok_or(NoDraft::Over)?;
        draft.touched = now;
        let from = from.min(draft.blocks.len());
        let kept: usize = draft
            .blocks
            .iter()
            .take(from)
            .map(|block| block.html.len())
            .sum();
        if kept + html.iter().map(String::len).sum::<usize>() > MAX_BYTES {
            return Err(NoDraft::TooLong);
        }
        // When blocks vanish, the last that stays is shown again: it takes those behind it away.
        let vanish = draft.blocks.len() > from + html.len();
        let mut same = from;
        if !vanish {
            let shown = draft.blocks.iter().skip(from);
            same += shown
                .zip(&html)
                .take_while(|(old, new)| old.html == **new)
                .count();
        }
        draft.blocks.truncate(same);
        let mut frames = vec![];
        for html in html.into_iter().skip(same - from) {
            seq += 1;
            let first = draft.opened == 0;
            if first {
                draft.opened = seq;
            }
            draft.blocks.push(Shown { seq, html });
            frames.push(draft.frame(seq, draft.blocks.len() - 1, first));
        }
        Ok(frames)
    }

    /// Nobody writes this draft any more. It is shown until the final text or a new attempt comes.
    pub(crate) fn close(&mut self, turn: &str, attempt: u32) {
        for draft in &mut self.all {
            if *draft.turn == *turn && draft.attempt == attempt {
                draft.live = false;
            }
        }
    }

    /// The final text came: drafts of its turn, or of the messages that it answers, are over.
    pub(crate) fn end(&mut self, turn: Option<&str>, answers: &[MessageId]) {
        self.all.retain(|it| {
            Some(&*it.turn) != turn && !it.answers.iter().any(|id| answers.contains(id))
        });
    }

    /// The frames that bring a client up to date that has seen everything up to `since`.
    pub(crate) fn since(&self, since: u64) -> Vec<DraftFrame> {
        let mut frames = vec![];
        for draft in &self.all {
            let mut replace = draft.opened > since;
            for (index, block) in draft.blocks.iter().enumerate() {
                if block.seq > since {
                    frames.push(draft.frame(block.seq, index, replace));
                    replace = false;
                }
            }
        }
        frames
    }

    /// Whether somebody writes here.
    pub(crate) fn live(&self) -> bool {
        self.all.iter().any(|it| it.live)
    }

    /// Forgets drafts that nobody has written since `limit`.
    pub(crate) fn sweep(&mut self, limit: Instant) {
        self.all.retain(|it| it.live || it.touched > limit);
    }
}

impl Draft {
    fn frame(&self, seq: u64, block: usize, replace: bool) -> DraftFrame {
        let html = self.blocks.get(block).map_or("", |it| it.html.as_str());
        let mut body = object(json!({
            "turn": &*self.turn, "attempt": self.attempt, "block": block, "html": html,
        }));
        if replace {
            body.insert("replace".into(), true.into());
        }
        put_answers(&mut body, &self.answers);
        DraftFrame {
            seq,
            block,
            replace,
            body,
        }
    }
}

#[cfg(test)]
mod tests;
