//! Turns that go on after they waited for a yes.
//!
//! Owns what the answer makes of the call that waited: it runs, or the model is told why not. Everything else is a
//! turn like any other, from the step in which it stopped; what a crash leaves of it is taken up in the same way.

use super::{
    Agent,
    ending::Ending,
    heard::Heard,
    history::{Content, Step},
    media::Media,
    running::RunningTurn,
    tool::execute::FAILED,
    turn::{Input, Turn},
    work::Work,
};
use crate::{
    hex::hex,
    pending::{Act, Parked},
    reason::Reason,
    store::{PendingFilter, PendingState, Settle, StoreError, StoredPending, Write, commit},
};
use sha2::{Digest as _, Sha256};

/// The shortest new id of a call: two must not be the same by chance.
const SHORTEST: usize = 9;

/// What the model is told before the call that waited, and its result if it does not run.
struct Told {
    note: String,
    result: Option<&'static str>,
}

impl Agent {
    /// Goes on with the turn that waits under the number `waited`; `media` came with the answer.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn resumed(
        &self,
        input: &Input,
        turn: &Turn,
        running: &RunningTurn,
        (waited, media): (i64, Media),
    ) -> Result<Ending, StoreError> {
        let Some((row, mut parked)) = self.waited(input, waited).await? else {
            return Ok(self.over(input));
        };
        let Some(told) = told(self.settled(input, &row).await?, &parked) else {
            return Ok(self.over(input));
        };
        if let Some(elicited) = &mut parked.elicited
            && elicited.choices.is_some()
        {
            elicited.content = elicited.meant(row.answer.as_deref().unwrap_or_default());
        }
        // What waited inside of a call is told of inside of it.
        let inside = parked
            .within
            .as_mut()
            .map(|within| within.refused = told.result);
        let result = told.result.filter(|_| inside.is_none());
        let mut work = Work::default();
        self.take_up(input, &mut work).await?;
        if work.steps.is_empty() {
            let Some(step) = step(&parked, waited, result) else {
                return Ok(self.over(input));
            };
            work.steps.push(step);
        }
        if work.steps.len() == 1 && result.is_none() {
            work.allowed = Some(parked);
        }
        let heard = Heard {
            words: told.note,
            media,
            ..Heard::default()
        };
        self.go_on(input, turn, running, Some(heard), work).await
    }

    /// What waited, if it is this person's here and is known.
    async fn waited(
        &self,
        input: &Input,
        waited: i64,
    ) -> Result<Option<(StoredPending, Box<Parked>)>, StoreError> {
        let rows = self.store.pendings(PendingFilter::Id(waited), 1).await?;
        let row = rows.into_iter().next().filter(|row| {
            row.pending.conversation == input.conversation && row.pending.asker == input.person
        });
        Ok(row.and_then(|row| match Act::read(&row.pending) {
            Some(Act::Tool(parked)) => Some((row, parked)),
            _ => None,
        }))
    }

    /// How it ended. A question whose time is over ends here at the latest: nobody can answer it any more.
    async fn settled(
        &self,
        input: &Input,
        row: &StoredPending,
    ) -> Result<PendingState, StoreError> {
        let now = self.clock.now();
        if row.state != PendingState::Open || row.pending.expires_at > now {
            return Ok(row.state);
        }
        let settle = Settle {
            id: row.pending.id,
            conversation: row.pending.conversation,
            hash: row.pending.hash.clone(),
            state: PendingState::Expired,
            answer: None,
            by: 0,
            turn: input.turn,
            reason: Some(Reason::PendingExpired.code()),
            at: now,
            notices: Vec::new(),
        };
        commit(&self.store, |then| Write::Settle(Box::new(settle), then)).await?;
        Ok(PendingState::Expired)
    }

    /// Nothing is left to go on with.
    fn over(&self, input: &Input) -> Ending {
        self.noted(input, Ending::failed(String::new(), Reason::PendingClosed))
    }
}

/// What the model is told of an answer; nothing if there is none yet.
fn told(state: PendingState, parked: &Parked) -> Option<Told> {
    if parked.choices().is_some() {
        return told_of_question(state);
    }
    let (became, result) = match state {
        PendingState::Approved => ("It was approved.", None),
        PendingState::Denied => (
            "It was refused.",
            Some(
                "It did not run: a person refused it. Do not try it again unless you are asked to.",
            ),
        ),
        PendingState::Expired => (
            "Nobody answered in time.",
            Some("It did not run: it needs an approval, and nobody gave one in time."),
        ),
        PendingState::Open | PendingState::Withdrawn => return None,
    };
    Some(Told {
        note: format!(
            "[from the gateway, not from a person] The call of {} waited for an approval. {became}",
            parked.tool
        ),
        result,
    })
}

/// What the model is told of the end of a question that it asked.
fn told_of_question(state: PendingState) -> Option<Told> {
    let (became, result) = match state {
        PendingState::Approved => ("The person has answered your question.", None),
        PendingState::Denied => (
            "The person does not want to answer your question.",
            Some("The person does not want to answer. Go on without, or say what you cannot do."),
        ),
        PendingState::Expired => (
            "The person did not answer your question in time.",
            Some("The person did not answer in time. Go on without, or say what you cannot do."),
        ),
        PendingState::Open | PendingState::Withdrawn => return None,
    };
    Some(Told {
        note: format!("[from the gateway, not from a person] {became}"),
        result,
    })
}

/// The step in which the turn stopped, with what became of the call that waited.
fn step(parked: &Parked, waited: i64, result: Option<&str>) -> Option<Step> {
    let mut step = Content::decode(&parked.step)?.as_step();
    let of_call = step.results.get_mut(parked.place)?;
    *of_call = result.map(|result| format!("{FAILED}{result}"));
    // They went out with the question.
    step.files.clear();
    for call in &mut step.calls {
        call.id = renamed(&call.id, waited);
    }
    Some(step)
}

/// Another id for a call: the history has it under its first one, and providers want each but once. Of the same length,
/// because some want that too.
fn renamed(id: &str, waited: i64) -> String {
    let hash = hex(&Sha256::digest(format!("{waited}/{id}")));
    hash.chars().take(id.len().max(SHORTEST)).collect()
}
