//! The end of a turn: one transaction with the answer, the history and every other effect.
//!
//! Owns the outbox row of the answer and its hand-over to delivery, after the commit and never before.

use std::{sync::Arc, time::Duration};

use super::{
    Agent,
    ending::Ending,
    recent::Recent,
    turn::{Input, Turn},
};
use crate::{
    directory::Directory,
    outbound::{
        compose::{Addressee, Draft, is_cut},
        outbox::Reply,
    },
    reason::Reason,
    store::{
        Effect, Finish, HistoryScope, NewReply, Place, ReplyBody, StoreError, TurnState, Write,
        commit,
    },
    telemetry::{
        metrics,
        traces::{self, EndedTurn},
    },
    trace::turn_id,
};

/// The first and the longest pause between tries to write the end of a turn.
const WRITE_PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));

impl Agent {
    /// Writes the end of a turn and hands the answer over.
    pub(super) async fn finish(
        &self,
        input: &Input,
        turn: &Turn,
        ending: Ending,
        begun: bool,
    ) -> Result<(), StoreError> {
        let changes = Changes::of(&ending.effects);
        let puts_off = ending
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Defer(_)));
        let (outcome, failed) = (outcome(&ending), ending.state == TurnState::Failed);
        metrics::turn_ended(outcome);
        let body = match self.reply_body(input, turn, &ending) {
            Some(body) => Some(self.long_as_file(input, turn, body).await),
            None => None,
        };
        let sending = self.deliverer.is_free(input.conversation);
        let now = self.clock.now();
        let shown = self
            .deliverer
            .adapter(&turn.conversation)
            .is_some_and(|adapter| adapter.capabilities(&turn.conversation).transcript);
        let reply = body
            .as_ref()
            .and_then(|body| serde_json::to_string(body).ok());
        let replies = reply.map(|json| NewReply {
            conversation: input.conversation,
            turn: Some(input.turn),
            sending,
            shown,
            due_at: now,
            body: json.into_boxed_str(),
        });
        let appended = ending.history.clone();
        let finish = Finish {
            turn: input.turn,
            begun,
            members: input.members(),
            state: ending.state,
            reason: ending.reason.map(|reason| reason.code()),
            history: ending.history,
            scope: turn.scope,
            replies: replies.into_iter().collect(),
            effects: ending.effects,
            at: now,
        };
        let ids = self.write_finish(finish).await?;
        drop(ending.alone);
        self.trace(input, turn, outcome, failed);
        changes.recent(&self.recent);
        if !appended.is_empty() {
            let most = input.rules.settings.history_rows();
            self.recent.append(turn.scope, &appended, most);
        }
        changes.directory(&self.desk.directory);
        if !input.command && !ids.is_empty() {
            self.ledger
                .used
                .answered(input.conversation, input.person, self.clock.tick());
        }
        if puts_off {
            self.desk.put_off.notify_one();
        }
        if let (Some(id), Some(body)) = (ids.first(), body) {
            self.hand_over(input, turn, (*id, body), sending);
        }
        if ids.is_empty() {
            self.deliverer.ended(&turn.conversation, || {
                let messages = answers(turn, &ending.also_ends);
                messages.map(|id| id.as_str().into()).collect()
            });
        }
        let key = self
            .desk
            .keying
            .key(input.account, input.conversation, input.person);
        if self.desk.dispatch.depth(&key) == 0 {
            self.hooks.queue_empty(&turn.conversation, &turn.person);
        }
        Ok(())
    }

    /// Lets an answer leave whose row is written under this id.
    fn hand_over(
        &self,
        input: &Input,
        turn: &Turn,
        (id, body): (i64, ReplyBody),
        intent_written: bool,
    ) {
        let tick = self.clock.tick();
        self.deliverer.push(Reply {
            id,
            conversation: input.conversation,
            key: turn.conversation.clone(),
            turn: Some(input.turn),
            body,
            part: 0,
            intent_written,
            doubts: 0,
            doubtful: false,
            since: tick,
            due: tick,
        });
    }

    fn reply_body(&self, input: &Input, turn: &Turn, ending: &Ending) -> Option<ReplyBody> {
        let Some(adapter) = self.deliverer.adapter(&turn.conversation) else {
            // The account is gone from the configuration.
            self.traces
                .note(input.turn, Reason::SendGone, self.clock.now());
            return None;
        };
        let text = if ending.filtered {
            ending.text.clone()
        } else {
            let cleaned = input.rules.composer.redactor().clean(&ending.text);
            self.note_replaced(input, cleaned.secrets, cleaned.words);
            cleaned.text.into_owned()
        };
        let (text, media) = self.albums(input, turn, ending, text);
        let draft = Draft {
            text,
            format: ending.format,
            filtered: true,
            language: turn.language,
            media,
        };
        let to = Addressee {
            answers: answers(turn, &ending.also_ends).cloned().collect(),
            // A press or a request is nothing that could be quoted.
            author: (!turn.body().pressed && !turn.body().request).then(|| turn.person.encode()),
            reply_context: turn.body().reply_context.clone(),
            private: ending.private,
        };
        let random = self.random;
        let mut body = input.rules.composer.compose(
            draft,
            to,
            &*adapter,
            &turn.conversation,
            ending.strategy,
            &mut || random(),
        )?;
        body.buttons.clone_from(&ending.buttons);
        let split = body.parts.len() > 1 && body.pauses.is_empty();
        let changes = [
            (split, Reason::SplitForLimit),
            (is_cut(&body), Reason::ReplyBudget),
        ];
        for (_, reason) in changes.into_iter().filter(|(changed, _)| *changed) {
            self.traces.note(input.turn, reason, self.clock.now());
        }
        Some(body)
    }

    /// Notes what was taken out of an answer.
    pub(super) fn note_replaced(&self, input: &Input, secrets: bool, words: bool) {
        let reasons = [
            (secrets, Reason::Redacted),
            (words, Reason::ContentFiltered),
        ];
        for (_, reason) in reasons.into_iter().filter(|(replaced, _)| *replaced) {
            self.traces.note(input.turn, reason, self.clock.now());
        }
    }

    fn trace(&self, input: &Input, turn: &Turn, outcome: &'static str, failed: bool) {
        let took = self.clock.tick().saturating_sub(input.since);
        let members = input.members();
        traces::turn_ended(&EndedTurn {
            turn: input.turn,
            merged: members.get(1..).unwrap_or_default(),
            account: (
                turn.conversation.platform.as_str(),
                turn.conversation.account.as_str(),
            ),
            command: input.command,
            outcome,
            failed,
            took: Duration::from_micros(took),
        });
    }

    /// Tries until it is written: what the model said is worth more than the slot that waits.
    async fn write_finish(&self, finish: Finish) -> Result<Vec<i64>, StoreError> {
        let finish = Arc::new(finish);
        let mut pause = WRITE_PAUSE.0;
        loop {
            let copy = Arc::clone(&finish);
            match commit(&self.store, |then| Write::Finish(copy, then)).await {
                Err(StoreError::Database(error)) => {
                    self.traces
                        .note(finish.turn, Reason::StoreUnavailable, self.clock.now());
                    let turn = turn_id(finish.turn);
                    tracing::error!(
                        turn,
                        error,
                        "the end of a turn was not written; trying again"
                    );
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(WRITE_PAUSE.1);
                }
                other => return other,
            }
        }
    }
}

