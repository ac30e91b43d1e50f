//! Builds the application from its configuration: store, web server, adapters, models, core.
//!
//! Owns how each part is made of the configuration, and the first time that all are. It runs nothing.

mod models;

use std::sync::Arc;

use axum::Router;
use sha2::{Digest, Sha256};
use tokio::task::JoinSet;
use weirgate_sdk::{AccountName, ChatModels, Setup, Stop, Stopper, settings::Secret};

pub(super) use models::{Models, lineup, models, summarisers};
pub use models::{embedder, models_to_check};

use super::{
    App, StartError, adapters,
    core::{Core, Live, Parts},
    kept_files,
    mirror::mirror,
    overlay,
    reload::{self, Engine, Reloader, Source},
    translate,
};
use crate::{
    agent::memory::{Memories, config::Backend, volatile::Volatile},
    clock::Clock,
    command::{self, claim},
    config::{Config, Environment, Loaded},
    current::Current,
    hook::Hooks,
    http::{self, Own, Readiness, server::Server},
    operate::{
        desk::{Desk, Running},
        make_socket_folder,
        socket::Socket,
        socket_folder,
    },
    outbound::deliver::Adapters,
    security::redact::Redactor,
    store::{
        MemoryStore, Store,
        config::{Database, Durability, Storage},
        postgres::{self, PostgresStore},
        redis::RedisMemory,
        sqlite::{self, SqliteStore},
    },
    telemetry::{logging::Logging, metrics::Exporter, traces},
};

/// Letters of the code that makes its sender an owner: 50 random bits.
const CLAIM: u32 = 10;

/// What a start needs.
pub struct Startup {
    /// What the configuration says, as it was read.
    pub loaded: Loaded,
    /// Where it comes from, to be read again.
    pub source: Source,
    /// What must not get out.
    pub redactor: Redactor,
    /// The log, whose settings follow a reload.
    pub logging: Logging,
    /// The metrics.
    pub exporter: Exporter,
    /// Plug-ins.
    pub hooks: Hooks,
}

impl std::fmt::Debug for Startup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Startup").finish_non_exhaustive()
    }
}

pub(super) async fn build(mut startup: Startup) -> Result<App, StartError> {
    let store = open_store(&startup.loaded.config).await?;
    let overrides = overlay::lay(&mut startup, &store).await?;
    let Startup {
        loaded,
        source,
        redactor,
        logging,
        exporter,
        hooks,
    } = startup;
    let config = loaded.config.clone();
    let clock = Clock::system();
    exporter.set_files(files(&config));
    let (server, listener) = bind(&config).await?;
    let models = models(&config, None)?;
    let chat_models = ChatModels::new(chat_models(&config));
    let secret = store.secret().await?;
    let tracing = tracing_of(&config, &secret, &redactor)?;
    let accounts = adapters::build(&config, &adapters::Accounts::new(), |platform, account| {
        setup(&config, &secret, &chat_models, platform, account)
    })?;
    let media = kept_files::open(&config, &source.environment, &store, clock).await?;
    let (reloader, asks) = Reloader::new(redactor.clone());
    let parts = Parts {
        store: Arc::clone(&store),
        adapters: adapters::all(&accounts),
        rules: adapters::rules(&accounts),
        models: lineup(&config, &models)?,
        memories: memories(&config, &store, clock).await?,
        redactor: redactor.clone(),
        clock,
        random: rand::random::<f64>,
        configure: Some(Arc::new(reloader.clone())),
        media: media.clone(),
        hooks,
    };
    let core = Core::new(&config, parts)?;
    core.required().await?;
    let readiness = Arc::new(Readiness::new(Arc::clone(&store), core.connections()));
    let core = core.start().await?;
    let doors = Doors::new(&readiness, exporter, &reloader);
    let routes = Arc::new(Current::new(doors.router(&config, &accounts)));
    let (http_stop, http_signal) = Stopper::new();
    let mut tasks = JoinSet::new();
    if store.is_shared() {
        let mirrored = Arc::clone(&store);
        tasks.spawn(mirror(mirrored, reloader.clone(), http_signal.clone()));
    }
    let desk = operators_desk(store, redactor, clock, &core);
    open_socket(&config, &source.environment, desk, &http_signal, &mut tasks);
    tasks.spawn(kept_files::sweep(media, http_signal.clone()));
    Server::serve(listener, Arc::clone(&routes), http_signal, &mut tasks);
    let greetings = greetings(&config, &accounts, &server, &core).await?;
    let engine = Engine::new(reload::Parts {
        loaded,
        source,
        overrides,
        logging,
        models,
        chat_models,
        account_secret: secret,
        accounts,
        running: Arc::clone(&core.accounts),
        tuner: core.tuner.clone(),
        routes,
        doors,
    });
    let reloading = reload::start(engine, reloader, asks);
    Ok(App {
        core,
        readiness,
        greetings,
        server,
        tasks,
        tracing,
        stop: http_stop,
        reloading,
    })
}

