//! Builds the models of a configuration, and sorts them by what they do.
//!
//! Owns which models are built and that one that stays the same is taken over with its connections. It asks none.

use std::sync::Arc;

use weirgate_sdk::settings::Secret;

use super::super::StartError;
use crate::{
    agent::model::{
        Lineup, Model,
        config::{ModelRef, Provider, ProviderKind},
        demo::Demo,
        embed::{Embed, Embedder},
        remote::{Format, Remote, RemoteOptions},
    },
    config::Config,
};

/// How fast the demo model writes, a word.
const DEMO_PACE: std::time::Duration = std::time::Duration::from_millis(25);

/// Models with their names.
pub type NamedModels = Vec<(ModelRef, Arc<dyn Model>)>;

/// All models that write, each once, those that answer in front with the first choice first; built to be asked once.
///
/// # Errors
/// [`StartError::Config`] if one cannot be asked with its settings.
pub fn models_to_check(config: &Config) -> Result<NamedModels, StartError> {
    let models = models(config, None)?;
    let named = models.into_iter().map(|((name, _), model)| (name, model));
    Ok(named.collect())
}

/// The models with what they were built from.
pub(in crate::app) type Models = Vec<((ModelRef, Provider), Arc<dyn Model>)>;

/// The models that summarise, if they are not those that answer.
pub(in crate::app) fn summarisers(config: &Config) -> &[ModelRef] {
    let own = config.context.compress_provider_id.as_ref();
    own.map_or(&config.models.compress, std::slice::from_ref)
}

/// Sorts the models by what they do.
///
/// # Errors
/// [`StartError::Config`] if one cannot be asked with its settings.
pub(in crate::app) fn lineup(config: &Config, models: &Models) -> Result<Lineup, StartError> {
    let find = |wanted: &ModelRef| {
        let found = models.iter().find(|((name, _), _)| name == wanted);
        found.map(|(_, model)| Arc::clone(model))
    };
    Ok(Lineup {
        chat: config.models.chat.iter().filter_map(find).collect(),
        summaries: summarisers(config).iter().filter_map(find).collect(),
        choices: config.models.choices.iter().filter_map(find).collect(),
        embed: embedder(config)?,
    })
}

/// The model that tells what a text means, if there is one.
///
/// # Errors
/// [`StartError::Config`] if it cannot be asked with its settings.
pub fn embedder(config: &Config) -> Result<Option<Arc<dyn Embed>>, StartError> {
    let Some(ModelRef {
        provider: id,
        model,
    }) = &config.models.embed
    else {
        return Ok(None);
    };
    let Some(provider) = config.providers.get(id) else {
        let problem = format!("models.embed: no provider {id}");
        return Err(StartError::Config(problem));
    };
    let key = provider.api_key.as_ref().map(Secret::expose);
    let base_url = provider.base_url.as_deref().unwrap_or_default();
    let times = (provider.connect_timeout, provider.timeout);
    let embedder = Embedder::new(id, model, base_url, key, times);
    let embedder = embedder.map_err(|error| StartError::Config(error.to_string()))?;
    Ok(Some(Arc::new(embedder)))
}

/// Builds the models, each once. One of `before` that would be built from the same again is taken over with its
/// connections.
pub(in crate::app) fn models(
    config: &Config,
    before: Option<&Models>,
) -> Result<Models, StartError> {
    let mut models = Models::new();
    let wanted = config.models.chat.iter().chain(summarisers(config));
    for wanted in wanted.chain(&config.models.choices) {
        if models.iter().any(|((built, _), _)| built == wanted) {
            continue;
        }
        let Some(provider) = config.providers.get(&wanted.provider) else {
            let problem = format!("models: no provider {}", wanted.provider);
            return Err(StartError::Config(problem));
        };
        let source = (wanted.clone(), provider.clone());
        let kept = before.and_then(|before| before.iter().find(|(old, _)| *old == source));
        let model: Arc<dyn Model> = match (kept, provider.kind) {
            (Some((_, kept)), _) => Arc::clone(kept),
            (None, ProviderKind::Demo) => Arc::new(Demo::new(DEMO_PACE)),
            (None, ProviderKind::OpenAi) => remote(Format::ChatCompletions, provider, wanted)?,
            (None, ProviderKind::Anthropic) => remote(Format::Messages, provider, wanted)?,
            (None, ProviderKind::OpenAiResponses) => remote(Format::Responses, provider, wanted)?,
        };
        models.push((source, model));
    }
    Ok(models)
}

fn remote(
    format: Format,
    provider: &Provider,
    wanted: &ModelRef,
) -> Result<Arc<dyn Model>, StartError> {
    let options = RemoteOptions {
        format,
        ..options(provider, &wanted.provider, &wanted.model)
    };
    let model = Remote::new(options).map_err(|error| StartError::Config(error.to_string()))?;
    Ok(Arc::new(model))
}

fn options(provider: &Provider, id: &str, model: &str) -> RemoteOptions {
    let key = provider.api_key.as_ref().map(|key| key.expose().to_owned());
    let base_url = provider.base_url.as_deref().unwrap_or_default();
    let options = provider.models.get(model);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a temperature needs no more precision"
    )]
    let temperature = options
        .and_then(|options| options.temperature)
        .map(|value| value as f32);
    RemoteOptions {
        connect_timeout: provider.connect_timeout,
        idle_timeout: provider.timeout,
        think_markers: provider.think_tags,
        max_output_tokens: options.and_then(|options| options.max_output_tokens),
        completion_limit: options.is_some_and(|options| options.completion_limit),
        stream: !options.is_some_and(|options| options.whole),
        temperature,
        takes: options.map(|options| options.takes).unwrap_or_default(),
        reasoning: options.is_some_and(|options| options.reasoning),
        reasoning_summary: options.is_some_and(|options| options.reasoning_summary),
        reasoning_budget: options.and_then(|options| options.reasoning_budget),
        reasoning_back: options
            .map(|options| options.reasoning_back)
            .unwrap_or_default(),
        uncached: options.is_some_and(|options| options.uncached),
        ..RemoteOptions::new(id, model, base_url, key)
    }
}
