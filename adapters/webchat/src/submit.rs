//! What one socket hands in, in order, until the gateway has it.
//!
//! Owns the order: events go in one after another without waiting for each other's receipts, and come
//! back in the same order. What the store does not take is held back, with everything that comes after
//! it, and handed in again some times before the client is told. It never says that something was
//! taken that was not.

use std::{collections::VecDeque, future::pending, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until};
use weirgate_sdk::{AccountName, Batch, Event, Ingress, NotAccepted, Outcome, Receipt};

use crate::{PLATFORM, hub::RoomHandle};

/// Most receipts that one socket waits for; then it is not read.
const MAX_FLYING: usize = 64;
/// Most events of one socket that are held back.
const MAX_HELD: usize = 64;
/// How often an event is handed in before the client is told.
const MAX_TRIES: u32 = 5;

/// One event of a client.
pub(crate) struct Submission {
    /// What goes into the gateway.
    pub(crate) event: Event,
    /// Where it belongs.
    pub(crate) room: RoomHandle,
    /// The session's label.
    pub(crate) session: String,
    /// The client's id of the message; `None` if the event is no message.
    pub(crate) message: Option<String>,
    /// How often it was handed in.
    pub(crate) tries: u32,
}

/// What happened next.
pub(crate) enum Step {
    /// The gateway has it; what became of it.
    Taken(Submission, Outcome),
    /// Given up: the client keeps it and may send it again.
    GivenUp(Submission, NotAccepted),
    /// It is time for [`Submitter::again`].
    Again,
    /// Nothing that concerns the client.
    Nothing,
}

/// The way in of one socket.
pub(crate) struct Submitter {
    ingress: Arc<dyn Ingress>,
    account: AccountName,
    flying: VecDeque<(Submission, Receipt)>,
    held: VecDeque<Submission>,
    again_at: Option<Instant>,
    pause: Duration,
}

impl Submitter {
    /// Nothing under way. `pause` is the time before the first repetition.
    pub(crate) fn new(ingress: Arc<dyn Ingress>, account: AccountName, pause: Duration) -> Self {
        Self {
            ingress,
            account,
            flying: VecDeque::new(),
            held: VecDeque::new(),
            again_at: None,
            pause,
        }
    }

    /// Too much is under way to read on.
    pub(crate) fn is_full(&self) -> bool {
        self.flying.len() >= MAX_FLYING
    }

    /// Nothing is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.flying.is_empty()
    }

    /// Hands an event in, after everything that is held back. Gives it back if too much is.
    pub(crate) async fn submit(&mut self, submission: Submission) -> Result<(), Box<Submission>> {
        if self.held.is_empty() {
            self.fly(submission).await;
        } else if self.held.len() < MAX_HELD {
            self.held.push_back(submission);
        } else {
            return Err(Box::new(submission));
        }
        Ok(())
    }

    async fn fly(&mut self, mut submission: Submission) {
        submission.tries += 1;
        let batch = Batch {
            platform: PLATFORM.into(),
            account: self.account.clone(),
            events: vec![submission.event.clone()],
            cursor: None,
        };
        let receipt = self.ingress.accept(batch).await;
        self.flying.push_back((submission, receipt));
    }

    /// Waits for what happens next; for ever, if nothing is under way. Safe to cancel.
    pub(crate) async fn next(&mut self) -> Step {
        if let Some((_, receipt)) = self.flying.front_mut() {
            let result = receipt.await;
            return match self.flying.pop_front() {
                Some((submission, _)) => self.settle(submission, result),
                None => Step::Nothing,
            };
        }
        match self.again_at {
            Some(at) => {
                sleep_until(at).await;
                Step::Again
            }
            None => pending().await,
        }
    }

    /// Hands in again what was held back.
    pub(crate) async fn again(&mut self) {
        self.again_at = None;
        for submission in std::mem::take(&mut self.held) {
            self.fly(submission).await;
        }
    }

    /// Gives back what is held, never to be handed in again.
    pub(crate) fn abandon(&mut self) -> VecDeque<Submission> {
        std::mem::take(&mut self.held)
    }

    /// Gives back everything that is under way, and waits for none of it any more.
    pub(crate) fn abandon_all(&mut self) -> Vec<Submission> {
        let flying = self.flying.drain(..).map(|(submission, _)| submission);
        flying.chain(self.held.drain(..)).collect()
    }

    fn settle(
        &mut self,
        submission: Submission,
        result: Result<Vec<Outcome>, NotAccepted>,
    ) -> Step {
        match result {
            Ok(outcomes) => match outcomes.first() {
                Some(outcome) => Step::Taken(submission, *outcome),
                None => Step::Nothing,
            },
            Err(NotAccepted::Store(_)) if submission.tries < MAX_TRIES => {
                let pause = self
                    .pause
                    .saturating_mul(1 << (submission.tries - 1).min(10));
                self.again_at = Some(Instant::now() + pause);
                self.held.push_back(submission);
                Step::Nothing
            }
            Err(reason) => Step::GivenUp(submission, reason),
        }
    }
}