/// Lets the tools of the command line reach this gateway.
fn open_socket(
    config: &Config,
    environment: &Environment<'_>,
    desk: Desk,
    stop: &Stop,
    tasks: &mut JoinSet<()>,
) {
    let Some(folder) = socket_folder(config, environment) else {
        tracing::warn!("no folder for the control socket: neither XDG_DATA_HOME nor HOME is set");
        return;
    };
    // The data folder is there already.
    let bound = make_socket_folder(&folder).and_then(|()| Socket::bind(&folder));
    match bound {
        Ok(socket) => {
            tasks.spawn(socket.serve(Arc::new(desk), stop.clone()));
        }
        // The gateway does its work without it.
        Err(error) => {
            tracing::error!(%error, "the tools of the command line cannot reach this gateway");
        }
    }
}

/// Traces of turns, if they are wanted.
fn tracing_of(
    config: &Config,
    secret: &[u8; 32],
    redactor: &Redactor,
) -> Result<Option<traces::Tracing>, StartError> {
    let traces = config.observability.traces.as_ref();
    traces::install(traces, secret, redactor.clone())
        .map_err(|error| StartError::Config(format!("observability.traces: {error}")))
}

async fn bind(config: &Config) -> Result<(Server, tokio::net::TcpListener), StartError> {
    let address = config.http.listen;
    let bound = Server::bind(address).await;
    bound.map_err(|error| StartError::Listen { address, error })
}

fn operators_desk(store: Arc<dyn Store>, redactor: Redactor, clock: Clock, core: &Live) -> Desk {
    Desk {
        store,
        redactor: Arc::new(redactor),
        clock,
        running: Some(Running {
            deliverer: core.deliverer.clone(),
            intake: Arc::clone(&core.intake),
        }),
    }
}

async fn greetings(
    config: &Config,
    accounts: &adapters::Accounts,
    server: &Server,
    core: &Live,
) -> Result<Vec<String>, StartError> {
    let mut greetings = vec![greeting(config, accounts, server)];
    greetings.extend(offer(config, core).await?);
    Ok(greetings)
}

/// What tells the operator how to own a gateway that has no owner.
async fn offer(config: &Config, core: &Live) -> Result<Option<String>, StartError> {
    if !config.permissions.owners.is_empty() {
        return Ok(None);
    }
    let code = claim::code_of(rand::random(), CLAIM);
    let told = format!("Nobody owns this gateway yet: send  /claim {code}  to it within an hour.");
    Ok(core.offer(&code).await?.then_some(told))
}

fn greeting(config: &Config, accounts: &adapters::Accounts, server: &Server) -> String {
    let base = match &config.http.public_url {
        Some(url) => url.clone(),
        None => format!("http://{}", server.address()),
    };
    // Events that are posted have routes too; a page is shown from the store.
    if accounts.values().any(|account| account.rules.shown) {
        format!("Weirgate is ready. Web chat: {base}/")
    } else {
        format!("Weirgate is ready. Health: {base}/readyz")
    }
}

/// The gateway's own doors on the web server.
pub(super) struct Doors {
    readiness: Arc<Readiness>,
    exporter: Exporter,
    reloader: Reloader,
}

impl Doors {
    fn new(readiness: &Arc<Readiness>, exporter: Exporter, reloader: &Reloader) -> Self {
        Self {
            readiness: Arc::clone(readiness),
            exporter,
            reloader: reloader.clone(),
        }
    }

    /// All routes, as a configuration wants them.
    pub(super) fn router(&self, config: &Config, accounts: &adapters::Accounts) -> Router {
        let own = Own {
            readiness: Arc::clone(&self.readiness),
            exporter: config.observability.metrics.then(|| self.exporter.clone()),
            admin_token: config.http.admin_token.clone(),
            direct: config.http.public_url.is_none(),
            reloader: self.reloader.clone(),
            trusted_proxies: config.http.trusted_proxies.clone(),
        };
        http::router(own, adapters::routes(accounts))
    }
}

