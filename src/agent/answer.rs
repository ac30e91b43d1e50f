//! The answer of the model in a turn.
//!
//! Owns what is asked of the model, what is made of each outcome, and how a turn is stopped. It writes
//! nothing; the ending it returns is written by `finish`.

use std::{borrow::Cow, sync::Arc};

use weirgate_sdk::{MessageId, PreviewStart, answer::Format};

use super::{
    Agent,
    context::{self, Budget, Material, named},
    ending::{Ending, marked},
    history::Content,
    model::{ChainError, ChatRequest, Completion, ErrorClass, FinishReason, Listener, Outcome},
    turn::{Input, Turn},
};
use crate::{
    agent::running::RunningTurn,
    command::output,
    i18n::Text,
    inbound::body,
    outbound::{
        activity::Activity,
        preview::{Board, Setting, Showing},
        strategy::Strategy,
    },
    permission::{AuditEvent, Capability, Scope, decide},
    reason::Reason,
    security::redact::{Filter, Redactor},
    store::{History, Role, StoreError, TurnState},
    telemetry::metrics,
    trace::turn_id,
};

/// Collects the answer while it comes, filtered, and shows it.
struct Collector {
    redactor: Arc<Redactor>,
    filter: Filter,
    board: Board,
    piece: String,
}

impl Listener for Collector {
    fn attempt(&mut self, number: u32, _model: &str) {
        self.filter = self.redactor.filter();
        self.board.restart(number);
    }

    fn text(&mut self, delta: &str) {
        self.piece.clear();
        self.filter.push(delta, &mut self.piece);
        self.board.push(&self.piece);
    }

    fn reasoning(&mut self, _delta: &str) {}
}

impl Collector {
    /// The whole filtered text, and whether something in it was replaced.
    fn finish(mut self) -> (String, bool) {
        self.piece.clear();
        self.filter.finish(&mut self.piece);
        self.board.push(&self.piece);
        let (text, replaced) = (self.board.text(), self.filter.has_replaced());
        if self.filter.is_of(&self.redactor) {
            return (text, replaced);
        }
        // Secrets that a reload brought while it was written.
        match self.redactor.redact(&text) {
            Cow::Borrowed(_) => (text, replaced),
            Cow::Owned(text) => (text, true),
        }
    }
}

/// How the model's part of a turn came to its end.
enum Asked {
    Completed(Completion),
    Failed(ChainError),
    Stopped,
    TimedOut,
}

impl Agent {
    /// Asks the model.
    pub(super) async fn answer(
        &self,
        input: &Input,
        turn: &Turn,
        running: &RunningTurn,
    ) -> Result<Ending, StoreError> {
        self.hooks.next_message(input.turn, &turn.person);
        let words = self.words(input, turn);
        let request = self.request(input, turn, &words).await?;
        let strategy = self.strategy(input, turn).await?;

        let board = Board::default();
        let showing = self.show(input, turn, strategy, &board);
        let activity = self.active(input, turn);
        let collector = Collector {
            filter: input.rules.composer.redactor().filter(),
            redactor: Arc::clone(input.rules.composer.redactor()),
            board,
            piece: String::new(),
        };
        let (asked, (text, redacted)) = self.ask(input, &request, collector, running).await;
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
        if redacted {
            self.traces
                .note(input.turn, Reason::Redacted, self.clock.now());
        }
        let mut ending = self.conclude(input, turn, asked, text, words);
        ending.strategy = strategy;
        Ok(ending)
    }

    /// The words of the turn, as the model gets them and the history keeps them.
    fn words(&self, input: &Input, turn: &Turn) -> String {
        let texts: Vec<String> = turn.bodies.iter().map(body::text_for_model).collect();
        let text = self.hooks.filter_content(texts.join("\n"));
        for finding in self.hooks.check_security(&text) {
            tracing::warn!(turn = %turn_id(input.turn), finding, "security check");
        }
        text
    }

