//! One part of a reply on its way: intent, send, receipt, and what each outcome leads to.
//!
//! Owns the rules of repetition. A part whose outcome nobody knows is repeated only where the platform
//! drops the second copy, or where the operator prefers a double to a gap.

use std::{sync::Arc, time::Duration};

use weirgate_sdk::{
    Adapter, Freeze, MessageId, Outgoing, OutgoingFile, SendError,
    answer::{Format, Rendered},
};

use super::{
    ATTEMPTS, Held, RETRY_PAUSE, Reply, Shared, ends::message_ids, failed, micros, rendered,
    reply_target, turn_id,
};
use crate::{
    clock::{Tick, millis},
    outbound::config::OnUnknown,
    reason::Reason,
    security::redact::Redactor,
    store::{ReceiptOutcome, Write, commit},
    telemetry::{
        metrics::{self, Queue},
        traces::{self, SentPart},
    },
};

/// How long the operator is not told again that the bot may not write in a conversation.
const FORBIDDEN_AGAIN: Duration = Duration::from_secs(3_600);
/// A pause that is longer is told in the log: people would wonder.
const LONG_PAUSE: Duration = Duration::from_secs(5);

/// A part.
pub(super) struct Part<'a> {
    pub(super) adapter: Arc<dyn Adapter>,
    pub(super) reply: &'a Reply,
    pub(super) text: &'a str,
    /// How the text is to be read.
    pub(super) format: Format,
    /// In the place of the text.
    pub(super) files: Vec<OutgoingFile>,
    pub(super) index: u32,
    pub(super) count: u32,
}

/// What became of a part.
pub(super) enum Outcome {
    /// The platform has it.
    Delivered,
    /// Nobody knows, and it is not repeated; the other parts follow.
    Doubtful,
    /// The platform does not take the files: something else goes in their place.
    FileRefused,
    /// The reply is given up.
    GivenUp,
    /// The gateway stops.
    Stopped,
}

/// What to do after a failed send.
enum Next {
    Again(Duration),
    Plain,
    AsText,
    Doubtful,
    GiveUp(Reason),
}

/// What has been tried for one part.
struct Tried {
    format: Format,
    intent_written: bool,
    doubts: u32,
    pause: Duration,
    begun: bool,
}

impl Tried {
    /// The first part of a reply leaves its queue when it may be sent for the first time.
    fn begin(&mut self, part: &Part<'_>, now: Tick) {
        let reply = part.reply;
        if !std::mem::replace(&mut self.begun, true) && part.index == reply.part {
            let waited = now.saturating_sub(reply.since.max(reply.due));
            Queue::Outbound.sent(1);
            Queue::Outbound.waited(Duration::from_micros(waited));
        }
    }
}

impl Shared {
    /// Sends one part until it is settled. `doubtful` says that an earlier part is.
    pub(super) async fn send_part(
        self: &Arc<Self>,
        part: &mut Part<'_>,
        frozen: &mut Tick,
        doubtful: bool,
    ) -> Outcome {
        let reply = part.reply;
        let capabilities = part.adapter.capabilities(&reply.key);
        let mut tried = Tried {
            format: part.format,
            intent_written: reply.intent_written,
            doubts: reply.doubts,
            pause: RETRY_PAUSE.0,
            begun: false,
        };
        loop {
            match self.wait(part, frozen).await {
                Ok(()) => tried.begin(part, self.clock.tick()),
                Err(Outcome::Stopped) => return self.stopped(part, &tried).await,
                Err(outcome) => return outcome,
            }
            if !tried.intent_written && !self.write_intent(reply.id, part.index).await {
                // The store is away. Nothing may be sent that it does not know of.
                if !self.rest(grow(&mut tried.pause)).await {
                    return Outcome::Stopped;
                }
                continue;
            }
            tried.intent_written = true;
            if !self.earlier_receipts(reply.conversation).await {
                return self.stopped(part, &tried).await;
            }
            if !self.store.in_force() {
                // Another process may have taken over, and sends this part.
                if !self.rest(grow(&mut tried.pause)).await {
                    return self.stopped(part, &tried).await;
                }
                continue;
            }
            let error = match self.send_once(part, tried.format).await {
                Ok(message) => {
                    self.delivered(part, message, doubtful).await;
                    return Outcome::Delivered;
                }
                Err(error) => error,
            };
            tracing::debug!(turn = %turn_id(reply.turn.unwrap_or(reply.id)), part = part.index,
                %error, "a part was not delivered");
            match self.next(part, &error, capabilities.idempotent, &mut tried) {
                Next::Again(pause) => {
                    self.ready_again(part, &error, &mut tried).await;
                    if !self.rest(pause).await {
                        return Outcome::Stopped;
                    }
                    // A reload may have put another adapter in its place, or taken it away.
                    match self.adapter(&reply.key) {
                        Some(adapter) => part.adapter = adapter,
                        None => return self.given_up(part, &error, Reason::SendGone).await,
                    }
                }
                Next::Plain => tried.format = Format::Plain,
                Next::AsText => {
                    tracing::warn!(reply = reply.id, %error, "files are not taken");
                    return Outcome::FileRefused;
                }
                Next::Doubtful => {
                    self.note(reply.turn, reply.id, Reason::SendUnknown);
                    // The other parts follow, also after a crash; the last one says that it is held.
                    let outcome = if part.index + 1 < part.count {
                        ReceiptOutcome::Doubtful
                    } else {
                        ReceiptOutcome::Unknown {
                            reason: Reason::SendUnknown.code(),
                        }
                    };
                    self.settle(reply.id, part.index, outcome).await;
                    if part.index + 1 == part.count {
                        self.unanswered(reply);
                    }
                    return Outcome::Doubtful;
                }
                Next::GiveUp(reason) => return self.given_up(part, &error, reason).await,
            }
        }
    }

