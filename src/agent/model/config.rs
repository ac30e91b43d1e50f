//! `providers`, `models` and `error_recovery`: which models answer, and what happens when one fails.
//!
//! Owns the sections' keys, defaults and limits. It never opens a connection.

use std::{collections::BTreeMap, time::Duration};

use weirgate_sdk::settings::{Fields, Secret, Setting, nearest};

use crate::config::address;

mod options;

pub use options::{ModelOptions, Price, ReasoningBack};

/// How a provider is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    /// The built-in demonstration, which needs no network.
    Demo,
    /// The chat completions API that many providers and local servers speak.
    OpenAi,
    /// The messages API of Anthropic.
    Anthropic,
    /// The responses API of OpenAI.
    OpenAiResponses,
}

/// One entry of `providers`.
#[derive(Debug, Clone, PartialEq)]
pub struct Provider {
    /// How it is spoken to.
    pub kind: ProviderKind,
    /// Where it is, without a slash at the end; always there but for the demonstration.
    pub base_url: Option<String>,
    /// Its key; local servers need none.
    pub api_key: Option<Secret>,
    /// Requests a minute that it allows, instead of `flow_control.auto.api_rpm_limit`; 0 is no limit.
    pub rpm: Option<u32>,
    /// Longest silence while an answer is awaited or read.
    pub timeout: Duration,
    /// Longest time to connect.
    pub connect_timeout: Duration,
    /// The model writes its reasoning between think marks into the answer, where it is cut out.
    pub think_tags: bool,
    /// What single models want, by name.
    pub models: BTreeMap<String, ModelOptions>,
}

/// A model: `<provider>/<model>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRef {
    /// The provider's key in `providers`.
    pub provider: String,
    /// The model's name there; it may contain slashes.
    pub model: String,
}

/// The section `models`.
#[derive(Debug, Clone, PartialEq)]
pub struct Models {
    /// The models that answer: the first, and when it fails the next. Never empty.
    pub chat: Vec<ModelRef>,
    /// The models that summarise, likewise; empty for those that answer.
    pub compress: Vec<ModelRef>,
    /// Those that people may choose besides.
    pub choices: Vec<ModelRef>,
    /// What roles may use; the others may use all.
    pub roles: BTreeMap<String, Vec<ModelRef>>,
    /// In what prices are.
    pub currency: String,
    /// The one that tells what a text means; without it things are found by their words alone.
    pub embed: Option<ModelRef>,
}

/// The section `error_recovery`.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorRecovery {
    /// How often a failed request is made again, for each class of error.
    pub max_retries: MaxRetries,
    /// The n-th wait is drawn from zero to this to the power of n, in seconds.
    pub backoff_multiplier: f64,
    /// Longest wait, unless the provider asks for more.
    pub max_backoff: Duration,
}

/// The section `error_recovery.max_retries`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaxRetries {
    /// The provider says that it is too much.
    pub rate_limit: u32,
    /// It took too long.
    pub timeout: u32,
    /// The connection failed.
    pub network: u32,
    /// The provider failed.
    pub api: u32,
    /// It was refused for safety.
    pub security: u32,
    /// Calls of tools, in a whole turn.
    pub tool: u32,
    /// Our own fault.
    pub internal: u32,
}

impl Provider {
    /// A provider of a kind with its defaults. The demonstration has no limit of requests.
    #[must_use]
    pub fn new(kind: ProviderKind) -> Self {
        Self {
            kind,
            base_url: None,
            api_key: None,
            rpm: (kind == ProviderKind::Demo).then_some(0),
            timeout: Duration::from_secs(60),
            connect_timeout: Duration::from_secs(10),
            think_tags: false,
            models: BTreeMap::new(),
        }
    }

    /// The providers of a configuration that names none: the demonstration.
    #[must_use]
    pub fn defaults() -> BTreeMap<String, Self> {
        BTreeMap::from([("demo".to_owned(), Self::new(ProviderKind::Demo))])
    }