    async fn request(
        &self,
        input: &Input,
        turn: &Turn,
        words: &str,
    ) -> Result<ChatRequest, StoreError> {
        let settings = &input.rules.settings.context;
        let history = self.recent_history(input, turn).await?;
        let mut newest = named(speaker(turn), words.to_owned());
        if let Some(dropped) = &input.dropped {
            let hint = Text::HintDropped {
                prefix: input.rules.settings.overflow_hint.clone(),
                count: dropped.count,
                span: dropped.last.saturating_sub(dropped.first) / 1_000_000,
            };
            newest = format!("{}\n{newest}", hint.render(turn.language));
        }
        let system = settings.system_prompt.as_str();
        let budget = Budget {
            tokens: usize::try_from(settings.max_context_tokens).unwrap_or(usize::MAX),
            keep_recent: settings.keep_recent_messages,
        };
        let built = context::build(
            Material {
                system,
                history: &history,
                newest,
            },
            budget,
        );
        if built.left_out > 0 || built.newest_cut {
            self.traces
                .note(input.turn, Reason::ContextCut, self.clock.now());
        }
        Ok(ChatRequest {
            messages: built.messages,
            // Each model of the chain has its own.
            max_output_tokens: None,
            temperature: None,
            turn: turn_id(input.turn),
        })
    }

