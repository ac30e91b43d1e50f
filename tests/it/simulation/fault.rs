//! What a seed decides about the world: the limits of the gateway, and how its platforms behave.
//!
//! Owns the mix of outcomes of a send and the configurations that are tried.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use parking_lot::Mutex;
use weirgate::{
    agent::model::config::ModelRef,
    config::{Config, Language},
    inbound::config::OverflowStrategy,
    outbound::config::OnUnknown,
};
use weirgate_sdk::{Freeze, Outgoing, SendError};
use weirgate_testkit::scripted::Reaction;

use super::dice::Dice;

/// What went wrong with sends, on purpose.
#[derive(Debug, Default)]
pub struct Refusals {
    /// Answers that were refused for good.
    pub refused: BTreeSet<i64>,
    /// Parts whose outcome stayed unknown, and how often.
    pub unknown: BTreeMap<(i64, u32), usize>,
}

/// What becomes of one send.
pub fn mood(dice: &mut Dice, refusals: &Mutex<Refusals>, outgoing: &Outgoing) -> Reaction {
    let milliseconds = |dice: &mut Dice, most| Duration::from_millis(dice.below(most));
    // Notices always arrive, so that what they say can be counted.
    let answer = outgoing.turn.is_some();
    match dice.below(1_000) {
        0..20 => {
            let scope = dice.pick(&[Freeze::Conversation, Freeze::Conversation, Freeze::Account]);
            let after = milliseconds(dice, 8_000);
            Reaction::Refuse(SendError::RateLimited { after, scope })
        }
        20..40 => Reaction::Refuse(SendError::Unavailable("scripted".into())),
        40..46 if answer => Reaction::Refuse(SendError::BadFormat("scripted".into())),
        46..52 if answer => {
            refusals.lock().refused.insert(outgoing.id);
            Reaction::Refuse(dice.pick_error())
        }
        52..64 if answer => {
            let key = (outgoing.id, outgoing.part);
            *refusals.lock().unknown.entry(key).or_default() += 1;
            if dice.chance(500) {
                Reaction::ShowUnknown
            } else {
                Reaction::LoseUnknown
            }
        }
        64..500 => Reaction::Slow(milliseconds(dice, 300), milliseconds(dice, 200)),
        _ => Reaction::Show,
    }
}

impl Dice {
    fn pick_error(&mut self) -> SendError {
        match self.below(4) {
            0 => SendError::Forbidden("scripted".into()),
            1 => SendError::Gone("scripted".into()),
            2 => SendError::TooLong,
            _ => SendError::Rejected("scripted".into()),
        }
    }
}

/// What is shipped, with the scripted model and without its limits of requests.
pub fn base() -> Config {
    let mut config = Config {
        language: Language::En,
        ..Config::default()
    };
    config.models.chat = vec![ModelRef {
        provider: "sim".into(),
        model: "one".into(),
    }];
    // A summary is asked of the same model, beside the turns.
    config.memory.context_window.summarize_beyond = false;
    config.flow_control.auto.api_rpm_limit = 0;
    config.flow_control.auto.min_interval = Duration::ZERO;
    config
}

/// A configuration that a seed decides, with limits small enough to be reached.
pub fn config(dice: &mut Dice) -> Config {
    let mut config = base();
    let input = &mut config.input_buffer;
    input.max_queue_size = dice.pick(&[3, 10, 1_000]);
    input.overflow_strategy = dice.pick(&[
        OverflowStrategy::DropOldest,
        OverflowStrategy::DropNewest,
        OverflowStrategy::Block,
    ]);
    (input.per_user_queue, input.per_conversation_queue) =
        dice.pick(&[(true, true), (true, false), (false, true), (false, false)]);
    input.max_bytes = dice.pick(&[65_536, 1 << 26]);
    let flow = &mut config.flow_control;
    flow.auto.messages_per_request = dice.pick(&[1, 3, 5]);
    flow.user.rate = dice.pick(&[0.0, 1.0, 5.0]);
    flow.max_turns_in_flight = dice.pick(&[4, 32, 256]);
    flow.debounce = Duration::from_millis(dice.pick(&[0, 0, 400]));
    flow.turn_timeout = Duration::from_secs(40);
    config.output.on_unknown = dice.pick(&[OnUnknown::Hold, OnUnknown::Resend]);
    config.output.segmented.random_interval.max = Duration::from_millis(600);
    config
}
