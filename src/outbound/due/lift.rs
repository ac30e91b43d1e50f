//! The end of a ban or mute that the gateway itself has to bring about.
//!
//! Owns its stored form, and how it is brought about once.

use std::{borrow::Cow, time::Duration};

use serde::{Deserialize, Serialize};
use weirgate_sdk::{
    ConversationKey, Timestamp, UserId,
    moderation::{Action, Moderates, ModerationError},
};

use super::{Performer, Task, Tried};
use crate::{
    clock::millis,
    i18n::Language,
    permission::{Actor, AuditEvent, Capability, Scope, decide},
    store::{Deferred, Due, Effect},
};

/// What is lifted. Stored: a name never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifted {
    /// A ban.
    Ban,
    /// A mute.
    Mute,
}

/// The end of a ban or mute, as it is stored: a new key is optional.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lift {
    /// What ends.
    pub what: Lifted,
    /// Whose, by his id on the platform.
    pub user: String,
    /// How he was called when it began.
    pub shown: String,
    /// When it ends.
    pub until: Timestamp,
    /// The language of the one who ordered it, as a tag.
    pub language: String,
}

/// What a ban or mute of somebody is found by.
fn subject(what: Lifted, user: &str) -> String {
    match what {
        Lifted::Ban => format!("ban:{user}"),
        Lifted::Mute => format!("mute:{user}"),
    }
}

/// What an action begins or ends, and whether it ends by itself; `None` for what has no end.
fn about(action: &Action) -> Option<(Lifted, &UserId, Option<Duration>)> {
    match action {
        Action::Ban { user, time } => Some((Lifted::Ban, user, *time)),
        Action::Unban { user } => Some((Lifted::Ban, user, None)),
        Action::Mute { user, time } => Some((Lifted::Mute, user, *time)),
        Action::Unmute { user } => Some((Lifted::Mute, user, None)),
        Action::Kick { .. } | Action::Delete { .. } => None,
    }
}

/// Where and by whom something was done.
#[derive(Debug, Clone, Copy)]
pub struct Ordered<'a> {
    /// The conversation's number.
    pub conversation: i64,
    /// The turn.
    pub turn: i64,
    /// How the member is called.
    pub shown: &'a str,
    /// The language of the one who ordered it.
    pub language: Language,
    /// Now.
    pub now: Timestamp,
}

impl Lift {
    /// What an action that was done just now changes in what is put off: what was ordered before does not hold any more,
    /// and a time that the platform does not keep is the gateway's to keep.
    #[must_use]
    pub fn after(moderates: &dyn Moderates, action: &Action, ordered: Ordered<'_>) -> Vec<Effect> {
        let Some((what, user, time)) = about(action) else {
            return Vec::new();
        };
        let Ordered {
            conversation,
            turn,
            shown,
            language,
            now,
        } = ordered;
        let subject = subject(what, user.as_str());
        let mut effects = vec![Effect::Withdraw {
            conversation,
            subject: Cow::Owned(subject.clone()),
        }];
        let Some(time) = time.filter(|_| !moderates.ends(action)) else {
            return effects;
        };
        let due_at = now.saturating_add(millis(time));
        let lift = Self {
            what,
            user: user.as_str().to_owned(),
            shown: shown.to_owned(),
            until: due_at,
            language: language.tag().to_owned(),
        };
        let body = Task::Lift(lift).encode();
        effects.push(Effect::Defer(Deferred {
            conversation,
            turn,
            subject,
            due_at,
            body,
        }));
        effects
    }

    /// What it is found by.
    #[must_use]
    pub fn subject(&self) -> String {
        subject(self.what, &self.user)
    }

    /// The language of the one who ordered it.
    #[must_use]
    pub fn language(&self) -> Language {
        Language::from_tag(&self.language).unwrap_or(Language::Zh)
    }

    fn action(&self) -> Action {
        let user = UserId::from(self.user.as_str());
        match self.what {
            Lifted::Ban => Action::Unban { user },
            Lifted::Mute => Action::Unmute { user },
        }
    }

    /// The record for the audit log. The gateway itself is the operator: who ordered it is in the record of the order.
    pub(super) fn record(&self, row: &Due, done: bool, now: Timestamp) -> Option<Effect> {
        let here = Scope::Conversation(row.conversation);
        let proof = decide(&Actor::host(), Capability::MANAGE_MEMBER, here, now).ok()?;
        let event = match self.what {
            Lifted::Ban => AuditEvent::UserUnbanned,
            Lifted::Mute => AuditEvent::UserUnmuted,
        };
        let record = proof.record(event, self.user.clone(), row.turn);
        let record = record.with(&serde_json::json!({ "reason": "its time is over" }));
        Some(if done { record } else { record.failed() }.into())
    }
}

impl Performer {
    /// Brings it about, if it is not done already.
    pub(super) async fn lift(&self, key: &ConversationKey, lift: &Lift) -> Tried {
        let Some(adapter) = self.deliverer.adapter(key) else {
            return Tried::Later("the account is not configured".to_owned());
        };
        let Some(moderates) = adapter.moderates() else {
            return Tried::Failed(ModerationError::NotSupported);
        };
        let action = lift.action();
        if matches!(moderates.is_done(key, &action).await, Ok(Some(true))) {
            return Tried::Done;
        }
        match moderates.act(key, &action).await {
            // Who is gone and may come back has nothing to be lifted.
            Ok(()) | Err(ModerationError::NotAMember) => Tried::Done,
            Err(error @ (ModerationError::Unavailable(_) | ModerationError::NotConfirmed(_))) => {
                Tried::Later(error.to_string())
            }
            Err(error) => Tried::Failed(error),
        }
    }
}