    async fn given_up(&self, part: &Part<'_>, error: &SendError, reason: Reason) -> Outcome {
        let reply = part.reply;
        if reason == Reason::SendForbidden {
            self.may_not_write(reply, error);
        } else {
            tracing::warn!(reply = reply.id, %error, "a reply is given up");
        }
        self.note(reply.turn, reply.id, reason);
        self.settle(reply.id, part.index, failed(reason)).await;
        Outcome::GivenUp
    }

    /// Tells the operator that the bot may not write in a conversation: once in a while, however much is said there.
    fn may_not_write(&self, reply: &Reply, error: &SendError) {
        let now = self.clock.tick();
        let told = {
            let mut forbidden = self.forbidden.lock();
            let last = forbidden.get(&reply.conversation).copied();
            let told = last.is_some_and(|last| now.saturating_sub(last) < micros(FORBIDDEN_AGAIN));
            if !told {
                forbidden.put(reply.conversation, now);
            }
            told
        };
        if told {
            tracing::debug!(reply = reply.id, %error, "a reply is given up");
            return;
        }
        let conversation = reply.key.encode();
        tracing::warn!(conversation, reply = reply.id, %error,
            "the bot may not write there; replies are given up until it may");
    }

    /// Waits for the pace of the account.
    ///
    /// # Errors
    /// How the part ends if it is not to be sent now.
    async fn wait(&self, part: &Part<'_>, frozen: &mut Tick) -> Result<(), Outcome> {
        let reply = part.reply;
        let capabilities = part.adapter.capabilities(&reply.key);
        let begun = part.index > 0;
        match self.wait_for_pace(reply, begun, capabilities, frozen).await {
            Ok(()) => Ok(()),
            Err(Held::Stopped) => Err(Outcome::Stopped),
            Err(Held::Expired) => {
                self.note(reply.turn, reply.id, Reason::ReplyExpired);
                Queue::Outbound.dropped(Reason::ReplyExpired, 1);
                let reason = Reason::ReplyExpired.code();
                self.settle(reply.id, part.index, ReceiptOutcome::Expired { reason })
                    .await;
                Err(Outcome::GivenUp)
            }
        }
    }

    /// The gateway stops before the part was tried, or tried again. A part whose intent is written and that
    /// was not tried since is not in doubt.
    async fn stopped(&self, part: &Part<'_>, tried: &Tried) -> Outcome {
        let reply = part.reply;
        if tried.intent_written && tried.doubts == reply.doubts {
            self.note(reply.turn, reply.id, Reason::ShuttingDown);
            let outcome = ReceiptOutcome::Retry {
                due_at: self.clock.now(),
                reason: Reason::ShuttingDown.code(),
            };
            self.settle(reply.id, part.index, outcome).await;
        }
        Outcome::Stopped
    }

