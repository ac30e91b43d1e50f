//! Who is heard: the sender's standing, and what the conversation's policy takes from him.
//!
//! Owns the checks in front of every turn, as they hold when the turn runs. What a command or tool needs
//! besides is decided where it runs. A refusal ends the turn with its reason; nothing is dropped unseen.

mod away;
mod overheard;
mod pairing;
mod quota;
mod shown;

use std::{hash::Hash, num::NonZeroUsize, sync::Arc};

use lru::LruCache;
use parking_lot::Mutex;
use weirgate_sdk::{PlatformRole, Segment, SenderKind, UserKey};

use super::{
    Agent,
    ending::Ending,
    limits::{Minute, Wish},
    turn::{Input, Turn},
};
use crate::{
    clock::Tick,
    i18n::rights::Rights,
    permission::{
        Actor, AuditEvent, BuiltIn, Capability, Denial, Scope, Standing, decide,
        policy::ConversationRules,
        standing::{Known, standing},
    },
    reason::Reason,
    schedule::bucket::{Gcra, Rate},
    store::{Body, StoreError},
};

/// How many people are remembered for each limit. Whoever falls out begins anew.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(4_096).expect("not zero");
/// How often a person is told that he may not: now and then, so that nobody makes the bot talk.
const TOLD: Rate = Rate {
    per_second: 0.05,
    burst: 5,
};

/// What people did lately.
pub(super) struct Lately {
    told: Mutex<LruCache<(i64, i64), Gcra>>,
    /// Until when whoever is blocked is not told so again.
    turned_away: Mutex<LruCache<away::Whom, Tick>>,
    messages: Mutex<LruCache<(i64, i64), Minute>>,
    commands: Mutex<LruCache<(i64, i64), Minute>>,
}

impl Default for Lately {
    fn default() -> Self {
        Self {
            told: Mutex::new(LruCache::new(REMEMBERED)),
            turned_away: Mutex::new(LruCache::new(REMEMBERED)),
            messages: Mutex::new(LruCache::new(REMEMBERED)),
            commands: Mutex::new(LruCache::new(REMEMBERED)),
        }
    }
}

/// What is recorded when a message is not answered for want of a right.
const MESSAGE: (AuditEvent, String) = (AuditEvent::PermissionDenied, String::new());

/// Takes tokens from the bucket of whom it concerns; says whether there were enough.
pub(super) fn take<K: Eq + Hash>(
    buckets: &Mutex<LruCache<K, Gcra>>,
    whose: K,
    rate: Rate,
    count: u32,
    now: Tick,
) -> bool {
    let mut buckets = buckets.lock();
    let bucket = buckets.get_or_insert_mut(whose, Gcra::default);
    bucket.take(rate, count, now)
}

/// Takes so many of a minute, of which the first waited so long; says whether there were enough.
fn take_of_minute(
    minutes: &Mutex<LruCache<(i64, i64), Minute>>,
    whose: (i64, i64),
    most: u32,
    what: (u32, Tick),
    now: Tick,
) -> bool {
    let mut minutes = minutes.lock();
    let minute = minutes.get_or_insert_mut(whose, Minute::default);
    minute.take(most, what, now)
}

impl Agent {
    /// The sender of a turn with his rights, as they are now, and the rules of the conversation.
    pub(super) async fn actor(
        &self,
        input: &Input,
        person: &UserKey,
        body: &Body,
    ) -> Result<(Actor, Arc<ConversationRules>), StoreError> {
        let who = (input.person, person);
        let key = self.desk.directory.conversation(input.conversation).await?;
        let role = self.platform_role((&key, person), body).await;
        let shown = (body.kind, role);
        self.actor_in(input.conversation, who, shown).await
    }

