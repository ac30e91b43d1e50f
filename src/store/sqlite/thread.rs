//! The writer's thread and its bounded queue.
//!
//! Owns both, and the timer that wakes the writer for idle work: once a second while there is some, else
//! once a minute. It never looks into an operation.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::{mpsc, oneshot},
    task::AbortHandle,
};

use super::{
    operation::weight,
    outcome::settle,
    writer::{Shared, Writer},
};
use crate::store::{LastStop, StoreError, Write};

/// Jobs that wait for the writer at most.
const QUEUE: usize = 8192;
/// Operations of one commit at most.
const BATCH: usize = 1024;
/// Bytes of bodies in one commit, about.
const BATCH_BYTES: usize = 1 << 20;
/// Between two idle visits while something is left to do.
const BUSY: Duration = Duration::from_secs(1);
/// Between two idle visits while nothing is.
const CALM: Duration = Duration::from_secs(60);

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// What the thread is asked to do.
pub enum Job {
    /// An operation.
    Write(Write),
    /// [`Writer::last_stop`].
    LastStop(Reply<LastStop>),
    /// [`Writer::probe`].
    Probe(Reply<()>),
    /// [`Writer::sweep_all`].
    Sweep(Reply<()>),
    /// [`Writer::idle`].
    Idle,
    /// Close after what was handed in before.
    Close(oneshot::Sender<()>),
}

/// A handle to the thread. Dropping it lets the thread do what is queued, and waits for its end.
pub struct Thread {
    jobs: Option<mpsc::Sender<Job>>,
    timer: AbortHandle,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
    closed: mpsc::Sender<Job>,
}

impl Thread {
    /// Starts the thread and its timer.
    pub fn start(writer: Writer, shared: Arc<Shared>) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || serve(writer, queue))?;
        let timer = tokio::spawn(wake(jobs.downgrade(), shared)).abort_handle();
        let (closed, _) = mpsc::channel(1);
        Ok(Self {
            jobs: Some(jobs),
            timer,
            thread: Mutex::new(Some(thread)),
            closed,
        })
    }

    /// Where jobs are handed in.
    pub fn jobs(&self) -> &mpsc::Sender<Job> {
        self.jobs.as_ref().unwrap_or(&self.closed)
    }

    /// Lets the thread do what is queued, and close.
    pub async fn close(&self) {
        let (sender, receiver) = oneshot::channel();
        if self.jobs().send(Job::Close(sender)).await.is_ok() {
            // An error means that the thread is gone, which is what is wanted.
            let _ = receiver.await;
        }
        self.timer.abort();
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.timer.abort();
        self.jobs = None;
        if let Some(thread) = self.thread.get_mut().take()
            && thread.thread().id() != std::thread::current().id()
        {
            // A panic of the thread was reported by the thread.
            let _ = thread.join();
        }
    }
}

async fn wake(jobs: mpsc::WeakSender<Job>, shared: Arc<Shared>) {
    loop {
        let pause = if shared.busy.load(Ordering::Relaxed) {
            BUSY
        } else {
            CALM
        };
        tokio::time::sleep(pause).await;
        let Some(jobs) = jobs.upgrade() else { return };
        // A full queue is no idle time.
        let _ = jobs.try_send(Job::Idle);
    }
}

fn serve(mut writer: Writer, mut queue: mpsc::Receiver<Job>) {
    let mut held = None;
    loop {
        let Some(job) = held.take().or_else(|| queue.blocking_recv()) else {
            return;
        };
        match job {
            Job::Write(first) => {
                let batch;
                (batch, held) = gather(first, &mut queue);
                settle(writer.run(batch));
            }
            Job::LastStop(reply) => answer(reply, writer.last_stop()),
            Job::Probe(reply) => answer(reply, writer.probe()),
            Job::Sweep(reply) => answer(reply, writer.sweep_all()),
            Job::Idle => writer.idle(|| !queue.is_empty()),
            Job::Close(reply) => {
                writer.close();
                refuse(&mut queue);
                // Nobody waits if the closing task was cancelled; the store is closed all the same.
                let _ = reply.send(());
                return;
            }
        }
    }
}

/// The first operation with those that came meanwhile, up to a commit's bounds or a job of another kind,
/// which is given back.
fn gather(first: Write, queue: &mut mpsc::Receiver<Job>) -> (Vec<Write>, Option<Job>) {
    let mut bytes = weight(&first);
    let mut batch = vec![first];
    while batch.len() < BATCH && bytes < BATCH_BYTES {
        match queue.try_recv() {
            Ok(Job::Write(write)) => {
                bytes += weight(&write);
                batch.push(write);
            }
            Ok(other) => return (batch, Some(other)),
            Err(_) => break,
        }
    }
    (batch, None)
}

/// Fails what was handed in after the close.
fn refuse(queue: &mut mpsc::Receiver<Job>) {
    queue.close();
    while let Some(job) = queue.blocking_recv() {
        if let Job::Write(write) = job {
            settle([(write, Err(StoreError::Closed))]);
        }
    }
}

fn answer<T>(reply: Reply<T>, result: Result<T, StoreError>) {
    // A caller that stopped waiting needs no answer.
    let _ = reply.send(result);
}
