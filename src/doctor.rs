//! `weirgate doctor`: looks at everything that the gateway needs, and says what is wrong and what to do.
//!
//! Owns the order of the checks and their time limits. It changes nothing: what it has to try, such as
//! listening, it gives back at once; what it asks a model costs a few tokens.

mod ask;
mod clock;
mod folder;
mod skills;

use std::{fmt, path::Path, time::Duration};

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::{
    agent::{mcp, peer},
    app::{adapters_to_check, ground, server_options},
    config::{Config, Environment},
    i18n::health::{Health, Here, Keep, Reach, Subject},
    operate::{
        ask::{Answer, Ask},
        client::Client,
        socket_folder,
    },
    sandbox::kernel,
    security::redact::Redactor,
    store::{
        postgres,
        sqlite::copy::{CopyError, Examined, examine},
    },
};

use weirgate_sdk::Finding;

/// The longest look into the database.
const STORE: Duration = Duration::from_secs(30);
/// The longest check of an account.
const ACCOUNT: Duration = Duration::from_secs(15);

/// One line.
pub type Line = (Subject, Health);

/// What is looked at.
#[derive(Clone, Copy)]
pub struct Doctor<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// What must not get out.
    pub redactor: &'a Redactor,
    /// Models are not asked.
    pub offline: bool,
    /// What says where a user's data is.
    pub environment: &'a Environment<'a>,
}

impl fmt::Debug for Doctor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Doctor")
            .field("offline", &self.offline)
            .finish_non_exhaustive()
    }
}

impl Doctor<'_> {
    /// Looks at everything, in order; `tell` is called with each line as soon as it is known.
    pub async fn run(self, tell: &mut impl FnMut(Line)) {
        let (runs, store, newest) = match self.config.storage.file() {
            Some(file) => self.folder(file, tell).await,
            None => self.server(tell).await,
        };
        for health in clock::own(newest).await {
            tell((Subject::Clock, health.into()));
        }
        tell((Subject::Store, store.into()));
        let listen = self.config.http.listen;
        let finding = Finding::listen(listen);
        tell((Subject::Http, Reach::Found { finding, runs }.into()));
        for line in self.accounts(runs).await {
            tell(line);
        }
        for line in self.models().await {
            tell(line);
        }
        if let Some(line) = ask::memory(self.config, self.redactor, self.offline).await {
            tell(line);
        }
        for line in self.servers().await {
            tell(line);
        }
        for line in self.peers().await {
            tell(line);
        }
        let folders = [skills::skills, skills::agents, skills::programs];
        for line in folders.into_iter().flat_map(|lines| lines(self.config)) {
            tell(line);
        }
        if let Some(found) = self.shell() {
            tell((Subject::Shell, found.into()));
        }
    }

    /// Whether the kernel can keep a shell in its place; nothing if none is wanted.
    fn shell(self) -> Option<Here> {
        let shell = &self.config.tools.shell;
        let wanted = shell.enabled && self.config.tools.internal.enabled;
        wanted.then(|| {
            let version = kernel::version();
            match kernel::lacks(shell.isolation, version) {
                Some(lacks) => Here::Unconfined(lacks),
                None => Here::Confines {
                    version,
                    root: rustix::process::geteuid().is_root(),
                },
            }
        })
    }

    /// The data folder with what is in it: whether a gateway runs there, the database, and when its newest
    /// message came.
    async fn folder(self, path: &Path, tell: &mut impl FnMut(Line)) -> (bool, Keep, Option<i64>) {
        let data = self.config.storage.folder().unwrap_or_default();
        let runs = place(&data, Some(path), tell).await;
        let (store, newest) = store(path.to_owned()).await;
        (runs, store, newest)
    }

    /// The database on a server, and the folder in which the process keeps what is not in it.
    async fn server(self, tell: &mut impl FnMut(Line)) -> (bool, Keep, Option<i64>) {
        let runs = if let Some(folder) = socket_folder(self.config, self.environment) {
            place(&folder, None, tell).await
        } else {
            tell((Subject::Folder, Here::NoHome.into()));
            false
        };
        let Some(options) = server_options(self.config) else {
            return (runs, Keep::NoStore, None);
        };
        match postgres::reach(&options).await {
            // It may be one of another user, whose folder is elsewhere.
            Ok(used) => (runs || used, Keep::Server { used }, None),
            Err(error) => {
                let error = one_line(&error.to_string(), self.redactor);
                (runs, Keep::StoreFailed { error }, None)
            }
        }
    }

    async fn accounts(self, runs: bool) -> Vec<Line> {
        let adapters = match adapters_to_check(self.config) {
            Ok(adapters) => adapters,
            Err(error) => {
                let error = one_line(&error.to_string(), self.redactor);
                let subject = Subject::Account("*".to_owned());
                return vec![(subject, Reach::Unusable { error }.into())];
            }
        };
        let mut adapters: Vec<_> = adapters.into_iter().collect();
        adapters.sort_by(|(one, _), (other, _)| one.cmp(other));
        let checks = adapters.iter().map(async |((platform, account), adapter)| {
            let subject = Subject::Account(format!("{platform}/{account}"));
            let Ok(findings) = timeout(ACCOUNT, adapter.check(self.offline)).await else {
                return vec![(subject, Health::from(Reach::TooLong))];
            };
            if findings.is_empty() {
                return vec![(subject, Health::from(Reach::Nothing))];
            }
            let line = |finding| {
                (
                    subject.clone(),
                    Health::from(Reach::Found { finding, runs }),
                )
            };
            findings.into_iter().map(line).collect()
        });
        join_all(checks).await.into_iter().flatten().collect()
    }

    /// The servers of tools: each is started or asked once.
    async fn servers(self) -> Vec<Line> {
        let folders = ground(self.config).servers;
        let looks = self.config.tools.mcp.running().map(async |server| {
            let subject = Subject::Server(server.name.clone());
            if self.offline {
                return (subject, Reach::NotAsked.into());
            }
            let found = match mcp::probe(server, &folders).await {
                Ok((tools, left_out)) => Reach::Tools { tools, left_out },
                Err(error) => Reach::Unusable {
                    error: one_line(&error, self.redactor),
                },
            };
            (subject, found.into())
        });
        join_all(looks).await
    }

    /// The endpoints of agents by others: each is asked once.
    async fn peers(self) -> Vec<Line> {
        let looks = self.config.agent_collaboration.running().map(async |peer| {
            let subject = Subject::Agents(peer.name.clone());
            if self.offline {
                return (subject, Reach::NotAsked.into());
            }
            let found = match peer::probe(peer).await {
                Ok((agents, left_out)) => Reach::Agents { agents, left_out },
                Err(error) => Reach::Unusable {
                    error: one_line(&error, self.redactor),
                },
            };
            (subject, found.into())
        });
        join_all(looks).await
    }

    async fn models(self) -> Vec<Line> {
        let mut lines = ask::models(self.config, self.redactor, self.offline).await;
        lines.extend(ask::embed(self.config, self.redactor, self.offline).await);
        if self.offline {
            return lines;
        }
        let differences = clock::of_providers(self.config).await;
        let differences = differences
            .into_iter()
            .map(|health| (Subject::Clock, health.into()));
        lines.into_iter().chain(differences).collect()
    }
}

