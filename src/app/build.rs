//! Puts the parts together, in the order in which they need each other, and starts them.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::{sync::Notify, task::JoinSet};
use weirgate_sdk::{AccountName, Connection, Ingress, Setup, Stopper};

use super::{
    App, StartError, Stops,
    adapters::{self, Built},
    run_adapter,
    transcript::StoredTranscript,
};
use crate::{
    agent::{
        Agent, Parts as AgentParts, Settings,
        model::{
            Chain, Model, Recovery,
            config::{Provider, ProviderKind},
            demo::Demo,
            openai::{OpenAi, OpenAiOptions},
            recovery::Retries,
        },
        running::Running,
    },
    clock::Clock,
    command::{Desk, desk::Connections},
    config::{Config, Language as ConfigLanguage},
    directory::Directory,
    hook::Hooks,
    http::{self, Own, Readiness, server::Server},
    i18n::Language,
    inbound::{
        accept::{Intake, Parts as IntakeParts},
        config::OverflowStrategy,
        keying::Keying,
        notice::Notices,
        recover::recover,
        sweep::Sweep,
    },
    outbound::{
        compose::Composer,
        deliver::{Deliverer, Parts as DeliverParts},
    },
    schedule::{
        bucket::Rate,
        config::{FlowControl, Mode},
        dispatch::{Dispatch, Parts as DispatchParts},
        fair::{Overflow, Policy},
        limiter::LimiterPolicy,
        permits::ProviderPermits,
    },
    security::redact::Redactor,
    store::{
        Store,
        sqlite::{Options, SqliteStore},
    },
    telemetry::metrics::Exporter,
    trace::Traces,
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
    let (server, listener) =
        Server::bind(config.http.listen)
            .await
            .map_err(|error| StartError::Listen {
                address: config.http.listen,
                error,
            })?;
    let models = models(&config)?;
    let secret = store.secret().await?;
    let built = adapters::build(&config, |platform, account| {
        setup(&config, &secret, platform, account)
    });
    let core = Core::new(&config, redactor, models, Arc::clone(&store), built, clock)?;
    core.start(config, exporter, server, listener).await
}

/// Everything that is built, before anything runs.
struct Core {
    store: Arc<dyn Store>,
    clock: Clock,
    policy: Policy,
    keying: Keying,
    traces: Arc<Traces>,
    connections: Arc<Connections>,
    dispatch: Arc<Dispatch>,
    deliverer: Deliverer,
    agent: Arc<Agent>,
    intake: Arc<Intake>,
    sweep: Sweep,
    built: Built,
    stops: Stops,
    signals: Signals,
}

/// The receiving ends of [`Stops`].
struct Signals {
    dispatch: weirgate_sdk::Stop,
    adapters: weirgate_sdk::Stop,
    sweep: weirgate_sdk::Stop,
    http: weirgate_sdk::Stop,
}

