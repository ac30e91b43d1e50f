//! From the configuration to what each part is told.
//!
//! Owns no defaults and no limits: those stand in each section's `config.rs`. Pure.

use std::{path::PathBuf, sync::Arc};

use super::{build::summarisers, core::RulesOfAccounts};
use crate::{
    agent::{
        Settings,
        choice::Choices,
        model::{
            Lineup, Recovery,
            config::{ModelRef, Provider},
            recovery::Retries,
        },
        subagent::Agents,
        tool::registry::Ground,
    },
    clock::Zone,
    config::{Config, Language as ConfigLanguage},
    i18n::Language,
    inbound::{accept::IntakeRules, burst::Pause, config::OverflowStrategy},
    operate::socket_folder,
    schedule::{
        bucket::Rate,
        config::{FlowControl, Mode},
        fair::{Overflow, Policy},
        limiter::LimiterPolicy,
    },
    security::paths::PathGuard,
};

pub(super) fn recovery(config: &Config) -> Recovery {
    let retries = &config.error_recovery.max_retries;
    Recovery {
        max_retries: Retries {
            rate_limit: retries.rate_limit,
            timeout: retries.timeout,
            network: retries.network,
            api: retries.api,
            security: retries.security,
            internal: retries.internal,
        },
        backoff_multiplier: config.error_recovery.backoff_multiplier,
        max_backoff: config.error_recovery.max_backoff,
    }
}

/// The providers of the chat models, each once, first choice first.
pub(super) fn chat_providers(config: &Config) -> Vec<String> {
    let mut providers: Vec<String> = Vec::new();
    for model in &config.models.chat {
        if !providers.contains(&model.provider) {
            providers.push(model.provider.clone());
        }
    }
    providers
}

/// Whether the provider is the same service with the same key in both configurations: what its limiter
/// learned still holds.
pub(super) fn same_service(one: &Config, other: &Config, id: &str) -> bool {
    match (one.providers.get(id), other.providers.get(id)) {
        (Some(one), Some(other)) => {
            (one.kind, &one.base_url, &one.api_key) == (other.kind, &other.base_url, &other.api_key)
        }
        _ => false,
    }
}

pub(super) fn limiters(config: &Config) -> Vec<(String, LimiterPolicy)> {
    let FlowControl { mode, auto, .. } = &config.flow_control;
    let policy = |provider: &Provider| LimiterPolicy {
        api_rpm_limit: match mode {
            Mode::Auto => provider.rpm.unwrap_or(auto.api_rpm_limit),
            // In manual mode the scheduler keeps the pace; a limit of the provider's own holds all the same.
            Mode::Manual => provider.rpm.unwrap_or(0),
        },
        safety_margin: auto.safety_margin,
        min_interval: auto.min_interval,
        max_interval: auto.max_interval,
    };
    config
        .providers
        .iter()
        .map(|(id, provider)| (id.clone(), policy(provider)))
        .collect()
}

pub(super) fn policy(config: &Config) -> Policy {
    let (input, flow) = (&config.input_buffer, &config.flow_control);
    let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Policy {
        max_queue_size: small(input.max_queue_size),
        max_total: small(input.max_total),
        max_bytes: input.max_bytes,
        overflow: match input.overflow_strategy {
            OverflowStrategy::DropOldest => Overflow::DropOldest,
            OverflowStrategy::DropNewest => Overflow::DropNewest,
            OverflowStrategy::Block => Overflow::Block,
        },
        max_age: input.max_message_age,
        messages_per_request: small(flow.auto.messages_per_request),
        user: Rate {
            per_second: flow.user.rate,
            burst: flow.user.burst,
        },
        manual: (flow.mode == Mode::Manual).then(|| Rate {
            per_second: flow.manual_rate,
            burst: manual_burst(flow.manual_rate),
        }),
        max_turns_per_user: small(flow.max_turns_per_user),
        aging_interval: flow.aging_interval,
        debounce: flow.debounce,
        debounce_max: flow.debounce_max,
    }
}

/// What acceptance is told.
pub(super) fn heard_by(config: &Config, accounts: RulesOfAccounts) -> IntakeRules {
    IntakeRules {
        accounts,
        ambient: config.context.ambient.enable,
        pause: Pause {
            silence: config.flow_control.debounce,
            longest: config.flow_control.debounce_max,
        },
    }
}

/// One second's worth of messages, at least one.
fn manual_burst(rate: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the configuration bounds the rate far below u32::MAX and above zero"
    )]
    let burst = rate.ceil().clamp(1.0, 1e6) as u32;
    burst
}