    /// One send, with its hooks and figures. Says the id of the message, if the platform gave one.
    async fn send_once(
        &self,
        part: &Part<'_>,
        format: Format,
    ) -> Result<Option<MessageId>, SendError> {
        let reply = part.reply;
        let outgoing = outgoing(part, format, &self.redactor);
        // A part that shows nothing, such as a comment alone, is as good as delivered.
        let visible = !outgoing.files.is_empty() || !outgoing.rendered.text.trim().is_empty();
        let Some(outgoing) = self.hooks.before_send(outgoing).filter(|_| visible) else {
            if part.index + 1 == part.count {
                self.unanswered(reply);
            }
            return Ok(None);
        };
        let timer = metrics::send_timer();
        let sent = part.adapter.send(outgoing).await;
        let took = timer.observe();
        let outcome = metrics::sent(&reply.key.platform, sent.as_ref().map(|_| ()));
        if let Some(turn) = reply.turn {
            traces::sent(&SentPart {
                turn,
                part: (part.index, part.count),
                platform: reply.key.platform.as_str(),
                outcome,
                took,
            });
        }
        match sent {
            Ok(sent) => {
                self.hooks.after_send(reply.id, part.index);
                Ok(sent.message)
            }
            Err(SendError::NotModified) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn next(
        &self,
        part: &Part<'_>,
        error: &SendError,
        idempotent: bool,
        tried: &mut Tried,
    ) -> Next {
        let reply = part.reply;
        match error {
            SendError::RateLimited { after, scope } => {
                self.note(reply.turn, reply.id, Reason::SendRateLimited);
                let longer = self.with_governor(&reply.key, |governor, now| {
                    governor.freeze(reply.conversation, *scope, *after, now)
                });
                if longer > micros(LONG_PAUSE) {
                    // Once for all who wait for it.
                    tracing::info!(conversation = %reply.key.encode(), scope = scope_word(*scope),
                        seconds = after.as_secs(), "the platform demands a pause; what goes there waits");
                }
                Next::Again(Duration::ZERO)
            }
            SendError::Unavailable(_) => Next::Again(grow(&mut tried.pause)),
            SendError::BadFormat(_) if part.files.is_empty() && tried.format != Format::Plain => {
                self.note(reply.turn, reply.id, Reason::FormattedPlain);
                Next::Plain
            }
            SendError::Ambiguous(_) => {
                tried.doubts += 1;
                let repeat = idempotent || self.output.get().on_unknown == OnUnknown::Resend;
                if repeat && tried.doubts < ATTEMPTS {
                    self.note(reply.turn, reply.id, Reason::Resent);
                    metrics::resent();
                    Next::Again(grow(&mut tried.pause))
                } else {
                    Next::Doubtful
                }
            }
            SendError::TooLong
            | SendError::BadFormat(_)
            | SendError::Forbidden(_)
            | SendError::Rejected(_)
                if !part.files.is_empty() =>
            {
                Next::AsText
            }
            SendError::Forbidden(_) => Next::GiveUp(Reason::SendForbidden),
            SendError::Gone(_) | SendError::Migrated { .. } => Next::GiveUp(Reason::SendGone),
            SendError::Expired => Next::GiveUp(Reason::ReplyExpired),
            SendError::TooLong
            | SendError::BadFormat(_)
            | SendError::NotModified
            | SendError::Rejected(_) => Next::GiveUp(Reason::SendFailed),
        }
    }

    /// After a send that certainly did not arrive, the row goes back to ready: a crash in the pause must
    /// not count as an unknown outcome.
    async fn ready_again(&self, part: &Part<'_>, error: &SendError, tried: &mut Tried) {
        if matches!(error, SendError::Ambiguous(_)) {
            return;
        }
        tried.intent_written = false;
        self.note(part.reply.turn, part.reply.id, Reason::SendRetried);
        let after = match error {
            SendError::RateLimited { after, .. } => millis(*after),
            _ => 0,
        };
        let due_at = self.clock.now().saturating_add(after);
        let reason = Reason::SendRetried.code();
        self.settle(
            part.reply.id,
            part.index,
            ReceiptOutcome::Retry { due_at, reason },
        )
        .await;
    }

    async fn delivered(
        self: &Arc<Self>,
        part: &Part<'_>,
        message: Option<MessageId>,
        doubtful: bool,
    ) {
        let last = part.index + 1 == part.count;
        if let Some(message) = &message {
            self.sent.remember(&part.reply.key, message);
        }
        let outcome = if last && doubtful {
            ReceiptOutcome::Unknown {
                reason: Reason::SendUnknown.code(),
            }
        } else {
            let message = message.map(|id| id.as_str().to_owned());
            ReceiptOutcome::Sent { message, last }
        };
        if last {
            self.settle_later(part.reply, part.index, outcome).await;
        } else {
            self.settle(part.reply.id, part.index, outcome).await;
        }
    }

    async fn write_intent(&self, id: i64, part: u32) -> bool {
        let written = commit(&self.store, |then| Write::Intent { id, part, then }).await;
        if let Err(error) = &written {
            tracing::error!(reply = id, %error, "an intent to send could not be written; waiting");
        }
        written.is_ok()
    }

    async fn rest(&self, pause: Duration) -> bool {
        self.sleep_until(self.clock.tick().saturating_add(micros(pause)))
            .await
    }
}

/// How far a pause reaches.
fn scope_word(scope: Freeze) -> &'static str {
    match scope {
        Freeze::Account => "account",
        Freeze::Conversation | Freeze::Route => "conversation",
    }
}

/// The present pause; the next one is twice as long, up to the longest.
fn grow(pause: &mut Duration) -> Duration {
    let present = *pause;
    *pause = (present * 2).min(RETRY_PAUSE.1);
    present
}

fn outgoing(part: &Part<'_>, format: Format, redactor: &Redactor) -> Outgoing {
    let reply = part.reply;
    Outgoing {
        id: reply.id,
        part: part.index,
        parts: part.count,
        conversation: (*reply.key).clone(),
        turn: reply.turn.map(|turn| Arc::from(turn_id(turn))),
        answers: message_ids(&reply.body),
        rendered: if part.files.is_empty() {
            rendered(&*part.adapter, part.text, format, redactor)
        } else {
            Rendered::default()
        },
        files: part.files.clone(),
        reply: reply_target(&reply.body, part.index),
        reply_context: reply.body.reply_context.clone(),
        buttons: if part.index + 1 == part.count {
            reply.body.buttons.clone()
        } else {
            Vec::new()
        },
        private: reply.body.private,
    }
}
