//! The configuration: joins the sections that the parts own, each in its own `config.rs`.
//!
//! Owns where agent.yaml is looked for, how it is parsed and expanded, and how faults are told. A fault
//! never ends the reading: all are reported together. It never acts on what it read.
//!
//! The file is, in this order: the one that was named explicitly; the one that `WEIRGATE_CONFIG` names;
//! `agent.yaml` in the working directory, if it is there; else the built-in defaults, which are the
//! agent.yaml at the root of this repository.

pub mod address;
pub mod check;
mod comments;
mod expand;
mod load;
pub mod overrides;
mod parse;
mod platform;
pub mod reference;
pub mod reload;
mod report;
pub mod schema;
pub mod starter;
pub mod watch;

use std::{collections::BTreeMap, path::PathBuf};

use weirgate_sdk::settings::{Fields, Kind, Node, Problem, Problems, Secret, Setting};

pub use expand::{Environment, data_home};
pub use load::{CONFIG_FILE, EXIT_CONFIG, LoadError, Loaded, load, load_again, load_whole};
pub(crate) use parse::parse as tree;
pub use platform::{KnownPlatform, platform_name};
pub use report::render_problems;

use crate::{
    agent::{
        config::Context,
        limits::Limits,
        memory::config::Memory,
        model::config::{ErrorRecovery, Models, Provider, read_models},
        peer::config::Collaboration,
        tool::config::{ToolCalling, Tools},
    },
    clock::Zone,
    http::config::Http,
    inbound::config::InputBuffer,
    media::config::Media,
    outbound::config::Output,
    permission::config::Permissions,
    schedule::config::FlowControl,
    security::config::Security,
    store::config::Storage,
    telemetry::config::Observability,
};

/// The default configuration as it is shipped: every key, its default, a comment.
pub const DEFAULT_FILE: &str = include_str!("../agent.yaml");

/// Everything that agent.yaml says. Fields have the names of its sections.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// How much may wait, and what gives way.
    pub input_buffer: InputBuffer,
    /// The pace of model requests.
    pub flow_control: FlowControl,
    /// What the model is told of the conversation.
    pub context: Context,
    /// What is kept of what was said.
    pub memory: Memory,
    /// Which tools there are.
    pub tools: Tools,
    /// How turns use them.
    pub tool_calling: ToolCalling,
    /// Agents beside the one that answers: its sub-agents, and those of others.
    pub agent_collaboration: Collaboration,
    /// How answers are shown, split and paced.
    pub output: Output,
    /// What happens when a model fails.
    pub error_recovery: ErrorRecovery,
    /// Where models are, by id.
    pub providers: BTreeMap<String, Provider>,
    /// Which models answer.
    pub models: Models,
    /// Who owns the gateway.
    pub permissions: Permissions,
    /// How much anybody may have.
    pub limits: Limits,
    /// What may pass.
    pub security: Security,
    /// Which files are kept, and what of them the model gets.
    pub media: Media,
    /// Where the database is.
    pub storage: Storage,
    /// Where the gateway listens.
    pub http: Http,
    /// Logs and metrics.
    pub observability: Observability,
    /// The language of what the gateway itself says.
    pub language: Language,
    /// The zone in which times are shown; `None` for that of the variable `TZ`.
    pub timezone: Option<Zone>,
    /// Each platform's own section, expanded, for its adapter to read with [`Config::problems`].
    pub platforms: BTreeMap<String, Node>,
    /// Every secret that was read, with the path of its key, for the redactor.
    pub secrets: Vec<(String, Secret)>,
    /// The file that it was read from; `None` for the built-in defaults.
    pub file: Option<PathBuf>,
}

/// The language of what the gateway itself says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// That of the person, as far as it can be told.
    Auto,
    /// Chinese.
    ZhCn,
    /// English.
    En,
}

