//! The model's part of a turn: it is asked, what it calls is run, and it is asked again.
//!
//! Owns the loop, its limits, what of it is shown meanwhile, and how a turn is stopped. It writes nothing; the
//! ending it returns is written by `finish`.

use std::sync::Arc;

use parking_lot::Mutex;
use weirgate_sdk::{MessageId, PreviewStart};

use super::{
    Agent,
    choice::of_turn,
    context::TooLarge,
    ending::Ending,
    heard::Heard,
    history::{Cost, Step},
    model::{ChainError, Completion, Listener, Outcome, ToolCall},
    request::Question,
    tool::{execute::Goes, in_use::in_use, usage::Usage},
    turn::{Input, Turn},
    window::window,
};
use crate::{
    agent::running::RunningTurn,
    command::output,
    i18n::{Language, Text},
    outbound::{
        activity::Activity,
        preview::{Board, Setting, Showing},
        strategy::Strategy,
    },
    pending::Parked,
    permission::{AuditEvent, Capability, Scope, decide},
    reason::Reason,
    security::redact::{Filter, Redactor},
    store::{Effect, ReplyFile, StoreError, TurnState},
    trace::turn_id,
};

/// How often a model is told that its calls cannot be used.
const MAX_BROKEN: u32 = 2;

/// What is told to a model whose calls cannot be used.
const BROKEN: &str =
    "[from the gateway, not from the person] None of your last tool calls was run: ";

/// Collects the answer while it comes, filtered, and shows it.
struct Collector {
    redactor: Arc<Redactor>,
    filter: Filter,
    board: Board,
    piece: String,
    /// Requests of the steps before.
    before: u32,
    /// What was replaced in the steps before.
    replaced: (bool, bool),
    /// What the last step said, while its calls run.
    said: Option<String>,
}

impl Listener for Collector {
    fn attempt(&mut self, number: u32, _model: &str) {
        self.said = None;
        self.filter = self.redactor.filter();
        self.board.restart(self.before + number);
    }

    fn text(&mut self, delta: &str) {
        self.piece.clear();
        self.filter.push(delta, &mut self.piece);
        self.board.push(&self.piece);
    }

    fn reasoning(&mut self, _delta: &str) {}
}

impl Collector {
    fn new(redactor: &Arc<Redactor>, board: Board) -> Self {
        Self {
            filter: redactor.filter(),
            redactor: Arc::clone(redactor),
            board,
            piece: String::new(),
            before: 0,
            replaced: (false, false),
            said: None,
        }
    }

    /// The answer of a step is whole and took so many requests; gives what it says.
    fn end_step(&mut self, requests: u32) -> String {
        self.piece.clear();
        self.filter.finish(&mut self.piece);
        self.board.push(&self.piece);
        self.before = self.before.saturating_add(requests);
        self.replaced.0 |= self.filter.has_replaced();
        self.replaced.1 |= self.filter.has_filtered();
        let said = self.board.text();
        self.said = Some(said.clone());
        said
    }

    /// Shows what is being done, behind what was said.
    fn show(&self, progress: &str) {
        let gap = if self.board.text().trim().is_empty() {
            ""
        } else {
            "\n\n"
        };
        self.board.push(&format!("{gap}{progress}"));
    }

    /// Shows how far the calls of a step have come, apart from the text.
    fn show_tools(&self, wanted: bool, step: Option<&Step>) {
        if let Some(step) = step.filter(|_| wanted) {
            self.board.tools(in_use(step, &self.redactor));
        }
    }

    /// The whole filtered text of the last step, and what was replaced in all.
    fn finish(mut self) -> Said {
        let text = match self.said.take() {
            Some(said) => said,
            None => self.end_step(0),
        };
        let mut said = Said {
            text,
            secrets: self.replaced.0,
            words: self.replaced.1,
        };
        if !self.filter.is_of(&self.redactor) {
            // What a reload brought while it was written.
            let cleaned = self.redactor.clean(&said.text);
            said.secrets |= cleaned.secrets;
            said.words |= cleaned.words;
            said.text = cleaned.text.into_owned();
        }
        said
    }
}

/// What the model said, free of what must not leave.
struct Said {
    text: String,
    /// A secret was replaced.
    secrets: bool,
    /// A word of the blocklist was replaced.
    words: bool,
}

/// How the model's part of a turn came to its end.
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

/// How far the model's part of a turn has come.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// The steps in which tools were called.
    pub(super) steps: Vec<Step>,
    /// What was used of the limits.
    pub(super) usage: Usage,
    /// Requests so far, each with its retries counted as one.
    pub(super) requests: usize,
    /// How often the model was told that its calls cannot be used.
    broken: u32,
    /// What it cost.
    pub(super) cost: Cost,
    /// How many of the steps are in the journal.
    pub(super) kept: usize,
    /// What somebody said yes to: the call with which the turn goes on.
    pub(super) allowed: Option<Box<Parked>>,
    /// What tools want done with the end of the turn.
    pub(super) effects: Mutex<Vec<Effect>>,
}