impl Core {
    fn new(
        config: &Config,
        redactor: Redactor,
        models: Vec<Arc<dyn Model>>,
        store: Arc<dyn Store>,
        built: Built,
        clock: Clock,
    ) -> Result<Self, StartError> {
        let (dispatch_stop, dispatch_signal) = Stopper::new();
        let (deliver_stop, deliver_signal) = Stopper::new();
        let (adapters_stop, adapters_signal) = Stopper::new();
        let (intake_stop, intake_signal) = Stopper::new();
        let (sweep_stop, sweep_signal) = Stopper::new();
        let (http_stop, http_signal) = Stopper::new();

        let traces = Arc::new(Traces::default());
        let directory = Arc::new(Directory::new(Arc::clone(&store)));
        let running = Arc::new(Running::default());
        let connections: Arc<Connections> = Arc::new(Mutex::new(BTreeMap::new()));
        let policy = policy(config);
        let keying = Keying::from(&config.input_buffer);
        let changed = Arc::new(Notify::new());
        let permits = Arc::new(ProviderPermits::new(
            clock,
            limiters(config),
            Arc::clone(&changed),
        ));
        let dispatch = Arc::new(Dispatch::new(DispatchParts {
            policy: policy.clone(),
            max_in_flight: config.flow_control.max_turns_in_flight,
            provider: first_provider(config),
            permits: Arc::clone(&permits),
            changed,
            clock,
            store: Arc::clone(&store),
        }));
        let hooks = Hooks::default();
        let deliverer = Deliverer::new(DeliverParts {
            store: Arc::clone(&store),
            adapters: built.adapters.clone(),
            directory: Arc::clone(&directory),
            traces: Arc::clone(&traces),
            clock,
            output: config.output.clone(),
            hooks: hooks.clone(),
            stop: deliver_signal,
        });
        let composer =
            Composer::new(Arc::new(redactor), config.output.clone()).map_err(|error| {
                StartError::Config(format!("output.segmented.split_regex: {error}"))
            })?;
        let composer = Arc::new(composer);
        let desk = Desk {
            version: env!("CARGO_PKG_VERSION"),
            models: models.iter().map(|model| model.name().to_owned()).collect(),
            clock,
            store: Arc::clone(&store),
            directory: Arc::clone(&directory),
            running: Arc::clone(&running),
            dispatch: Arc::clone(&dispatch),
            deliverer: deliverer.clone(),
            traces: Arc::clone(&traces),
            connections: Arc::clone(&connections),
            keying,
            holds_back: policy.overflow == Overflow::Block,
        };
        let notices = Arc::new(Notices::new(Arc::clone(&traces), clock));
        let agent = Arc::new(Agent::new(AgentParts {
            settings: settings(config),
            deliverer: deliverer.clone(),
            composer: Arc::clone(&composer),
            chain: Chain::new(models, recovery(config)),
            permits,
            desk,
            hooks: hooks.clone(),
            random: rand::random::<f64>,
        }));
        let intake = Arc::new(Intake::new(IntakeParts {
            store: Arc::clone(&store),
            dispatch: Arc::clone(&dispatch),
            agent: Arc::clone(&agent),
            directory: Arc::clone(&directory),
            traces: Arc::clone(&traces),
            notices: Arc::clone(&notices),
            running,
            hooks,
            accounts: built.rules.clone(),
            keying,
            ambient: config.context.ambient.enable,
            connections: Arc::clone(&connections),
            transcript: Arc::new(StoredTranscript(Arc::clone(&store))),
            clock,
            stop: intake_signal,
        }));
        let sweep = Sweep {
            notices,
            dispatch: Arc::clone(&dispatch),
            store: Arc::clone(&store),
            directory,
            composer,
            deliverer: deliverer.clone(),
            language: language(config),
            clock,
        };
        Ok(Self {
            store,
            clock,
            policy,
            keying,
            traces,
            connections,
            dispatch,
            deliverer,
            agent,
            intake,
            sweep,
            built,
            stops: Stops {
                dispatch: dispatch_stop,
                deliver: deliver_stop,
                adapters: adapters_stop,
                intake: intake_stop,
                sweep: sweep_stop,
                http: http_stop,
            },
            signals: Signals {
                dispatch: dispatch_signal,
                adapters: adapters_signal,
                sweep: sweep_signal,
                http: http_signal,
            },
        })
    }

