//! One run: messages in, answers out.
//!
//! Owns the pace at which messages are sent and the moments at which they are stamped. Every answer of a
//! call is sent before the next message, so a bot that waits for it is not slowed down by the run.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use serde::Serialize;
use tokio::{
    sync::mpsc,
    time::{sleep_until, timeout},
};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    Fault,
    address::Target,
    onebot::{self, Call, Socket, write_batch},
    process::{Usage, Watch},
    tag,
    tally::{Counts, Latency, Tally},
};

/// Most messages of a run.
pub const MAX_MESSAGES: usize = 1_000_000;
/// What takes the place of the tag in a text.
pub const TAG: &str = "{tag}";
/// A run ends when no message was answered for so long.
const SILENCE: Duration = Duration::from_secs(20);
/// Longest run.
const LONGEST: Duration = Duration::from_secs(600);
/// How long the run looks for further answers after the last that it expects.
const SETTLE: Duration = Duration::from_millis(300);

/// How many messages are on their way at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// So many in all.
    Window(usize),
    /// So many of each user.
    UserWindow(usize),
    /// All.
    Burst,
}

/// What to do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The bot.
    pub target: Target,
    /// Its token.
    pub token: Option<String>,
    /// The bot's process.
    pub pid: Option<u32>,
    /// Users that take turns.
    pub users: usize,
    /// Messages of all users together.
    pub messages: usize,
    /// How many at once.
    pub shape: Shape,
    /// What is said, with the tag's place.
    pub text: String,
}

/// What was measured.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// Messages that were answered.
    pub answered: usize,
    /// From the first message to the last answer.
    pub seconds: f64,
    /// Answered messages a second.
    pub per_second: f64,
    /// Latency in milliseconds.
    pub latency_ms: Latency,
    /// Faults and strays.
    #[serde(flatten)]
    pub counts: Counts,
    /// Processor time of the bot for an answered message, in microseconds.
    pub cpu_us: Option<f64>,
    /// Most resident memory of the bot, in bytes.
    pub memory_max: Option<u64>,
    /// Its resident memory after the run, in bytes.
    pub memory_last: Option<u64>,
}

impl Outcome {
    /// All in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let (latency, counts) = (self.latency_ms, self.counts);
        let mebibytes = |bytes: Option<u64>| bytes.map_or(0.0, |bytes| bytes as f64 / 1_048_576.0);
        format!(
            "{} answered in {:.2} s, {:.0}/s, p50 {:.2} p95 {:.2} p99 {:.2} max {:.2} ms, missing {} \
             duplicated {} out of order {} misrouted {} untagged {}, {:.0} us/message, {:.1} MiB at most, \
             {:.1} MiB last",
            self.answered,
            self.seconds,
            self.per_second,
            latency.p50,
            latency.p95,
            latency.p99,
            latency.max,
            counts.missing,
            counts.duplicated,
            counts.out_of_order,
            counts.misrouted,
            counts.untagged,
            self.cpu_us.unwrap_or_default(),
            mebibytes(self.memory_max),
            mebibytes(self.memory_last),
        )
    }
}

/// What the two halves of a run share: the messages, and when each was sent.
struct Events {
    name: String,
    text: String,
    users: usize,
    first_id: u64,
    /// Seconds since 1970.
    time: u64,
    start: Instant,
    /// Nanoseconds from the start; zero before it is sent.
    sent: Box<[AtomicU64]>,
}

impl Events {
    fn new(plan: &Plan) -> Result<Self, Fault> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        // Ids stay below 2^31; those of runs one after the other are far apart.
        let slot = now.as_millis() / SETTLE.as_millis() % 2_000;
        Ok(Self {
            name: format!("{:x}", now.as_micros()),
            text: plan.text.clone(),
            users: plan.users,
            first_id: u64::try_from(slot)? * u64::try_from(MAX_MESSAGES)? + 1,
            time: now.as_secs(),
            start: Instant::now(),
            sent: (0..plan.messages).map(|_| AtomicU64::new(0)).collect(),
        })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Stamps a message and writes it.
    fn write(&self, number: usize) -> Message {
        if let Some(sent) = self.sent.get(number) {
            sent.store(self.now().max(1), Ordering::Relaxed);
        }
        let text = self.text.replace(TAG, &tag::write(&self.name, number));
        let id = u64::try_from(number).map_or(0, |number| self.first_id.saturating_add(number));
        let user = number.checked_rem(self.users).unwrap_or_default();
        onebot::private(self.time, id, user, &text)
    }

    fn since(&self, number: usize) -> Option<Duration> {
        let sent = self.sent.get(number)?.load(Ordering::Relaxed);
        (sent != 0).then(|| Duration::from_nanos(self.now().saturating_sub(sent)))
    }
}

/// Which message is sent when another was answered.
struct Turnstile {
    users: usize,
    messages: usize,
    shape: Shape,
    next: usize,
    next_of_user: Vec<usize>,
}

impl Turnstile {
    fn new(plan: &Plan) -> Self {
        let next_of_user = match plan.shape {
            Shape::UserWindow(each) => {
                let first = |user| plan.users.saturating_mul(each).saturating_add(user);
                (0..plan.users).map(first).collect()
            }
            _ => Vec::new(),
        };
        Self {
            users: plan.users,
            messages: plan.messages,
            shape: plan.shape,
            next: 0,
            next_of_user,
        }
    }