impl Work {
    /// The files that go out with the answer, in the order in which they were asked for.
    pub(super) fn files(&self) -> Vec<ReplyFile> {
        let files = self.steps.iter().flat_map(|step| &step.files);
        files.map(|(_, file)| file.clone()).collect()
    }

    /// What the model said last beside its calls; empty if nothing.
    pub(super) fn last_words(&self) -> String {
        let said = self.steps.iter().rev().map(|step| &step.text);
        let said = said.into_iter().find(|text| !text.trim().is_empty());
        said.cloned().unwrap_or_default()
    }
}

impl Agent {
    /// Asks the model. `again`: the turn may have run before, and goes on where it was.
    pub(super) async fn answer(
        &self,
        input: &Input,
        turn: &Turn,
        running: &RunningTurn,
        again: bool,
    ) -> Result<Ending, StoreError> {
        let mut work = Work::default();
        if again {
            self.take_up(input, &mut work).await?;
        }
        self.go_on(input, turn, running, None, work).await
    }

    /// Asks the model, with `told` in place of what the messages say, from where `work` is.
    pub(super) async fn go_on(
        &self,
        input: &Input,
        turn: &Turn,
        running: &RunningTurn,
        told: Option<Heard>,
        mut work: Work,
    ) -> Result<Ending, StoreError> {
        let answered = self.answered(input, turn, running, told, &mut work);
        let mut ending = answered.await?;
        ending.effects.append(work.effects.get_mut());
        if work.kept > 0 {
            let turn = input.turn;
            ending.effects.push(Effect::StepsDone { turn });
        }
        Ok(ending)
    }

    async fn answered(
        &self,
        input: &Input,
        turn: &Turn,
        running: &RunningTurn,
        told: Option<Heard>,
        work: &mut Work,
    ) -> Result<Ending, StoreError> {
        self.hooks.next_message(input.turn, &turn.person);
        let mut heard = match self.listen(input, turn, running, told).await {
            Ok(heard) => heard,
            Err(ending) => return Ok(*ending),
        };
        let question = tokio::select! {
            biased;
            // Nothing was asked yet; what is there of an answer is nothing.
            () = running.stopped() => None,
            question = self.question(input, turn, &heard) => Some(question?),
        };
        let question = question.unwrap_or_default();
        let strategy = self.strategy(input, turn).await?;

        let board = Board::default();
        let showing = self.show(input, turn, strategy, &board);
        let activity = self.active(input, turn);
        let mut collector = Collector::new(input.rules.composer.redactor(), board);
        let steps = Box::pin(self.steps(input, turn, &question, work, &mut collector));
        let limit = window(
            input.rules.settings.turn_timeout,
            turn.body().reply_context.as_ref(),
            self.clock.now(),
        );
        let asked = tokio::select! {
            biased;
            () = running.stopped() => Asked::Stopped,
            asked = tokio::time::timeout(limit, steps) => match asked {
                Ok(asked) => asked?,
                Err(_) => Asked::TimedOut,
            },
        };
        let said = collector.finish();
        drop(activity);
        if let Some(showing) = showing {
            showing.end().await;
        }
        if running.is_recalled() {
            self.traces
                .note(input.turn, Reason::Recalled, self.clock.now());
            let ending = Ending::failed(String::new(), Reason::Recalled);
            return Ok(Ending {
                state: TurnState::Cancelled,
                ..ending
            });
        }
        // A role that was taken meanwhile acts on a turn that runs.
        let (actor, _) = self.actor(input, &turn.person, turn.body()).await?;
        let here = Scope::Conversation(input.conversation);
        if let Err(denial) = decide(&actor, Capability::SEND_MESSAGE, here, self.clock.now()) {
            let record = denial.record(AuditEvent::PermissionDenied, String::new(), input.turn);
            let mut ending = Ending::failed(String::new(), Reason::PermissionDenied);
            ending.effects.push(record.into());
            return Ok(self.noted(input, ending));
        }
        self.note_replaced(input, said.secrets, said.words);
        // Also what a turn used that failed in the end.
        if let Some(room) = question.long {
            self.compactor.begin(turn.scope, input.turn, room);
        }
        let used = self.spend(input, &work.cost);
        let notes = std::mem::take(&mut heard.media.notes);
        let waits = match &asked {
            Asked::Waits(parked) => Some(self.question_of(input, turn, parked.clone())),
            _ => None,
        };
        let mut ending = self.conclude(input, asked, said.text, (heard, work), turn.language);
        ending.effects.extend(used);
        if let Some(scribe) = self.scribe.as_ref().filter(|_| !ending.history.is_empty()) {
            scribe.talked(turn.scope, turn.site(input));
        }
        let text = self.with_notes(input, ending.text, &notes, turn.language);
        let ending = Ending {
            text,
            strategy,
            ..ending
        };
        match waits {
            Some(ask) => self.asked(input, turn, ending, &ask).await,
            None => Ok(ending),
        }
    }

