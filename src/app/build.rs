//! Builds the application from its configuration: store, web server, adapters, models, core.
//!
//! Owns what is made of the configuration only once, at a start. It runs nothing.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio::task::JoinSet;
use weirgate_sdk::{AccountName, Setup, Stopper};

use super::{
    App, StartError,
    adapters::{self, Built},
    core::{Core, Parts},
};
use crate::{
    agent::model::{
        Model,
        config::{Provider, ProviderKind},
        demo::Demo,
        openai::{OpenAi, OpenAiOptions},
    },
    clock::Clock,
    config::Config,
    http::{self, Own, Readiness, server::Server},
    operate::{
        desk::{Desk, Running},
        socket::Socket,
    },
    security::redact::Redactor,
    store::{
        Store,
        sqlite::{Options, SqliteStore},
    },
    telemetry::{metrics::Exporter, traces},
};

/// How fast the demo model writes, a word.
const DEMO_PACE: std::time::Duration = std::time::Duration::from_millis(25);

pub(super) async fn build(
    config: Config,
    redactor: Redactor,
    exporter: Exporter,
) -> Result<App, StartError> {
    let clock = Clock::system();
    let store: Arc<dyn Store> = SqliteStore::open(store_options(&config)).await?;
    let database = config.storage.path();
    exporter.set_files(
        ["", "-wal", "-shm"]
            .map(|end| suffixed(&database, end))
            .into(),
    );
    let (server, listener) =
        Server::bind(config.http.listen)
            .await
            .map_err(|error| StartError::Listen {
                address: config.http.listen,
                error,
            })?;
    let models = models(&config)?;
    let secret = store.secret().await?;
    let traces = config.observability.traces.as_ref();
    let tracing = traces::install(traces, &secret, redactor.clone())
        .map_err(|error| StartError::Config(format!("observability.traces: {error}")))?;
    let Built {
        adapters,
        rules,
        routes,
    } = adapters::build(&config, |platform, account| {
        setup(&config, &secret, platform, account)
    })?;
    let parts = Parts {
        store: Arc::clone(&store),
        adapters,
        rules,
        models,
        redactor,
        clock,
        random: rand::random::<f64>,
    };
    let desk_redactor = Arc::new(parts.redactor.clone());
    let core = Core::new(&config, parts)?;
    let readiness = Arc::new(Readiness::new(Arc::clone(&store), core.connections()));
    let core = core.start().await?;
    let own = Own {
        readiness: Arc::clone(&readiness),
        exporter: config.observability.metrics.then_some(exporter),
        admin_token: config.http.admin_token.clone(),
        direct: config.http.public_url.is_none(),
    };
    let (http_stop, http_signal) = Stopper::new();
    let mut tasks = JoinSet::new();
    let desk = Desk {
        store,
        redactor: desk_redactor,
        clock,
        running: Some(Running {
            deliverer: core.deliverer.clone(),
            intake: Arc::clone(&core.intake),
        }),
    };
    match Socket::bind(&config.storage.folder()) {
        Ok(socket) => {
            tasks.spawn(socket.serve(Arc::new(desk), http_signal.clone()));
        }
        // The gateway does its work without it.
        Err(error) => {
            tracing::error!(%error, "the tools of the command line cannot reach this gateway")
        }
    }
    let serves_pages = !routes.is_empty();
    Server::serve(listener, http::router(own, routes), http_signal, &mut tasks);
    let base = match &config.http.public_url {
        Some(url) => url.clone(),
        None => format!("http://{}", server.address()),
    };
    let greeting = if serves_pages {
        format!("Weirgate is ready. Web chat: {base}/")
    } else {
        format!("Weirgate is ready. Health: {base}/readyz")
    };
    Ok(App {
        core,
        readiness,
        greetings: vec![greeting],
        server,
        tasks,
        tracing,
        stop: http_stop,
    })
}

/// How the store of a configuration is opened.
#[must_use]
pub fn store_options(config: &Config) -> Options {
    let storage = &config.storage;
    Options {
        path: storage.path(),
        durability: storage.durability,
        retention: storage.retention,
        readers: READERS,
        now: wall_clock,
    }
}

/// The path of a file beside the database: its name with an end.
fn suffixed(database: &std::path::Path, end: &str) -> std::path::PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(end);
    path.into()
}

/// Reading connections of the store.
const READERS: u32 = 4;

fn wall_clock() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_millis()).unwrap_or(i64::MAX))
}

/// The adapters of all accounts, built to be checked and not to be run.
///
/// # Errors
/// As [`adapters::build`].
pub fn adapters_to_check(config: &Config) -> Result<Built, StartError> {
    // What they sign with it is never used.
    adapters::build(config, |platform, account| {
        setup(config, &[0; 32], platform, account)
    })
}

fn setup(config: &Config, secret: &[u8; 32], platform: &str, account: &AccountName) -> Setup {
    // One key for each account, so that what one signs means nothing to another.
    let mut digest = Sha256::new();
    digest.update(secret);
    digest.update(platform.as_bytes());
    digest.update([0]);
    digest.update(account.as_str().as_bytes());
    let models = config.models.chat.iter();
    Setup {
        account: account.clone(),
        secret: digest.finalize().into(),
        version: env!("CARGO_PKG_VERSION"),
        public_origin: config.http.public_url.as_deref().and_then(origin),
        models: models
            .map(|model| format!("{}/{}", model.provider, model.model))
            .collect(),
    }
}

/// Scheme, host and port of an address as a browser writes an origin: in lower case and without the
/// scheme's default port.
fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let host = rest.split(['/', '?', '#']).next()?.to_ascii_lowercase();
    let default = match scheme.as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    let host = host.strip_suffix(default).unwrap_or(&host);
    (!host.is_empty()).then(|| format!("{scheme}://{host}"))
}

/// The chat models, first choice first.
///
/// # Errors
/// [`StartError::Config`] if one cannot be asked with its settings.
pub fn models(config: &Config) -> Result<Vec<Arc<dyn Model>>, StartError> {
    let mut models: Vec<Arc<dyn Model>> = Vec::new();
    for wanted in &config.models.chat {
        let Some(provider) = config.providers.get(&wanted.provider) else {
            let problem = format!("models.chat: no provider {}", wanted.provider);
            return Err(StartError::Config(problem));
        };
        models.push(match provider.kind {
            ProviderKind::Demo => Arc::new(Demo::new(DEMO_PACE)),
            ProviderKind::OpenAi => Arc::new(
                OpenAi::new(openai(provider, &wanted.provider, &wanted.model))
                    .map_err(|error| StartError::Config(error.to_string()))?,
            ),
        });
    }
    Ok(models)
}

fn openai(provider: &Provider, id: &str, model: &str) -> OpenAiOptions {
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
    OpenAiOptions {
        connect_timeout: provider.connect_timeout,
        idle_timeout: provider.timeout,
        think_markers: provider.think_tags,
        max_output_tokens: options.and_then(|options| options.max_output_tokens),
        temperature,
        ..OpenAiOptions::new(id, model, base_url, key)
    }
}

#[cfg(test)]
mod tests;
