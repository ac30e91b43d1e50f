//! Commands: the registry, how a message is recognised as one, and how it runs.
//!
//! Owns the list of commands, one file each. A command never checks rights by itself and never sends:
//! it declares what it needs, gets a proof, and returns text and effects.

pub mod admit;
pub mod alone;
pub mod answer;
pub mod approve;
pub mod argument;
pub mod ask;
pub mod audit;
pub mod backup;
pub mod block;
pub mod broadcast;
pub mod cancel;
pub mod choose;
pub mod claim;
pub mod config;
pub mod configure;
pub mod delete;
pub mod desk;
pub mod forget;
pub mod help;
pub mod lang;
pub mod leave;
pub mod log;
pub mod mcp;
pub mod memory;
pub mod model;
pub mod moderate;
pub mod output;
pub mod pair;
pub mod parse;
pub mod persona;
pub mod ping;
pub mod policy;
pub mod queue;
pub mod reload;
pub mod remind;
pub mod reset;
pub mod role;
mod run;
pub mod search;
pub mod skill;
pub mod status;
pub mod stop;
pub mod target;
pub mod time;
pub mod transfer;
pub mod translate;
pub mod warn;
pub mod weather;
pub mod whoami;
pub mod why;
pub mod words;

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::Value;
use weirgate_sdk::{ChatKind, ConversationKey, Menu, MenuCommand, MenuLanguage, UserKey};

use crate::{
    agent::tool::asking::Asking,
    i18n::{About, Language, Text},
    pending::Ask,
    permission::{Actor, AuditEvent, AuditRecord, Capability, Level, Proof, Scope},
    reason::Reason,
    store::{Body, Effect, StoreError},
};

pub use desk::Desk;
pub use parse::{Parsed, parse};

/// When a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At once, past every queue and bucket.
    Control,
    /// In a slot of its own beside a running turn, from the person's bucket.
    Now,
    /// In its place in the queue.
    InOrder,
}

/// What a command declares.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// The name, without the slash.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Its texts.
    pub about: About,
    /// What stands behind the name.
    pub takes: argument::Takes,
    /// For whom it is, unless agent.yaml says otherwise.
    pub level: Level,
    /// When it runs.
    pub when: When,
}

/// Where a command was given.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    /// The kind of chat.
    pub chat: ChatKind,
    /// The account's number.
    pub account: u32,
    /// The conversation's number.
    pub conversation: i64,
    /// Each person has a history of his own here.
    pub own_history: bool,
}

/// One call of a command.
#[derive(Debug)]
pub struct Call<'a> {
    /// What stands behind the name, trimmed.
    pub arguments: &'a str,
    /// The language to answer in.
    pub language: Language,
    /// Who calls.
    pub actor: &'a Actor,
    /// The proof that he may.
    pub proof: Proof,
    /// It may have run before: the gateway ended uncleanly since the message came.
    pub again: bool,
    /// The turn: the journal id of the message.
    pub turn: i64,
    /// Where.
    pub site: Site,
    /// The conversation's key.
    pub conversation: &'a ConversationKey,
    /// The person's key.
    pub person: &'a UserKey,
    /// The message.
    pub body: &'a Body,
    /// How a model is asked for him, by commands that do.
    pub asking: &'a Asking,
}

/// What a command did.
#[derive(Debug, Default)]
pub struct Done {
    /// The answer, plain text.
    pub text: String,
    /// Changes, written in the transaction that ends the turn.
    pub effects: Vec<Effect>,
    /// Platform ids of messages that ended by this command and get no answer of their own.
    pub also_ends: Vec<String>,
    /// Why it did not do what was asked; the text says so.
    pub refused: Option<Reason>,
    /// What is only done when somebody has said yes; the text asks him.
    pub ask: Option<Box<Ask>>,
    /// Whom nobody else deals with until the turn has ended.
    pub alone: Option<alone::Alone>,
    /// With which call the model's part of a turn begins; nothing else of this counts then.
    pub begins: Option<Box<Begins>>,
}

/// A call that a person makes in the place of the model.
#[derive(Debug)]
pub struct Begins {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments, an object.
    pub arguments: Value,
}

impl Done {
    /// An answer without effects.
    #[must_use]
    pub fn say(text: &Text, language: Language) -> Self {
        Self {
            text: text.render(language),
            ..Self::default()
        }
    }

    /// An answer of this text, without effects.
    #[must_use]
    pub fn text(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// An answer that says why a call cannot be carried out as it was written; nothing was done.
    #[must_use]
    pub fn declined(text: String) -> Self {
        Self {
            refused: Some(Reason::BadArguments),
            ..Self::text(text)
        }
    }

    /// An answer that says which rule forbids a call, although its caller has the right that it needs; recorded.
    /// `target`: whom or what it was about.
    #[must_use]
    pub fn forbidden(call: Call<'_>, target: String, text: String) -> Self {
        let record = call
            .proof
            .record(AuditEvent::PermissionDenied, target, call.turn);
        Self::refused_by(record.within(call.site.conversation), text)
    }

    /// An answer that says which rule forbids a call, with the record of that.
    #[must_use]
    pub fn refused_by(record: AuditRecord, text: String) -> Self {
        Self {
            refused: Some(Reason::PermissionDenied),
            effects: vec![record.denied().into()],
            ..Self::text(text)
        }
    }

    /// An answer that says what is possible instead of what was written.
    #[must_use]
    pub fn bad_argument(given: String, possible: &'static str, language: Language) -> Self {
        let text = Text::BadArgument { given, possible };
        Self::refuse(Reason::BadArguments, &text, language)
    }

    /// An answer that says why nothing was done.
    #[must_use]
    pub fn refuse(reason: Reason, text: &Text, language: Language) -> Self {
        Self {
            refused: Some(reason),
            ..Self::say(text, language)
        }
    }
}

/// A command.
#[async_trait]
pub trait Command: Send + Sync {
    /// What it declares.
    fn spec(&self) -> &Spec;

