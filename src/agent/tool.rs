//! Tools: what a model may have done, and what each declares.
//!
//! Owns the trait, what a tool is told and what it gives back. A tool never checks rights and is never run without
//! a proof; what it gives is data for the model, fenced by who runs it (`execute`).

pub mod asking;
pub mod calculate;
pub mod config;
pub mod context;
pub mod date;
mod dress;
pub mod execute;
pub(in crate::agent) mod family;
pub mod fetch;
pub mod files;
pub mod in_use;
pub(in crate::agent) mod journal;
pub mod memory;
pub mod moderate;
pub mod office;
pub mod order;
pub(in crate::agent) mod park;
pub(in crate::agent) mod piece;
pub mod program;
pub mod question;
mod ready;
pub mod registry;
pub mod schedule;
pub mod schema;
pub mod search;
pub mod sending;
pub mod shell;
pub mod translate;
pub mod usage;
pub mod weather;

use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use weirgate_sdk::{ConversationKey, Timestamp, UserKey};

use crate::{
    agent::{
        memory::Site, request::contents::Contents, rules::Rules, skill::Rights, subagent::Errands,
    },
    clock::Zone,
    command::{self, Desk},
    i18n::{Language, trouble::Trouble},
    outbound::due::Author,
    pending::Elicited,
    permission::{Capability, Level, Proof},
    security::fence::Origin,
    store::{Body, Effect},
};

/// Whether a tool changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It looks.
    Read,
    /// It changes what only concerns the one who asks, or nobody in particular.
    Write,
    /// It changes what the members of a conversation share.
    WriteShared,
    /// It does something to a member, as the commands for admins do.
    Moderate,
}

/// What a tool declares.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Its name: letters, digits, `_` and `-`, at most 64 of them.
    pub name: String,
    /// What it is good for, for the model.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub parameters: Value,
    /// Only a global owner may have it run.
    pub global: bool,
    /// What each call changes at least; one may say more ([`Tool::changes`]).
    pub access: Access,
    /// Run twice it does no more than once: it is tried again after a failure, and after a crash.
    pub repeatable: bool,
    /// Somebody has to approve of each call.
    pub approval: bool,
}

impl Access {
    /// The right that it needs, in a group or with one person.
    #[must_use]
    pub fn needs(self, group: bool) -> Capability {
        match self {
            Self::WriteShared if group => Capability::EXECUTE | Capability::WRITE,
            Self::Moderate => Capability::EXECUTE | Level::Admin.capability(),
            _ => Capability::EXECUTE,
        }
    }
}

impl Spec {
    /// A tool that only looks, for everybody who may use tools.
    #[must_use]
    pub fn reading(name: &str, description: &str, parameters: Value) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters,
            global: false,
            access: Access::Read,
            repeatable: true,
            approval: false,
        }
    }

    /// The right that a call needs, in a group or with one person.
    #[must_use]
    pub fn needs(&self, group: bool) -> Capability {
        self.access.needs(group)
    }
}

/// Who asks, and with which message.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// The person's key.
    pub person: &'a UserKey,
    /// The message.
    pub body: &'a Body,
    /// The language in which he is spoken to.
    pub language: Language,
    /// Where, as for a command of his.
    pub place: command::Site,
}

impl Asker<'_> {
    /// What is kept of him for a task that he puts off.
    #[must_use]
    pub fn task(self) -> Author {
        Author {
            name: self.body.name.clone(),
            group: self.body.group,
        }
    }
}

/// What a call needs beside what its tool declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Also {
    /// The rights of the one who asks.
    pub rights: Rights,
    /// Tools that will be wanted after it.
    pub next: Vec<String>,
}

