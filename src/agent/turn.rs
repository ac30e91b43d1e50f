//! A turn: what it is given, and what has to be known before it can run.
//!
//! Owns the look-up of bodies, keys, role and language. It decides nothing.

use std::sync::Arc;

use weirgate_sdk::{ConversationKey, UserKey};

use super::Agent;
use crate::{
    agent::config::Scope,
    command::lang,
    i18n::Language,
    inbound::{body, queue::Dropped},
    permission::{Actor, role_of},
    store::{Body, HistoryScope, StoreError},
};

/// What the dispatcher hands over.
#[derive(Debug, Clone)]
pub struct Input {
    /// The turn: the journal id of the first message.
    pub turn: i64,
    /// The account's number.
    pub account: u32,
    /// The conversation's number.
    pub conversation: i64,
    /// The person's number.
    pub person: i64,
    /// It is a command.
    pub command: bool,
    /// The messages with their bodies, if those were still in memory.
    pub messages: Vec<(i64, Option<Box<str>>)>,
    /// What fell out of the queue since the last turn.
    pub dropped: Option<Dropped>,
}

impl Input {
    /// The journal ids of the messages.
    #[must_use]
    pub fn members(&self) -> Vec<i64> {
        self.messages.iter().map(|(id, _)| *id).collect()
    }
}

/// Everything about a turn that does not change while it runs.
#[derive(Debug)]
pub struct Turn {
    /// The messages, oldest first; never empty.
    pub bodies: Vec<Body>,
    /// The conversation.
    pub conversation: Arc<ConversationKey>,
    /// The sender.
    pub person: Arc<UserKey>,
    /// The sender with his role, as it is now.
    pub actor: Actor,
    /// The language to speak.
    pub language: Language,
    /// Where the turn's history belongs.
    pub scope: HistoryScope,
}

impl Turn {
    /// Looks up what a turn needs.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn load(agent: &Agent, input: &Input) -> Result<Self, StoreError> {
        let directory = &agent.desk.directory;
        let conversation = directory.conversation(input.conversation).await?;
        let person = directory.person(input.person).await?;
        let bodies = bodies(agent, input).await?;
        let last = bodies
            .last()
            .ok_or_else(|| StoreError::Database("a turn without messages".into()))?;
        let settings = &agent.settings;
        let (role, global_owner) = role_of(
            &person,
            last.kind,
            last.role,
            &settings.owners,
            settings.platform_roles,
        );
        let actor = Actor {
            person: input.person,
            role,
            global_owner,
        };
        let language = match directory.preference(input.person, lang::KEY).await? {
            Some(tag) => Language::from_tag(&tag),
            None => None,
        };
        let language = language
            .or(settings.language)
            .or_else(|| {
                bodies
                    .iter()
                    .rev()
                    .find_map(|body| Language::of_text(&body.text))
            })
            .unwrap_or(Language::Zh);
        let own = settings.context.scope == Scope::User;
        let scope = HistoryScope {
            conversation: input.conversation,
            person: if own { input.person } else { 0 },
        };
        Ok(Self {
            bodies,
            conversation,
            person,
            actor,
            language,
            scope,
        })
    }

    /// The newest message.
    #[must_use]
    pub fn body(&self) -> &Body {
        // `load` refuses a turn without messages.
        &self.bodies[self.bodies.len() - 1]
    }
}

async fn bodies(agent: &Agent, input: &Input) -> Result<Vec<Body>, StoreError> {
    let missing: Vec<i64> = input
        .messages
        .iter()
        .filter(|(_, body)| body.is_none())
        .map(|(id, _)| *id)
        .collect();
    let mut read = if missing.is_empty() {
        Vec::new().into_iter()
    } else {
        agent.store.bodies(&missing).await?.into_iter()
    };
    let mut bodies = Vec::with_capacity(input.messages.len());
    for (id, known) in &input.messages {
        let json = match known {
            Some(json) => Some(json.clone()),
            None => read.next().flatten(),
        };
        match json.as_deref().and_then(body::decode) {
            Some(body) => bodies.push(body),
            None => tracing::error!(message = id, "the stored message cannot be read; left out"),
        }
    }
    Ok(bodies)
}
