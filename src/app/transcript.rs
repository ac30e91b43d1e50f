//! Past messages for adapters that show them, read from the store.

use std::sync::Arc;

use async_trait::async_trait;
use weirgate_sdk::{
    ConversationKey, SentFile, ThreadId, ThreadSummary, Transcript, TranscriptEntry,
    answer::{Block, Format},
};

use crate::{
    inbound::body,
    outbound::{blocks::blocks, markdown},
    security::redact::Redactor,
    store::{ReplyBody, ReplyFile, Shown, ShownThread, Store},
    trace::turn_id,
};

/// Most messages of one answer.
const MOST: usize = 200;

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
        Ok(rows
            .into_iter()
            .map(|row| entry(row, &self.redactor))
            .collect())
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
    let parts = if row.answer {
        answer(&row, redactor)
    } else {
        question(&row)
    };
    // What nobody can read is nothing that somebody could still wait for.
    let pending = row.pending && parts.is_some();
    let (message, answers, blocks, files) = parts.unwrap_or_else(|| unreadable(&row));
    TranscriptEntry {
        id: row.id,
        message,
        turn: row.turn.map(|turn| Arc::from(turn_id(turn))),
        answers,
        blocks,
        files,
        at: row.at,
        pending,
    }
}

type Parts = (
    Option<weirgate_sdk::MessageId>,
    Vec<weirgate_sdk::MessageId>,
    Vec<Block>,
    Vec<SentFile>,
);

fn question(row: &Shown) -> Option<Parts> {
    let body = body::decode(&row.body)?;
    let blocks = markdown::parse(&body::text_for_model(&body), Format::Plain);
    let message = body.message.as_str().into();
    Some((Some(message), Vec::new(), blocks, Vec::new()))
}

fn answer(row: &Shown, redactor: &Redactor) -> Option<Parts> {
    let body: ReplyBody = serde_json::from_str(&row.body).ok()?;
    let answers = body.answers.iter().map(|id| id.as_str().into()).collect();
    let sent = body.file.iter().chain(&body.media).map(sent_file);
    let files = sent.collect();
    Some((
        None,
        answers,
        blocks(&body.text, body.format, redactor),
        files,
    ))
}

fn unreadable(row: &Shown) -> Parts {
    tracing::warn!(
        id = row.id,
        answer = row.answer,
        "a past message cannot be read"
    );
    // The message's own id is in the body; this one only has to be nobody else's.
    let message = (!row.answer).then(|| format!("unreadable-{}", row.id).as_str().into());
    let blocks = markdown::parse(UNREADABLE, Format::Plain);
    (message, Vec::new(), blocks, Vec::new())
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

#[cfg(test)]
mod tests;
