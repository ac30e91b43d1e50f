//! What is done with each event: journaled, kept as context, or left out with a reason.
//!
//! Owns the order of the questions: other bots, empty messages, addressing, kind and lane. Pure but for
//! counting reasons; it never waits and never writes.

use std::sync::Arc;

use weirgate_sdk::{ChatKind, Event, InboundMessage, Outcome, Via};

use super::{AccountRules, Known, Shared, Step};
use crate::{
    agent::history::Content,
    clock::millis,
    command::{Parsed, When, parse},
    inbound::{
        addressing::Addressing,
        body,
        burst::{Aside, Pause},
        queue::Kind,
        route::Route,
    },
    reason::Reason,
    schedule::lane::Lane,
    store::{Accept, Ambient, History, Role},
    telemetry::metrics::Queue,
};

/// What holds where an event comes from.
pub(super) struct Here<'a> {
    /// Of its account.
    pub(super) rules: &'a AccountRules,
    /// When the bot feels addressed there.
    pub(super) addressing: &'a Addressing,
    /// What ends a burst.
    pub(super) pause: Pause,
    /// Who sent it is blocked.
    pub(super) shut_out: bool,
}

impl Shared {
    /// What is to be done with an event. Messages that are to be journaled are put into `messages`, what may only
    /// be kept as context into `ambient`.
    pub(super) fn plan(
        self: &Arc<Self>,
        event: Event,
        here: &Here<'_>,
        messages: &mut Vec<Accept>,
        ambient: &mut Vec<InboundMessage>,
    ) -> Step {
        let standings = self.parts.directory.standings();
        if standings.event(&event, self.parts.clock.now()) {
            return Step::Ended(Outcome::Ignored);
        }
        match event {
            Event::Message(message) => self.plan_message(message, here, messages, ambient),
            Event::Edited(message) => {
                if self.bursts.lock().edited(&message) {
                    return Step::Ended(Outcome::Ignored);
                }
                Step::Edit(message)
            }
            Event::Deleted {
                conversation,
                message,
            } => {
                if self.bursts.lock().recalled(&conversation, &message) {
                    return self.ignore(Reason::Recalled);
                }
                Step::Delete(conversation, message)
            }
            Event::StopPressed {
                conversation,
                sender,
            } => Step::Stop(conversation, sender.key),
            Event::Other { .. } => self.ignore(Reason::UnsupportedEvent),
            Event::Malformed { name } => {
                tracing::debug!(name, "an event that cannot be read");
                self.ignore(Reason::MalformedEvent)
            }
            Event::OverLimit => self.ignore(Reason::AccountLimit),
            Event::OwnMessage => self.ignore(Reason::OwnMessage),
            Event::MemberJoined { .. }
            | Event::MemberLeft { .. }
            | Event::RoleChanged { .. }
            | Event::ConversationMigrated { .. }
            | Event::BotAdded { .. }
            | Event::BotRemoved { .. } => {
                Queue::Intake.dropped(Reason::UnsupportedEvent, 1);
                Step::Ended(Outcome::Ignored)
            }
        }
    }

    pub(super) fn ignore(&self, reason: Reason) -> Step {
        self.parts.traces.count(reason);
        Queue::Intake.dropped(reason, 1);
        Step::Ended(Outcome::Ignored)
    }

