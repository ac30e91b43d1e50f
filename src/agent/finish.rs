//! The end of a turn: one transaction with the answer, the history and every other effect.
//!
//! Owns the outbox row of the answer and its hand-over to delivery, after the commit and never before.

use std::time::Duration;

use super::{
    Agent,
    answer::Ending,
    turn::{Input, Turn},
};
use crate::{
    outbound::{
        compose::{Addressee, Draft},
        outbox::Reply,
    },
    store::{Effect, Finish, NewReply, ReplyBody, StoreError, Write, commit},
};

/// Pauses between tries to write the end of a turn while the store is away.
const WRITE_PAUSES: [Duration; 4] = [
    Duration::from_millis(200),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(10),
];

impl Agent {
    /// Writes the end of a turn and hands the answer over.
    pub(super) async fn finish(
        &self,
        input: &Input,
        turn: &Turn,
        ending: Ending,
        begun: bool,
    ) -> Result<(), StoreError> {
        let changed = preferences_changed(&ending.effects);
        let body = self.reply_body(turn, &ending);
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
            sending: true,
            shown,
            due_at: now,
            body: json.into_boxed_str(),
        });
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
        if changed {
            self.desk.directory.changed(input.person);
        }
        if let (Some(id), Some(body)) = (ids.first(), body) {
            let tick = self.clock.tick();
            self.deliverer.push(Reply {
                id: *id,
                conversation: input.conversation,
                key: turn.conversation.clone(),
                turn: Some(input.turn),
                body,
                part: 0,
                intent_written: true,
                doubts: 0,
                since: tick,
                due: tick,
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

    fn reply_body(&self, turn: &Turn, ending: &Ending) -> Option<ReplyBody> {
        let adapter = self.deliverer.adapter(&turn.conversation)?;
        let draft = Draft {
            text: ending.text.clone(),
            format: ending.format,
            filtered: ending.filtered,
        };
        let to = Addressee {
            answers: turn
                .bodies
                .iter()
                .map(|body| body.message.clone())
                .collect(),
            author: Some(turn.person.encode()),
            reply_context: turn.body().reply_context.clone(),
        };
        let random = self.random;
        self.composer.compose(
            draft,
            to,
            &*adapter,
            &turn.conversation,
            ending.strategy,
            &mut || random(),
        )
    }

    /// Tries for a while, so that a short trouble of the store does not cost the answer.
    async fn write_finish(&self, finish: Finish) -> Result<Vec<i64>, StoreError> {
        for pause in WRITE_PAUSES {
            let copy = Box::new(finish.clone());
            match commit(&self.store, |then| Write::Finish(copy, then)).await {
                Err(StoreError::Database(error)) => {
                    tracing::error!(
                        turn = finish.turn,
                        error,
                        "the end of a turn was not written"
                    );
                    tokio::time::sleep(pause).await;
                }
                other => return other,
            }
        }
        commit(&self.store, |then| Write::Finish(Box::new(finish), then)).await
    }
}

fn preferences_changed(effects: &[Effect]) -> bool {
    effects
        .iter()
        .any(|effect| matches!(effect, Effect::Set { of, .. } if of.person != 0))
}
