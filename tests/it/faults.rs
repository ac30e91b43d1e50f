//! The fault script: everything that goes wrong between the gateway and a platform, one after the other, run for each.
//!
//! A real gateway stands between a model that answers at once and a platform that misbehaves. Whatever happens: nothing is
//! lost, order is kept, and an answer is seen twice only where nobody can know whether the first one arrived, and only if
//! the operator prefers that (`output.on_unknown`).

#![cfg(test)]

mod discord;
mod official;
mod onebot;
mod telegram;
mod webchat;

use async_trait::async_trait;
use serde_json::{Value, json};
use weirgate_testkit::model::FakeModel;

use crate::gateway::{Gateway, LIMIT, until};

/// What goes wrong with a send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Too many calls, for so long.
    FloodFor,
    /// Too many calls, without a word how long.
    Flood,
    /// The server fails before it has done anything.
    Server,
    /// The connection breaks before anything is done.
    Cut,
    /// It is done, and the connection breaks before the answer.
    Lost,
    /// It is done, and the answer comes too late or never.
    Late,
    /// Nothing is done, and the answer cannot be read.
    Garbled,
}

const FAULTS: [Fault; 7] = [
    Fault::FloodFor,
    Fault::Flood,
    Fault::Server,
    Fault::Cut,
    Fault::Lost,
    Fault::Late,
    Fault::Garbled,
];

impl Fault {
    /// People see the answer although the gateway is told otherwise.
    fn is_done(self) -> bool {
        matches!(self, Self::Lost | Self::Late)
    }

    /// Whoever hears only this cannot know whether it was done.
    fn is_unknown(self) -> bool {
        !matches!(self, Self::FloodFor | Self::Flood)
    }
}

/// A platform that can misbehave, with one person who writes to the bot.
#[async_trait]
trait Service: Send + Sized {
    /// A send that comes again is known and seen once.
    const IDEMPOTENT: bool;

    /// The platform, and a gateway that has reached it. `changes` belong into its configuration.
    async fn start(model: &FakeModel, changes: Value) -> (Self, Gateway);

    /// The next send meets this fault; `false` where there is no such fault.
    fn meet(&mut self, fault: Fault) -> bool;

    /// The person says something.
    async fn say(&mut self, text: &str);

    /// The platform tells of the person's last message again.
    async fn repeat(&mut self);

    /// The person says two things, and the platform tells of the second one first.
    async fn say_swapped(&mut self, first: &str, second: &str);

    /// Events that are not as they should be.
    async fn malformed(&mut self);

    /// The connection over which events come breaks.
    async fn cut(&mut self);

    /// The next text that the person sees.
    async fn seen(&mut self) -> Option<String>;
}

/// Everything that is seen up to and with this text.
async fn seen_until(service: &mut impl Service, last: &str, gateway: &Gateway) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        let text = service.seen().await;
        let text = text.unwrap_or_else(|| panic!("no {last} after {all:?}: {}", gateway.log()));
        let is_last = text == last;
        all.push(text);
        if is_last {
            return all;
        }
    }
}

/// Whole answers, so that each is one message; and what is done with those of which nobody knows.
fn output(on_unknown: &str) -> Value {
    let full = json!({ "telegram": "full", "discord": "full", "qq": "full", "webchat": "full" });
    json!({ "output": { "on_unknown": on_unknown, "default_strategy": "full",
        "platform_adaptation": { "strategy_by_platform": full } } })
}

/// Says something whose answer meets a fault, and something behind it; gives how often the first answer was seen.
async fn through(
    (service, gateway): (&mut impl Service, &Gateway),
    model: &FakeModel,
    fault: Fault,
) -> usize {
    let (text, after) = (format!("{fault:?}"), format!("after {fault:?}"));
    let asked = model.count();
    service.say(&text).await;
    // Said later, it is a turn of its own.
    assert!(
        until(|| model.count() > asked).await,
        "{fault:?} was not heard"
    );
    service.say(&after).await;
    let all = seen_until(service, &format!("re: {after}"), gateway).await;
    let expected = format!("re: {text}");
    let (last, before) = all.split_last().expect("the last one");
    assert!(
        before.iter().all(|one| *one == expected),
        "{fault:?}: {all:?}"
    );
    assert_eq!(*last, format!("re: {after}"));
    before.len()
}

/// An operator who prefers a double to a gap loses nothing.
async fn nothing_is_lost<S: Service>() {
    let model = FakeModel::start().await;
    let (mut service, gateway) = S::start(&model, output("resend")).await;
    let mut met = 0;
    for fault in FAULTS {
        if !service.meet(fault) {
            continue;
        }
        met += 1;
        let times = through((&mut service, &gateway), &model, fault).await;
        let most = if fault.is_done() && !S::IDEMPOTENT {
            2
        } else {
            1
        };
        assert!((1..=most).contains(&times), "{fault:?}: {times} times");
    }
    assert!(met > 0, "it never misbehaves");
    assert_eq!(model.count(), 2 * met, "each was asked once");
}

/// An operator who prefers a gap to a double sees nothing twice, and gaps only where nobody can know.
async fn nothing_is_doubled<S: Service>() {
    let model = FakeModel::start().await;
    let (mut service, gateway) = S::start(&model, output("hold")).await;
    for fault in FAULTS {
        if !service.meet(fault) {
            continue;
        }
        let times = through((&mut service, &gateway), &model, fault).await;
        let least = usize::from(S::IDEMPOTENT || fault.is_done() || !fault.is_unknown());
        assert!((least..=1).contains(&times), "{fault:?}: {times} times");
    }
}

/// Repeated, reordered and broken events, and connections that break, change nothing of what is answered.
async fn events_are_taken_as_they_come<S: Service>() {
    let model = FakeModel::start().await;
    let (mut service, gateway) = S::start(&model, output("hold")).await;
    service.say("one").await;
    assert_eq!(service.seen().await.as_deref(), Some("re: one"));
    service.repeat().await;
    service.malformed().await;
    service.repeat().await;
    service.say("two").await;
    assert_eq!(service.seen().await.as_deref(), Some("re: two"));
    service.cut().await;
    service.say("three").await;
    let seen = service.seen().await;
    assert_eq!(seen.as_deref(), Some("re: three"), "{}", gateway.log());
    service.repeat().await;
    service.say_swapped("four", "five").await;
    let mut both = Vec::new();
    while !both.join("\n").contains("four") || !both.join("\n").contains("five") {
        let seen = service.seen().await;
        both.push(seen.unwrap_or_else(|| panic!("{both:?}: {}", gateway.log())));
    }
    assert!(both.len() <= 2, "{both:?}");
    // The order of what is told is the order in which it is heard; no platform's ids are believed against it.
    let both = both.join("\n");
    assert!(both.find("five") < both.find("four"), "{both}");
    service.malformed().await;
    service.cut().await;
    service.say("six").await;
    let seen = service.seen().await;
    assert_eq!(seen.as_deref(), Some("re: six"), "{}", gateway.log());
}

/// Makes a test of each part of the script for a platform.
macro_rules! script {
    ($($name:ident: $service:ty),* $(,)?) => { $(
        mod $name {
            #[tokio::test]
            async fn nothing_is_lost() {
                super::super::nothing_is_lost::<$service>().await;
            }

            #[tokio::test]
            async fn nothing_is_doubled() {
                super::super::nothing_is_doubled::<$service>().await;
            }

            #[tokio::test]
            async fn events_are_taken_as_they_come() {
                super::super::events_are_taken_as_they_come::<$service>().await;
            }
        }
    )* };
}
use script;