    /// The right that a call needs. Public and control commands need [`Capability::SEND_MESSAGE`] only.
    fn needs(&self, arguments: &str, site: Site) -> (Capability, Scope);

    /// It asks a model, and is only run where the one who calls may.
    fn asks_model(&self) -> bool {
        false
    }

    /// It answers a question that waits: while one does, it is taken where commands are not, and however many were given.
    fn answers(&self) -> bool {
        false
    }

    /// The call of another command that a call of this one is, by its arguments: that one's rights count then, and
    /// it is what runs.
    fn stands_for(&self, _arguments: &str) -> Option<(&'static dyn Command, String)> {
        None
    }

    /// Runs it.
    ///
    /// # Errors
    /// The store's; the turn then fails and says so.
    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError>;
}

/// All commands, in the order of /help.
static COMMANDS: [&dyn Command; 47] = [
    &help::Help,
    &ping::Ping,
    &status::Status,
    &stop::Stop,
    &cancel::Cancel,
    &reset::Reset,
    &why::Why,
    &log::Log,
    &search::Search,
    &weather::WeatherCommand,
    &translate::TranslateCommand,
    &remind::RemindCommand,
    &output::Output,
    &lang::Lang,
    &model::ModelCommand,
    &persona::Persona,
    &skill::SkillCommand,
    &run::Run,
    &memory::Memory,
    &forget::Forget,
    &config::ConfigCommand,
    &whoami::WhoAmI,
    &moderate::KICK,
    &moderate::BAN,
    &moderate::UNBAN,
    &moderate::MUTE_COMMAND,
    &moderate::UNMUTE,
    &warn::Warn,
    &warn::Warnings,
    &role::RoleCommand,
    &policy::PolicyCommand,
    &queue::Queue,
    &audit::AuditCommand,
    &approve::Approve,
    &approve::Deny,
    &answer::Answer,
    &transfer::Transfer,
    &delete::Delete,
    &leave::Leave,
    &backup::Backup,
    &reload::Reload,
    &mcp::Mcp,
    &broadcast::Broadcast,
    &pair::Pair,
    &block::Block,
    &block::Unblock,
    &claim::ClaimGateway,
];

/// All commands, in the order of /help.
pub fn all() -> impl Iterator<Item = &'static dyn Command> {
    COMMANDS.iter().copied()
}

/// What people can ask of the gateway, for platforms that show it: in every language, `first` before the others.
#[must_use]
pub fn menu(first: Option<Language>) -> Menu {
    let first = first.unwrap_or(Language::En);
    let mut languages = Language::ALL.to_vec();
    languages.sort_by_key(|language| *language != first);
    let commands = |language: Language| {
        let specs = all().map(Command::spec);
        specs
            .map(|spec| MenuCommand {
                name: spec.name.to_owned(),
                about: Text::About(spec.about).render(language),
                usage: spec.takes.usage(language),
                fields: spec.takes.fields(language),
            })
            .collect()
    };
    let languages = languages.into_iter().map(|language| MenuLanguage {
        code: language.code(),
        commands: commands(language),
    });
    Menu {
        languages: languages.collect(),
    }
}

/// Finds a command by name or alias, in ASCII lower case.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Command> {
    all().find(|command| {
        let spec = command.spec();
        spec.name == name || spec.aliases.contains(&name)
    })
}

/// The names of all commands, in the order of /help.
#[must_use]
pub fn names() -> Vec<&'static str> {
    all().map(|command| command.spec().name).collect()
}

/// What a call needs: what the command says itself, or what the level needs to which agent.yaml moves it.
#[must_use]
pub fn need(
    command: &dyn Command,
    arguments: &str,
    site: Site,
    levels: &BTreeMap<String, Level>,
) -> (Capability, Scope) {
    at_level(command.spec(), command.needs(arguments, site), levels)
}

/// A need, or what the level needs to which agent.yaml moves the command.
#[must_use]
pub fn at_level(
    spec: &Spec,
    (capability, scope): (Capability, Scope),
    levels: &BTreeMap<String, Level>,
) -> (Capability, Scope) {
    match levels.get(spec.name) {
        Some(level) if *level != spec.level => (level.capability(), scope),
        _ => (capability, scope),
    }
}

/// The need of public and control commands.
fn public() -> (Capability, Scope) {
    (Capability::SEND_MESSAGE, Scope::Own)
}
