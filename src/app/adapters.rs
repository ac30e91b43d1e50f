//! The adapters of this build: the one list that knows platforms by name.
//!
//! Owns how an account's section of agent.yaml becomes an adapter. A new platform is one crate, one
//! entry here, and one section in agent.yaml.

use std::{
    any::Any,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

#[cfg(feature = "qq")]
use weirgate_qq::account as qq;
use weirgate_sdk::{
    AccountName, Adapter, Capabilities, ConversationKey, Platform, Setup,
    settings::{Fields, Setting},
};

use crate::{
    agent::terms::Terms,
    app::StartError,
    config::{Config, KnownPlatform, render_problems},
    inbound::{accept::AccountRules, addressing::Addressing},
    outbound::deliver::Adapters,
};

/// Most accounts of one platform.
const MAX_ACCOUNTS: usize = 64;

/// One account, built.
#[derive(Clone)]
pub struct Account {
    /// Its adapter.
    pub adapter: Arc<dyn Adapter>,
    /// What the core has to know of it.
    pub rules: AccountRules,
    /// Routes that it serves on the gateway's web server, if it has any.
    routes: Routes,
    /// What it was built from, to tell whether it has to be built anew.
    settings: Arc<dyn Any + Send + Sync>,
    origin: Option<String>,
}

/// The routes of an account, as the first of its platform or as another one.
type Routes = Option<Arc<dyn Fn(bool) -> axum::Router + Send + Sync>>;

/// The accounts of a configuration by platform and name.
pub type Accounts = BTreeMap<(Platform, AccountName), Account>;

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account")
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

macro_rules! platforms {
    ($($feature:literal: $krate:ident, accounts: $most:expr, routes: $routes:expr
        $(, together: $together:expr)? $(, serves: $serves:literal)?;)+) => {
        /// The platforms of this build, for reading the configuration.
        #[must_use]
        pub fn known() -> Vec<KnownPlatform> {
            vec![$(
                #[cfg(feature = $feature)]
                KnownPlatform {
                    name: $krate::PLATFORM,
                    serves: false $(|| $serves)?,
                    check: |section| {
                        let _found = accounts(section, $most, $krate::Settings::read);
                        $(together(section, &_found, $together);)?
                    },
                },
            )+]
        }

        /// What a new agent.yaml says of each platform of this build: its name and the lines under it.
        #[must_use]
        pub fn starters() -> Vec<(&'static str, &'static str)> {
            vec![$(
                #[cfg(feature = $feature)]
                ($krate::PLATFORM, $krate::STARTER),
            )+]
        }

        /// Builds the adapters of all configured accounts. One of `before` whose settings are the same is
        /// taken over as it is, running or not. `setup` makes what each new one is given.
        ///
        /// # Errors
        /// What is wrong in a section now, although it was right when the file was checked: a secret's file
        /// may have changed in between.
        pub fn build(
            config: &Config,
            before: &Accounts,
            setup: impl Fn(&str, &AccountName) -> Setup,
        ) -> Result<Accounts, StartError> {
            let mut built = Accounts::new();
            $(
                #[cfg(feature = $feature)]
                if let Some(node) = config.platforms.get($krate::PLATFORM) {
                    let problems = config.problems();
                    let path = format!("platforms.{}", $krate::PLATFORM);
                    let section = Setting::new(node, path, &problems);
                    let found = accounts(&section, $most, $krate::Settings::read);
                    if problems.has_errors() {
                        let text = render_problems("agent.yaml", &problems.take());
                        return Err(StartError::Config(text));
                    }
                    for (name, own, settings) in found {
                        let key = (Platform::from($krate::PLATFORM), name);
                        let setup = setup($krate::PLATFORM, &key.1);
                        let old = before.get(&key);
                        let account = match old.and_then(|old| old.kept(&settings, &setup)) {
                            Some(old) => Account {
                                rules: own.rules(old.rules.shown),
                                ..old
                            },
                            None => {
                                let origin = setup.public_origin.clone();
                                let adapter = $krate::build(setup, settings.clone());
                                let routes: fn(&_) -> Routes = $routes;
                                let routes = routes(&adapter);
                                Account::new(adapter, own, routes, settings, origin)
                            }
                        };
                        built.insert(key, account);
                    }
                }
            )+
            Ok(built)
        }
    };
}

platforms! {
    "discord": weirgate_discord, accounts: MAX_ACCOUNTS,
        routes: |_| None,
        together: weirgate_discord::settings::conflicts;
    "interop": weirgate_interop, accounts: MAX_ACCOUNTS,
        routes: |adapter: &Arc<weirgate_interop::Interop>| {
            let adapter = adapter.router(false).map(|_| Arc::clone(adapter))?;
            Some(Arc::new(move |first| adapter.router(first).unwrap_or_default()))
        },
        together: weirgate_interop::settings::conflicts,
        serves: true;
    "qq": qq, accounts: MAX_ACCOUNTS,
        routes: |adapter: &Arc<dyn qq::Account>| alike(adapter.router()),
        together: qq::conflicts;
    "telegram": weirgate_telegram, accounts: MAX_ACCOUNTS,
        routes: |adapter: &Arc<weirgate_telegram::Telegram>| alike(adapter.router()),
        together: weirgate_telegram::settings::conflicts;
    "webchat": weirgate_webchat, accounts: MAX_ACCOUNTS,
        routes: |adapter: &Arc<weirgate_webchat::WebChat>| {
            let adapter = Arc::clone(adapter);
            Some(Arc::new(move |first| adapter.router(first)))
        };
}

/// Routes that are the same for every account of a platform but for what is in them.
fn alike(routes: Option<axum::Router>) -> Routes {
    routes.map(
        |routes| -> Arc<dyn Fn(bool) -> axum::Router + Send + Sync> {
            Arc::new(move |_| routes.clone())
        },
    )
}

/// The routes of all accounts. Of a platform the account called `default` is the first, or else the one whose name
/// comes first.
#[must_use]
pub fn routes(accounts: &Accounts) -> Vec<axum::Router> {
    let first = |key: &(Platform, AccountName)| {
        let of_platform = accounts.keys().filter(|it| it.0 == key.0);
        let first = of_platform.min_by_key(|it| (it.1.as_str() != "default", it.1.clone()));
        first == Some(key)
    };
    accounts
        .iter()
        .filter_map(|(key, account)| Some(account.routes.as_ref()?(first(key))))
        .collect()
}

/// Of the starters the one that needs nothing but this program.
#[must_use]
pub fn first_starter() -> Option<(&'static str, &'static str)> {
    let all = starters();
    let page = all.iter().find(|(name, _)| *name == "webchat");
    page.or(all.first()).copied()
}

impl Account {
    fn new(
        adapter: Arc<dyn Adapter>,
        own: Own,
        routes: Routes,
        settings: impl Any + Send + Sync,
        origin: Option<String>,
    ) -> Self {
        let shown = probe(&*adapter).transcript;
        Self {
            adapter,
            rules: own.rules(shown),
            routes,
            settings: Arc::new(settings),
            origin,
        }
    }

    /// The account as it is, if it would be built from the same again. How the gateway is reached from
    /// outside only matters to what is served there.
    fn kept<S: PartialEq + 'static>(&self, settings: &S, setup: &Setup) -> Option<Self> {
        let same = self.settings.downcast_ref::<S>() == Some(settings);
        let reached = self.routes.is_none() || self.origin == setup.public_origin;
        (same && reached).then(|| self.clone())
    }
}