/// One call of a tool.
#[derive(Debug)]
pub struct Call<'a> {
    /// The proof that the one who asks may.
    pub proof: &'a Proof,
    /// The arguments; they fit the schema.
    pub arguments: &'a Map<String, Value>,
    /// What somebody said yes to that the tool asked in the middle of the same call, made before.
    pub consent: Option<&'a Elicited>,
    /// Where it was asked.
    pub conversation: &'a ConversationKey,
    /// Where and for whom, in the numbers of the store.
    pub site: Site,
    /// What the configuration says.
    pub rules: &'a Rules,
    /// The zone in which people speak of time.
    pub zone: &'a Zone,
    /// Now.
    pub now: Timestamp,
    /// Who asks and with which message, and what of the gateway it may see and do.
    pub counter: Option<(Asker<'a>, &'a Desk)>,
    /// What fills the context of the turn, where the tool was called that tells of it.
    pub contents: Option<&'a Contents>,
    /// How it asks a model for the one who asks.
    pub asking: &'a asking::Asking,
    /// How it gives files that go out with the answer, where files can be kept.
    pub sending: Option<&'a sending::Sending<'a>>,
    /// What is to be done with the end of the turn, where there is one.
    pub effects: Option<&'a Mutex<Vec<Effect>>>,
    /// How it has errands done.
    pub errands: Option<&'a dyn Errands>,
}

impl Call<'_> {
    /// An argument that is a text; empty if it is absent.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.arguments
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Has something done with the end of the turn.
    pub fn has(&self, effect: Effect) {
        if let Some(effects) = self.effects {
            effects.lock().push(effect);
        }
    }
}

/// What a tool gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The text for the model.
    pub text: String,
    /// Whose words it is; `None` for the gateway's own, which need no fence.
    pub origin: Option<Origin>,
}

impl Given {
    /// The gateway's own words.
    #[must_use]
    pub fn own(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            origin: None,
        }
    }
}

/// Why a tool gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What the model is told.
    pub given: Given,
    /// Another try may help.
    pub passing: bool,
    /// It ended because it asks something that a person has to answer; the call is made again with a yes.
    pub asks: Option<Box<Elicited>>,
    /// The cause, where a person who asked by a command is told it in his language.
    pub trouble: Option<Trouble>,
}

impl Fault {
    /// A fault that stays; the words are the gateway's own.
    #[must_use]
    pub fn lasting(text: impl Into<String>) -> Self {
        Self::told(Given::own(text), false)
    }

    /// A fault that may pass; the words are the gateway's own.
    #[must_use]
    pub fn passing(text: impl Into<String>) -> Self {
        Self::told(Given::own(text), true)
    }

    /// A fault in words that may be others'.
    #[must_use]
    pub fn told(given: Given, passing: bool) -> Self {
        Self {
            given,
            passing,
            asks: None,
            trouble: None,
        }
    }

    /// A fault that people are told of too.
    #[must_use]
    pub fn of(trouble: Trouble, passing: bool) -> Self {
        Self {
            trouble: Some(trouble),
            ..Self::told(Given::own(trouble.render(Language::En)), passing)
        }
    }
}

/// A tool.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What it declares.
    fn spec(&self) -> &Spec;

    /// What a call is about, such as a file: calls about the same thing run in order.
    fn resource(&self, _arguments: &Map<String, Value>) -> Option<String> {
        None
    }

    /// What a call with these arguments changes.
    fn changes(&self, _arguments: &Map<String, Value>) -> Access {
        self.spec().access
    }

    /// What a call with these arguments needs beside what every call needs.
    fn needs_also(&self, _arguments: &Map<String, Value>) -> Option<Also> {
        None
    }

    /// Whether this call needs somebody's yes, although the tool as such asks for none.
    fn asks(&self, _arguments: &Map<String, Value>) -> bool {
        false
    }

    /// Whether it has errands done. An errand says by itself when it is about to do what is not safe to repeat.
    fn gives_errands(&self) -> bool {
        false
    }

    /// Whether it runs steps of its own, one after the other, and goes on with them after a crash or a wait.
    fn has_steps(&self) -> bool {
        false
    }

    /// How long a call may take, where the tool knows better than the configuration of all; it ends by itself before.
    fn longest(&self) -> Option<Duration> {
        None
    }

    /// Runs it. Dropping the future stops it.
    ///
    /// # Errors
    /// Why it gave nothing; the turn goes on.
    async fn run(&self, call: Call<'_>) -> Result<Given, Fault>;
}
