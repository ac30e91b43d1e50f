//! Something that a person wanted to be told at a time: once, or again and again.
//!
//! Owns its stored form. Whether he may still speak where he asked for it is looked at when it is due; with the
//! telling the next time is written, so that neither is lost or doubled by a crash.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weirgate_sdk::{ConversationKey, PlatformRole, SenderKind, Timestamp, UserKey};

use super::{Performer, Task};
use crate::{
    clock::{Zone, millis, minute_in, plan},
    i18n::{Language, remind::Reminding},
    outbound::{compose::Addressee, post::Post},
    permission::{Actor, Capability, Scope, Standing, decide, standing, standing::Known},
    reason::Reason,
    store::{Deferred, Due, Effect, ReceiptOutcome, StoreError},
};

/// From when on it is said for when it was.
const LATE: std::time::Duration = std::time::Duration::from_secs(120);

/// A reminder, as it is stored: a new key is optional.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remind {
    /// What he wanted to be told.
    pub text: String,
    /// Who, as an encoded key.
    pub who: String,
    /// The platform's own role of his when he asked.
    #[serde(default)]
    pub role: PlatformRole,
    /// The message with which he asked, by its id on the platform.
    pub message: String,
    /// When it comes again; `None` if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// His language, as a tag.
    pub language: String,
    /// The zone in which the pattern is meant, if not the gateway's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The model is given the text as if he said it then; `None` if he is told it himself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Author>,
}

/// What a turn needs to know of him beside that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// His name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The chat is a group.
    #[serde(default)]
    pub group: bool,
}

/// What the reminders of a person begin with, as subjects.
#[must_use]
pub fn subjects(person: i64) -> String {
    format!("remind:{person}:")
}

impl Remind {
    /// Reads a stored one; `None` if it is something else.
    #[must_use]
    pub fn of(due: &Due) -> Option<Self> {
        match serde_json::from_str(&due.body).ok()? {
            Task::Remind(remind) => Some(remind),
            Task::Lift(_) | Task::Say(_) | Task::Announce(_) => None,
        }
    }

    /// Puts it off.
    #[must_use]
    pub fn at(self, due_at: Timestamp, conversation: i64, turn: i64, subject: String) -> Deferred {
        Deferred {
            conversation,
            turn,
            subject,
            due_at,
            body: Task::Remind(self).encode(),
        }
    }
}

impl Performer {
    /// Tells it, if the one who asked may still speak there.
    pub(super) async fn remind(
        &self,
        row: &Due,
        key: Arc<ConversationKey>,
        remind: Remind,
    ) -> Result<(), StoreError> {
        let rules = self.rules.get();
        let own = remind.zone.as_deref().and_then(Zone::named);
        let zone = own.as_ref().unwrap_or(&rules.settings.zone);
        let now = self.clock.now();
        // Times that passed while nobody was there are not made up for.
        let pattern = remind.pattern.as_deref();
        let again = pattern.and_then(|pattern| plan::next(pattern, now, zone));
        let again = again.map(|at| {
            let subject = row.subject.clone();
            Effect::Defer(remind.clone().at(at, row.conversation, row.turn, subject))
        });
        if !self.may_speak(row, &remind).await? {
            tracing::info!(conversation = %key.encode(), action = row.id, "who asked to be reminded may not speak");
            let reason = Reason::PermissionDenied;
            self.traces.note(row.turn, reason, self.clock.now());
            let failed = ReceiptOutcome::Failed {
                reason: reason.code(),
            };
            // He may again when it comes the next time.
            return self.settle(row, failed, Some((again, None))).await;
        }
        if let Some(author) = &remind.task {
            self.ask(row, &key, (&remind, author)).await?;
            let given = ReceiptOutcome::Sent {
                message: None,
                last: true,
            };
            return self.settle(row, given, Some((again, None))).await;
        }
        let late = now.saturating_sub(row.due_at) >= millis(LATE);
        let language = Language::from_tag(&remind.language).unwrap_or(Language::Zh);
        let told = Reminding::Now {
            text: remind.text.clone(),
            was: late.then(|| minute_in(row.due_at, zone)),
        };
        let to = Addressee {
            answers: vec![remind.message.clone()],
            author: Some(remind.who.clone()),
            ..Addressee::default()
        };
        let text = (told.render(language), language);
        let place = (row.conversation, key);
        let post = Post::compose(&self.deliverer, &rules.composer, place, text, to);
        let outcome = match &post {
            Some(_) => ReceiptOutcome::Sent {
                message: None,
                last: true,
            },
            None => ReceiptOutcome::Failed {
                reason: Reason::SendGone.code(),
            },
        };
        self.settle(row, outcome, Some((again, post))).await
    }

    /// Whether who asked may speak there now.
    async fn may_speak(&self, row: &Due, remind: &Remind) -> Result<bool, StoreError> {
        let Some(user) = UserKey::decode(&remind.who) else {
            return Ok(false);
        };
        let here = self.directory.rules(row.conversation).await?;
        let key = self.directory.conversation(row.conversation).await?;
        let rules = self.rules.get();
        let terms = rules.terms(&key);
        let now = self.clock.now();
        let marks = self.directory.marks(&user).await?;
        let Standing { role, global_owner } = standing(
            &Known {
                user: &user,
                kind: SenderKind::Person,
                platform_role: remind.role,
                claimed: marks.claimed,
                blocked: marks.blocked,
                grant: here.grants.get(user.id.as_str()),
                policy: &here.policy,
                of_account: terms.default_role.as_deref(),
                now,
            },
            &rules.settings.permissions,
        );
        let actor = Actor {
            person: 0,
            role,
            global_owner,
        };
        let scope = Scope::Conversation(row.conversation);
        Ok(decide(&actor, Capability::SEND_MESSAGE, scope, now).is_ok())
    }
}
