//! A turn: what it is given, and what has to be known before it can run.
//!
//! Owns the look-up of bodies, keys, role and language. It decides nothing.

use std::sync::Arc;

use parking_lot::Mutex;
use weirgate_sdk::{ConversationKey, UserKey};

use super::{Agent, compact::Long, ledger::Payers, rules::Rules};
use crate::{
    agent::{config::Scope, memory::Site},
    clock::Tick,
    command::{self, lang},
    i18n::Language,
    inbound::{body, queue::Dropped},
    permission::{Actor, policy::ConversationRules},
    store::{Body, HistoryScope, StoreError},
};

/// What the dispatcher hands over.
#[derive(Debug)]
pub struct Input {
    /// What the configuration said when the turn started.
    pub rules: Arc<Rules>,
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
    /// The provider for whose next request a permit is held, until it is used.
    pub permit: Mutex<Option<String>>,
    /// When the first message was accepted, as far as this process knows.
    pub since: Tick,
    /// It acts, but says nothing: the person was told often enough just now.
    pub quiet: bool,
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
    /// What is stored of the permissions in the conversation.
    pub rules: Arc<ConversationRules>,
    /// The language to speak.
    pub language: Language,
    /// Where the turn's history belongs.
    pub scope: HistoryScope,
}

impl Turn {
    /// Looks up what a turn needs; `None` if none of its messages can be read.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn load(agent: &Agent, input: &Input) -> Result<Option<Self>, StoreError> {
        let directory = &agent.desk.directory;
        let conversation = directory.conversation(input.conversation).await?;
        let person = directory.person(input.person).await?;
        let mut bodies = bodies(agent, input).await?;
        let Some(last) = bodies.last_mut() else {
            return Ok(None);
        };
        agent.as_he_is_now((&conversation, &person), last).await;
        let settings = &input.rules.settings;
        let (actor, rules) = agent.actor(input, &person, last).await?;
        let chosen = directory.preference(input.person, lang::KEY).await?;
        let chosen = chosen.and_then(|tag| Language::from_tag(&tag));
        let heard = bodies
            .iter()
            .rev()
            // The id of a button is in no language.
            .filter(|body| !body.pressed && !body.request)
            .find_map(|body| Language::of_text(&body::own_text(body)));
        // The name of a command is English whoever types it.
        let spoken = if input.command {
            directory.spoken(input.person).or(heard)
        } else {
            if let Some(language) = heard {
                directory.heard(input.person, language);
            }
            heard.or_else(|| directory.spoken(input.person))
        };
        let here = rules.settings.get("language");
        let here = here.and_then(|tag| Language::from_tag(tag));
        let language = chosen.or(here).or(settings.language).or(spoken);
        let own = settings.context.scope == Scope::User;
        let scope = HistoryScope {
            conversation: input.conversation,
            person: if own { input.person } else { 0 },
        };
        Ok(Some(Self {
            bodies,
            conversation,
            person,
            actor,
            rules,
            language: language.unwrap_or(Language::Zh),
            scope,
        }))
    }

    /// Where it is, for the memory.
    #[must_use]
    pub fn site(&self, input: &Input) -> Site {
        Site {
            conversation: input.conversation,
            person: input.person,
            group: self.body().group,
            turn: input.turn,
        }
    }

    /// Where it is, for a command.
    #[must_use]
    pub fn place(&self, input: &Input) -> command::Site {
        command::Site {
            chat: self.body().chat(),
            account: input.account,
            conversation: input.conversation,
            own_history: self.scope.person != 0,
        }
    }

    /// The newest message.
    #[must_use]
    pub fn body(&self) -> &Body {
        // `load` refuses a turn without messages.
        &self.bodies[self.bodies.len() - 1]
    }
}

/// The history of a turn, which has so many tokens for it.
#[must_use]
pub(super) fn long(input: &Input, turn: &Turn, room: usize) -> Long {
    Long {
        scope: turn.scope,
        turn: input.turn,
        room,
        payers: Payers::behind(input, turn),
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
