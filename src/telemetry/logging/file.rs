//! The log file: lines on their way to it, on a thread of its own.
//!
//! Owns the queue of lines. Whoever logs never waits for the disk: what finds no room in the queue, and
//! what the disk does not take, is counted and dropped. Where the lines end up is [`rotate`]'s part.

mod rotate;

use super::super::{config::LogFile, metrics::Queue};
use rotate::Rotating;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Lines that wait for the thread.
const QUEUED_LINES: usize = 4_096;
/// Bytes of these lines.
const QUEUED_BYTES: usize = 8 * 1024 * 1024;
/// Most bytes that are written at once, but for the last line.
const CHUNK_BYTES: usize = 32 * 1024;
/// How long the end of the process waits for the last lines.
pub const FLUSH: Duration = Duration::from_secs(2);

enum Item {
    Line(Box<str>, Instant),
    Flush(SyncSender<()>),
}

/// The way into the file. When the last one is dropped the thread ends.
pub(super) struct FileSink {
    lines: SyncSender<Item>,
    waiting: Arc<Waiting>,
}

/// What is in the queue.
#[derive(Default)]
struct Waiting {
    bytes: AtomicUsize,
    lines: AtomicUsize,
}

impl Waiting {
    fn add(&self, bytes: usize) -> usize {
        self.lines.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed)
    }

    fn take(&self, lines: usize, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        let before = self.lines.fetch_sub(lines, Ordering::Relaxed);
        Queue::Log.depth(before.saturating_sub(lines));
    }
}

impl FileSink {
    /// Opens the file and starts the thread.
    ///
    /// # Errors
    /// The system's, if the file cannot be opened now. Later faults are told in the log.
    pub(super) fn start(settings: &LogFile) -> io::Result<Self> {
        let mut file = Rotating::new(settings);
        file.open()?;
        let (lines, queue) = sync_channel(QUEUED_LINES);
        let waiting = Arc::new(Waiting::default());
        let queued = Arc::clone(&waiting);
        std::thread::Builder::new()
            .name("log-file".to_owned())
            .spawn(move || write_lines(&queue, &queued, file))?;
        Ok(Self { lines, waiting })
    }

    /// Queues a line, line end included.
    pub(super) fn push(&self, line: &str) {
        Queue::Log.received(1);
        let before = self.waiting.add(line.len());
        let fits = before + line.len() <= QUEUED_BYTES;
        let item = Item::Line(line.into(), Instant::now());
        if !fits || self.lines.try_send(item).is_err() {
            self.waiting.take(1, line.len());
            Queue::Log.lost("queue_full", 1);
        }
    }

    /// Waits until what was queued so far is written, for a short time.
    pub(super) fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.lines.try_send(Item::Flush(done)).is_ok() {
            let _ = written.recv_timeout(FLUSH);
        }
    }
}

/// A chunk of lines that is written at once.
#[derive(Default)]
struct Chunk {
    text: String,
    lines: usize,
    flushed: Vec<SyncSender<()>>,
}

impl Chunk {
    fn add(&mut self, item: Item) {
        match item {
            Item::Line(line, since) => {
                Queue::Log.waited(since.elapsed());
                self.text.push_str(&line);
                self.lines += 1;
            }
            Item::Flush(done) => self.flushed.push(done),
        }
    }
}

fn write_lines(queue: &Receiver<Item>, waiting: &Waiting, mut file: Rotating) {
    let mut lost: u64 = 0;
    while let Some(chunk) = next(queue) {
        waiting.take(chunk.lines, chunk.text.len());
        if chunk.lines > 0 {
            let lines = u64::try_from(chunk.lines).unwrap_or(u64::MAX);
            match file.write(&chunk.text) {
                Ok(()) => {
                    Queue::Log.sent(lines);
                    let before = std::mem::take(&mut lost);
                    if before > 0 {
                        tracing::warn!(
                            lines = before,
                            "the log file is written again; lines are missing"
                        );
                    }
                }
                Err(error) => {
                    Queue::Log.lost("write_failed", lines);
                    // Told once. The line goes to standard error, and into the file if that mends in time.
                    if lost == 0 {
                        tracing::error!(%error, path = %file.path().display(),
                            "the log file cannot be written; lines are dropped until it can");
                    }
                    lost = lost.saturating_add(lines);
                }
            }
        }
        for done in chunk.flushed {
            let _ = done.try_send(());
        }
    }
}

/// The next chunk; `None` when nobody can put anything in any more.
fn next(queue: &Receiver<Item>) -> Option<Chunk> {
    let mut chunk = Chunk::default();
    chunk.add(queue.recv().ok()?);
    while chunk.text.len() < CHUNK_BYTES {
        let Ok(item) = queue.try_recv() else { break };
        chunk.add(item);
    }
    Some(chunk)
}

#[cfg(test)]
mod tests;