/// Opens the store of a configuration.
///
/// # Errors
/// The store's.
pub async fn open_store(config: &Config) -> Result<Arc<dyn Store>, StartError> {
    let storage = &config.storage;
    Ok(match &storage.database {
        Database::Sqlite(path) => {
            SqliteStore::open(sqlite::Options {
                path: path.clone(),
                durability: storage.durability,
                retention: storage.retention,
                readers: READERS,
                now: wall_clock,
            })
            .await?
        }
        Database::Postgres(url) => PostgresStore::open(on_server(storage, url)).await?,
    })
}

/// What is remembered; `None` if nothing is.
async fn memories(
    config: &Config,
    store: &Arc<dyn Store>,
    clock: Clock,
) -> Result<Option<Arc<Memories>>, StartError> {
    if !config.memory.enable {
        return Ok(None);
    }
    let store: Arc<dyn MemoryStore> = match config.memory.backend {
        Backend::Store => Arc::clone(store) as Arc<dyn MemoryStore>,
        Backend::Memory => Arc::new(Volatile::default()),
        Backend::Redis => Arc::new(RedisMemory::new(&config.memory.redis)?),
        Backend::Sqlite => {
            SqliteStore::open(sqlite::Options {
                path: translate::memory_file(config),
                durability: config.storage.durability,
                retention: config.storage.retention,
                readers: READERS,
                now: wall_clock,
            })
            .await?
        }
    };
    Ok(Some(Arc::new(Memories::new(store, clock))))
}

/// Opens the store of a configuration for a tool, if no gateway has it.
///
/// # Errors
/// The store's; [`StartError::is_in_use`] tells whether a gateway has it.
pub async fn open_unused_store(config: &Config) -> Result<Arc<dyn Store>, StartError> {
    match server_options(config) {
        Some(options) => Ok(PostgresStore::open_unused(options).await?),
        // The lock of its folder says so.
        None => open_store(config).await,
    }
}

/// How a store on a server is reached, if the configuration has one.
#[must_use]
pub fn server_options(config: &Config) -> Option<postgres::Options> {
    match &config.storage.database {
        Database::Sqlite(_) => None,
        Database::Postgres(url) => Some(on_server(&config.storage, url)),
    }
}

/// How a store that moves to a server is written there: when it says that it is done, it is.
#[must_use]
pub fn store_on_server(url: &Secret) -> postgres::Options {
    let storage = Storage {
        durability: Durability::Full,
        ..Storage::default()
    };
    on_server(&storage, url)
}

fn on_server(storage: &Storage, url: &Secret) -> postgres::Options {
    postgres::Options {
        url: url.clone(),
        durability: storage.durability,
        retention: storage.retention,
        readers: READERS,
        now: wall_clock,
    }
}

/// The files of the database; a server has none here.
fn files(config: &Config) -> Vec<std::path::PathBuf> {
    match &config.storage.database {
        Database::Sqlite(path) => ["", "-wal", "-shm"].map(|end| suffixed(path, end)).into(),
        Database::Postgres(_) => Vec::new(),
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
pub fn adapters_to_check(config: &Config) -> Result<Adapters, StartError> {
    let models = ChatModels::new(chat_models(config));
    // What they sign with it is never used.
    let accounts = adapters::build(config, &adapters::Accounts::new(), |platform, account| {
        setup(config, &[0; 32], &models, platform, account)
    })?;
    Ok(adapters::all(&accounts))
}

/// What the adapter of an account is given.
pub(super) fn setup(
    config: &Config,
    secret: &[u8; 32],
    models: &ChatModels,
    platform: &str,
    account: &AccountName,
) -> Setup {
    // One key for each account, so that what one signs means nothing to another.
    let mut digest = Sha256::new();
    digest.update(secret);
    digest.update(platform.as_bytes());
    digest.update([0]);
    digest.update(account.as_str().as_bytes());
    Setup {
        account: account.clone(),
        secret: digest.finalize().into(),
        version: env!("CARGO_PKG_VERSION"),
        public_origin: config.http.public_url.as_deref().and_then(origin),
        models: models.clone(),
        menu: command::menu(translate::language(config)),
    }
}

/// The names of the chat models, first choice first.
pub(super) fn chat_models(config: &Config) -> Vec<String> {
    let models = config.models.chat.iter();
    models
        .map(|model| format!("{}/{}", model.provider, model.model))
        .collect()
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

#[cfg(test)]
mod tests;
