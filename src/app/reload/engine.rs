//! The steps of a reload.
//!
//! Owns what the running configuration is. Reads, builds, and only then tells each part.

use std::{path::Path, sync::Arc, time::Duration};

use axum::Router;
use tokio::time::timeout;
use weirgate_sdk::{
    ChatModels,
    settings::{Kind, Problem, Severity},
};

use super::{Cause, Report, Source};
use crate::{
    app::{
        StartError, accounts,
        adapters::{self, Accounts},
        build::{self, Doors, Models},
        log,
        tune::{self, AdapterMap, Tuner},
    },
    command::configure::{Origin, Refused, Shown},
    config::{
        Config, LoadError, Loaded, load_again,
        overrides::Overrides,
        reference::reference,
        reload::{keep_fixed, needs_restart, same},
    },
    current::Current,
    security::redact::Secret,
    telemetry::{
        logging::Logging,
        metrics::{self, Metric},
    },
};

/// How long the answers of an account that is taken away may still be sent.
const FAREWELL: Duration = Duration::from_secs(4);
/// Most secrets of earlier configurations that are still redacted; of more the oldest are forgotten.
const MAX_OLD_SECRETS: usize = 1_024;

/// What an engine is made of.
pub(in crate::app) struct Parts {
    pub(in crate::app) loaded: Loaded,
    pub(in crate::app) source: Source,
    /// What was set at run time; the configuration was loaded with it.
    pub(in crate::app) overrides: Overrides,
    pub(in crate::app) logging: Logging,
    pub(in crate::app) models: Models,
    pub(in crate::app) chat_models: ChatModels,
    pub(in crate::app) account_secret: [u8; 32],
    pub(in crate::app) accounts: Accounts,
    pub(in crate::app) running: Arc<tokio::sync::Mutex<accounts::Accounts>>,
    pub(in crate::app) tuner: Tuner,
    pub(in crate::app) routes: Arc<Current<Router>>,
    pub(in crate::app) doors: Doors,
}

/// Problems of a value that are told.
const TOLD: usize = 5;

/// Carries out reloads, one after another.
pub(in crate::app) struct Engine {
    parts: Parts,
    /// Every secret so far, oldest first.
    secrets: Vec<Secret>,
    /// What came of the last look at a file that has changed.
    last: Option<Report>,
}

/// What a reload has built and not put in place.
struct Built {
    config: Config,
    models: Models,
    prepared: tune::Prepared,
    accounts: Accounts,
}

impl Engine {
    pub(in crate::app) fn new(parts: Parts) -> Self {
        let mut engine = Self {
            secrets: Vec::new(),
            parts,
            last: None,
        };
        let config = engine.parts.loaded.config.clone();
        engine.remember(&config);
        engine
    }

    /// The file of the running configuration.
    pub(super) fn path(&self) -> Option<&Path> {
        self.parts.loaded.config.file.as_deref()
    }

    /// Reads the configuration again and puts it in place.
    pub(super) async fn reload(&mut self, cause: Cause) -> Report {
        let overrides = self.parts.overrides.clone();
        let report = Box::pin(self.apply(overrides)).await;
        let quiet = match &report {
            // A file that was touched, or is as wrong as it was, is nothing new.
            Report::Unchanged { restart } => {
                restart.is_empty() || self.last.as_ref() == Some(&report)
            }
            Report::Refused { .. } => self.last.as_ref() == Some(&report),
            Report::Applied { .. } => false,
        };
        if !(quiet && cause == Cause::File) {
            report.log(cause);
        }
        self.last = Some(report.clone());
        report
    }

    /// Reads the configuration with what is set at run time on top, and puts it in place.
    async fn apply(&mut self, overrides: Overrides) -> Report {
        let report = match self.read(overrides).await {
            Ok(loaded) => Box::pin(self.take_over(loaded)).await,
            Err(LoadError { file, problems }) => Report::Refused { problems, file },
        };
        metrics::count(Metric::ConfigReloads, &[report.outcome()], 1);
        report
    }