/// Most tokens of a request that any of these models may be asked: the smallest window counts.
fn window<'a>(config: &Config, models: impl IntoIterator<Item = &'a ModelRef>, most: u32) -> u32 {
    let tokens = |model: &ModelRef| {
        let provider = config.providers.get(&model.provider)?;
        provider.models.get(&model.model)?.context_tokens
    };
    let windows = models.into_iter().filter_map(tokens);
    windows.min().map_or(most, |least| least.min(most))
}

pub(super) fn settings(config: &Config) -> Settings {
    let mut context = config.context.clone();
    let most = context.max_context_tokens;
    // One context serves all models of the list.
    let asked = config.models.chat.iter().chain(&config.models.choices);
    context.max_context_tokens = window(config, asked, most);
    let summary_tokens = match summarisers(config) {
        [] => context.max_context_tokens,
        own => window(config, own, most),
    };
    Settings {
        context,
        summary_tokens,
        memory: config.memory.clone(),
        permissions: config.permissions.clone(),
        limits: config.limits.paced(config.flow_control.user.rate > 0.0),
        language: language(config),
        turn_timeout: config.flow_control.turn_timeout,
        overflow_hint: config.input_buffer.overflow_hint.clone(),
        tool_calling: config.tool_calling.clone(),
        subagents: config.agent_collaboration.subagents.clone(),
        tool_retries: config.error_recovery.max_retries.tool,
        zone: config.timezone.clone().unwrap_or_else(Zone::of_process),
    }
}

/// A folder as configured, else of this name beside the database or its socket.
fn folder(config: &Config, configured: Option<&PathBuf>, name: &str) -> PathBuf {
    let beside = || socket_folder(config, &|name| std::env::var(name).ok()).unwrap_or_default();
    configured.cloned().unwrap_or_else(|| beside().join(name))
}

/// The models that may be chosen: those that answer, and then the others.
pub(super) fn choices(config: &Config, models: &Lineup) -> Choices {
    let mut all = models.chat.clone();
    for model in &models.choices {
        if !all.iter().any(|known| known.name() == model.name()) {
            all.push(Arc::clone(model));
        }
    }
    let name = |model: &ModelRef| format!("{}/{}", model.provider, model.model);
    let roles = config.models.roles.iter();
    let prices = config.providers.iter().flat_map(|(id, provider)| {
        let options = provider.models.iter();
        options.filter_map(move |(model, options)| Some((format!("{id}/{model}"), options.price?)))
    });
    Choices {
        all,
        roles: roles
            .map(|(role, list)| (role.clone(), list.iter().map(name).collect()))
            .collect(),
        prices: prices.collect(),
        currency: config.models.currency.clone(),
    }
}

/// Where the layers of the prompt are.
pub(super) fn prompts(config: &Config) -> PathBuf {
    folder(config, config.context.prompt_folder.as_ref(), "prompt")
}

/// The file of a memory of its own, in a folder of its own.
pub(super) fn memory_file(config: &Config) -> PathBuf {
    let configured = config.memory.sqlite.clone();
    configured.unwrap_or_else(|| folder(config, None, "memory").join("memory.db"))
}

/// What tools are made of: folders as configured, else beside the database or its socket.
#[must_use]
pub fn ground(config: &Config) -> Ground {
    let patterns = &config.security.leakage_prevention.blocked_file_patterns;
    Ground {
        workspaces: folder(config, config.tools.files.workspaces.as_ref(), "workspaces"),
        programs: folder(config, config.tools.folder.as_ref(), "tools"),
        servers: folder(config, None, "mcp"),
        skills: folder(config, config.tools.skills.registry_path.as_ref(), "skills"),
        agents: folder(
            config,
            config.agent_collaboration.subagents.path.as_ref(),
            "agents",
        ),
        blocked: patterns.clone(),
        private: private(config),
    }
}

/// The agents that can be named for errands; `None` if none are found.
#[must_use]
pub fn agents(config: &Config) -> Option<Agents> {
    let collaboration = &config.agent_collaboration;
    if !(collaboration.subagents.enabled && collaboration.auto_discover_internal) {
        return None;
    }
    let models = config.models.chat.iter().chain(&config.models.choices);
    let models = models.map(|model| format!("{}/{}", model.provider, model.model));
    let ground = ground(config);
    // A configuration that was read has patterns that can be used.
    let guard = PathGuard::new(&ground.blocked).ok()?;
    Some(Agents::of(ground.agents, models.collect(), guard))
}

/// What of the gateway no program may see: its configuration, its data and its secrets.
fn private(config: &Config) -> Vec<PathBuf> {
    let data = folder(config, None, "");
    let own = [&config.storage.folder(), &config.file];
    let own = own.into_iter().flatten().cloned();
    own.chain([data]).collect()
}

pub(super) fn language(config: &Config) -> Option<Language> {
    match config.language {
        ConfigLanguage::Auto => None,
        ConfigLanguage::ZhCn => Some(Language::Zh),
        ConfigLanguage::En => Some(Language::En),
    }
}
