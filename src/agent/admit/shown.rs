//! What the platform says of a sender: with his message, since then, or when it is asked.
//!
//! Owns which of these counts. Whoever was more than a member when he wrote may have ceased to be it while his message
//! waited or his turn ran; a right that the platform took is gone at once. It never makes anybody wait for long.

use std::time::Duration;

use weirgate_sdk::{ConversationKey, ModerationError, PlatformRole, SenderKind, UserKey};

use crate::{
    agent::Agent,
    directory::standings::{Newest, is_more},
    store::Body,
};

/// How long the platform may take to say who somebody is.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long it may take to be there after a start: the answer cannot leave before that either.
const ARRIVAL: Duration = Duration::from_secs(15);
/// Between two tries to ask one that is not there.
const AGAIN: Duration = Duration::from_millis(250);

/// What came of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// He has this standing.
    Role(PlatformRole),
    /// Nothing was said in time.
    Nothing,
    /// It is not there.
    Away,
    /// Nobody can be asked on this platform.
    NotAsked,
}

impl Agent {
    /// Somebody's standing on the platform now, as far as it is known. The platform is asked where nothing is known since
    /// the message came to this process, and where something changed that may concern the place.
    pub(super) async fn platform_role(
        &self,
        (conversation, person): (&ConversationKey, &UserKey),
        body: &Body,
    ) -> PlatformRole {
        if !body.group || body.kind != SenderKind::Person {
            return body.role;
        }
        let standings = self.desk.directory.standings();
        match standings.newest(conversation, &person.id) {
            Newest::Known(role) => role,
            // What is less than a right is nothing that could be lost.
            Newest::Doubtful | Newest::Nothing if !is_more(body.role) => body.role,
            Newest::Doubtful => match self.ask_platform(conversation, person).await {
                Told::Role(role) => role,
                Told::Nothing | Told::Away => PlatformRole::Unknown,
                Told::NotAsked => body.role,
            },
            // It was heard by a process before this one.
            Newest::Nothing => match self.ask_patiently(conversation, person).await {
                Told::Role(role) => role,
                Told::Away => PlatformRole::Unknown,
                Told::Nothing | Told::NotAsked => body.role,
            },
        }
    }

    /// Asks the platform about somebody whose turn did not come from a message just now: it goes on after an answer, or
    /// was put off. Where it cannot tell, what it said when he wrote holds.
    pub(in crate::agent) async fn as_he_is_now(
        &self,
        (conversation, person): (&ConversationKey, &UserKey),
        body: &mut Body,
    ) {
        let was_put_off = body.due.is_some() && is_more(body.role);
        if !(body.resumes.is_some() || was_put_off)
            || !body.group
            || body.kind != SenderKind::Person
        {
            return;
        }
        if let Told::Role(role) = self.ask_platform(conversation, person).await {
            body.role = role;
        }
    }

    /// Asks again while the platform is not there, for a while.
    async fn ask_patiently(&self, conversation: &ConversationKey, person: &UserKey) -> Told {
        let asking = async {
            loop {
                match self.ask_platform(conversation, person).await {
                    Told::Away => tokio::time::sleep(AGAIN).await,
                    told => return told,
                }
            }
        };
        let told = tokio::time::timeout(ARRIVAL, asking).await;
        told.unwrap_or(Told::Away)
    }

    async fn ask_platform(&self, conversation: &ConversationKey, person: &UserKey) -> Told {
        let adapter = self.deliverer.adapter(conversation);
        let Some(moderates) = adapter.as_deref().and_then(|adapter| adapter.moderates()) else {
            return Told::NotAsked;
        };
        let standings = self.desk.directory.standings();
        let count = standings.count();
        let asked = moderates.member(conversation, &person.id);
        let role = match tokio::time::timeout(PATIENCE, asked).await {
            Ok(Ok(member)) => member.role,
            Ok(Err(ModerationError::NotAMember)) => PlatformRole::Unknown,
            Ok(Err(ModerationError::NotSupported)) => return Told::NotAsked,
            Ok(Err(ModerationError::Unavailable(why))) => {
                tracing::debug!(why, "the platform is not there to say who somebody is");
                return Told::Away;
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "the platform does not say who somebody is");
                return Told::Nothing;
            }
            Err(_) => {
                tracing::debug!("the platform does not say in time who somebody is");
                return Told::Nothing;
            }
        };
        standings.answer(conversation, &person.id, role, count);
        Told::Role(role)
    }
}