    /// How many messages go first, from the beginning.
    fn first(&mut self) -> usize {
        let first = match self.shape {
            Shape::Window(all) => all,
            Shape::UserWindow(each) => self.users.saturating_mul(each),
            Shape::Burst => self.messages,
        };
        self.next = first.min(self.messages);
        self.next
    }

    /// The message that takes the place of an answered one.
    fn after(&mut self, answered: usize) -> Option<usize> {
        let (place, step) = match self.shape {
            Shape::Window(_) => (&mut self.next, 1),
            Shape::UserWindow(_) => {
                let user = answered.checked_rem(self.users)?;
                (self.next_of_user.get_mut(user)?, self.users)
            }
            Shape::Burst => return None,
        };
        let number = *place;
        *place = place.saturating_add(step);
        (number < self.messages).then_some(number)
    }
}

/// Carries out a plan.
///
/// # Errors
/// The plan is out of bounds, or the bot cannot be reached. A connection that breaks ends the run; what
/// it left unanswered is missing.
pub async fn run(plan: &Plan) -> Result<Outcome, Fault> {
    if plan.messages == 0 || plan.messages > MAX_MESSAGES || plan.users == 0 {
        return Err(format!("a run has 1 to {MAX_MESSAGES} messages and at least one user").into());
    }
    if !plan.text.contains(TAG) {
        return Err(format!("the text has no {TAG}").into());
    }
    let socket = onebot::connect(&plan.target, plan.token.as_deref()).await?;
    let (sink, frames) = socket.split();
    let events = Arc::new(Events::new(plan)?);
    let (go, numbers) = mpsc::channel(plan.messages);
    // As many as there are messages, and some for what else a bot may ask.
    let (answers, calls) = mpsc::channel(plan.messages.saturating_mul(4).saturating_add(4_096));
    let mut turnstile = Turnstile::new(plan);
    for number in 0..turnstile.first() {
        go.try_send(number)?;
    }
    let watch = plan.pid.map(Watch::start);
    let writer = tokio::spawn(write(sink, Arc::clone(&events), numbers, calls));
    let mut reader = Reader {
        tally: Tally::new(&events.name, plan.users, plan.messages),
        events,
        turnstile,
        go,
        answers,
    };
    let time = reader.read(frames).await;
    let usage = watch.map(Watch::stop).unwrap_or_default();
    let Reader {
        tally, go, answers, ..
    } = reader;
    drop((go, answers));
    let abort = writer.abort_handle();
    if timeout(SETTLE, writer).await.is_err() {
        abort.abort();
    }
    Ok(outcome(tally, time, usage))
}

/// The half of a run that reads.
struct Reader {
    tally: Tally,
    events: Arc<Events>,
    turnstile: Turnstile,
    go: mpsc::Sender<usize>,
    answers: mpsc::Sender<Message>,
}

impl Reader {
    /// Reads until everything is answered, nothing comes any more or the connection is gone; gives the
    /// time to the last answer.
    async fn read(&mut self, mut frames: SplitStream<Socket>) -> Duration {
        let started = Instant::now();
        let (mut last, mut until) = (started, started + SILENCE);
        let mut id = self.events.first_id;
        loop {
            let frame = tokio::select! {
                frame = frames.next() => frame,
                () = sleep_until(until.min(started + LONGEST).into()) => break,
            };
            let Some(Ok(frame)) = frame else {
                break;
            };
            let Ok(call) = serde_json::from_str::<Call>(frame.to_text().unwrap_or_default()) else {
                continue;
            };
            id = id.wrapping_add(1);
            if self.answers.try_send(call.answer(id)).is_err() {
                break;
            }
            let Some((user, text)) = call.sent() else {
                continue;
            };
            let answered = self
                .tally
                .reply(user, &text, |number| self.events.since(number));
            if answered.is_empty() {
                continue;
            }
            last = Instant::now();
            until = last
                + if self.tally.complete() {
                    SETTLE
                } else {
                    SILENCE
                };
            for number in answered {
                if let Some(next) = self.turnstile.after(number) {
                    // There is room for every message, and each goes once.
                    let _ = self.go.try_send(next);
                }
            }
        }
        last.duration_since(started)
    }
}

fn outcome(tally: Tally, time: Duration, usage: Usage) -> Outcome {
    let answered = tally.answered();
    let (latency_ms, counts) = tally.finish();
    let (seconds, count) = (time.as_secs_f64(), answered as f64);
    Outcome {
        answered,
        seconds,
        per_second: if answered == 0 { 0.0 } else { count / seconds },
        latency_ms,
        counts,
        cpu_us: usage
            .cpu
            .filter(|_| answered != 0)
            .map(|cpu| cpu.as_secs_f64() * 1e6 / count),
        memory_max: usage.memory_max,
        memory_last: usage.memory_last,
    }
}

/// The half of a run that writes: answers to calls first, then messages.
async fn write(
    mut sink: SplitSink<Socket, Message>,
    events: Arc<Events>,
    mut numbers: mpsc::Receiver<usize>,
    mut calls: mpsc::Receiver<Message>,
) {
    if sink.send(onebot::lifecycle(events.time)).await.is_err() {
        return;
    }
    loop {
        let first = tokio::select! {
            biased;
            Some(answer) = calls.recv() => answer,
            Some(number) = numbers.recv() => events.write(number),
            else => break,
        };
        let next = || {
            let answer = calls.try_recv().ok();
            answer.or_else(|| Some(events.write(numbers.try_recv().ok()?)))
        };
        if write_batch(&mut sink, first, next).await.is_err() {
            return;
        }
    }
    let _ = sink.close().await;
}

#[cfg(test)]
mod tests;