    fn read(setting: &Setting<'_>) -> Self {
        let mut fields = setting.fields();
        let kinds = [
            ("demo", ProviderKind::Demo),
            ("openai", ProviderKind::OpenAi),
            ("anthropic", ProviderKind::Anthropic),
            ("openai-responses", ProviderKind::OpenAiResponses),
        ];
        let kind = fields.require("kind").and_then(|kind| kind.choice(&kinds));
        let default = Self::new(kind.unwrap_or(ProviderKind::OpenAi));
        let url = fields.get("base_url");
        let read = Self {
            kind: default.kind,
            base_url: url.as_ref().and_then(address::base_url),
            api_key: fields.secret("api_key"),
            rpm: fields.optional_u32("rpm", 0..=10_000_000).or(default.rpm),
            timeout: fields.seconds("timeout", default.timeout, 1.0..=3600.0),
            connect_timeout: fields.seconds(
                "connect_timeout",
                default.connect_timeout,
                0.1..=300.0,
            ),
            think_tags: fields.bool("think_tags", default.think_tags),
            models: fields
                .map("models")
                .into_iter()
                .map(|(name, options)| {
                    let read = ModelOptions::read(options.fields(), default.kind);
                    (name.to_owned(), read)
                })
                .collect(),
        };
        match kind {
            Some(ProviderKind::Demo) => {
                for key in ["base_url", "api_key", "api_key_file"] {
                    if fields.has(key) {
                        let hint = Some("write kind: openai, or remove the key");
                        fields.invalid(key, "the demonstration takes no such key", hint);
                    }
                }
            }
            Some(_) if url.is_none() => fields.missing(
                "base_url",
                Some("write where the API is, such as https://api.example.com/v1"),
            ),
            _ => {}
        }
        if let (Some(url), Some(_), Some(base)) = (url, &read.api_key, &read.base_url)
            && address::is_open(base)
        {
            url.warn("the key would go over the network unencrypted: use https");
        }
        fields.finish();
        read
    }
}

impl Default for Models {
    fn default() -> Self {
        let demo = ModelRef {
            provider: "demo".to_owned(),
            model: "demo".to_owned(),
        };
        Self {
            chat: vec![demo],
            compress: Vec::new(),
            choices: Vec::new(),
            roles: BTreeMap::new(),
            currency: CURRENCY.to_owned(),
            embed: None,
        }
    }
}

/// In what prices are, unless the operator says otherwise.
const CURRENCY: &str = "USD";

/// Reads `providers` and `models`, which only make sense together.
#[must_use]
pub fn read_models(top: &mut Fields<'_>) -> (BTreeMap<String, Provider>, Models) {
    let given = top
        .get("providers")
        .and_then(|setting| setting.map())
        .filter(|map| !map.is_empty());
    let providers = match &given {
        Some(map) => map
            .iter()
            .map(|(id, p)| (provider_id(id, p), Provider::read(p)))
            .collect(),
        None => Provider::defaults(),
    };
    let mut fields = top.section("models");
    let list = fields.get("chat");
    let chat = match &list {
        Some(list) => read_list(list, &providers),
        None => Models::default().chat,
    };
    let compress = fields.get("compress");
    let compress = compress.map(|list| read_list(&list, &providers));
    if list.is_none() && !only_demo(&providers) {
        let id = providers
            .keys()
            .find(|id| *id != "demo")
            .map_or("demo", String::as_str);
        let hint = format!("write models: {{chat: [{id}/<name of the model>]}}");
        fields.missing("chat", Some(&hint));
    }
    let choices = fields.get("choices");
    let choices = choices.map(|list| read_list(&list, &providers));
    let choices = choices.unwrap_or_default();
    let roles = fields.map("roles").into_iter().map(|(role, list)| {
        let models = read_list(&list, &providers);
        let known = |model: &ModelRef| chat.contains(model) || choices.contains(model);
        if !models.iter().all(known) && !list.describes() {
            list.invalid(
                "a model is neither among chat nor among choices",
                Some("name it under choices too"),
            );
        }
        (role.to_owned(), models)
    });
    let roles: BTreeMap<String, Vec<ModelRef>> = roles.collect();
    let embed = fields
        .get("embed")
        .and_then(|setting| read_embed(&setting, &providers));
    let models = Models {
        chat,
        compress: compress.unwrap_or_default(),
        choices,
        roles,
        currency: fields.text("currency", CURRENCY),
        embed,
    };
    fields.finish();
    (providers, models)
}

