//! The writer's thread and its bounded queue.
//!
//! Owns both, and the moments of idle work: once a second while there is some, else once a minute. It
//! never looks into an operation. The thread has a runtime of its own: whoever is told of a commit runs
//! there, and does not wait behind other tasks.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use super::{OpenError, Options, connect::Address, tenure::Tenure, writer::Writer};
use crate::store::{
    Held, StoreError, Wanted, Write,
    sqlite::{operation::weight, outcome::settle},
};

/// Jobs that wait for the writer at most; whoever hands in more waits.
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
    /// [`Writer::hold`].
    Hold(Vec<Wanted>, Reply<Held>),
    /// [`Writer::probe`].
    Probe(Reply<()>),
    /// [`Writer::sweep_all`].
    Sweep(Reply<()>),
    /// Close after what was handed in before.
    Close(oneshot::Sender<()>),
}

/// A handle to the thread. Dropping it lets the thread do what is queued and end.
pub struct Thread {
    jobs: mpsc::Sender<Job>,
}

/// What an opened store knows of itself: the number of this start, and its secret.
pub type Known = (i64, [u8; 32]);

impl Thread {
    /// Starts the thread and opens the store there.
    pub async fn start(
        options: Options,
        address: Address,
        tenure: Arc<Tenure>,
    ) -> Result<(Self, Known), OpenError> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let (opened, open) = oneshot::channel();
        let failed = |address: String, reason: String| OpenError::Database { address, reason };
        let shown = address.to_string();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| failed(shown.clone(), error.to_string()))?;
        std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    match Writer::open(&options, address, tenure).await {
                        Ok((writer, secret)) => {
                            let process = writer.process();
                            // Nobody waits if opening was given up; then the queue is closed too.
                            let _ = opened.send(Ok((process, secret)));
                            serve(writer, Queue::new(queue)).await;
                        }
                        Err(error) => {
                            let _ = opened.send(Err(error));
                        }
                    }
                });
            })
            .map_err(|error| failed(shown.clone(), error.to_string()))?;
        let known = open
            .await
            .unwrap_or_else(|_| Err(failed(shown, "the writer's thread ended".to_owned())))?;
        Ok((Self { jobs }, known))
    }

    /// Where jobs are handed in.
    pub fn jobs(&self) -> &mpsc::Sender<Job> {
        &self.jobs
    }

    /// Lets the thread do what is queued, and close.
    pub async fn close(&self) {
        let (sender, receiver) = oneshot::channel();
        if self.jobs.send(Job::Close(sender)).await.is_ok() {
            // An error means that the thread is gone, which is what is wanted.
            let _ = receiver.await;
        }
    }
}

/// The waiting jobs, with those that were looked at too early.
struct Queue {
    jobs: mpsc::Receiver<Job>,
    held: Option<Job>,
}

impl Queue {
    fn new(jobs: mpsc::Receiver<Job>) -> Self {
        Self { jobs, held: None }
    }

    async fn next(&mut self) -> Option<Job> {
        match self.held.take() {
            Some(job) => Some(job),
            None => self.jobs.recv().await,
        }
    }

    fn try_next(&mut self) -> Option<Job> {
        self.held.take().or_else(|| self.jobs.try_recv().ok())
    }

    /// The first operation with those that came meanwhile, up to a commit's bounds or a job of another
    /// kind, which stays for later. Some are a commit by themselves.
    fn gather(&mut self, first: Write) -> Vec<Write> {
        let mut bytes = weight(&first);
        let alone = is_alone(&first);
        let mut batch = vec![first];
        if alone {
            return batch;
        }
        while batch.len() < BATCH && bytes < BATCH_BYTES {
            match self.try_next() {
                Some(Job::Write(write)) if !is_alone(&write) => {
                    bytes += weight(&write);
                    batch.push(write);
                }
                Some(other) => {
                    self.held = Some(other);
                    break;
                }
                None => break,
            }
        }
        batch
    }

    /// Fails what waits while the database is away; tells whether the store is to close.
    fn fail(&mut self, error: &str) -> bool {
        let failed = || StoreError::Database(format!("the database is away: {error}"));
        while let Some(job) = self.try_next() {
            match job {
                Job::Write(write) => settle([(write, Err(failed()))]),
                Job::Hold(_, reply) => answer(reply, Err(failed())),
                Job::Probe(reply) | Job::Sweep(reply) => answer(reply, Err(failed())),
                Job::Close(reply) => {
                    self.held = Some(Job::Close(reply));
                    return true;
                }
            }
        }
        self.jobs.is_closed()
    }

    /// Fails what was handed in after the close.
    fn refuse(&mut self) {
        self.jobs.close();
        while let Ok(job) = self.jobs.try_recv() {
            if let Job::Write(write) = job {
                settle([(write, Err(StoreError::Closed))]);
            }
        }
    }
}

/// Whether an operation shares no commit with others.
fn is_alone(write: &Write) -> bool {
    matches!(
        write,
        Write::Operate(..)
            | Write::Media(..)
            | Write::Settle(..)
            | Write::Compact(..)
            | Write::Memory(..)
            | Write::Erase(..)
    )
}

async fn serve(mut writer: Writer, mut queue: Queue) {
    let mut idle_at = Instant::now() + CALM;
    loop {
        let job = tokio::select! {
            biased;
            () = tokio::time::sleep_until(idle_at) => {
                let more = writer.idle(|| !queue.jobs.is_empty()).await;
                idle_at = Instant::now() + if more { BUSY } else { CALM };
                continue;
            }
            job = queue.next() => job,
        };
        match job {
            Some(Job::Write(first)) => {
                let batch = queue.gather(first);
                writer.run(batch, &mut |error| queue.fail(error)).await;
            }
            Some(Job::Hold(wanted, reply)) => answer(reply, writer.hold(&wanted).await),
            Some(Job::Probe(reply)) => answer(reply, writer.probe().await),
            Some(Job::Sweep(reply)) => answer(reply, writer.sweep_all().await),
            Some(Job::Close(reply)) => {
                writer.close().await;
                queue.refuse();
                // Nobody waits if the closing task was cancelled; the store is closed all the same.
                let _ = reply.send(());
                return;
            }
            None => return,
        }
    }
}

fn answer<T>(reply: Reply<T>, result: Result<T, StoreError>) {
    // A caller that stopped waiting needs no answer.
    let _ = reply.send(result);
}