    /// The newest rows of the turn's history: at hand, or read.
    async fn recent_history(
        &self,
        input: &Input,
        turn: &Turn,
    ) -> Result<Arc<Vec<History>>, StoreError> {
        let ambient = &input.rules.settings.context.ambient;
        if ambient.enable {
            // What others say meanwhile belongs to it, and passes by the turns.
            let bounds = (ambient.max_messages, ambient.max_age);
            let rows = self.store.history(turn.scope, HISTORY_ROWS, bounds).await?;
            return Ok(Arc::new(rows));
        }
        let ticket = match self.recent.get(turn.scope, self.store.others()) {
            Ok(rows) => return Ok(rows),
            Err(ticket) => ticket,
        };
        let bounds = (0, std::time::Duration::ZERO);
        let rows = self.store.history(turn.scope, HISTORY_ROWS, bounds).await?;
        let rows = Arc::new(rows);
        ticket.put(&rows);
        Ok(rows)
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

    /// Asks the models until one has answered, the person stops it, or the time is over. Gives back the
    /// filtered text, also of an answer that was broken off, and whether something in it was replaced.
    async fn ask(
        &self,
        input: &Input,
        request: &ChatRequest,
        mut collector: Collector,
        running: &RunningTurn,
    ) -> (Asked, (String, bool)) {
        // Only the first attempt of a turn holds the permit that the dispatcher took.
        let permit = input.permit.lock().take();
        let run = input.rules.chain.run(
            request,
            &*input.rules.permits,
            permit.as_deref(),
            &mut collector,
            &self.random,
        );
        let asked = tokio::select! {
            biased;
            () = running.stopped() => Asked::Stopped,
            result = tokio::time::timeout(input.rules.settings.turn_timeout, run) => match result {
                Ok(Ok(completion)) => Asked::Completed(completion),
                Ok(Err(error)) => Asked::Failed(error),
                Err(_) => Asked::TimedOut,
            },
        };
        (asked, collector.finish())
    }

    fn conclude(
        &self,
        input: &Input,
        turn: &Turn,
        asked: Asked,
        text: String,
        words: String,
    ) -> Ending {
        let reference = turn_id(input.turn);
        let note = |reason| self.traces.note(input.turn, reason, self.clock.now());
        let (state, reason, text, reasoning) = match asked {
            Asked::Completed(completion) => {
                observe(&completion);
                if completion.attempts > 1 {
                    note(Reason::ModelRetried);
                }
                let first = input.rules.chain.models().first();
                if first.is_some_and(|model| model.name() != completion.model) {
                    note(Reason::ModelFellBack);
                }
                return self.completed(input, turn, completion, text, words);
            }
            Asked::Failed(error) => {
                let reason = failure_reason(&error);
                note(reason);
                tracing::warn!(turn = %reference, %error, "no model answered");
                let told = if reason == Reason::AnswerRefused {
                    Text::ModelRefused
                } else {
                    Text::Failed { reference }
                };
                return Ending::failed(told.render(turn.language), reason);
            }
            Asked::Stopped => {
                note(Reason::Stopped);
                let mark = Text::StoppedMark.render(turn.language);
                (
                    TurnState::Cancelled,
                    Reason::Stopped,
                    marked(text, &mark),
                    None,
                )
            }
            Asked::TimedOut => {
                note(Reason::TurnTimeout);
                tracing::warn!(turn = %reference, "a turn took too long");
                if text.trim().is_empty() {
                    let told = Text::TimedOut { reference }.render(turn.language);
                    return Ending::failed(told, Reason::TurnTimeout);
                }
                let mark = Text::TimeoutMark.render(turn.language);
                (
                    TurnState::Failed,
                    Reason::TurnTimeout,
                    marked(text, &mark),
                    None,
                )
            }
        };
        let history = self.history(input, turn, words, &text, reasoning);
        Ending {
            state,
            reason: Some(reason),
            format: Format::Markdown,
            filtered: true,
            history,
            ..Ending::done(text)
        }
    }

    fn completed(
        &self,
        input: &Input,
        turn: &Turn,
        completion: Completion,
        text: String,
        words: String,
    ) -> Ending {
        let note = |reason| self.traces.note(input.turn, reason, self.clock.now());
        let told = match completion.outcome {
            Outcome::Answer => None,
            Outcome::Truncated | Outcome::Empty => Some((Text::ModelEmpty, Reason::AnswerEmpty)),
            Outcome::Refused => Some((Text::ModelRefused, Reason::AnswerRefused)),
        };
        if let Some((told, reason)) = told {
            note(reason);
            return Ending::failed(told.render(turn.language), reason);
        }
        let text = match completion.finish {
            FinishReason::Length => {
                note(Reason::AnswerTruncated);
                marked(text, &Text::TruncatedMark.render(turn.language))
            }
            FinishReason::ContentFilter => {
                // The provider stopped in the middle: what is there is no whole answer.
                note(Reason::AnswerRefused);
                marked(text, &Text::ModelRefused.render(turn.language))
            }
            _ => text,
        };
        let history = self.history(input, turn, words, &text, completion.reasoning);
        Ending {
            format: Format::Markdown,
            filtered: true,
            history,
            ..Ending::done(text)
        }
    }

    fn history(
        &self,
        input: &Input,
        turn: &Turn,
        words: String,
        text: &str,
        reasoning: Option<String>,
    ) -> Vec<History> {
        let at = self.clock.now();
        let row = |role, content: Content| History {
            role,
            turn: input.turn,
            at,
            parts: content.encode(),
        };
        vec![
            row(Role::User, Content::person(speaker(turn), words)),
            row(Role::Assistant, Content::model(text.to_owned(), reasoning)),
        ]
    }
}

/// History rows read for one turn; the token budget decides what of them is used.
pub(super) const HISTORY_ROWS: usize = 200;

/// The name under which the sender speaks: only where several share a history.
fn speaker(turn: &Turn) -> &str {
    let body = turn.body();
    if body.group && turn.scope.person == 0 {
        &body.name
    } else {
        ""
    }
}

fn failure_reason(error: &ChainError) -> Reason {
    match error.class() {
        ErrorClass::RateLimit => Reason::ModelRateLimited,
        ErrorClass::Security => Reason::AnswerRefused,
        _ => Reason::ModelFailed,
    }
}

fn observe(completion: &Completion) {
    if let Some(usage) = &completion.usage {
        let provider = completion.model.split('/').next().unwrap_or_default();
        metrics::tokens(provider, usage.prompt, usage.completion);
    }
}
