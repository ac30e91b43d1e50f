//! The steps of a model: it is asked, what it calls is run, and it is asked again.
//!
//! Owns the loop and its limits. A turn and an errand of one go through it alike; what differs is in [`Course`] and
//! [`Work`]. It writes nothing itself, and concludes nothing from what it gives.

use super::{
    Agent,
    choice::of_turn,
    collect::Collector,
    context::TooLarge,
    history::Step,
    model::{Chain, ChainError, Completion, Outcome},
    request::Question,
    tool::execute::Goes,
    turn::{Input, Turn},
    work::Work,
};
use crate::{pending::Parked, reason::Reason, store::StoreError};

/// How often a model is told that its calls cannot be used.
const MAX_BROKEN: u32 = 2;

/// What is told to a model whose calls cannot be used.
const BROKEN: &str =
    "[from the gateway, not from the person] None of your last tool calls was run: ";

/// How the steps came to their end.
pub(super) enum Asked {
    Completed(Completion),
    Failed(ChainError),
    Stopped,
    TimedOut,
    /// It goes on when somebody has said yes.
    Waits(Box<Parked>),
    /// What must be said to the model is more than it takes.
    DoesNotFit(TooLarge),
}

/// Who is asked, and what.
pub(super) struct Course<'a> {
    pub(super) question: &'a Question,
    pub(super) chain: Chain,
    /// The provider for whose next request a permit is held.
    pub(super) permit: Option<String>,
}

impl<'a> Course<'a> {
    /// That of a turn.
    pub(super) fn of_turn(input: &Input, turn: &Turn, question: &'a Question) -> Self {
        Self {
            question,
            chain: of_turn(input, turn),
            // The one that the dispatcher took.
            permit: input.permit.lock().take(),
        }
    }
}

impl Agent {
    /// Asks the model, runs what it calls and asks again, until it has answered. Dropping the future stops
    /// everything; `work` says how far it came.
    pub(super) async fn steps(
        &self,
        input: &Input,
        turn: &Turn,
        course: Course<'_>,
        work: &mut Work,
        collector: &mut Collector,
    ) -> Result<Asked, StoreError> {
        let calling = &input.rules.settings.tool_calling;
        let Course {
            question,
            chain,
            // Only for the first request.
            mut permit,
        } = course;
        let note = |reason| self.traces.note(input.turn, reason, self.clock.now());
        let mut goes = Goes::On;
        let mut hint: Option<String> = None;
        if work
            .steps
            .last()
            .is_some_and(|step| step.results.contains(&None))
        {
            goes = self.call(input, turn, question, work).await?;
        }
        loop {
            if let Goes::Waits(parked) = goes {
                note(Reason::ToolAsked);
                return Ok(Asked::Waits(parked));
            }
            work.requests += 1;
            if goes == Goes::On && work.requests > 1 && work.requests >= calling.max_steps {
                note(Reason::ToolLimit);
                goes = Goes::ToItsEnd;
            }
            let callable = goes == Goes::On && calling.max_steps > 1;
            self.digest(input, question, work).await;
            let request = self.request(input, turn, question, work, (callable, hint.as_deref()));
            let mut request = match request {
                Ok(request) => request,
                Err(too_large) => return Ok(Asked::DoesNotFit(too_large)),
            };
            // Held until the model has answered.
            let _memory = self.load_enclosed(&mut request.messages).await;
            let rules = &input.rules;
            let permit = permit.take();
            let run = chain.run(
                &request,
                &*rules.permits,
                permit.as_deref(),
                collector,
                &self.random,
            );
            let completion = match run.await {
                Ok(completion) => completion,
                Err(error) => return Ok(Asked::Failed(error)),
            };
            self.charge(
                input,
                &chain,
                (&request, &completion),
                &mut work.cost.lock(),
            );
            match completion.outcome {
                Outcome::Calls if callable => {
                    let text = collector.end_step(completion.attempts);
                    let shown = calling.stream_intermediate;
                    if shown {
                        collector.show(&completion.calls, turn.language);
                    }
                    work.steps.push(step(text, completion));
                    hint = None;
                    collector.show_tools(shown, work.steps.last());
                    goes = self.call(input, turn, question, work).await?;
                    collector.show_tools(shown, work.steps.last());
                }
                Outcome::BrokenCalls(broken) if callable && work.broken < MAX_BROKEN => {
                    collector.end_step(completion.attempts);
                    work.broken += 1;
                    note(Reason::ToolCallsBroken);
                    hint = Some(format!(
                        "{BROKEN}{broken}. Call again, with less in one call."
                    ));
                }
                _ => return Ok(Asked::Completed(completion)),
            }
        }
    }
}

impl Agent {
    /// Runs the calls of the last step.
    async fn call(
        &self,
        input: &Input,
        turn: &Turn,
        question: &Question,
        work: &mut Work,
    ) -> Result<Goes, StoreError> {
        work.contents = self.contents(input, turn, question, work);
        self.execute(input, turn, work).await
    }
}

/// The step in which a model calls tools; `text` is what it says beside that.
fn step(text: String, completion: Completion) -> Step {
    Step {
        text,
        reasoning: completion.reasoning,
        sealed: completion.sealed,
        results: vec![None; completion.calls.len()],
        calls: completion.calls,
        ..Step::default()
    }
}