    /// Sets keys at run time, or takes them back, and puts what comes of it in place.
    ///
    /// # Errors
    /// Why they were not set; nothing has changed then.
    pub(super) async fn set(
        &mut self,
        changes: &[(String, Option<String>)],
    ) -> Result<(), Refused> {
        let platforms = (self.parts.source.platforms)();
        let mut overrides = self.parts.overrides.clone();
        for (key, value) in changes {
            let changed = overrides.with(key, value.as_deref(), &platforms);
            overrides = changed.map_err(|why| Refused::Key(key.clone(), why))?;
        }
        let report = Box::pin(self.apply(overrides.clone())).await;
        report.log(Cause::Command);
        match report {
            Report::Refused { problems, .. } => {
                let wrong = |problem: &&Problem| problem.severity == Severity::Error;
                let told = problems.iter().filter(wrong).take(TOLD);
                Err(Refused::Value(told.map(describe).collect()))
            }
            Report::Applied { .. } | Report::Unchanged { .. } => {
                self.parts.overrides = overrides;
                Ok(())
            }
        }
    }

    /// Puts in place what another process has set. What does not fit the file of this one is left out here, and said.
    pub(super) async fn take(&mut self, overrides: Overrides) {
        if overrides == self.parts.overrides {
            return;
        }
        let report = Box::pin(self.apply(overrides.clone())).await;
        report.log(Cause::OtherProcess);
        match report {
            Report::Refused { .. } => {}
            Report::Applied { .. } | Report::Unchanged { .. } => self.parts.overrides = overrides,
        }
    }

    /// The keys that have a default.
    pub(super) fn defaults(&self) -> Vec<Shown> {
        let entries = reference(&(self.parts.source.platforms)()).into_iter();
        let shown = |(key, value)| Shown {
            key,
            value,
            origin: Origin::Default,
        };
        entries
            .filter_map(|entry| Some((entry.path, entry.default?)))
            .map(shown)
            .collect()
    }

