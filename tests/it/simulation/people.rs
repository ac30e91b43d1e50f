//! What people do: a plan of messages, commands, floods, edits and recalls over time.
//!
//! Owns the plan and who said what. It is made before anything runs, so that a seed is a plan.

use std::{collections::BTreeMap, sync::Arc};

use weirgate_sdk::{Event, InboundMessage};
use weirgate_testkit::scripted::ScriptedAdapter;

use super::dice::Dice;

/// What kind of words it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A message for the model.
    Text,
    /// A command.
    Command,
}

/// Something that a person said.
#[derive(Debug, Clone)]
pub struct Said {
    /// Which account heard it.
    pub stage: usize,
    /// Where.
    pub conversation: String,
    /// Who.
    pub user: String,
    /// The mark in its text, if it has one.
    pub mark: String,
    /// What it was.
    pub kind: Kind,
}

/// Events that reach an account together.
#[derive(Debug)]
pub struct Deed {
    /// When, in milliseconds since the beginning.
    pub at: u64,
    /// What.
    pub events: Vec<Event>,
}

/// The plan.
#[derive(Debug, Default)]
pub struct Plan {
    /// The deeds of each account, by time.
    pub deeds: [Vec<Deed>; 2],
    /// Everything said, by the key under which the journal knows it.
    pub said: BTreeMap<String, Said>,
    /// Keys of messages that were taken back.
    pub recalled: Vec<String>,
}

/// How much happens.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// People.
    pub users: u64,
    /// Deeds of each of them, on average.
    pub deeds: u64,
    /// Milliseconds in which they do them.
    pub span: u64,
}

impl Plan {
    /// What this many people do in this time.
    pub fn new(stages: &[Arc<ScriptedAdapter>; 2], size: Size, dice: &mut Dice) -> Self {
        let mut plan = Self::default();
        for number in 0..size.users * size.deeds {
            let stage = dice.index(2);
            let user = dice.below(size.users);
            let at = dice.below(size.span);
            let group = dice.chance(250);
            let conversation = if group {
                format!("g{}", user % 7)
            } else {
                format!("p{user}")
            };
            // The same number is another person on another platform.
            let name = format!("u{user}{}", ["a", "b"][stage]);
            let who = (stage, &*conversation, &*name);
            plan.deed(&stages[stage], who, (number, at), dice);
        }
        for deeds in &mut plan.deeds {
            deeds.sort_by_key(|deed| deed.at);
        }
        plan
    }

    fn deed(
        &mut self,
        stage: &ScriptedAdapter,
        who: (usize, &str, &str),
        (number, at): (u64, u64),
        dice: &mut Dice,
    ) {
        let mark = |part: u64| format!("#{}.{}.{number}x{part}", who.2, who.1);
        let mut events = Vec::new();
        match dice.below(100) {
            0..3 => {
                for part in 0..dice.within(10, 60) {
                    let text = format!("{} flood", mark(part));
                    events.push(self.say(stage, who, number, (&mark(part), &text), Kind::Text));
                }
            }
            3..12 => {
                let command = dice.pick(&[
                    "/status",
                    "/help",
                    "/lang en",
                    "/nonsense",
                    "/stop",
                    "/cancel",
                    "/why",
                    "/output full",
                    "/reset",
                    "/new",
                ]);
                events.push(self.say(stage, who, number, ("", command), Kind::Command));
            }
            12..16 => {
                let text = format!("/ping {}", mark(0));
                events.push(self.say(stage, who, number, (&mark(0), &text), Kind::Command));
            }
            16 => events.push(Event::Other {
                name: "weather".into(),
            }),
            17 => events.push(Event::StopPressed {
                conversation: stage.key(who.1),
                sender: Box::new(stage.message(who.1, who.2, "x", "x").sender),
            }),
            roll => {
                let text = format!("{} hello", mark(0));
                let said = self.say(stage, who, number, (&mark(0), &text), Kind::Text);
                self.regret(stage, who, &said, at, (roll, dice.within(0, 4_000)));
                events.push(said);
            }
        }
        let again = dice.chance(60).then(|| Deed {
            at: at + dice.within(1, 20_000),
            events: events.clone(),
        });
        self.deeds[who.0].extend(again);
        self.deeds[who.0].push(Deed { at, events });
    }

    /// Some edit or recall what they said soon after.
    fn regret(
        &mut self,
        stage: &ScriptedAdapter,
        who: (usize, &str, &str),
        said: &Event,
        at: u64,
        (roll, later): (u64, u64),
    ) {
        let Event::Message(message) = said else {
            return;
        };
        let event = match roll {
            18..23 => {
                let text = format!("{} edited", message.own_text());
                let edited: InboundMessage =
                    stage.message(who.1, who.2, message.id.as_str(), &text);
                Event::Edited(Box::new(edited))
            }
            23..28 => {
                self.recalled.push(key(stage, message));
                Event::Deleted {
                    conversation: message.conversation.clone(),
                    message: message.id.clone(),
                }
            }
            _ => return,
        };
        self.deeds[who.0].push(Deed {
            at: at + later,
            events: vec![event],
        });
    }

    fn say(
        &mut self,
        stage: &ScriptedAdapter,
        (account, conversation, user): (usize, &str, &str),
        number: u64,
        (mark, text): (&str, &str),
        kind: Kind,
    ) -> Event {
        let id = format!("m{number}x{}", self.said.len());
        let message = stage.message(conversation, user, &id, text);
        let said = Said {
            stage: account,
            conversation: conversation.to_owned(),
            user: user.to_owned(),
            mark: mark.to_owned(),
            kind,
        };
        self.said.insert(key(stage, &message), said);
        Event::Message(Box::new(message))
    }
}

/// The key of a message in the ledger.
fn key(stage: &ScriptedAdapter, message: &InboundMessage) -> String {
    use weirgate_sdk::Adapter;
    format!("{}/{}", stage.platform(), message.dedupe.key)
}
