//! One conversation as its sockets share it: numbers, recent frames, drafts, and who listens.
//!
//! Owns the order of frames. Every frame of the conversation gets the next number here and goes to all
//! sockets in that order. Frames that count (messages, answers, ends) are kept in a bounded ring, so
//! that a socket that was away gets exactly what it missed; drafts are kept as what they show. Pure but
//! for the queues of its sockets. It never waits and never reads the store.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::extract::ws::Utf8Bytes;
use serde_json::{Map, Value, json};
use weirgate_sdk::{MessageId, Outgoing, PreviewStart, SentFile, ToolUse, ToolUseState};

use crate::{
    arrival::Arrivals,
    card,
    draft::{Drafts, NoDraft},
    format::visible_text,
    outgoing::{Stamp, direct, end, object, put_answers, put_files, stamped},
    outlet::{DraftBlock, Item, Outlet},
};

/// Most frames in the ring.
const RING_FRAMES: usize = 512;
/// Most bytes in the ring, but for a single larger frame.
const RING_BYTES: usize = 256 * 1024;
/// How many parts and ends are remembered, so that none is shown twice.
const REMEMBERED: usize = 256;
/// How long a draft is shown that nobody writes any more.
const DRAFT_LIFE: Duration = Duration::from_secs(600);

/// Up to which numbers a client has seen everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Since {
    /// Of the frames that count.
    pub(crate) frames: u64,
    /// Of the drafts.
    pub(crate) drafts: u64,
}

/// One conversation.
#[derive(Debug)]
pub(crate) struct Room {
    session: Arc<str>,
    epoch: Arc<str>,
    seq: u64,
    /// The newest number that cannot be replayed any more.
    gone: u64,
    ring: VecDeque<(u64, Utf8Bytes)>,
    ring_bytes: usize,
    drafts: Drafts,
    arrivals: Arrivals,
    /// Id, part and turn of answers that were shown.
    finals: VecDeque<(i64, u32, Option<Arc<str>>)>,
    /// Messages that have ended.
    ended: VecDeque<MessageId>,
    outlets: Vec<Arc<Outlet>>,
    touched: Instant,
}

impl Room {
    /// A new room, whose numbers begin after `start`: what came before cannot be replayed.
    pub(crate) fn new(epoch: Arc<str>, session: Arc<str>, start: u64, now: Instant) -> Self {
        Self {
            session,
            epoch,
            seq: start,
            gone: start,
            ring: VecDeque::new(),
            ring_bytes: 0,
            drafts: Drafts::default(),
            arrivals: Arrivals::default(),
            finals: VecDeque::new(),
            ended: VecDeque::new(),
            outlets: vec![],
            touched: now,
        }
    }

    /// The number of the newest frame.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// The messages that have ended lately.
    pub(crate) fn ended(&self) -> Vec<MessageId> {
        self.ended.iter().cloned().collect()
    }

    /// Whether this is one of them.
    pub(crate) fn has_ended(&self, message: &str) -> bool {
        self.ended.iter().any(|id| id.as_str() == message)
    }

    /// Lets a socket in that has seen everything up to `since`: queues `first` and then all that it
    /// misses. `false` if that can no longer be said.
    pub(crate) fn attach(
        &mut self,
        since: Since,
        first: impl FnOnce(&Self) -> Vec<Utf8Bytes>,
        outlet: &Arc<Outlet>,
        now: Instant,
    ) -> bool {
        if since.frames < self.gone || since.frames > self.seq {
            return false;
        }
        let kept = self
            .ring
            .iter()
            .filter(|(seq, _)| *seq > since.frames)
            .cloned();
        let drafts = self.drafts.since(since.drafts).into_iter();
        let mut missed: Vec<(u64, Utf8Bytes)> = kept
            .chain(drafts.map(|it| (it.seq, self.stamp("text", it.seq, it.body))))
            .collect();
        missed.sort_by_key(|(seq, _)| *seq);
        let mut frames = first(self);
        frames.extend(missed.into_iter().map(|(_, frame)| frame));
        self.join(outlet, now);
        outlet.push(Item::Frames(frames));
        true
    }

    /// Lets a socket listen from now on.
    pub(crate) fn join(&mut self, outlet: &Arc<Outlet>, now: Instant) {
        self.touched = now;
        if !self.outlets.iter().any(|it| it.id == outlet.id) {
            self.outlets.push(Arc::clone(outlet));
        }
    }

    /// A socket goes.
    pub(crate) fn leave(&mut self, outlet: &Outlet, now: Instant) {
        self.touched = now;
        self.outlets.retain(|it| it.id != outlet.id);
    }

    /// Whether the room may be forgotten: nobody has listened or written since `limit`.
    pub(crate) fn is_idle(&mut self, limit: Instant) -> bool {
        self.is_empty() && self.touched <= limit
    }

    /// Nobody listens or writes.
    pub(crate) fn is_empty(&self) -> bool {
        self.outlets.is_empty() && self.arrivals.is_empty() && !self.drafts.live()
    }

