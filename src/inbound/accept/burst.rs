//! Bursts around a word to the bot: what is held, what comes along, and what was only context after all.
//!
//! Owns the timers that end bursts, one for each that is followed. A stop of the gateway ends all bursts at once. Whether a message is addressed is decided elsewhere.

use std::sync::Arc;

use weirgate_sdk::{ChatKind, InboundMessage};

use super::{Known, Shared, plan::ambient_row};
use crate::{
    clock::Tick,
    inbound::burst::{Aside, Over, Pause, Speaker, speaker},
    reason::Reason,
    store::{StoreError, Write},
};

impl Shared {
    /// What becomes of a message that does not address the bot.
    pub(super) fn aside(self: &Arc<Self>, message: Box<InboundMessage>, pause: Pause) -> Aside {
        if pause.silence.is_zero() || message.chat != ChatKind::Group {
            return Aside::Passed(message);
        }
        let speaker = speaker(&message);
        let now = self.parts.clock.tick();
        let aside = self.bursts.lock().aside(message, now, pause);
        if let Aside::Held {
            begins: Some(until),
            ..
        } = &aside
        {
            self.end_after(speaker, *until);
        }
        aside
    }

    /// What the person said before in the same burst, in order.
    pub(super) fn said_before(
        self: &Arc<Self>,
        message: &InboundMessage,
        pause: Pause,
    ) -> Vec<InboundMessage> {
        if pause.silence.is_zero() || message.chat != ChatKind::Group {
            return Vec::new();
        }
        let now = self.parts.clock.tick();
        let (earlier, begins) = self.bursts.lock().met(message, now, pause);
        if let Some(until) = begins {
            self.end_after(speaker(message), until);
        }
        earlier
    }

    /// What came along is in the journal, and need not be held any longer.
    pub(super) fn burst_is_journaled(&self, earlier: &[Known]) {
        let mut bursts = self.bursts.lock();
        for known in earlier {
            let speaker = (known.conversation.clone(), known.person.clone());
            bursts.taken(&speaker, &known.message);
        }
    }

    /// Keeps what was not for the bot as context, unless whoever said it is not answered there.
    pub(super) async fn keep_as_context(&self, messages: Vec<InboundMessage>) {
        for message in messages {
            match self.parts.agent.overhears(&message).await {
                Ok(true) => {
                    let row = Box::new(ambient_row(&message));
                    let write = Write::Ambient(row, Box::new(log_failure));
                    self.parts.store.write(write).await;
                }
                Ok(false) => {}
                Err(error) => log_failure(Err(error)),
            }
        }
    }

    /// Ends a burst that has begun, at the tick or as much later as it goes on.
    fn end_after(self: &Arc<Self>, speaker: Speaker, mut until: Tick) {
        let shared = Arc::clone(self);
        self.runtime.spawn(async move {
            let clock = shared.parts.clock;
            let held = loop {
                tokio::select! {
                    () = tokio::time::sleep_until(clock.instant(until)) => {}
                    () = shared.parts.stop.stopped() => {}
                }
                let stopped = shared.parts.stop.is_stopped();
                let now = if stopped { Tick::MAX } else { clock.tick() };
                match shared.bursts.lock().over(&speaker, now) {
                    Over::GoesOn(later) => until = later,
                    Over::Ended(held) => break held,
                }
            };
            for _ in &held {
                shared.ignore(Reason::NotAddressed);
            }
            if shared.parts.rules.get().ambient {
                shared.keep_as_context(held).await;
            }
        });
    }
}

fn log_failure(result: Result<(), StoreError>) {
    if let Err(error) = result {
        tracing::error!(%error, "an ambient message was not kept");
    }
}
