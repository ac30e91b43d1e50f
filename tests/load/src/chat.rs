//! A gateway's web chat under load: many sockets that are silent, and many visitors who are shown an answer while the
//! model writes it.
//!
//! Owns the order of the measurement and its figures. The model stamps its words, so the latency of a piece is the
//! time from its last word's writing to its reading by the client; what the gateway waits for by its own settings is
//! in it.

mod rig;
mod visitor;

use std::{path::PathBuf, time::Duration};

use serde::Serialize;
use tokio::{task::JoinSet, time::sleep};

use self::{rig::Rig, visitor::Visitor};
use crate::{
    Fault,
    model::Pace,
    process::{self, Watch},
    tally::{Latency, percentile},
};

/// Time to the model's first token, in milliseconds: long enough that all visitors have spoken.
pub const FIRST_MS: u64 = 2_000;
/// Sockets that are opened at once.
const AT_ONCE: usize = 64;
/// How long the gateway is left alone before its memory is read.
const REST: Duration = Duration::from_secs(3);

/// What to do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The gateway's program.
    pub gateway: PathBuf,
    /// Silent sockets.
    pub idle: usize,
    /// Visitors who are answered at the same time.
    pub streams: usize,
    /// The model's pace.
    pub pace: Pace,
}

/// What was measured.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// Silent sockets that were open to the end.
    pub idle: usize,
    /// Of so many.
    pub idle_wanted: usize,
    /// Answers that ended.
    pub ended: usize,
    /// Of so many.
    pub streams: usize,
    /// Resident memory before anybody came, with the silent sockets, and at most, in bytes.
    pub memory_start: Option<u64>,
    /// With the silent sockets.
    pub memory_idle: Option<u64>,
    /// At most, while answers were shown.
    pub memory_max: Option<u64>,
    /// Pieces that were shown.
    pub pieces: usize,
    /// Latency of a piece in milliseconds.
    pub piece_ms: Latency,
    /// Fairness: the middle latency of the visitor who was served fastest, and of the one who was served slowest.
    pub fastest_visitor_ms: f64,
    /// The slowest.
    pub slowest_visitor_ms: f64,
    /// Processor time of the gateway while answers were shown, in seconds.
    pub cpu_seconds: Option<f64>,
}

impl Outcome {
    /// Nobody was lost.
    #[must_use]
    pub fn faultless(&self) -> bool {
        self.idle == self.idle_wanted && self.ended == self.streams
    }

    /// All in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let mebibytes = |bytes: Option<u64>| bytes.map_or(0.0, |bytes| bytes as f64 / 1_048_576.0);
        let piece = self.piece_ms;
        format!(
            "{} of {} silent sockets and {} of {} answers, {:.1} MiB at the start, {:.1} MiB with the sockets, {:.1} MiB \
             at most, {} pieces, p50 {:.1} p95 {:.1} p99 {:.1} max {:.1} ms, visitors from {:.1} to {:.1} ms, {:.1} s of \
             processor",
            self.idle,
            self.idle_wanted,
            self.ended,
            self.streams,
            mebibytes(self.memory_start),
            mebibytes(self.memory_idle),
            mebibytes(self.memory_max),
            self.pieces,
            piece.p50,
            piece.p95,
            piece.p99,
            piece.max,
            self.fastest_visitor_ms,
            self.slowest_visitor_ms,
            self.cpu_seconds.unwrap_or_default(),
        )
    }
}

/// Carries out a plan.
///
/// # Errors
/// A program does not start, or a socket cannot be opened.
pub async fn chat(plan: &Plan) -> Result<Outcome, Fault> {
    let rig = Rig::start(plan).await?;
    let pid = rig.pid;
    sleep(REST).await;
    let memory_start = process::memory(pid);
    let idle: JoinSet<bool> = open(&rig, plan.idle)
        .await?
        .into_iter()
        .map(Visitor::stay)
        .collect();
    sleep(REST).await;
    let memory_idle = process::memory(pid);
    let speakers = open(&rig, plan.streams).await?;
    let watch = Watch::start(pid);
    let speaking: JoinSet<_> = speakers.into_iter().map(Visitor::speak).collect();
    let heard = speaking.join_all().await;
    let usage = watch.stop();
    rig.stop_listening();
    let idle = idle.join_all().await;
    let ended = heard.iter().filter(|heard| heard.ended).count();
    let mut each: Vec<Duration> = heard
        .iter()
        .filter_map(|heard| middle(&heard.pieces))
        .collect();
    each.sort_unstable();
    let mut pieces: Vec<Duration> = heard.into_iter().flat_map(|heard| heard.pieces).collect();
    pieces.sort_unstable();
    rig.stop().await?;
    let at = |thousandths| milliseconds(percentile(&pieces, thousandths));
    Ok(Outcome {
        idle: idle.into_iter().filter(|stayed| *stayed).count(),
        idle_wanted: plan.idle,
        ended,
        streams: plan.streams,
        memory_start,
        memory_idle,
        memory_max: usage.memory_max,
        pieces: pieces.len(),
        piece_ms: Latency {
            p50: at(500),
            p95: at(950),
            p99: at(990),
            max: at(1_000),
        },
        fastest_visitor_ms: milliseconds(each.first().copied().unwrap_or_default()),
        slowest_visitor_ms: milliseconds(each.last().copied().unwrap_or_default()),
        cpu_seconds: usage.cpu.map(|cpu| cpu.as_secs_f64()),
    })
}

/// Visitors who are there, some at once so that the gateway's backlog is not what is measured.
async fn open(rig: &Rig, count: usize) -> Result<Vec<Visitor>, Fault> {
    let mut visitors = Vec::with_capacity(count);
    while visitors.len() < count {
        let more = (count - visitors.len()).min(AT_ONCE);
        let opening: JoinSet<_> = (0..more)
            .map(|_| Visitor::open(rig.chat.clone(), rig.end.clone()))
            .collect();
        for opened in opening.join_all().await {
            visitors.push(opened?);
        }
    }
    Ok(visitors)
}

fn middle(pieces: &[Duration]) -> Option<Duration> {
    let mut pieces = pieces.to_vec();
    pieces.sort_unstable();
    (!pieces.is_empty()).then(|| percentile(&pieces, 500))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