    /// When somebody last came or went.
    pub(crate) fn touched(&self) -> Instant {
        self.touched
    }

    /// Forgets drafts that nobody finished.
    pub(crate) fn sweep(&mut self, now: Instant) {
        if let Some(limit) = now.checked_sub(DRAFT_LIFE) {
            self.drafts.sweep(limit);
        }
    }

    /// These messages came in one frame; the end of the last will say so.
    pub(crate) fn batch(&mut self, messages: Vec<String>) {
        self.arrivals.batch(messages);
    }

    /// A message is on its way into the gateway; `shown` is what is told of it then.
    pub(crate) fn arriving(&mut self, message: &str, shown: Map<String, Value>) {
        self.arrivals.begin(message, shown);
    }

    /// A message is durable, under this id of the journal if that is known yet: every window shows it.
    pub(crate) fn arrived(&mut self, message: &str, id: Option<i64>) {
        let Some(mut shown) = self.arrivals.take(message) else {
            return;
        };
        shown.insert("messageId".into(), message.into());
        self.say("user", shown.clone());
        self.remembered("user", id, shown);
    }

    /// A message was accepted before and is shown already. Gives the end of it, for the socket that sent
    /// it again, if it is over.
    pub(crate) fn arrived_before(&mut self, message: &str) -> Option<Map<String, Value>> {
        self.arrivals.forget(message);
        self.has_ended(message).then(|| self.over(message))
    }

    /// A message that was sent again is known to be over although its end is not remembered. Gives the end, for the socket
    /// that sent it.
    pub(crate) fn over(&mut self, message: &str) -> Map<String, Value> {
        end(Some(message), self.arrivals.settle(message))
    }

    /// A message was not accepted; `over` if nothing more will come for it.
    pub(crate) fn not_arrived(&mut self, message: &str, over: bool) {
        self.arrivals.give_up(message);
        if over && self.arrivals.settle(message) {
            self.say("end", end(None, true));
        }
    }

    /// Shows one part of an answer or a notice; a part that was shown before is passed over. The last
    /// part ends the messages that it answers.
    pub(crate) fn deliver(&mut self, outgoing: &Outgoing) {
        if self
            .finals
            .iter()
            .any(|it| it.0 == outgoing.id && it.1 == outgoing.part)
        {
            return;
        }
        for message in &outgoing.answers {
            self.arrived(message.as_str(), None);
        }
        self.drafts.end(outgoing.turn.as_deref(), &outgoing.answers);
        remember(
            &mut self.finals,
            (outgoing.id, outgoing.part, outgoing.turn.clone()),
        );
        let html = outgoing.rendered.text.as_str();
        let mut body = object(json!({
            "id": outgoing.id, "part": outgoing.part, "parts": outgoing.parts,
            "html": html, "text": visible_text(html), "final": true,
        }));
        if let Some(turn) = &outgoing.turn {
            body.insert("turn".into(), (**turn).into());
        }
        if !outgoing.buttons.is_empty() {
            body.insert("buttons".into(), card::buttons(&outgoing.buttons));
        }
        put_answers(&mut body, &outgoing.answers);
        put_files(&mut body, outgoing.files.iter().map(SentFile::from));
        self.say("text", body.clone());
        self.remembered("assistant", Some(outgoing.id), body);
        if outgoing.part.saturating_add(1) >= outgoing.parts {
            self.end(&outgoing.answers);
        }
    }

    /// Tells those who want to know what was added to the conversation. It has no number of its own: whoever was away
    /// reads the history.
    fn remembered(&mut self, role: &str, id: Option<i64>, body: Map<String, Value>) {
        if !self.outlets.iter().any(|outlet| outlet.wants_memory()) {
            return;
        }
        let told = [
            "messageId",
            "html",
            "part",
            "parts",
            "turn",
            "answers",
            "files",
            "buttons",
            "pressed",
        ];
        let told = body
            .into_iter()
            .filter(|(name, _)| told.contains(&name.as_str()));
        let mut message: Map<String, Value> = told.collect();
        // As the history says it.
        if let Some(pressed) = message.get_mut("pressed") {
            *pressed = true.into();
        }
        if message.contains_key("buttons") {
            message.insert("open".into(), true.into());
        }
        message.insert("role".into(), role.into());
        if let Some(id) = id {
            message.insert("id".into(), id.into());
        }
        let body = object(json!({ "message": message }));
        let frame = direct("history/add", Some(&self.session), body);
        self.outlets
            .retain(|outlet| !outlet.wants_memory() || outlet.frame(frame.clone()));
    }

    /// Shows which tools a turn runs. Nothing of it is kept: it is over when the answer is there.
    pub(crate) fn show_tools(&mut self, start: &PreviewStart, calls: &[ToolUse]) {
        for message in &start.answers {
            self.arrived(message.as_str(), None);
        }
        let calls: Vec<Value> = calls.iter().map(call).collect();
        let mut body = object(json!({
            "turn": &*start.turn, "attempt": start.attempt, "calls": calls,
        }));
        put_answers(&mut body, &start.answers);
        self.seq += 1;
        let frame = self.stamp("tool_calls", self.seq, body);
        self.send(&frame);
    }

