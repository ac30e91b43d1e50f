//! What of a running core follows the configuration, and how it is put in place.
//!
//! Owns the step from a checked configuration to what each part is told, at a start and at a reload. What
//! can fail is prepared first; putting it in place cannot. It never reads a file.

use std::{collections::HashMap, sync::Arc};

use tokio::sync::Notify;
use weirgate_sdk::{AccountName, Platform};

use super::{StartError, translate};
use crate::{
    agent::{
        ledger::Ledger,
        mcp,
        memory::{
            Memories,
            scribe::{Scribe, Waiting},
        },
        model::{Chain, Lineup},
        peer,
        prompt::Prompts,
        rules::Rules,
        subagent::tool as delegate,
        terms::AllTerms,
        tool::{
            memory,
            registry::{Registry, Unfit},
        },
    },
    clock::Clock,
    config::Config,
    current::Current,
    inbound::accept::{AccountRules, IntakeRules},
    media::MediaStore,
    outbound::{
        compose::Composer,
        deliver::{Adapters, Deliverer},
    },
    schedule::{
        dispatch::{Dispatch, Pace, Parts as DispatchParts},
        permits::ProviderPermits,
    },
    security::{
        config::Security,
        guard::Guard,
        redact::{Redactor, Secret},
    },
    store::Store,
    trace::Traces,
};

/// What runs beside the core for its models, and is kept over a reload where its settings stay.
#[derive(Debug, Default)]
pub struct Pools {
    /// Servers of tools.
    servers: mcp::Pool,
    /// Endpoints of agents by others.
    peers: peer::Pool,
}

/// The handles of a running core's settings.
#[derive(Debug, Clone)]
pub struct Tuner {
    pub(super) rules: Arc<Current<Rules>>,
    pub(super) intake: Arc<Current<IntakeRules>>,
    pub(super) dispatch: Arc<Dispatch>,
    pub(super) deliverer: Deliverer,
    pub(super) redactor: Arc<Redactor>,
    /// What is taken out of answers: more than out of a log.
    pub(super) answers: Arc<Redactor>,
    pub(super) media: Option<Arc<MediaStore>>,
    /// What runs beside the core for its models.
    pub(super) pools: Arc<Pools>,
    pub(super) memories: Option<Arc<Memories>>,
}

/// What a new configuration makes of the core: built, and not in place yet.
pub struct Prepared {
    made: Made,
    models: Lineup,
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}

/// What is new of the accounts.
#[derive(Debug, Default)]
pub struct Accounts {
    /// What the core has to know of each account.
    pub rules: HashMap<(Platform, AccountName), AccountRules>,
    /// Where answers go.
    pub adapters: AdapterMap,
}

/// [`Adapters`] with a `Debug` of its own.
#[derive(Default)]
pub struct AdapterMap(pub Adapters);

impl std::fmt::Debug for AdapterMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// What is taken out of answers at a start.
pub(super) fn answers(config: &Config) -> Result<Redactor, StartError> {
    taking_out(&Secret::all(&config.secrets), &config.security)
}

/// What takes these secrets and what else the settings name out of answers.
fn taking_out(secrets: &[Secret], security: &Security) -> Result<Redactor, StartError> {
    let sought = security.sought_in_answers();
    let sought = sought.map_err(|fault| StartError::Config(format!("security: {fault}")))?;
    Ok(Redactor::seeking(secrets.iter().cloned(), &sought).0)
}

/// What is made of a configuration for turns, and can fail.
pub(super) type Made = (Composer, Guard, Registry);

/// Makes it.
pub(super) fn made(
    config: &Config,
    redactor: &Arc<Redactor>,
    pools: &Pools,
    memories: Option<&Arc<Memories>>,
) -> Result<Made, StartError> {
    let (composer, guard) = (composer(config, redactor)?, guard(config)?);
    // Last, because it starts servers.
    Ok((composer, guard, tools(config, pools, memories)?))
}

/// What composes replies.
fn composer(config: &Config, redactor: &Arc<Redactor>) -> Result<Composer, StartError> {
    Composer::new(Arc::clone(redactor), config.output.clone())
        .map_err(|error| StartError::Config(format!("output.segmented.split_regex: {error}")))
}

/// What looks at what comes in.
fn guard(config: &Config) -> Result<Guard, StartError> {
    Guard::new(&config.security).map_err(|fault| StartError::Config(format!("security: {fault}")))
}

/// What models may have done.
fn tools(
    config: &Config,
    pools: &Pools,
    memories: Option<&Arc<Memories>>,
) -> Result<Registry, StartError> {
    let unfit = |unfit: Unfit| StartError::Config(format!("tools: {unfit}"));
    let ground = translate::ground(config);
    let mut registry = Registry::of(&config.tools, ground, &pools.servers).map_err(unfit)?;
    let internal = &config.tools.internal;
    let remembers = internal.enabled && !internal.disables(memory::NAME);
    if let Some(memories) = memories.filter(|_| remembers) {
        let tool = memory::MemoryTool::new(Arc::clone(memories));
        registry.add(Arc::new(tool)).map_err(unfit)?;
    }
    registry.take_peers(pools.peers.peers(&config.agent_collaboration));
    let subagents = &config.agent_collaboration.subagents;
    if subagents.enabled && !internal.disables(delegate::NAME) {
        let agents = translate::agents(config).map(Arc::new);
        registry.give_errands(subagents, agents).map_err(unfit)?;
    }
    Ok(registry)
}

