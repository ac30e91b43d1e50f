//! Errands: steps of a model beside those of the turn, with a task of their own.
//!
//! Owns what an errand may and what of it comes back. It goes through the same steps and the same looks at each call as a
//! turn does; what it costs, what it has used of the limits and what it wants done count for the turn.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use super::{Brought, Errands, Named, tool};
use crate::{
    agent::{
        Agent,
        choice::with_first,
        collect::Collector,
        context::TooLarge,
        model::{Completion, FinishReason, Outcome},
        prompt::Limits,
        skill::template::{self, Template, progress::Progress},
        steps::{Asked, Course},
        tool::{Fault, Given, context, journal::Mark, park::Asks, question},
        turn::{Input, Turn},
        work::{Errand, Shared, Work},
    },
    pending::Parked,
    permission::Scope,
    reason::Reason,
    security::fence::Origin,
    trace::turn_id,
};

/// The part of a turn's tokens that an errand has: one in so many.
pub(in crate::agent) const SHARE: usize = 4;
/// Put behind an answer that reached the limit of its model.
pub(in crate::agent) const CUT: &str = "\n[…]";
/// What is shown of an errand that nobody in particular does.
const NOBODY: &str = "sub-agent";

/// How a call of a turn gives errands.
pub(in crate::agent) struct Giving<'a> {
    pub(in crate::agent) agent: &'a Agent,
    pub(in crate::agent) input: &'a Input,
    pub(in crate::agent) turn: &'a Turn,
    pub(in crate::agent) shared: Shared<'a>,
    pub(in crate::agent) mark: Mark,
    /// Errands of the same answer that may run at once.
    places: &'a Semaphore,
    /// How far the call came before, and what became of what it waited for.
    pub(in crate::agent) before: (Option<Progress>, Option<Parked>),
    /// What it waits for now.
    waits: Mutex<Option<Asks>>,
}

impl fmt::Debug for Giving<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Giving")
            .field("mark", &self.mark)
            .finish_non_exhaustive()
    }
}