    fn plan_message(
        self: &Arc<Self>,
        mut message: Box<InboundMessage>,
        here: &Here<'_>,
        messages: &mut Vec<Accept>,
        ambient: &mut Vec<InboundMessage>,
    ) -> Step {
        if message.sender.is_bot {
            return self.ignore(Reason::OtherBot);
        }
        if message.is_empty() && !message.mentions_bot {
            return self.ignore(Reason::EmptyMessage);
        }
        if let Some(replied) = &mut message.reply_to
            && replied.to_bot.is_none()
            && self.parts.sent.has(&message.conversation, &replied.message)
        {
            replied.to_bot = Some(true);
        }
        if message.chat == ChatKind::Group {
            let (place, sender) = (&message.conversation, &message.sender);
            let seen = self.parts.directory.seen();
            seen.remember(place, &sender.key.id, &sender.name);
            let standings = self.parts.directory.standings();
            standings.message(&message);
        }
        let text = message.own_text();
        let parsed = parse(&text);
        let known = matches!(parsed, Parsed::Command(..)) || message.via != Via::Text;
        let mut earlier = Vec::new();
        let addressed = here.addressing.is_addressed(&message, &text, known);
        if here.shut_out {
            return if addressed {
                self.turn_away(message)
            } else {
                self.ignore(Reason::NotAddressed)
            };
        }
        if addressed {
            if matches!(route_of(&message, parsed), Route::Queued(Kind::Message, _)) {
                earlier = self.said_before(&message, here.pause);
            }
        } else {
            message = match self.aside(message, here.pause) {
                Aside::Belongs(message) => message,
                Aside::Held { gives_way, .. } => {
                    if let Some(oldest) = gives_way {
                        ambient.push(*oldest);
                        return self.ignore(Reason::NotAddressed);
                    }
                    return Step::Ended(Outcome::Ignored);
                }
                Aside::Passed(message) => {
                    ambient.push(*message);
                    return self.ignore(Reason::NotAddressed);
                }
            };
        }
        let mut journaled = |message: InboundMessage| {
            let message = self.parts.hooks.before_queue(message)?;
            let (known, row) = self.row(message, here.rules.shown);
            messages.push(row);
            Some(known)
        };
        let earlier = earlier.into_iter().filter_map(&mut journaled).collect();
        match journaled(*message) {
            Some(known) => Step::Accepted(earlier, Box::new(known)),
            None => Step::Ended(Outcome::Ignored),
        }
    }

    /// The row of a message, and what else is known of it.
    fn row(&self, message: InboundMessage, shown: bool) -> (Known, Accept) {
        let text = message.own_text();
        let route = route_of(&message, parse(&text));
        let body = body::encode(&message);
        let priority = self.parts.hooks.priority(&message);
        let at = self.parts.clock.now();
        let known = Known {
            conversation: message.conversation.clone(),
            person: message.sender.key.clone(),
            message: message.id.clone(),
            route,
            priority,
            body: body.clone(),
            at,
        };
        let row = Accept {
            conversation: message.conversation,
            person: message.sender.key,
            event: message.dedupe.key,
            event_until: at.saturating_add(millis(message.dedupe.lifetime)),
            at,
            route: route.code(),
            priority,
            shown,
            body,
        };
        (known, row)
    }
}

/// How an event ended of which nothing is to be done.
pub(super) fn ended(step: &Step) -> Outcome {
    match step {
        Step::Ended(outcome) => *outcome,
        _ => Outcome::Ignored,
    }
}

/// What is done with an event, for the metrics.
pub(super) fn outcome_name(step: &Step) -> &'static str {
    match step {
        Step::Ended(_) => "ignored",
        Step::Accepted(..) => "message",
        Step::Edit(_) => "edited",
        Step::Delete(..) => "deleted",
        Step::Stop(..) => "stop",
    }
}

fn route_of(message: &InboundMessage, parsed: Parsed<'_>) -> Route {
    if matches!(message.via, Via::Button | Via::Request) {
        // Its words are an id or a request, and whoever waits for it must not wait for a turn.
        return Route::Queued(Kind::Now, Lane::Command);
    }
    route(parsed, body::is_too_large(message))
}

/// How a message is queued.
pub(super) fn route(parsed: Parsed<'_>, too_large: bool) -> Route {
    match parsed {
        Parsed::Command(command, _) => match command.spec().when {
            When::Control => Route::Control,
            When::Now => Route::Queued(Kind::Now, Lane::Command),
            When::InOrder => Route::Queued(Kind::InOrder, Lane::Command),
        },
        Parsed::Unknown(_) => Route::Queued(Kind::Now, Lane::Command),
        Parsed::Text if too_large => Route::Queued(Kind::Now, Lane::Command),
        Parsed::Text => Route::Queued(Kind::Message, Lane::Direct),
    }
}

pub(super) fn ambient_row(message: &InboundMessage) -> Ambient {
    let text = body::decode(&body::encode(message)).map(|body| body::text_for_model(&body));
    let name = if message.chat == ChatKind::Group {
        message.sender.name.as_str()
    } else {
        ""
    };
    let content = Content::person(name, text.unwrap_or_default());
    let row = History {
        role: Role::Ambient,
        turn: 0,
        at: message.received_at,
        parts: content.encode(),
    };
    Ambient {
        conversation: message.conversation.clone(),
        row,
    }
}