/// The rules of turns from now on.
pub(super) fn rules(
    config: &Config,
    models: Lineup,
    (composer, guard, tools): Made,
    permits: Arc<ProviderPermits>,
    accounts: &HashMap<(Platform, AccountName), AccountRules>,
) -> Rules {
    let choices = translate::choices(config, &models);
    let summaries = if models.summaries.is_empty() {
        models.chat.clone()
    } else {
        models.summaries
    };
    Rules {
        terms: terms(accounts),
        guard,
        tools,
        settings: translate::settings(config),
        choices,
        embed: models.embed,
        summaries: Chain::new(summaries, translate::recovery(config)),
        chain: Chain::new(models.chat, translate::recovery(config)),
        permits,
        prompts: Prompts::of(translate::prompts(config)),
        composer,
    }
}

/// What each account gives its people.
fn terms(accounts: &HashMap<(Platform, AccountName), AccountRules>) -> AllTerms {
    let terms = accounts
        .iter()
        .map(|(key, rules)| (key.clone(), Arc::clone(&rules.terms)));
    terms.collect()
}

/// What starts turns.
pub(super) fn dispatch(
    config: &Config,
    permits: &Arc<ProviderPermits>,
    changed: Arc<Notify>,
    (store, traces, clock): (&Arc<dyn Store>, &Arc<Traces>, Clock),
) -> Arc<Dispatch> {
    Arc::new(Dispatch::new(DispatchParts {
        policy: translate::policy(config),
        pace: pace(config, Arc::clone(permits)),
        changed,
        clock,
        store: Arc::clone(store),
        traces: Arc::clone(traces),
    }))
}

/// The rules of the built-in defaults, without a model.
#[cfg(test)]
pub(crate) fn default_rules(clock: Clock) -> Rules {
    let config = Config::default();
    let limiters = translate::limiters(&config);
    let permits = Arc::new(ProviderPermits::new(clock, limiters, Arc::default()));
    let redactor = Arc::<Redactor>::default();
    let made = made(&config, &redactor, &Pools::default(), None).unwrap();
    rules(&config, Lineup::default(), made, permits, &HashMap::new())
}

/// What starts turns, with the built-in defaults; it has not started.
#[cfg(test)]
pub(crate) fn default_dispatch(
    store: &Arc<dyn Store>,
    traces: &Arc<Traces>,
    clock: Clock,
) -> Arc<Dispatch> {
    let config = Config::default();
    let limiters = translate::limiters(&config);
    let permits = Arc::new(ProviderPermits::new(clock, limiters, Arc::default()));
    dispatch(&config, &permits, Arc::default(), (store, traces, clock))
}

/// What decides when turns start.
pub(super) fn pace(config: &Config, permits: Arc<ProviderPermits>) -> Pace {
    Pace {
        max_in_flight: config.flow_control.max_turns_in_flight,
        providers: translate::chat_providers(config),
        patience: config.error_recovery.max_backoff,
        permits,
    }
}

impl Tuner {
    /// Takes these secrets out of everything from now on, and what else the settings name.
    pub(super) fn redact(&self, secrets: &[Secret], security: &Security) {
        let (redactor, _) = Redactor::seeking(secrets.iter().cloned(), &security.sought());
        self.redactor.replace(&redactor);
        match taking_out(secrets, security) {
            Ok(answers) => self.answers.replace(&answers),
            // It was read without a fault.
            Err(error) => tracing::error!(%error, "the patterns for answers stay as they were"),
        }
    }

    /// What looks through conversations, if anything is remembered.
    pub(super) fn scribe(
        &self,
        (store, traces): (&Arc<dyn Store>, &Arc<Traces>),
        ledger: &Arc<Ledger>,
        clock: Clock,
        random: fn() -> f64,
    ) -> Option<Arc<Scribe>> {
        let memories = self.memories.as_ref()?;
        Some(Arc::new(Scribe {
            memories: Arc::clone(memories),
            store: Arc::clone(store),
            rules: Arc::clone(&self.rules),
            traces: Arc::clone(traces),
            ledger: Arc::clone(ledger),
            clock,
            random,
            waiting: Waiting::default(),
        }))
    }

    /// Builds what a configuration needs.
    ///
    /// # Errors
    /// [`StartError::Config`] if a part cannot work with its settings; nothing has changed then.
    pub fn prepare(&self, config: &Config, models: Lineup) -> Result<Prepared, StartError> {
        Ok(Prepared {
            made: made(config, &self.answers, &self.pools, self.memories.as_ref())?,
            models,
        })
    }

    /// Puts a configuration in place of the one before. Turns under way keep what they started with; what
    /// waits is subject to the new settings.
    pub fn apply(&self, before: &Config, config: &Config, prepared: Prepared, accounts: Accounts) {
        let stays = |id: &str| translate::same_service(before, config, id);
        let permits = self.rules.get().permits.renewed(
            translate::limiters(config),
            // A limit that was learned belongs to the service and the key.
            stays,
        );
        let permits = Arc::new(permits);
        let Accounts {
            rules: account_rules,
            adapters: AdapterMap(adapters),
        } = accounts;
        if let Some(media) = &self.media {
            media.set(config.media.clone());
        }
        self.deliverer.set_output(config.output.clone());
        self.deliverer.set_adapters(adapters);
        let Prepared { made, models } = prepared;
        let rules = rules(config, models, made, Arc::clone(&permits), &account_rules);
        self.rules.set(rules);
        self.dispatch.set_pace(pace(config, permits));
        self.dispatch.set_policy(translate::policy(config));
        self.intake.set(translate::heard_by(config, account_rules));
    }
}