    /// A key and those below it, as they are now; all of them for an empty key.
    pub(super) fn show(&self, key: &str) -> Vec<Shown> {
        let written = self.parts.loaded.written.below(key);
        let mut all: Vec<Shown> = written
            .into_iter()
            .map(|(key, value)| Shown {
                origin: match self.parts.overrides.get(&key) {
                    Some(_) => Origin::RunTime,
                    None => Origin::File,
                },
                key,
                value,
            })
            .collect();
        for entry in reference(&(self.parts.source.platforms)()) {
            let below = entry.path.strip_prefix(key);
            let is_below = key.is_empty()
                || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
            let is_written = |shown: &Shown| {
                let rest = shown.key.strip_prefix(&entry.path);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            if let Some(value) = entry.default
                && is_below
                && !all.iter().any(is_written)
            {
                all.push(Shown {
                    key: entry.path,
                    value,
                    origin: Origin::Default,
                });
            }
        }
        all
    }

    async fn read(&self, overrides: Overrides) -> Result<Loaded, LoadError> {
        let source = self.parts.source.clone();
        let own = self.parts.loaded.config.file.clone();
        let file = own.clone();
        // A file may be on a disk that does not answer.
        let read = tokio::task::spawn_blocking(move || {
            let platforms = (source.platforms)();
            load_again(
                file.as_deref(),
                &overrides,
                source.environment(),
                &platforms,
            )
        });
        match read.await {
            Ok(loaded) => loaded,
            Err(error) => Err(LoadError {
                file: own.map_or_else(String::new, |own| own.display().to_string()),
                problems: vec![invalid(format!("it could not be read: {error}"))],
            }),
        }
    }

    async fn take_over(&mut self, loaded: Loaded) -> Report {
        // Before anything of it can be logged.
        self.learn(&loaded.config);
        let before = &self.parts.loaded;
        let changes = before.written.changes(&loaded.written);
        let (restart, changes) = changes
            .into_iter()
            .partition(|change| needs_restart(&change.key));
        let config = keep_fixed(loaded.config, &before.config);
        let written = loaded.written.keep_fixed(&before.written);
        let unchanged = same(&config, &before.config);
        let file = config.file.as_ref();
        let file = file.map_or_else(
            || "agent.yaml".to_owned(),
            |file| file.display().to_string(),
        );
        if unchanged {
            self.parts.loaded = Loaded {
                config,
                written,
                warnings: loaded.warnings,
            };
            return Report::Unchanged { restart };
        }
        let built = match self.build(config) {
            Ok(built) => built,
            Err(error) => {
                return Report::Refused {
                    problems: vec![invalid(error.to_string())],
                    file,
                };
            }
        };
        let config = built.config.clone();
        self.put_in_place(built).await;
        let warnings = loaded.warnings;
        self.parts.loaded = Loaded {
            config,
            written,
            warnings: warnings.clone(),
        };
        Report::Applied {
            changes,
            restart,
            warnings,
            file,
        }
    }

    /// Everything that can fail.
    fn build(&self, config: Config) -> Result<Built, StartError> {
        let parts = &self.parts;
        let models = build::models(&config, Some(&parts.models))?;
        let prepared = parts
            .tuner
            .prepare(&config, build::lineup(&config, &models)?)?;
        let accounts = adapters::build(&config, &parts.accounts, |platform, account| {
            build::setup(
                &config,
                &parts.account_secret,
                &parts.chat_models,
                platform,
                account,
            )
        })?;
        let before = &parts.loaded.config;
        if (&config.observability.log, &config.timezone)
            != (&before.observability.log, &before.timezone)
        {
            // The last that can fail: it is in force already when it has not.
            log::set_up(
                &parts.logging,
                &config,
                Some(before),
                parts.source.environment(),
            )
            .map_err(StartError::Config)?;
        }
        Ok(Built {
            config,
            models,
            prepared,
            accounts,
        })
    }

    async fn put_in_place(&mut self, built: Built) {
        let Built {
            config,
            models,
            prepared,
            accounts,
        } = built;
        let parts = &mut self.parts;
        let before = &parts.loaded.config;
        let old = std::mem::replace(&mut parts.accounts, accounts);
        let new = &parts.accounts;
        let differs = |key: &accounts::Key, other: &Accounts| match (new.get(key), other.get(key)) {
            (Some(one), Some(other)) => !Arc::ptr_eq(&one.adapter, &other.adapter),
            _ => true,
        };
        let gone: Vec<_> = keys(&old, |key| !new.contains_key(key));
        let replaced: Vec<_> = keys(&old, |key| new.contains_key(key) && differs(key, &old));
        let fresh: Vec<_> = keys(new, |key| differs(key, &old));
        let mut all = adapters::all(new);
        // What is taken away still sends what it owes.
        for key in &gone {
            all.extend(
                old.get(key)
                    .map(|old| (key.clone(), Arc::clone(&old.adapter))),
            );
        }
        parts.chat_models.set(build::chat_models(&config));
        let told = tune::Accounts {
            rules: adapters::rules(new),
            adapters: AdapterMap(all),
        };
        if before.security != config.security {
            parts.tuner.redact(&self.secrets, &config.security);
        }
        parts.tuner.apply(before, &config, prepared, told);
        parts.routes.set(parts.doors.router(&config, new));
        parts.models = models;
        let mut running = parts.running.lock().await;
        running.end(&replaced).await;
        if !gone.is_empty() {
            let _ = timeout(FAREWELL, parts.tuner.deliverer.idle()).await;
            running.end(&gone).await;
            running.forget(&gone);
            parts.tuner.deliverer.set_adapters(adapters::all(new));
        }
        for key in &fresh {
            if let Some(account) = new.get(key) {
                running.start(Arc::clone(&account.adapter));
            }
        }
    }

    /// Redacts the secrets of a configuration from now on, and still those before.
    fn learn(&mut self, config: &Config) {
        if self.remember(config) {
            let running = &self.parts.loaded.config.security;
            self.parts.tuner.redact(&self.secrets, running);
        }
    }

    /// Says whether one of the secrets is new.
    fn remember(&mut self, config: &Config) -> bool {
        let mut new = false;
        for secret in Secret::all(&config.secrets) {
            let known = self
                .secrets
                .iter()
                .position(|known| known.value == secret.value);
            new |= known.is_none();
            let secret = known.map_or(secret, |at| self.secrets.remove(at));
            // The newest stand last, so that none of them is forgotten before an older one.
            self.secrets.push(secret);
        }
        let most = MAX_OLD_SECRETS.max(config.secrets.len());
        let surplus = self.secrets.len().saturating_sub(most);
        self.secrets.drain(..surplus);
        new
    }
}

/// A problem in one line, without its place: there is none in what was said in a chat.
fn describe(problem: &Problem) -> String {
    let hint = problem.hint.as_ref();
    let hint = hint.map_or_else(String::new, |hint| format!(" ({hint})"));
    format!("{}: {}{hint}", problem.path, problem.kind)
}

fn keys(accounts: &Accounts, wanted: impl Fn(&accounts::Key) -> bool) -> Vec<accounts::Key> {
    accounts.keys().filter(|key| wanted(key)).cloned().collect()
}

fn invalid(what: String) -> Problem {
    Problem::error("", None, Kind::Invalid(what))
}
