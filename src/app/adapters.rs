//! The adapters of this build: the one list that knows platforms by name.
//!
//! Owns how an account's section of agent.yaml becomes an adapter. A new platform is one crate, one
//! entry here, and one section in agent.yaml.

use std::{collections::HashMap, sync::Arc};

use weirgate_sdk::{
    AccountName, Adapter, Platform, Setup,
    settings::{Fields, Setting},
};

use crate::{
    app::StartError,
    config::{Config, KnownPlatform, render_problems},
    inbound::{accept::AccountRules, addressing::Addressing},
    outbound::deliver::Adapters,
};

/// Most accounts of one platform.
const MAX_ACCOUNTS: usize = 64;

/// All adapters, built.
#[derive(Default)]
pub struct Built {
    /// The adapters by platform and account.
    pub adapters: Adapters,
    /// What the core has to know of each account.
    pub rules: HashMap<(Platform, AccountName), AccountRules>,
    /// Routes that adapters serve on the gateway's web server.
    pub routes: Vec<axum::Router>,
}

impl std::fmt::Debug for Built {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Built")
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

macro_rules! platforms {
    ($($feature:literal: $krate:ident, accounts: $most:expr, routes: $routes:expr;)+) => {
        /// The platforms of this build, for reading the configuration.
        #[must_use]
        pub fn known() -> Vec<KnownPlatform> {
            vec![$(
                #[cfg(feature = $feature)]
                KnownPlatform {
                    name: $krate::PLATFORM,
                    check: |section| drop(accounts(section, $most, $krate::Settings::read)),
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

        /// Builds the adapters of all configured accounts. `setup` makes what each is given.
        ///
        /// # Errors
        /// What is wrong in a section now, although it was right when the file was checked: a secret's file
        /// may have changed in between.
        pub fn build(
            config: &Config,
            setup: impl Fn(&str, &AccountName) -> Setup,
        ) -> Result<Built, StartError> {
            let mut built = Built::default();
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
                    for (account, addressing, settings) in found {
                        let adapter =
                            $krate::build(setup($krate::PLATFORM, &account), settings);
                        let routes: fn(&_) -> Option<axum::Router> = $routes;
                        built.routes.extend(routes(&adapter));
                        built.add(adapter, addressing);
                    }
                }
            )+
            Ok(built)
        }
    };
}

// One site only: two would be served at the same address.
platforms! {
    "qq": weirgate_qq, accounts: MAX_ACCOUNTS, routes: |_| None;
    "webchat": weirgate_webchat, accounts: 1,
        routes: |adapter: &Arc<weirgate_webchat::WebChat>| Some(adapter.router());
}

/// Of the starters the one that needs nothing but this program.
#[must_use]
pub fn first_starter() -> Option<(&'static str, &'static str)> {
    let all = starters();
    let page = all.iter().find(|(name, _)| *name == "webchat");
    page.or(all.first()).copied()
}

impl Built {
    fn add(&mut self, adapter: Arc<dyn Adapter>, addressing: Addressing) {
        let key = (adapter.platform(), adapter.account());
        // Whether conversations are shown from the store is the same for all of an account.
        let probe = weirgate_sdk::ConversationKey {
            platform: key.0.clone(),
            account: key.1.clone(),
            conversation: "".into(),
            thread: None,
        };
        let shown = adapter.capabilities(&probe).transcript;
        self.rules
            .insert(key.clone(), AccountRules { addressing, shown });
        self.adapters.insert(key, adapter);
    }
}

/// The accounts of a platform's section: the name, what the core reads, what the adapter reads.
fn accounts<S>(
    section: &Setting<'_>,
    most: usize,
    read: fn(&mut Fields<'_>) -> S,
) -> Vec<(AccountName, Addressing, S)> {
    let mut fields = section.fields();
    let mut found = Vec::new();
    for (name, setting) in fields.map("accounts") {
        if found.len() >= most {
            let what = format!("this version has at most {most} of this platform's accounts");
            setting.invalid(what, None);
            break;
        }
        let mut account = setting.fields();
        let addressing = Addressing::read(account.section("addressing"));
        let settings = read(&mut account);
        account.finish();
        found.push((AccountName::from(name), addressing, settings));
    }
    fields.finish();
    found
}
