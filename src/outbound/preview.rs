//! Shows an answer while it is being written.
//!
//! Owns the pace of previews: whole grapheme clusters, at most one piece each interval, coalescing what
//! has come. A preview is cosmetic: it is left out when it would cost the final text its place, and
//! given up at the first error. It never decides what the answer is.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{sync::Notify, task::JoinHandle};
use unicode_segmentation::UnicodeSegmentation;
use weirgate_sdk::{
    Adapter, ConversationKey, Preview, PreviewStart, SendError, Streaming, Streams, ToolUse,
    answer::Format,
};

use super::{blocks::blocks, config::StreamingOutput, deliver::Deliverer};
use crate::{clock::Clock, reason::Reason, security::redact::Redactor, trace::Traces};

/// How long the end of a turn waits for the last preview.
const LAST_PIECE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Shown {
    attempt: u32,
    /// What stands in front of the text and is no part of it.
    lead: String,
    text: String,
    /// The calls of the turn's last step, if they were not shown yet.
    tools: Option<Vec<ToolUse>>,
    ended: bool,
    /// Nobody is to see any more of it.
    given_up: bool,
}

/// What is on the board at a moment.
struct Look {
    attempt: u32,
    text: String,
    tools: Option<Vec<ToolUse>>,
    ended: bool,
}

impl Shown {
    /// The text with what stands in front of it.
    fn visible(&self) -> String {
        match (self.lead.as_str(), self.text.as_str()) {
            ("", text) => text.to_owned(),
            (lead, "") => lead.to_owned(),
            (lead, text) => format!("{lead}\n\n{text}"),
        }
    }
}

/// The writing end: the turn puts the text so far in here.
#[derive(Debug, Clone, Default)]
pub struct Board {
    shown: Arc<Mutex<Shown>>,
    changed: Arc<Notify>,
    ended: Arc<Notify>,
}

impl Board {
    /// A new attempt begins: what was shown is to be replaced.
    pub fn restart(&self, attempt: u32) {
        let mut shown = self.shown.lock();
        *shown = Shown {
            attempt,
            tools: shown.tools.take(),
            ..Shown::default()
        };
        drop(shown);
        self.changed.notify_one();
    }

    /// What the turn has its tools do now.
    pub fn tools(&self, calls: Vec<ToolUse>) {
        self.shown.lock().tools = Some(calls);
        self.changed.notify_one();
    }

    /// More text, already filtered.
    pub fn push(&self, text: &str) {
        if !text.is_empty() {
            self.shown.lock().text.push_str(text);
            self.changed.notify_one();
        }
    }

    /// What is shown in front of the text from now on, already filtered.
    pub fn lead(&self, lead: String) {
        let mut shown = self.shown.lock();
        if shown.lead != lead {
            shown.lead = lead;
            drop(shown);
            self.changed.notify_one();
        }
    }

    /// The text so far, without what stands in front of it.
    #[must_use]
    pub fn text(&self) -> String {
        self.shown.lock().text.clone()
    }

    fn end(&self, given_up: bool) {
        let mut shown = self.shown.lock();
        shown.ended = true;
        shown.given_up = given_up;
        drop(shown);
        self.changed.notify_one();
        self.ended.notify_one();
    }

    /// What there is to show, without the tools from now on; nothing once it was given up.
    fn look(&self) -> Option<Look> {
        let mut shown = self.shown.lock();
        let tools = shown.tools.take();
        (!shown.given_up).then(|| Look {
            attempt: shown.attempt,
            text: shown.visible(),
            tools,
            ended: shown.ended,
        })
    }
}

/// What a preview needs to know.
pub struct Setting {
    /// The adapter that shows it.
    pub adapter: Arc<dyn Adapter>,
    /// The conversation's number.
    pub conversation: i64,
    /// What it belongs to.
    pub start: PreviewStart,
    /// The pace that the operator set.
    pub pace: StreamingOutput,
    /// What must not be shown.
    pub redactor: Arc<Redactor>,
    /// Who keeps the account's budget.
    pub deliverer: Deliverer,
    /// The turn's number, and where what is left out is noted.
    pub turn: i64,
    /// Reasons.
    pub traces: Arc<Traces>,
    /// The clock.
    pub clock: Clock,
}

impl std::fmt::Debug for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setting")
            .field("start", &self.start)
            .finish_non_exhaustive()
    }
}

/// A preview that is being shown.
#[derive(Debug)]
pub struct Showing {
    board: Board,
    task: JoinHandle<()>,
}

impl Showing {
    /// Begins to show what is put on the board.
    #[must_use]
    pub fn begin(board: Board, setting: Setting) -> Self {
        let task = tokio::spawn(show(board.clone(), setting));
        Self { board, task }
    }

    /// Ends the preview, with its last piece unless it is given up: then a piece that is on its way is waited for, and
    /// nothing follows it. Bounded in time, so that it cannot hold up the answer.
    pub async fn end(mut self, given_up: bool) {
        self.board.end(given_up);
        if tokio::time::timeout(LAST_PIECE, &mut self.task)
            .await
            .is_err()
        {
            self.task.abort();
        }
    }
}