/// The messages that end with a turn. The one that the answer is shown as a reply to comes last.
fn answers<'a>(turn: &'a Turn, also_ends: &'a [String]) -> impl Iterator<Item = &'a String> {
    let own = turn.bodies.iter().map(|body| &body.message);
    also_ends.iter().chain(own)
}

/// How a turn ended, for the metrics.
fn outcome(ending: &Ending) -> &'static str {
    match (ending.state, ending.reason) {
        (TurnState::Done, _) => "done",
        (TurnState::Cancelled, _) => "stopped",
        (TurnState::Failed, reason) => reason.map_or("failed", Reason::code),
    }
}

/// What the effects of a turn make worthless of what is kept beside the store.
#[derive(Default)]
pub(super) struct Changes {
    places: Vec<Place>,
    resets: Vec<HistoryScope>,
    forgets: bool,
}

impl Changes {
    pub(super) fn of(effects: &[Effect]) -> Self {
        let mut changes = Self::default();
        for effect in effects {
            match effect {
                Effect::Set { of, .. } => changes.places.push(*of),
                Effect::Reset(scope) => changes.resets.push(*scope),
                Effect::Forget(forget) => {
                    let place = Place::of_conversation(forget.conversation);
                    changes.places.push(place);
                    changes.forgets = true;
                }
                Effect::Ask(_)
                | Effect::Audit(_)
                | Effect::EraseAudit { .. }
                | Effect::Defer(_)
                | Effect::Withdraw { .. }
                | Effect::StepsDone { .. } => {}
            }
        }
        changes
    }

    pub(super) fn recent(&self, recent: &Recent) {
        if self.forgets {
            // Each person may have a history of his own there; this is rare enough to begin anew for all.
            recent.clear();
        }
        self.resets.iter().for_each(|scope| recent.forget(*scope));
    }

    pub(super) fn directory(&self, directory: &Directory) {
        self.places
            .iter()
            .for_each(|place| directory.changed(*place));
    }
}
