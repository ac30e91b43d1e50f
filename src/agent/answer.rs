//! The model's part of a turn: what it is asked, what of it is shown meanwhile, and how it is stopped.
//!
//! Owns what stands around the steps (`steps`) of a turn. It writes nothing; the ending it returns is written by
//! `finish`.

use std::sync::{Arc, atomic::Ordering};

use tokio::time::Instant;
use weirgate_sdk::{MessageId, PreviewStart};

use super::{
    Agent,
    collect::Collector,
    ending::Ending,
    heard::Heard,
    ledger::Payers,
    request::Question,
    steps::{Asked, Course},
    thoughts,
    turn::{Input, Turn, long},
    window::window,
    work::Work,
};
use crate::{
    agent::running::RunningTurn,
    command::{config, output},
    outbound::{
        activity::Activity,
        config::Reasoning,
        preview::{Board, Setting, Showing},
        strategy::Strategy,
    },
    permission::{AuditEvent, Capability, Scope, decide},
    reason::Reason,
    store::{Effect, StoreError, TurnState},
    trace::turn_id,
};

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
        ending.effects.append(&mut work.effects.lock());
        if work.kept.load(Ordering::Relaxed) > 0 {
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
        let limit = window(
            input.rules.settings.turn_timeout,
            turn.body().reply_context.as_ref(),
            self.clock.now(),
        );
        let until = Instant::now() + limit;
        let mut heard = match self.listen(input, turn, running, told).await {
            Ok(heard) => heard,
            Err(ending) => return Ok(*ending),
        };
        // Nothing was asked yet; what is there of an answer is nothing.
        let (question, ended) = tokio::select! {
            biased;
            () = running.stopped() => (Question::default(), Some(Asked::Stopped)),
            () = tokio::time::sleep_until(until) => (Question::default(), Some(Asked::TimedOut)),
            question = self.question(input, turn, &heard) => (question?, None),
        };
        let strategy = self.strategy(input, turn).await?;

        let board = work.board.clone();
        let showing = self.show(input, turn, strategy, &board);
        let activity = self.active(input, turn);
        let mut collector = collector(input, turn, board);
        let course = Course::of_turn(input, turn, &question);
        let steps = Box::pin(self.steps(input, turn, course, work, &mut collector));
        let asked = match ended {
            Some(ended) => {
                drop(steps);
                ended
            }
            None => tokio::select! {
                biased;
                () = running.stopped() => Asked::Stopped,
                asked = steps => asked?,
                () = tokio::time::sleep_until(until) => Asked::TimedOut,
            },
        };
        let said = collector.finish();
        drop(activity);
        if let Some(showing) = showing {
            showing.end(running.is_recalled()).await;
        }
        if running.is_recalled() {
            return Ok(self.taken_back(input));
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
            self.compactor.begin(long(input, turn, room));
        }
        let used = work.cost.lock().clone();
        let used = self.spend(input, &used).await?;
        let notes = std::mem::take(&mut heard.media.notes);
        let waits = match &asked {
            Asked::Waits(parked) => Some(self.question_of(input, turn, parked.clone())),
            _ => None,
        };
        let mut ending = self.conclude(input, asked, said.text, (heard, work), turn.language);
        ending.effects.extend(used);
        if let Some(scribe) = self.scribe.as_ref().filter(|_| !ending.history.is_empty()) {
            let payers = Payers::behind(input, turn);
            scribe.talked(turn.scope, turn.site(input), payers);
        }
        ending.text = self.with_notes(input, ending.text, &notes, turn.language);
        ending.strategy = strategy;
        let ending = thoughts::in_front(&said.thoughts, ending);
        match waits {
            Some(ask) => self.asked(input, turn, ending, &ask).await,
            None => Ok(ending),
        }
    }

    /// How a turn ends whose question was taken back.
    fn taken_back(&self, input: &Input) -> Ending {
        let now = self.clock.now();
        self.traces.note(input.turn, Reason::Recalled, now);
        Ending {
            state: TurnState::Cancelled,
            ..Ending::failed(String::new(), Reason::Recalled)
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
}

/// What collects the answer, with what the model thinks if that is shown: as the conversation says, else as the
/// configuration does.
fn collector(input: &Input, turn: &Turn, board: Board) -> Collector {
    let collector = Collector::new(input.rules.composer.redactor(), board);
    let here = turn.rules.settings.get(config::REASONING);
    let here = here.and_then(|name| Reasoning::from_name(name));
    match here.unwrap_or(input.rules.composer.output().reasoning) {
        Reasoning::Hidden => collector,
        Reasoning::Shown => collector.with_thoughts(turn.language),
    }
}