    async fn start(
        self,
        config: Config,
        exporter: Exporter,
        server: Server,
        listener: tokio::net::TcpListener,
    ) -> Result<App, StartError> {
        for key in self.built.adapters.keys() {
            self.connections
                .lock()
                .insert(key.clone(), Connection::Waiting);
        }
        let unsent = self.deliverer.recover().await?;
        let now = self.clock.now();
        let recovered = recover(
            &self.store,
            &self.dispatch,
            &self.agent,
            &self.traces,
            self.keying,
            &self.policy,
            now,
        )
        .await?;
        if unsent + recovered.messages + recovered.controls > 0 {
            tracing::info!(
                unsent,
                messages = recovered.messages,
                controls = recovered.controls,
                "taken up from before"
            );
        }
        let mut tasks = JoinSet::new();
        let runner: Arc<Agent> = Arc::clone(&self.agent);
        tasks.spawn(Arc::clone(&self.dispatch).run(runner, self.signals.dispatch));
        tasks.spawn(self.sweep.run(self.signals.sweep));
        let readiness = Arc::new(Readiness::new(
            Arc::clone(&self.store),
            Arc::clone(&self.connections),
        ));
        let own = Own {
            readiness: Arc::clone(&readiness),
            exporter: config.observability.metrics.then_some(exporter),
            admin_token: config.http.admin_token.clone(),
        };
        let routes = http::router(own, self.built.routes);
        Server::serve(listener, routes, self.signals.http, &mut tasks);
        let mut adapter_tasks = JoinSet::new();
        for adapter in self.built.adapters.into_values() {
            let ingress: Arc<dyn Ingress> = self.intake.clone();
            let connections = Arc::clone(&self.connections);
            let stop = self.signals.adapters.clone();
            adapter_tasks.spawn(run_adapter(adapter, ingress, connections, stop));
        }
        let base = match &config.http.public_url {
            Some(url) => url.clone(),
            None => format!("http://{}", server.address()),
        };
        Ok(App {
            store: self.store,
            dispatch: self.dispatch,
            deliverer: self.deliverer,
            readiness,
            greetings: vec![format!("Weirgate is ready. Web chat: {base}/")],
            server,
            tasks,
            adapters: adapter_tasks,
            stop: self.stops,
        })
    }
}

fn store_options(config: &Config) -> Options {
    let storage = &config.storage;
    Options {
        path: storage.path(),
        durability: storage.durability,
        retention: storage.retention,
        readers: READERS,
        now: wall_clock,
    }
}

/// Reading connections of the store.
const READERS: u32 = 4;

fn wall_clock() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_millis()).unwrap_or(i64::MAX))
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
        public_host: config.http.public_url.as_deref().and_then(host),
        models: models
            .map(|model| format!("{}/{}", model.provider, model.model))
            .collect(),
    }
}

/// Host and port of an address, in lower case.
fn host(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    rest.split(['/', '?', '#'])
        .next()
        .map(str::to_ascii_lowercase)
}

fn models(config: &Config) -> Result<Vec<Arc<dyn Model>>, StartError> {
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

fn recovery(config: &Config) -> Recovery {
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

fn first_provider(config: &Config) -> String {
    config
        .models
        .chat
        .first()
        .map(|model| model.provider.clone())
        .unwrap_or_default()
}

fn limiters(config: &Config) -> Vec<(String, LimiterPolicy)> {
    let FlowControl { mode, auto, .. } = &config.flow_control;
    let policy = |provider: &Provider| LimiterPolicy {
        api_rpm_limit: match mode {
            Mode::Auto => provider.rpm.unwrap_or(auto.api_rpm_limit),
            // In manual mode the scheduler keeps the pace; only refusals slow a provider down.
            Mode::Manual => 0,
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

fn policy(config: &Config) -> Policy {
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

fn settings(config: &Config) -> Settings {
    let mut context = config.context.clone();
    let first = config.models.chat.first();
    let options = first.and_then(|model| {
        config
            .providers
            .get(&model.provider)
            .and_then(|provider| provider.models.get(&model.model))
    });
    if let Some(tokens) = options.and_then(|options| options.context_tokens) {
        context.max_context_tokens = context.max_context_tokens.min(tokens);
    }
    Settings {
        context,
        owners: config.permissions.owners.clone(),
        platform_roles: config.permissions.platform_roles,
        language: language(config),
        turn_timeout: config.flow_control.turn_timeout,
        overflow_hint: config.input_buffer.overflow_hint.clone(),
    }
}

fn language(config: &Config) -> Option<Language> {
    match config.language {
        ConfigLanguage::Auto => None,
        ConfigLanguage::ZhCn => Some(Language::Zh),
        ConfigLanguage::En => Some(Language::En),
    }
}
