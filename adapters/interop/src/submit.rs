//! What one caller's connection hands in, in order, until the gateway has it.
//!
//! Owns the order: messages go in one after another without waiting for each other's receipts. What the store does not
//! take is handed in again some times, with everything behind it, before the caller is told. It never says that something
//! was taken that was not.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::sleep};
use weirgate_sdk::{AccountName, Batch, Event, Ingress, NotAccepted, Outcome, Receipt};

use crate::{
    PLATFORM,
    call::{Call, Stage},
    hub::Hub,
    recall::recalled,
};

/// Most receipts that are waited for; then nothing more is taken.
const MAX_FLYING: usize = 64;
/// How often a message is handed in before its caller is told.
const MAX_TRIES: u32 = 8;
/// The pause before the first repetition.
const PAUSE: Duration = Duration::from_millis(100);

/// A message on its way in.
pub(crate) struct Submission {
    /// What goes into the gateway.
    pub(crate) event: Event,
    /// The call that it is; `None` for what nobody waits for.
    pub(crate) call: Option<Arc<Call>>,
}

/// The way into the gateway of one account.
#[derive(Clone)]
pub(crate) struct Door {
    pub(crate) ingress: Arc<dyn Ingress>,
    pub(crate) account: AccountName,
    pub(crate) hub: Arc<Hub>,
}

impl Door {
    /// Hands in what comes until nobody sends any more.
    pub(crate) async fn keep(self, mut queue: mpsc::Receiver<Submission>) {
        let mut flying: VecDeque<(Submission, Receipt)> = VecDeque::new();
        let mut open = true;
        while open || !flying.is_empty() {
            tokio::select! {
                next = queue.recv(), if open && flying.len() < MAX_FLYING => match next {
                    Some(submission) => {
                        let receipt = self.hand_in(&submission).await;
                        flying.push_back((submission, receipt));
                    }
                    None => open = false,
                },
                Some(result) = first(&mut flying), if !flying.is_empty() => {
                    if let Some((submission, _)) = flying.pop_front() {
                        self.settle(submission, result, &mut flying).await;
                    }
                }
            }
        }
    }

    /// Hands in one message and waits until it is known what became of it.
    pub(crate) async fn take(&self, submission: Submission) {
        let result = self.hand_in(&submission).await.await;
        self.settle(submission, result, &mut VecDeque::new()).await;
    }

    async fn hand_in(&self, submission: &Submission) -> Receipt {
        let batch = Batch {
            platform: PLATFORM.into(),
            account: self.account.clone(),
            events: vec![submission.event.clone()],
            cursor: None,
        };
        self.ingress.accept(batch).await
    }

    /// What became of the oldest message. If it was not taken, those behind it are handed in again after it.
    async fn settle(
        &self,
        submission: Submission,
        result: Result<Vec<Outcome>, NotAccepted>,
        behind: &mut VecDeque<(Submission, Receipt)>,
    ) {
        let Some(mut held) = self.told(submission, result).await.map(|one| vec![one]) else {
            return;
        };
        let mut tries = 1;
        loop {
            while let Some((submission, receipt)) = behind.pop_front() {
                let result = receipt.await;
                held.extend(self.told(submission, result).await);
            }
            if held.is_empty() {
                return;
            }
            if tries >= MAX_TRIES {
                for call in held.into_iter().filter_map(|one| one.call) {
                    self.hub.end(
                        &call,
                        Stage::Refused("the gateway cannot take messages now"),
                    );
                }
                return;
            }
            sleep(PAUSE.saturating_mul(1 << tries.min(10))).await;
            tries += 1;
            for submission in held.drain(..) {
                let receipt = self.hand_in(&submission).await;
                behind.push_back((submission, receipt));
            }
        }
    }

    /// Tells a caller what became of his message; gives it back if the store did not take it.
    async fn told(
        &self,
        submission: Submission,
        result: Result<Vec<Outcome>, NotAccepted>,
    ) -> Option<Submission> {
        let Some(call) = &submission.call else {
            return match result {
                Err(NotAccepted::Store(_)) => Some(submission),
                _ => None,
            };
        };
        match result.map(|outcomes| outcomes.first().copied()) {
            Ok(Some(Outcome::Accepted(_))) => call.accepted(),
            Ok(Some(Outcome::Duplicate)) => {
                call.accepted();
                // It may have ended before this process was there.
                let transcript = self.ingress.transcript();
                match recalled(&*transcript, &call.conversation, &call.message).await {
                    Ok(Some(progress)) if !progress.stage.is_over() => {}
                    Ok(progress) => {
                        progress.into_iter().for_each(|progress| call.set(progress));
                        // Without an entry it ended so long ago that nothing is left of it.
                        self.hub.end(call, Stage::Silent);
                    }
                    Err(error) => tracing::warn!(error, "a call cannot be looked for"),
                }
            }
            Ok(Some(Outcome::Refused)) => {
                let why = "the gateway does not take more from this caller now";
                self.hub.end(call, Stage::Refused(why));
            }
            Ok(Some(Outcome::Ignored) | None) => {
                self.hub
                    .end(call, Stage::Refused("there is nothing to do in this"));
            }
            Err(NotAccepted::Store(_)) => return Some(submission),
            Err(NotAccepted::Stopping) => {
                self.hub
                    .end(call, Stage::Refused("the gateway is stopping"));
            }
        }
        None
    }
}

/// The result of the oldest that is under way.
async fn first(
    flying: &mut VecDeque<(Submission, Receipt)>,
) -> Option<Result<Vec<Outcome>, NotAccepted>> {
    let (_, receipt) = flying.front_mut()?;
    Some(receipt.await)
}