/// A folder of a gateway with the disk below it; says whether a gateway runs there.
async fn place(folder: &Path, database: Option<&Path>, tell: &mut impl FnMut(Line)) -> bool {
    for health in folder::folder(folder, database) {
        tell((Subject::Folder, health.into()));
    }
    let gateway = gateway(folder).await;
    let runs = matches!(gateway, Here::Runs { .. } | Here::RunsOther { .. });
    tell((Subject::Gateway, gateway.into()));
    tell((Subject::Disk, folder::disk(folder).into()));
    runs
}

/// Whether a gateway runs on the data folder.
async fn gateway(folder: &Path) -> Here {
    let mut client = match Client::connect(folder).await {
        Ok(Some(client)) => client,
        Ok(None) if folder::is_locked(folder) => {
            let error = "no socket".to_owned();
            return Here::Mute { error };
        }
        Ok(None) => return Here::Rests,
        Err(error) => {
            let error = error.to_string();
            return Here::Mute { error };
        }
    };
    match client.ask(&Ask::Hello).await {
        Ok(Ok(Answer::Hello { version, process })) if version == env!("CARGO_PKG_VERSION") => {
            Here::Runs { process, version }
        }
        Ok(Ok(Answer::Hello { version, process })) => Here::RunsOther { process, version },
        Ok(other) => Here::Mute {
            error: format!("{other:?}"),
        },
        Err(error) => Here::Mute {
            error: error.to_string(),
        },
    }
}

/// The database, and when its newest message came.
async fn store(path: std::path::PathBuf) -> (Keep, Option<i64>) {
    if !path.exists() {
        return (Keep::NoStore, None);
    }
    let examined = tokio::task::spawn_blocking(move || examine(&path, STORE)).await;
    match examined {
        Ok(Ok(Examined {
            fault: None,
            newest,
            bytes,
        })) => (Keep::Store { size: bytes >> 20 }, newest),
        Ok(Ok(Examined {
            fault: Some(reason),
            ..
        })) => (Keep::Damaged { reason }, None),
        Ok(Err(CopyError::Busy)) => (Keep::StoreUnchecked, None),
        Ok(Err(error)) => (
            Keep::StoreFailed {
                error: error.to_string(),
            },
            None,
        ),
        Err(error) => (
            Keep::StoreFailed {
                error: error.to_string(),
            },
            None,
        ),
    }
}

/// A foreign text on one line, without secrets.
fn one_line(text: &str, redactor: &Redactor) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ");
    let line = redactor.redact(&line);
    line.chars().filter(|c| !c.is_control()).collect()
}