    /// What the turn is about: as it was heard before, or its words and files, looked at now.
    async fn listen(
        &self,
        input: &Input,
        turn: &Turn,
        running: &RunningTurn,
        told: Option<Heard>,
    ) -> Result<Heard, Box<Ending>> {
        if let Some(told) = told {
            return Ok(told);
        }
        let media = self.take_media(input, turn, running).await;
        self.hear(input, turn, media)
    }

    async fn strategy(&self, input: &Input, turn: &Turn) -> Result<Option<Strategy>, StoreError> {
        let Some(adapter) = self.deliverer.adapter(&turn.conversation) else {
            return Ok(None);
        };
        let preference = self.desk.preference(input.person, output::KEY).await?;
        let preference = preference.or_else(|| turn.rules.settings.get("output").cloned());
        let preference = preference.and_then(|name| Strategy::from_name(&name));
        let capabilities = adapter.capabilities(&turn.conversation);
        let chat = turn.body().chat();
        Ok(input
            .rules
            .composer
            .strategy(&turn.conversation, chat, capabilities, preference))
    }

    fn show(
        &self,
        input: &Input,
        turn: &Turn,
        strategy: Option<Strategy>,
        board: &Board,
    ) -> Option<Showing> {
        if strategy != Some(Strategy::Streaming) {
            return None;
        }
        let answers = turn
            .bodies
            .iter()
            .map(|body| MessageId::from(body.message.as_str()));
        let setting = Setting {
            adapter: self.deliverer.adapter(&turn.conversation)?,
            conversation: input.conversation,
            start: PreviewStart {
                conversation: (*turn.conversation).clone(),
                turn: Arc::from(turn_id(input.turn)),
                attempt: 1,
                answers: answers.collect(),
                reply_context: turn.body().reply_context.clone(),
            },
            pace: input.rules.composer.output().streaming.clone(),
            redactor: Arc::clone(input.rules.composer.redactor()),
            deliverer: self.deliverer.clone(),
            turn: input.turn,
            traces: Arc::clone(&self.traces),
            clock: self.clock,
        };
        Some(Showing::begin(board.clone(), setting))
    }

    /// Shows that an answer is being written, if the platform can.
    fn active(&self, input: &Input, turn: &Turn) -> Option<Activity> {
        let adapter = self.deliverer.adapter(&turn.conversation)?;
        let key = (*turn.conversation).clone();
        Activity::begin(adapter, self.deliverer.clone(), input.conversation, key)
    }

    /// Asks the model, runs what it calls and asks again, until it has answered. Dropping the future stops
    /// everything; `work` says how far it came.
    async fn steps(
        &self,
        input: &Input,
        turn: &Turn,
        question: &Question,
        work: &mut Work,
        collector: &mut Collector,
    ) -> Result<Asked, StoreError> {
        let calling = &input.rules.settings.tool_calling;
        let chain = of_turn(input, turn);
        let note = |reason| self.traces.note(input.turn, reason, self.clock.now());
        // Only the first request of a turn holds the permit that the dispatcher took.
        let mut permit = input.permit.lock().take();
        let mut goes = Goes::On;
        let mut hint: Option<String> = None;
        if work
            .steps
            .last()
            .is_some_and(|step| step.results.contains(&None))
        {
            goes = self.execute(input, turn, work).await?;
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
            let asked = (&work.usage, callable, hint.as_deref());
            let request = self.request(input, turn, question, &work.steps, asked);
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
            self.charge(input, &chain, (&request, &completion), &mut work.cost);
            match completion.outcome {
                Outcome::Calls if callable => {
                    let text = collector.end_step(completion.attempts);
                    if calling.stream_intermediate {
                        collector.show(&progress(&completion.calls, turn.language));
                    }
                    work.steps.push(Step {
                        text,
                        reasoning: completion.reasoning,
                        sealed: completion.sealed,
                        results: vec![None; completion.calls.len()],
                        files: Vec::new(),
                        calls: completion.calls,
                    });
                    hint = None;
                    let shown = calling.stream_intermediate;
                    collector.show_tools(shown, work.steps.last());
                    goes = self.execute(input, turn, work).await?;
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

/// What a person is shown while tools run.
fn progress(calls: &[ToolCall], language: Language) -> String {
    let mut names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
    names.dedup();
    let tools = names.join(", ");
    Text::ToolsRunning { tools }.render(language)
}
