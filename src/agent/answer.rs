//! The answer of the model in a turn.
//!
//! Owns what is asked of the model, what is made of each outcome, and how a turn is stopped. It writes
//! nothing; the ending it returns is written by `finish`.

use std::{sync::Arc, time::Duration};

use weirgate_sdk::{MessageId, PreviewStart, answer::Format};

use super::{
    Agent,
    context::{self, Budget, Material, named},
    ending::{Ending, marked},
    heard::Heard,
    history::Content,
    model::{ChainError, ChatRequest, Completion, ErrorClass, FinishReason, Listener, Outcome},
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
    /// The whole filtered text, and what in it was replaced.
    fn finish(mut self) -> Said {
        self.piece.clear();
        self.filter.finish(&mut self.piece);
        self.board.push(&self.piece);
        let mut said = Said {
            text: self.board.text(),
            secrets: self.filter.has_replaced(),
            words: self.filter.has_filtered(),
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
        let media = self.take_media(input, turn, running).await;
        let mut heard = match self.hear(input, turn, media) {
            Ok(heard) => heard,
            Err(ending) => return Ok(*ending),
        };
        let mut request = self.request(input, turn, &heard).await?;
        // Held until the model has answered.
        let _memory = self.show_pictures(&mut request.messages).await;
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
        let longest = input.rules.settings.turn_timeout;
        let limit = window(
            longest,
            turn.body().reply_context.as_ref(),
            self.clock.now(),
        );
        let (asked, said) = self.ask(input, &request, collector, running, limit).await;
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
        let used = match &asked {
            Asked::Completed(completion) => self.spend(input, completion.usage.as_ref()),
            Asked::Failed(_) | Asked::Stopped | Asked::TimedOut => Vec::new(),
        };
        let notes = std::mem::take(&mut heard.media.notes);
        let mut ending = self.conclude(input, asked, said.text, heard, turn.language);
        ending.effects.extend(used);
        let text = self.with_notes(input, ending.text, &notes, turn.language);
        Ok(Ending {
            text,
            strategy,
            ..ending
        })
    }

    async fn request(
        &self,
        input: &Input,
        turn: &Turn,
        heard: &Heard,
    ) -> Result<ChatRequest, StoreError> {
        let settings = &input.rules.settings.context;
        // Who may not read what was said here is not told of it by the model either.
        let may_read = turn.actor.role.capabilities().contains(Capability::READ);
        let history = if may_read {
            self.recent_history(input, turn).await?
        } else {
            Arc::default()
        };
        let mut newest = named(&heard.name, heard.words.clone());
        if heard.untrusted {
            newest = format!("{}\n{newest}", Text::HintUntrusted.render(turn.language));
        }
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
                pictures: heard.media.pictures.clone(),
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
            return Ok(Arc::new(self.overheard(input, rows)));
        }
        let ticket = match self.recent.get(turn.scope, self.store.others()) {
            Ok(rows) => return Ok(rows),
            Err(ticket) => ticket,
        };
        let bounds = (0, Duration::ZERO);
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

    /// Asks the models until one has answered, the person stops it, or the time is over. Gives back what
    /// was said, also of an answer that was broken off.
    async fn ask(
        &self,
        input: &Input,
        request: &ChatRequest,
        mut collector: Collector,
        running: &RunningTurn,
        limit: Duration,
    ) -> (Asked, Said) {
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
            result = tokio::time::timeout(limit, run) => match result {
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
        asked: Asked,
        text: String,
        heard: Heard,
        language: Language,
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
                return self.completed(input, completion, text, heard, language);
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
                return Ending::failed(told.render(language), reason);
            }
            Asked::Stopped => {
                note(Reason::Stopped);
                let mark = Text::StoppedMark.render(language);
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
                    let told = Text::TimedOut { reference }.render(language);
                    return Ending::failed(told, Reason::TurnTimeout);
                }
                let mark = Text::TimeoutMark.render(language);
                (
                    TurnState::Failed,
                    Reason::TurnTimeout,
                    marked(text, &mark),
                    None,
                )
            }
        };
        let history = self.history(input, heard, &text, reasoning);
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
        completion: Completion,
        text: String,
        heard: Heard,
        language: Language,
    ) -> Ending {
        let note = |reason| self.traces.note(input.turn, reason, self.clock.now());
        let told = match completion.outcome {
            Outcome::Answer => None,
            Outcome::Truncated | Outcome::Empty => Some((Text::ModelEmpty, Reason::AnswerEmpty)),
            Outcome::Refused => Some((Text::ModelRefused, Reason::AnswerRefused)),
        };
        if let Some((told, reason)) = told {
            note(reason);
            return Ending::failed(told.render(language), reason);
        }
        let text = match completion.finish {
            FinishReason::Length => {
                note(Reason::AnswerTruncated);
                marked(text, &Text::TruncatedMark.render(language))
            }
            FinishReason::ContentFilter => {
                // The provider stopped in the middle: what is there is no whole answer.
                note(Reason::AnswerRefused);
                marked(text, &Text::ModelRefused.render(language))
            }
            _ => text,
        };
        let history = self.history(input, heard, &text, completion.reasoning);
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
        heard: Heard,
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
            row(
                Role::User,
                Content::person(&heard.name, heard.words).with(heard.media.parts),
            ),
            row(Role::Assistant, Content::model(text.to_owned(), reasoning)),
        ]
    }
}

/// History rows read for one turn; the token budget decides what of them is used.
pub(super) const HISTORY_ROWS: usize = 200;

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
