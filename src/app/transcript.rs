//! Past messages for adapters that show them, read from the store.

use std::sync::Arc;

use async_trait::async_trait;
use weirgate_sdk::{
    Attachment, Choice, ConversationKey, MessageId, Segment, SentFile, ThreadId, ThreadSummary,
    Transcript, TranscriptEntry, answer::Format,
};

use crate::{
    inbound::body,
    outbound::{blocks::blocks, markdown},
    pending::chosen,
    security::redact::Redactor,
    store::{Body, PendingFilter, PendingState, ReplyBody, ReplyFile, Shown, ShownThread, Store},
    trace::turn_id,
};

/// Most messages of one answer.
const MOST: usize = 200;
/// How many pages are looked through for a message. What lies behind so many has ended: no queue of a conversation is as
/// long.
const PAGES: usize = 10;

/// Reads transcripts.
pub(super) struct StoredTranscript {
    pub(super) store: Arc<dyn Store>,
    pub(super) redactor: Arc<Redactor>,
}

#[async_trait]
impl Transcript for StoredTranscript {
    async fn read(
        &self,
        conversation: &ConversationKey,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<TranscriptEntry>, String> {
        let rows = self
            .store
            .shown(conversation, before, limit.min(MOST))
            .await;
        let rows = rows.map_err(|error| error.to_string())?;
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            let turn = row.turn;
            let mut entry = entry(row, &self.redactor);
            if let (Some(choice), Some(turn)) = (&mut entry.choice, turn) {
                self.settle(choice, turn).await?;
            }
            entries.push(entry);
        }
        Ok(entries)
    }

    async fn has_ended(
        &self,
        conversation: &ConversationKey,
        message: &MessageId,
    ) -> Result<bool, String> {
        let mut before = None;
        for _ in 0..PAGES {
            let rows = self.store.shown(conversation, before, MOST).await;
            let rows = rows.map_err(|error| error.to_string())?;
            let is_it = |row: &&Shown| {
                !row.answer
                    && body::decode(&row.body).is_some_and(|body| body.message == message.as_str())
            };
            if let Some(row) = rows.iter().find(is_it) {
                return Ok(!row.pending);
            }
            before = rows.iter().map(|row| row.id).min();
            if rows.len() < MOST {
                break;
            }
        }
        Ok(true)
    }

    async fn newest_thread(
        &self,
        conversation: &ConversationKey,
    ) -> Result<Option<ThreadId>, String> {
        self.store
            .newest_thread(conversation)
            .await
            .map_err(|error| error.to_string())
    }

    async fn threads(
        &self,
        conversation: &ConversationKey,
        limit: usize,
    ) -> Result<Vec<ThreadSummary>, String> {
        let rows = self.store.threads(conversation, limit.min(MOST)).await;
        let rows = rows.map_err(|error| error.to_string())?;
        Ok(rows.into_iter().map(summary).collect())
    }
}

impl StoredTranscript {
    /// Looks up what became of a question.
    async fn settle(&self, choice: &mut Choice, turn: i64) -> Result<(), String> {
        let rows = self.store.pendings(PendingFilter::Id(turn), 1).await;
        let rows = rows.map_err(|error| error.to_string())?;
        if let Some(row) = rows.first() {
            choice.open = row.state == PendingState::Open;
            choice.chosen = chosen(row, &choice.buttons).map(|button| button.id.clone());
        }
        Ok(())
    }
}

/// Shown in place of a body that cannot be read, so that a reader who counts the entries of a page does
/// not take it for the last.
const UNREADABLE: &str = "(无法显示 / cannot be shown)";

fn summary(row: ShownThread) -> ThreadSummary {
    let text = body::decode(&row.first)
        .map_or_else(|| UNREADABLE.to_owned(), |body| body::text_for_model(&body));
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    ThreadSummary {
        title: line
            .unwrap_or_default()
            .chars()
            .take(ThreadSummary::TITLE)
            .collect(),
        thread: row.thread,
        at: row.at,
    }
}

fn entry(row: Shown, redactor: &Redactor) -> TranscriptEntry {
    let mut entry = TranscriptEntry {
        id: row.id,
        message: None,
        turn: row.turn.map(|turn| Arc::from(turn_id(turn))),
        answers: Vec::new(),
        blocks: Vec::new(),
        files: Vec::new(),
        brought: Vec::new(),
        pressed: false,
        choice: None,
        at: row.at,
        pending: row.pending,
    };
    let read = if row.answer {
        serde_json::from_str(&row.body)
            .map(|body| answer(&mut entry, body, redactor))
            .is_ok()
    } else {
        body::decode(&row.body)
            .map(|body| question(&mut entry, &body))
            .is_some()
    };
    if !read {
        unreadable(&mut entry, row.answer);
    }
    entry
}

fn question(entry: &mut TranscriptEntry, body: &Body) {
    entry.message = Some(body.message.as_str().into());
    entry.pressed = body.pressed;
    if body.pressed {
        // Its words are the id of a button.
        return;
    }
    // The files are named beside the words.
    let text = body::text_with(body, |_| String::new());
    entry.blocks = markdown::parse(&text, Format::Plain);
    entry.brought = body.segments.iter().filter_map(file).collect();
}

fn file(segment: &Segment) -> Option<Attachment> {
    match segment {
        Segment::Attachment(file) => Some(file.clone()),
        _ => None,
    }
}

fn answer(entry: &mut TranscriptEntry, body: ReplyBody, redactor: &Redactor) {
    entry.answers = body.answers.iter().map(|id| id.as_str().into()).collect();
    entry.blocks = blocks(&body.text, body.format, redactor);
    let sent = body.file.iter().chain(&body.media);
    entry.files = sent.map(sent_file).collect();
    entry.choice = (!body.buttons.is_empty()).then_some(Choice {
        buttons: body.buttons,
        open: false,
        chosen: None,
    });
}

fn sent_file(file: &ReplyFile) -> SentFile {
    SentFile {
        kind: file.kind,
        reference: file.reference.clone(),
        name: file.name.clone(),
        mime: file.mime.clone(),
        size: file.size,
    }
}

fn unreadable(entry: &mut TranscriptEntry, answer: bool) {
    tracing::warn!(id = entry.id, answer, "a past message cannot be read");
    // The message's own id is in the body; this one only has to be nobody else's.
    entry.message = (!answer).then(|| format!("unreadable-{}", entry.id).as_str().into());
    entry.blocks = markdown::parse(UNREADABLE, Format::Plain);
    // What nobody can read is nothing that somebody could still wait for.
    entry.pending = false;
}

#[cfg(test)]
mod tests;
