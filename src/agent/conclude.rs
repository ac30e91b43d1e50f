//! What is made of the model's part of a turn.
//!
//! Owns how each outcome ends the turn: what the person is told, the reason, and what is remembered. It writes
//! nothing.

use super::{
    Agent,
    context::{TooLarge, parts},
    ending::{Ending, marked},
    heard::Heard,
    history::{Content, Part},
    model::{ChainError, Completion, ErrorClass, FinishReason, Outcome},
    steps::Asked,
    tool::park::question,
    turn::Input,
    work::Work,
};
use crate::{
    i18n::{Language, Text, mind::Mind},
    reason::Reason,
    store::{History, ReplyFile, Role, TurnState},
    trace::turn_id,
};
use weirgate_sdk::answer::Format;

/// Stands in the history for the result of a call that waits for a yes.
const WAITING: &str = "[this waits until somebody has approved it; it has not run]";
/// Stands in the history for the result of a call that was still running when the turn ended.
const UNKNOWN: &str = "[the turn ended before this call did; what became of it is not known]";

impl Agent {
    /// Ends the turn. `text` is what was said last, also of an answer that was broken off.
    pub(super) fn conclude(
        &self,
        input: &Input,
        asked: Asked,
        text: String,
        (heard, work): (Heard, &mut Work),
        language: Language,
    ) -> Ending {
        let text = if text.trim().is_empty() {
            work.last_words()
        } else {
            text
        };
        let mut reasoning = None;
        close(work, matches!(asked, Asked::Waits(_)));
        let mut ending = match asked {
            Asked::Completed(mut completion) => {
                reasoning = completion.reasoning.take();
                self.completed(input, &completion, (text, work.files()), language)
            }
            Asked::Waits(parked) => Ending {
                format: Format::Markdown,
                filtered: true,
                files: work.files(),
                ..Ending::done(marked(text, &question(&parked, language)))
            },
            Asked::DoesNotFit(TooLarge { size, most }) => {
                let note = Reason::ContextOverflow;
                self.traces.note(input.turn, note, self.clock.now());
                let told = Mind::DoesNotFit { size, most };
                Ending::failed(told.render(language), note)
            }
            asked => self.broken_off(input, asked, text, language),
        };
        // What tools did is remembered whatever became of the answer.
        if ending.filtered || !work.steps.is_empty() {
            ending.history = self.history(input, heard, work, &ending.text, reasoning);
        }
        ending
    }

    /// The end of a turn whose answer is not whole.
    fn broken_off(&self, input: &Input, asked: Asked, text: String, language: Language) -> Ending {
        let reference = turn_id(input.turn);
        let note = |reason| self.traces.note(input.turn, reason, self.clock.now());
        let (state, reason, text) = match asked {
            Asked::Completed(_) | Asked::Waits(_) | Asked::DoesNotFit(_) | Asked::Stopped => {
                note(Reason::Stopped);
                let mark = Text::StoppedMark.render(language);
                (TurnState::Cancelled, Reason::Stopped, marked(text, &mark))
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
            Asked::TimedOut => {
                note(Reason::TurnTimeout);
                tracing::warn!(turn = %reference, "a turn took too long");
                if text.trim().is_empty() {
                    let told = Text::TimedOut { reference }.render(language);
                    return Ending::failed(told, Reason::TurnTimeout);
                }
                let mark = Text::TimeoutMark.render(language);
                (TurnState::Failed, Reason::TurnTimeout, marked(text, &mark))
            }
        };
        Ending {
            state,
            reason: Some(reason),
            format: Format::Markdown,
            filtered: true,
            ..Ending::done(text)
        }
    }

    fn completed(
        &self,
        input: &Input,
        completion: &Completion,
        (text, files): (String, Vec<ReplyFile>),
        language: Language,
    ) -> Ending {
        let note = |reason| self.traces.note(input.turn, reason, self.clock.now());
        let told = match completion.outcome {
            Outcome::BrokenCalls(broken) => {
                tracing::warn!(turn = %turn_id(input.turn), %broken, "the model's calls cannot be used");
                Some((Text::ModelCallsBroken, Reason::ToolCallsBroken))
            }
            // It had been told to answer with what it has, or with nothing more: what it said before counts.
            _ if !(text.trim().is_empty() && files.is_empty()) => None,
            Outcome::Refused => Some((Text::ModelRefused, Reason::AnswerRefused)),
            Outcome::Truncated => Some((Text::ModelNoRoom, Reason::AnswerTruncated)),
            _ => Some((Text::ModelEmpty, Reason::AnswerEmpty)),
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
        Ending {
            format: Format::Markdown,
            filtered: true,
            files,
            ..Ending::done(text)
        }
    }

    fn history(
        &self,
        input: &Input,
        heard: Heard,
        work: &mut Work,
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
        let said = Content::person(&heard.name, heard.words).with(heard.media.parts);
        let mut rows = vec![row(Role::User, said)];
        let gone = parts::dropped(&work.steps);
        for step in &mut work.steps {
            parts::drop_from(step, &gone);
            // No later turn has a use for it.
            step.sealed = None;
            step.progress.clear();
            rows.push(row(Role::Assistant, Content::step(step)));
        }
        let mut answer = Content::model(text.to_owned(), reasoning);
        let mut cost = std::mem::take(&mut *work.cost.lock());
        if cost.requests > 0 {
            let micros = self.clock.tick().saturating_sub(input.since);
            cost.millis = micros / 1_000;
            answer.parts.push(Part::Cost(cost));
        }
        rows.push(row(Role::Assistant, answer));
        rows
    }
}

/// Gives each call a result: no request and no history has one without.
fn close(work: &mut Work, waits: bool) {
    let open = if waits { WAITING } else { UNKNOWN };
    for step in &mut work.steps {
        for result in &mut step.results {
            result.get_or_insert_with(|| open.to_owned());
        }
    }
}

fn failure_reason(error: &ChainError) -> Reason {
    match error.class() {
        ErrorClass::RateLimit => Reason::ModelRateLimited,
        ErrorClass::Security => Reason::AnswerRefused,
        _ => Reason::ModelFailed,
    }
}