impl Drop for Showing {
    fn drop(&mut self) {
        // A turn that was cancelled or panicked leaves no preview behind.
        self.task.abort();
    }
}

async fn show(board: Board, setting: Setting) {
    let Some(streams) = setting.adapter.streams() else {
        return;
    };
    let interval = interval(&setting);
    let mut open: Option<(u32, Box<dyn Preview>)> = None;
    let mut pushed = 0;
    let mut shed = false;
    loop {
        board.changed.notified().await;
        let Some(Look {
            attempt,
            text,
            tools,
            ended,
        }) = board.look()
        else {
            break;
        };
        let visible = if ended {
            text.as_str()
        } else {
            whole_clusters(&text)
        };
        if open.as_ref().is_some_and(|(of, _)| *of != attempt) {
            open = None;
            pushed = 0;
        }
        if let Some(tools) = tools.filter(|_| streams.shows_tools()) {
            let opened = match open.take() {
                Some((_, preview)) => Ok(preview),
                None => begin(streams, &setting, attempt).await,
            };
            let Ok(mut preview) = opened else { return };
            preview.tools(&tools).await;
            open = Some((attempt, preview));
        }
        if worth_a_piece(visible, pushed, setting.pace.chunk_size, ended) {
            if setting
                .deliverer
                .may_preview(setting.conversation, key(&setting))
            {
                let preview = match open.take() {
                    Some((_, preview)) => preview,
                    None => match begin(streams, &setting, attempt).await {
                        Ok(preview) => preview,
                        Err(_) => return,
                    },
                };
                let Some(preview) = push(preview, visible, &setting.redactor).await else {
                    return;
                };
                pushed = visible.len();
                open = Some((attempt, preview));
            } else {
                // Each is counted; one step explains them all.
                let reason = Reason::StreamShed;
                if std::mem::replace(&mut shed, true) {
                    setting.traces.count(reason);
                } else {
                    setting
                        .traces
                        .note(setting.turn, reason, setting.clock.now());
                }
            }
        }
        if ended {
            break;
        }
        tokio::select! {
            () = tokio::time::sleep(interval) => {}
            () = board.ended.notified() => {}
        }
        if pushed < visible.len() {
            // What was left out now is shown with what comes next, or at the end.
            board.changed.notify_one();
        }
    }
    if let Some((_, preview)) = open {
        preview.finish().await;
    }
}

/// Begins the preview of an attempt.
async fn begin(
    streams: &dyn Streams,
    setting: &Setting,
    attempt: u32,
) -> Result<Box<dyn Preview>, SendError> {
    let start = PreviewStart {
        attempt,
        ..setting.start.clone()
    };
    streams.open(start).await
}

fn key(setting: &Setting) -> &ConversationKey {
    &setting.start.conversation
}

/// Shows a text; gives the preview back unless it is to be given up.
async fn push(
    mut preview: Box<dyn Preview>,
    text: &str,
    redactor: &Redactor,
) -> Option<Box<dyn Preview>> {
    match preview
        .push(&blocks(text, Format::Markdown, redactor))
        .await
    {
        Ok(()) | Err(SendError::NotModified | SendError::RateLimited { .. }) => Some(preview),
        Err(_) => None,
    }
}

/// Whether what is new since `pushed` bytes is worth a piece.
fn worth_a_piece(visible: &str, pushed: usize, chunk_size: usize, ended: bool) -> bool {
    let Some(fresh) = visible
        .get(pushed..)
        .filter(|fresh| !fresh.trim().is_empty())
    else {
        return false;
    };
    ended || fresh.graphemes(true).take(chunk_size).count() >= chunk_size
}

/// The text without its last grapheme cluster, which may still grow.
fn whole_clusters(text: &str) -> &str {
    let last = text
        .grapheme_indices(true)
        .next_back()
        .map_or(0, |(index, _)| index);
    text.get(..last).unwrap_or_default()
}

fn interval(setting: &Setting) -> Duration {
    let platform = match setting.adapter.capabilities(key(setting)).streaming {
        Streaming::Edit { min_interval } | Streaming::Draft { min_interval, .. } => min_interval,
        Streaming::None | Streaming::Delta | Streaming::Replace { .. } => Duration::ZERO,
    };
    platform.max(setting.pace.chunk_interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_cluster_is_held_back() {
        assert_eq!(whole_clusters("ab👩"), "ab");
        assert_eq!(whole_clusters("ab👩\u{200d}👧 "), "ab👩\u{200d}👧");
        assert_eq!(whole_clusters(""), "");
    }

    #[test]
    fn pieces_are_coalesced() {
        assert!(!worth_a_piece("abc", 0, 4, false));
        assert!(worth_a_piece("abcd", 0, 4, false));
        assert!(!worth_a_piece("abcd", 2, 4, false));
        assert!(worth_a_piece("abcd", 2, 4, true));
        assert!(
            !worth_a_piece("abcd  ", 4, 1, true),
            "white space alone is nothing to show"
        );
    }
}