    /// Nothing is left of what was said: every window shows an empty conversation, and whoever comes again too.
    pub(crate) fn emptied(&mut self) {
        self.drafts = Drafts::default();
        self.ring.clear();
        self.ring_bytes = 0;
        self.gone = self.seq;
        let body = object(json!({ "messages": [], "more": false, "replace": true }));
        self.say("history", body);
    }

    /// The question of an answer is settled, by this button if it was answered.
    pub(crate) fn settled(&mut self, answer: i64, chosen: Option<&str>) {
        let mut body = object(json!({ "id": answer }));
        if let Some(chosen) = chosen {
            body.insert("chosen".into(), chosen.into());
        }
        self.say("settled", body);
    }

    /// Messages are over that no answer names.
    pub(crate) fn ended_unanswered(&mut self, messages: &[MessageId]) {
        for message in messages {
            self.arrived(message.as_str(), None);
        }
        self.drafts.end(None, messages);
        self.end(messages);
    }

    /// Ends messages that have not ended. Their frames go out together: a burst of them is more than a
    /// socket's queue takes one by one.
    fn end(&mut self, messages: &[MessageId]) {
        let mut frames = Vec::new();
        for message in messages {
            if self.ended.contains(message) {
                continue;
            }
            remember(&mut self.ended, message.clone());
            let batch = self.arrivals.settle(message.as_str());
            frames.push(self.keep("end", end(Some(message.as_str()), batch)));
        }
        if !frames.is_empty() {
            self.outlets
                .retain(|outlet| outlet.push(Item::Frames(frames.clone())));
        }
    }

    /// Begins a draft.
    pub(crate) fn open_draft(&mut self, start: &PreviewStart, now: Instant) -> Result<(), NoDraft> {
        let over = |it: &(i64, u32, Option<Arc<str>>)| it.2.as_ref() == Some(&start.turn);
        if self.finals.iter().any(over) {
            return Err(NoDraft::Over);
        }
        self.touched = now;
        self.drafts.open(start, now)
    }

    /// Shows more of a draft: `html` are its blocks from index `from` on.
    pub(crate) fn push_draft(
        &mut self,
        start: &PreviewStart,
        from: usize,
        html: Vec<String>,
        now: Instant,
    ) -> Result<(), NoDraft> {
        for message in &start.answers {
            self.arrived(message.as_str(), None);
        }
        let frames = self
            .drafts
            .push(&start.turn, start.attempt, from, html, self.seq, now)?;
        for frame in frames {
            self.seq = frame.seq;
            let block = DraftBlock {
                turn: Arc::clone(&start.turn),
                block: frame.block,
                replace: frame.replace,
            };
            let frame = self.stamp("text", frame.seq, frame.body);
            self.outlets
                .retain(|outlet| outlet.draft(block.clone(), frame.clone()));
        }
        Ok(())
    }

    /// Nobody writes this draft any more.
    pub(crate) fn close_draft(&mut self, start: &PreviewStart, now: Instant) {
        self.touched = now;
        self.drafts.close(&start.turn, start.attempt);
    }

    /// Gives a frame the next number, keeps it and sends it to everybody.
    fn say(&mut self, kind: &str, body: Map<String, Value>) {
        let frame = self.keep(kind, body);
        self.send(&frame);
    }

    /// Gives a frame the next number and keeps it.
    fn keep(&mut self, kind: &str, body: Map<String, Value>) -> Utf8Bytes {
        self.seq += 1;
        let frame = self.stamp(kind, self.seq, body);
        self.ring_bytes += frame.as_str().len();
        self.ring.push_back((self.seq, frame.clone()));
        while self.ring.len() > RING_FRAMES || (self.ring_bytes > RING_BYTES && self.ring.len() > 1)
        {
            let Some((seq, old)) = self.ring.pop_front() else {
                break;
            };
            self.ring_bytes -= old.as_str().len();
            self.gone = seq;
        }
        frame
    }

    fn send(&mut self, frame: &Utf8Bytes) {
        self.outlets.retain(|outlet| outlet.frame(frame.clone()));
    }

    /// A frame of this conversation under a number.
    fn stamp(&self, kind: &str, seq: u64, body: Map<String, Value>) -> Utf8Bytes {
        stamped(
            kind,
            Stamp {
                session: &self.session,
                epoch: &self.epoch,
                seq,
            },
            body,
        )
    }
}

fn call(call: &ToolUse) -> Value {
    let status = match call.state {
        ToolUseState::Running => "running",
        ToolUseState::Done => "done",
        ToolUseState::Failed => "failed",
    };
    json!({ "id": call.id, "name": call.name, "arguments": call.arguments, "status": status })
}

fn remember<T>(list: &mut VecDeque<T>, item: T) {
    if list.len() >= REMEMBERED {
        list.pop_front();
    }
    list.push_back(item);
}

#[cfg(test)]
mod tests;