impl Default for Config {
    /// What the shipped agent.yaml says, with `storage.url` as written there.
    fn default() -> Self {
        let shipped = platform::shipped();
        let output = Output {
            platform_adaptation: shipped.adaptation.clone(),
            ..Output::default()
        };
        Self {
            input_buffer: InputBuffer::default(),
            flow_control: FlowControl::default(),
            context: Context::default(),
            memory: Memory::default(),
            tools: Tools::default(),
            tool_calling: ToolCalling::default(),
            agent_collaboration: Collaboration::default(),
            output,
            error_recovery: ErrorRecovery::default(),
            providers: Provider::defaults(),
            models: Models::default(),
            permissions: Permissions::default(),
            limits: Limits::default(),
            security: Security::default(),
            media: Media::default(),
            storage: Storage::default(),
            http: Http::default(),
            observability: Observability::default(),
            language: Language::Auto,
            timezone: None,
            platforms: shipped.platforms.clone(),
            secrets: Vec::new(),
            file: None,
        }
    }
}

impl Config {
    /// Reads all sections of an expanded tree. `default_url` is [`Storage::DEFAULT_URL`] expanded.
    fn read(
        root: &Node,
        platforms: &[KnownPlatform],
        default_url: String,
        problems: &Problems,
    ) -> Self {
        let names: Vec<&str> = platforms.iter().map(|platform| platform.name).collect();
        let languages = [
            ("auto", Language::Auto),
            ("zh-CN", Language::ZhCn),
            ("en", Language::En),
        ];
        let mut top = Fields::new(root, "", problems);
        let adaptation = &platform::shipped().adaptation;
        let output = Output::read(top.section("output"), &names, adaptation);
        let (providers, models) = read_models(&mut top);
        let read = Self {
            input_buffer: InputBuffer::read(top.section("input_buffer")),
            flow_control: FlowControl::read(top.section("flow_control")),
            context: Context::read(top.section("context"), &providers, &models),
            memory: Memory::read(top.section("memory")),
            tools: Tools::read(top.section("tools")),
            tool_calling: ToolCalling::read(top.section("tool_calling")),
            agent_collaboration: Collaboration::read(top.section("agent_collaboration")),
            output,
            error_recovery: ErrorRecovery::read(top.section("error_recovery")),
            providers,
            models,
            permissions: Permissions::read(
                top.section("permissions"),
                &names,
                &crate::command::names(),
            ),
            limits: Limits::read(top.section("limits")),
            security: Security::read(top.section("security")),
            media: Media::read(top.section("media")),
            storage: Storage::read(top.section("storage"), default_url),
            http: Http::read(top.section("http")),
            observability: Observability::read(top.section("observability")),
            language: top.choice("language", Language::Auto, &languages),
            timezone: top.get("timezone").and_then(|setting| zone(&setting)),
            platforms: BTreeMap::new(),
            secrets: Vec::new(),
            file: None,
        };
        let listens = read.agent_collaboration.listens();
        let read = Self {
            platforms: platform::read(&mut top, platforms, listens),
            ..read
        };
        platform::check_roles(&read.platforms, &read.permissions.roles, problems);
        let read = Self {
            secrets: [
                problems.secrets(),
                read.storage.database.secrets(),
                read.memory.redis.secrets(),
            ]
            .concat(),
            ..read
        };
        for role in read.models.roles.keys() {
            if read.permissions.roles.get(role).is_none() {
                let what = Kind::Invalid("there is no such role".to_owned());
                problems.push(Problem::error(format!("models.roles.{role}"), None, what));
            }
        }
        top.finish();
        read
    }

    /// A collector with which adapters read their nodes: it reads `*_file` keys as the loader did.
    #[must_use]
    pub fn problems(&self) -> Problems {
        load::problems(self.file.as_deref())
    }
}

/// A zone by its name; `auto` is none of its own.
fn zone(setting: &Setting<'_>) -> Option<Zone> {
    let name = setting.word().filter(|name| *name != "auto")?;
    let zone = Zone::named(name);
    if zone.is_none() {
        let hint = "write auto or a name such as Asia/Shanghai";
        setting.invalid("there is no time zone of this name", Some(hint));
    }
    zone
}

/// A tree for the tests of single sections.
#[cfg(test)]
pub(crate) fn parse_for_tests(text: &str, problems: &Problems) -> Node {
    parse::parse(text, problems).unwrap_or_else(|| Node::new(weirgate_sdk::settings::Value::Null))
}

#[cfg(test)]
mod tests;