    /// Somebody, by his number and his key, with his rights in a conversation as they are now; `shown` is what the
    /// platform says of him.
    pub(super) async fn actor_in(
        &self,
        conversation: i64,
        (number, person): (i64, &UserKey),
        (kind, platform_role): (SenderKind, PlatformRole),
    ) -> Result<(Actor, Arc<ConversationRules>), StoreError> {
        let directory = &self.desk.directory;
        let rules = directory.rules(conversation).await?;
        let key = directory.conversation(conversation).await?;
        // A right that was taken away is gone at once, also for a turn that began before.
        let settings = self.rules.get();
        let terms = settings.terms(&key);
        let marks = directory.marks(person).await?;
        let Standing { role, global_owner } = standing(
            &Known {
                user: person,
                kind,
                platform_role,
                claimed: marks.claimed,
                blocked: marks.blocked,
                grant: rules.grants.get(person.id.as_str()),
                policy: &rules.policy,
                of_account: terms.default_role.as_deref(),
                now: self.clock.now(),
            },
            &settings.settings.permissions,
        );
        let actor = Actor {
            person: number,
            role,
            global_owner,
        };
        Ok((actor, rules))
    }

    /// Why a turn is not answered, if so: a stranger's, or messages that are not for the model.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn not_heard(
        &self,
        input: &Input,
        turn: &Turn,
    ) -> Result<Option<Ending>, StoreError> {
        if let Some(ending) = self.not_paired(input, turn).await? {
            return Ok(Some(ending));
        }
        if input.command {
            return Ok(None);
        }
        match self.not_answered(input, turn) {
            Some(ending) => Ok(Some(ending)),
            None => self.out_of_tokens(input, turn).await,
        }
    }

    /// Why the messages of a turn are not answered by the model, if so.
    fn not_answered(&self, input: &Input, turn: &Turn) -> Option<Ending> {
        let here = Scope::Conversation(input.conversation);
        let need = |capability| decide(&turn.actor, capability, here, self.clock.now()).err();
        if let Some(denial) = need(Capability::SEND_MESSAGE) {
            return Some(self.denied(input, turn, denial, MESSAGE));
        }
        let policy = &turn.rules.policy;
        let has_media = turn.bodies.iter().any(has_media);
        if has_media && let Some(denial) = need(Capability::SEND_MEDIA) {
            return Some(self.denied(input, turn, denial, MESSAGE));
        }
        if !policy.allow_ai_responses {
            // The people there chose so; a notice for each message would be worse than an answer.
            return Some(self.refused(input, turn, None, Reason::AnswersOff));
        }
        if has_media && !policy.allow_media {
            return Some(self.refused(input, turn, Some(&Rights::MediaOff), Reason::MediaOff));
        }
        let longest = policy.max_message_length;
        let most = longest.map_or(usize::MAX, |most| {
            usize::try_from(most).unwrap_or(usize::MAX)
        });
        if turn.bodies.iter().any(|body| length(body) > most) {
            let text = Rights::TooLong { most };
            return Some(self.refused(input, turn, Some(&text), Reason::TooLarge));
        }
        let now = self.clock.tick();
        let count = u32::try_from(turn.bodies.len()).unwrap_or(u32::MAX);
        let waited = now.saturating_sub(input.since);
        if let Some(ending) = self.over_limit(input, turn, Wish::Messages(count, waited)) {
            return Some(ending);
        }
        let most = policy.max_messages_per_minute?;
        let whose = (input.conversation, input.person);
        let what = (count, waited);
        if take_of_minute(&self.lately.messages, whose, most, what, now) {
            return None;
        }
        let text = Rights::TooManyMessages { most };
        Some(self.refused(input, turn, Some(&text), Reason::TooMany))
    }

    /// Why a command does not ask a model, if so: none answers here, or the tokens of today are used up.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn no_model(
        &self,
        input: &Input,
        turn: &Turn,
    ) -> Result<Option<Ending>, StoreError> {
        if !turn.rules.policy.allow_ai_responses {
            return Ok(Some(self.refused(input, turn, None, Reason::AnswersOff)));
        }
        self.out_of_tokens(input, turn).await
    }

    /// Why a command is not taken, whatever its own needs are.
    pub(super) fn command_not_taken(&self, input: &Input, turn: &Turn) -> Option<Ending> {
        let moderates = turn
            .actor
            .role
            .capabilities()
            .contains(Capability::MANAGE_MEMBER);
        let policy = &turn.rules.policy;
        if moderates {
            return None;
        }
        if !policy.allow_commands {
            return Some(self.refused(
                input,
                turn,
                Some(&Rights::CommandsOff),
                Reason::CommandsOff,
            ));
        }
        if let Some(ending) = self.over_limit(input, turn, Wish::Command) {
            return Some(ending);
        }
        let most = policy.max_commands_per_minute?;
        let whose = (input.conversation, input.person);
        let now = self.clock.tick();
        if take_of_minute(&self.lately.commands, whose, most, (1, 0), now) {
            return None;
        }
        let text = Rights::TooManyCommands { most };
        Some(self.refused(input, turn, Some(&text), Reason::TooMany))
    }

    /// The end of a turn whose sender lacks a right: recorded, and told unless he was told just now.
    pub(super) fn denied(
        &self,
        input: &Input,
        turn: &Turn,
        denial: Denial,
        (event, target): (AuditEvent, String),
    ) -> Ending {
        let blocked = turn.actor.role.is(BuiltIn::Blocked);
        let reason = if blocked {
            Reason::Blocked
        } else {
            Reason::PermissionDenied
        };
        let text = Rights::Lacks(denial.missing());
        let mut ending = self.told(input, turn, &text, reason);
        if !ending.text.is_empty() {
            // One record for each time that he was told keeps the log readable in a flood.
            let record = denial.record(event, target, input.turn);
            ending
                .effects
                .push(record.within(input.conversation).into());
        }
        ending
    }

    /// The end of a turn that a rule of the place refuses, whatever the sender's rights are: recorded and told, unless
    /// both was done often enough just now. Without a text nobody is told.
    pub(super) fn refused(
        &self,
        input: &Input,
        turn: &Turn,
        text: Option<&Rights>,
        reason: Reason,
    ) -> Ending {
        if !self.may_tell(input) {
            return Ending::failed(String::new(), reason);
        }
        let event = if input.command {
            AuditEvent::CommandBlocked
        } else {
            AuditEvent::PermissionDenied
        };
        let here = Scope::Conversation(input.conversation);
        let denial = Denial::by_rule(&turn.actor, here, self.clock.now());
        let record = denial.record(event, String::new(), input.turn);
        let record = record.with(&serde_json::json!({ "reason": reason.code() }));
        let text = text.map(|text| text.render(turn.language));
        let mut ending = Ending::failed(text.unwrap_or_default(), reason);
        ending.effects.push(record.into());
        ending
    }

    /// The end of a turn with a text, unless the person was told often enough just now.
    fn told(&self, input: &Input, turn: &Turn, text: &Rights, reason: Reason) -> Ending {
        let text = if self.may_tell(input) {
            text.render(turn.language)
        } else {
            String::new()
        };
        Ending {
            private: true,
            ..Ending::failed(text, reason)
        }
    }

    /// Whether a person is told now why he gets no answer.
    pub(super) fn may_tell(&self, input: &Input) -> bool {
        self.may_tell_in(input.conversation, input.person)
    }

    /// Whether somebody may be told, and it be recorded, that he may not.
    pub(super) fn may_tell_in(&self, conversation: i64, person: i64) -> bool {
        let whose = (conversation, person);
        take(&self.lately.told, whose, TOLD, 1, self.clock.tick())
    }
}

fn has_media(body: &Body) -> bool {
    let mut segments = body.segments.iter();
    segments.any(|segment| matches!(segment, Segment::Attachment(_)))
}

/// The sender's own words, in characters.
fn length(body: &Body) -> usize {
    crate::inbound::body::own_text(body).chars().count()
}