/// Nothing but the demonstration is there, under the name that the default model has.
fn only_demo(providers: &BTreeMap<String, Provider>) -> bool {
    providers
        .iter()
        .all(|(id, provider)| id == "demo" && provider.kind == ProviderKind::Demo)
}

/// An id stands before the first slash of a model's name.
fn provider_id(id: &str, setting: &Setting<'_>) -> String {
    if id.contains('/') || id.trim() != id {
        setting.invalid(
            "a provider's id has no slash and no white space around it",
            None,
        );
    }
    id.to_owned()
}

fn read_list(list: &Setting<'_>, providers: &BTreeMap<String, Provider>) -> Vec<ModelRef> {
    let Some(items) = list.list() else {
        return Models::default().chat;
    };
    if items.is_empty() {
        list.invalid(
            "the list is empty",
            Some("name at least one model: <provider>/<model>"),
        );
    }
    items
        .iter()
        .filter_map(|item| read_ref(item, providers))
        .collect()
}

/// A model that tells what texts mean.
fn read_embed(setting: &Setting<'_>, providers: &BTreeMap<String, Provider>) -> Option<ModelRef> {
    let model = read_ref(setting, providers)?;
    let kind = providers.get(&model.provider).map(|provider| provider.kind);
    if !matches!(
        kind,
        Some(ProviderKind::OpenAi | ProviderKind::OpenAiResponses)
    ) {
        let problem = "only providers of kind openai or openai-responses tell what texts mean";
        setting.invalid(problem, None);
        return None;
    }
    Some(model)
}

fn read_ref(setting: &Setting<'_>, providers: &BTreeMap<String, Provider>) -> Option<ModelRef> {
    let (provider, model) = setting.word()?.split_once('/').unwrap_or_default();
    if provider.is_empty() || model.is_empty() {
        setting.invalid("a model is named <provider>/<model>", None);
        return None;
    }
    if !providers.contains_key(provider) {
        let hint = match nearest(provider, providers.keys().map(String::as_str)) {
            Some(known) => format!("did you mean {known}/{model}?"),
            None => format!("write it under providers: {provider}: {{kind: ...}}"),
        };
        setting.invalid("no such provider", Some(&hint));
        return None;
    }
    Some(ModelRef {
        provider: provider.to_owned(),
        model: model.to_owned(),
    })
}

impl Models {
    /// The model that a provider's id alone means: the first of its models that answers, or that it has options for.
    #[must_use]
    pub fn of(&self, provider: &str, providers: &BTreeMap<String, Provider>) -> Option<ModelRef> {
        let answers = self.chat.iter().find(|model| model.provider == provider);
        let known = || providers.get(provider)?.models.keys().next();
        answers.cloned().or_else(|| {
            Some(ModelRef {
                provider: provider.to_owned(),
                model: known()?.clone(),
            })
        })
    }
}

impl Default for ErrorRecovery {
    fn default() -> Self {
        Self {
            max_retries: MaxRetries::default(),
            backoff_multiplier: 1.5,
            max_backoff: Duration::from_secs(60),
        }
    }
}

impl Default for MaxRetries {
    fn default() -> Self {
        Self {
            rate_limit: 5,
            timeout: 3,
            network: 3,
            api: 2,
            security: 0,
            tool: 2,
            internal: 1,
        }
    }
}

impl ErrorRecovery {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            max_retries: MaxRetries::read(fields.section("max_retries")),
            backoff_multiplier: fields.f64(
                "backoff_multiplier",
                default.backoff_multiplier,
                1.0..=10.0,
            ),
            max_backoff: fields.seconds("max_backoff", default.max_backoff, 0.0..=3600.0),
        };
        fields.finish();
        read
    }
}

impl MaxRetries {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let mut count = |key, default| fields.u32(key, default, 0..=100);
        let read = Self {
            rate_limit: count("rate_limit", default.rate_limit),
            timeout: count("timeout", default.timeout),
            network: count("network", default.network),
            api: count("api", default.api),
            security: count("security", default.security),
            tool: count("tool", default.tool),
            internal: count("internal", default.internal),
        };
        fields.finish();
        read
    }
}
