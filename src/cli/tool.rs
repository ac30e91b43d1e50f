//! What the tools share: the configuration, the language, and the way to the gateway or its store.
//!
//! Owns the choice between both: a gateway that runs is asked; else the store is opened, which takes the
//! lock of the data folder.

use std::{
    io::{self, ErrorKind},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

use weirgate_sdk::settings;

use super::{complain, environment};
use crate::{
    app::{adapters, open_unused_store},
    clock::Clock,
    config::{self, Config, EXIT_CONFIG},
    i18n::{Language, console::Console},
    operate::{
        ask::{Answer, Ask, Refusal},
        client::Client,
        desk::Desk,
        socket_folder,
    },
    security::redact::{Redactor, Secret, Sought},
};

/// What every tool starts with.
pub(super) struct Tool {
    /// The configuration.
    pub(super) config: Config,
    /// What must not get out.
    pub(super) redactor: Redactor,
    /// The language of its texts.
    pub(super) language: Language,
}

impl Tool {
    /// Reads the configuration; complains and gives the exit code if it cannot be used.
    pub(super) fn load(file: Option<&Path>) -> Result<Self, ExitCode> {
        match config::load(file, &environment, &adapters::known()) {
            Ok((config, _)) => Ok(Self {
                redactor: redactor(&config),
                language: language(Some(&config)),
                config,
            }),
            Err(error) => {
                complain(&error.to_string());
                Err(ExitCode::from(EXIT_CONFIG))
            }
        }
    }

    /// Runs a tool to its end.
    pub(super) fn run(&self, tool: impl Future<Output = ExitCode>) -> ExitCode {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        match runtime {
            Ok(runtime) => runtime.block_on(tool),
            Err(error) => {
                complain(&format!("the runtime could not be started: {error}"));
                ExitCode::FAILURE
            }
        }
    }

    /// Prints a text about a fault.
    pub(super) fn fail(&self, text: &Console<'_>) -> ExitCode {
        complain(&text.render(self.language));
        ExitCode::FAILURE
    }

    /// The way to what is asked; complains if there is none.
    pub(super) async fn reach(&self) -> Result<Way, ExitCode> {
        if let Some(client) = self.gateway().await? {
            return Ok(Way::Gateway(client));
        }
        if let Some(path) = self.config.storage.file()
            && !path.exists()
        {
            return Err(self.fail(&Console::NoDatabase { path }));
        }
        match open_unused_store(&self.config).await {
            Ok(store) => Ok(Way::Store(Desk {
                store,
                redactor: Arc::new(self.redactor.clone()),
                clock: Clock::system(),
                running: None,
            })),
            Err(error) => {
                complain(&self.redactor.redact(&error.to_string()));
                if error.is_in_use() {
                    return Err(self.fail(&Console::NoAnswer));
                }
                Err(ExitCode::FAILURE)
            }
        }
    }

    /// The gateway that runs with this configuration; complains if it cannot be asked.
    async fn gateway(&self) -> Result<Option<Client>, ExitCode> {
        let Some(folder) = socket_folder(&self.config, &environment) else {
            return Ok(None);
        };
        match Client::connect(&folder).await {
            Ok(client) => Ok(client),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                Err(self.fail(&Console::SocketForbidden { folder: &folder }))
            }
            Err(error) => {
                let error = error.to_string();
                Err(self.fail(&Console::SocketFailed { error: &error }))
            }
        }
    }
}

/// The way to what is asked.
pub(super) enum Way {
    /// Over the socket of a running gateway.
    Gateway(Client),
    /// In the store itself.
    Store(Desk),
}

impl Way {
    /// Asks.
    ///
    /// # Errors
    /// The connection to the gateway broke.
    pub(super) async fn ask(&mut self, ask: &Ask) -> io::Result<Result<Answer, Refusal>> {
        match self {
            Self::Gateway(client) => client.ask(ask).await,
            Self::Store(desk) => Ok(desk.answer(ask.clone()).await),
        }
    }

    /// Ends what was opened.
    pub(super) async fn close(self) {
        if let Self::Store(desk) = self {
            desk.store.close().await;
        }
    }
}

/// A redactor for the secrets of a configuration. The gateway itself tells of those that cannot be redacted.
pub(super) fn redactor(config: &Config) -> Redactor {
    Redactor::seeking(Secret::all(&config.secrets), &config.security.sought()).0
}

/// A redactor for secrets with their places, and whatever looks like one.
pub(super) fn redactor_of(secrets: &[(String, settings::Secret)]) -> Redactor {
    Redactor::seeking(Secret::all(secrets), &Sought::default().known_formats()).0
}

/// The language of the tools: the configured one, else that of the terminal.
pub(super) fn language(config: Option<&Config>) -> Language {
    match config.map(|config| config.language) {
        Some(config::Language::ZhCn) => return Language::Zh,
        Some(config::Language::En) => return Language::En,
        Some(config::Language::Auto) | None => {}
    }
    let named = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .find_map(|name| environment(name).filter(|value| !value.is_empty()));
    named
        .and_then(|tag| Language::from_tag(&tag))
        .unwrap_or(Language::En)
}