impl<'a> Giving<'a> {
    /// For a call that marks itself with `mark`.
    pub(in crate::agent) fn new(
        agent: &'a Agent,
        (input, turn): (&'a Input, &'a Turn),
        shared: Shared<'a>,
        (mark, places): (Mark, &'a Semaphore),
        before: (Option<Progress>, Option<Parked>),
    ) -> Self {
        Self {
            agent,
            input,
            turn,
            shared,
            mark,
            places,
            before,
            waits: Mutex::default(),
        }
    }

    /// The call ends and is made again when somebody has answered.
    pub(in crate::agent) fn wait(&self, asks: Asks) {
        *self.waits.lock() = Some(asks);
    }

    /// What it waits for.
    pub(in crate::agent) fn waiting(&self) -> Option<Asks> {
        self.waits.lock().take()
    }

    /// The agent of a name, as the one who asks may use it.
    fn named(&self, name: &str) -> Result<Option<Arc<Named>>, Fault> {
        if name.is_empty() {
            return Ok(None);
        }
        let here = Scope::Conversation(self.input.conversation);
        let sorted = self.input.rules.tools.agents();
        let mut mine = sorted.of(&self.turn.actor, here, self.agent.clock.now());
        if let Some(found) = mine.find(|one| one.name == name) {
            return Ok(Some(Arc::clone(found)));
        }
        let mine = sorted.of(&self.turn.actor, here, self.agent.clock.now());
        let names: Vec<&str> = mine.map(|one| one.name.as_str()).collect();
        Err(Fault::lasting(if names.is_empty() {
            "There are no agents that can be named. Leave it out.".to_owned()
        } else {
            format!(
                "There is no agent of this name. There are: {}.",
                names.join(", ")
            )
        }))
    }

    pub(in crate::agent) fn note(&self, reason: Reason) {
        let (agent, turn) = (self.agent, self.input.turn);
        agent.traces.note(turn, reason, agent.clock.now());
    }

    /// What an errand may.
    fn limits(&self) -> Limits {
        let settings = &self.input.rules.settings;
        Limits {
            steps: settings.tool_calling.max_steps,
            tokens: settings.context.budget() / SHARE,
            // What is longer is cut on its way back, as with any tool.
            output: settings.tool_calling.max_result_tokens,
            time: settings.subagents.timeout,
        }
    }

    /// What came of it.
    fn told(&self, asked: Asked, text: String, work: &Work) -> Result<Brought, Fault> {
        let lasting = |text: &str| Err(Fault::lasting(text));
        match asked {
            Asked::Completed(completion) => brought(&completion, text, work),
            Asked::Failed(error) => {
                let turn = turn_id(self.input.turn);
                tracing::warn!(%turn, %error, "no model did an errand");
                lasting("No model answered.")
            }
            Asked::TimedOut => {
                self.note(Reason::ToolTimeout);
                lasting("It took too long and was stopped. What it had done by then stays done.")
            }
            Asked::DoesNotFit(TooLarge { size, most }) => Err(Fault::lasting(format!(
                "It has {size} tokens, about, and may have {most}. Give it less to do."
            ))),
            Asked::Stopped | Asked::Waits(_) => lasting("It was broken off."),
        }
    }
}

/// What an answer brings back.
fn brought(completion: &Completion, text: String, work: &Work) -> Result<Brought, Fault> {
    if let Outcome::BrokenCalls(_) = completion.outcome {
        return Err(Fault::lasting("It did not get its calls right."));
    }
    let mut text = if text.trim().is_empty() {
        work.last_words()
    } else {
        text
    };
    let files = work.files();
    if text.trim().is_empty() && files.is_empty() {
        return Err(Fault::lasting(match completion.outcome {
            Outcome::Refused => "The model refused to answer.",
            _ => "It came to no answer.",
        }));
    }
    if completion.finish == FinishReason::Length {
        text.push_str(CUT);
    }
    for file in &files {
        text.push_str("\n(goes out with your answer: ");
        text.push_str(&file.name);
        text.push(')');
    }
    let given = Given {
        text,
        origin: Some(Origin::Agent),
    };
    Ok(Brought { given, files })
}

#[async_trait]
impl Errands for Giving<'_> {
    async fn delegate(&self, name: &str, task: &str) -> Result<Brought, Fault> {
        let (agent, input, turn) = (self.agent, self.input, self.turn);
        let named = self.named(name)?;
        // Nobody closes it.
        let _place = self.places.acquire().await;
        let errand = Errand {
            only: named.as_ref().and_then(|named| named.tools.clone()),
            without: &[
                tool::NAME,
                question::NAME,
                template::tool::NAME,
                context::NAME,
            ],
            mark: self.mark.clone(),
            result: None,
        };
        let limits = self.limits();
        let own = named.as_ref().map_or("", |named| &*named.body);
        let question = agent.errand_question(input, turn, task, (&errand, &limits, own));
        let model = named.as_ref().and_then(|named| named.model.as_deref());
        let course = Course {
            question: &question,
            chain: with_first(input, turn, model),
            permit: None,
        };
        let mut work = Work::of(errand, &self.shared);
        let redactor = input.rules.composer.redactor();
        let shown = named.as_ref().map_or(NOBODY, |named| &named.name);
        let mut collector = Collector::aside(redactor, work.board.clone(), shown);
        let steps = Box::pin(agent.steps(input, turn, course, &mut work, &mut collector));
        let asked = match tokio::time::timeout(limits.time, steps).await {
            Ok(Ok(asked)) => asked,
            // The turn meets the same fault next, and is tried again as a whole.
            Ok(Err(error)) => {
                tracing::error!(turn = %turn_id(input.turn), %error, "an errand was broken off");
                Asked::Stopped
            }
            Err(_) => Asked::TimedOut,
        };
        let said = collector.finish();
        agent.note_replaced(input, said.secrets, said.words);
        self.told(asked, said.text, &work)
    }

    fn broken_off(&self, why: String) -> Fault {
        Fault::lasting(self.with_unsure(why))
    }

    async fn run_steps(
        &self,
        template: &Template,
        inputs: &Map<String, Value>,
    ) -> Result<Brought, Fault> {
        self.perform(template, inputs).await
    }
}