/// The adapters of all accounts.
#[must_use]
pub fn all(accounts: &Accounts) -> Adapters {
    accounts
        .iter()
        .map(|(key, account)| (key.clone(), Arc::clone(&account.adapter)))
        .collect()
}

/// What the core has to know of all accounts.
#[must_use]
pub fn rules(accounts: &Accounts) -> HashMap<(Platform, AccountName), AccountRules> {
    accounts
        .iter()
        .map(|(key, account)| (key.clone(), account.rules.clone()))
        .collect()
}

/// What an adapter says of all of its conversations alike.
pub(super) fn probe(adapter: &dyn Adapter) -> Capabilities {
    adapter.capabilities(&ConversationKey {
        platform: adapter.platform(),
        account: adapter.account(),
        conversation: "".into(),
        thread: None,
    })
}

/// Reports what is wrong between the accounts of a platform, which none of them shows alone.
fn together<S>(
    section: &Setting<'_>,
    found: &[(AccountName, Own, S)],
    conflicts: impl Fn(&[(&str, &S)]) -> Vec<String>,
) {
    let accounts: Vec<_> = found
        .iter()
        .map(|(name, _, settings)| (name.as_str(), settings))
        .collect();
    for problem in conflicts(&accounts) {
        section.invalid(problem, None);
    }
}

/// What the core reads of an account's section.
struct Own {
    addressing: Addressing,
    terms: Terms,
}

impl Own {
    fn read(account: &mut Fields<'_>) -> Self {
        Self {
            addressing: Addressing::read(account.section("addressing")),
            terms: Terms::read(account),
        }
    }

    fn rules(self, shown: bool) -> AccountRules {
        AccountRules {
            addressing: self.addressing,
            shown,
            terms: Arc::new(self.terms),
        }
    }
}

/// The accounts of a platform's section: the name, what the core reads, what the adapter reads.
fn accounts<S>(
    section: &Setting<'_>,
    most: usize,
    read: fn(&mut Fields<'_>) -> S,
) -> Vec<(AccountName, Own, S)> {
    let mut fields = section.fields();
    let mut found = Vec::new();
    for (name, setting) in fields.map("accounts") {
        if found.len() >= most {
            let what = format!("this version has at most {most} of this platform's accounts");
            setting.invalid(what, None);
            break;
        }
        let mut account = setting.fields();
        let own = Own::read(&mut account);
        let settings = read(&mut account);
        account.finish();
        found.push((AccountName::from(name), own, settings));
    }
    fields.finish();
    found
}
