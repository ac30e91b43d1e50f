//! `weirgate init`: writes a new agent.yaml, from flags or after asking.
//!
//! Owns the questions and the file. What stands in it is checked before it is written, and a file that is
//! there is never written over without being told to.

mod ask;

use std::{
    fs,
    io::{self, IsTerminal as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;

use self::ask::Terminal;
use super::{complain, environment, say, tool};
use crate::{
    app::adapters,
    config::{
        self,
        starter::{Answers, Key, Starter},
    },
    i18n::setup::Setup,
};

/// What stands in the new file. Without any of these, a terminal is asked.
#[derive(Debug, Args)]
pub(super) struct Init {
    /// The provider's address, as a rule ending in /v1; without it the demonstration answers.
    #[arg(long, value_name = "URL", requires = "model")]
    base_url: Option<String>,
    /// The model's name at the provider.
    #[arg(long, value_name = "NAME", requires = "base_url")]
    model: Option<String>,
    /// The environment variable that holds the provider's key.
    #[arg(long, value_name = "NAME", requires = "base_url")]
    api_key_env: Option<String>,
    /// The file that holds the provider's key.
    #[arg(
        long,
        value_name = "FILE",
        requires = "base_url",
        conflicts_with = "api_key_env"
    )]
    api_key_file: Option<String>,
    /// Where people reach the bot; may be given several times. Without it the page in the browser.
    #[arg(long = "platform", value_name = "NAME")]
    platforms: Vec<String>,
    /// The language of what the gateway itself says.
    #[arg(long, value_name = "TAG", value_parser = ["auto", "zh-CN", "en"])]
    language: Option<String>,
    /// Where the web server listens, if not at 127.0.0.1:8787.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// The database's file, if not in the folder for a user's data.
    #[arg(long, value_name = "FILE")]
    database: Option<String>,
    /// Write over a file that is there.
    #[arg(long)]
    force: bool,
    /// Ask nothing: what no flag says has its default.
    #[arg(long)]
    yes: bool,
}

impl Init {
    fn says_something(&self) -> bool {
        self.base_url.is_some()
            || !self.platforms.is_empty()
            || self.language.is_some()
            || self.listen.is_some()
            || self.database.is_some()
    }
}

/// Writes `file`, else agent.yaml in the working directory.
pub(super) fn init(file: Option<&Path>, init: Init) -> ExitCode {
    let language = tool::language(None);
    let fail = |text: &Setup<'_>| {
        complain(&text.render(language));
        ExitCode::FAILURE
    };
    let path = file.unwrap_or_else(|| Path::new("agent.yaml"));
    // Before anybody answers questions for nothing; looked at again when it is written.
    if path.exists() && !init.force {
        return fail(&Setup::Exists { path });
    }
    let force = init.force;
    let asks = !init.yes
        && !init.says_something()
        && io::stdin().is_terminal()
        && io::stdout().is_terminal();
    let starter = if asks {
        let mut terminal = Terminal::new(io::stdin().lock(), io::stdout().lock());
        match terminal.ask(language, &adapters::starters()) {
            Ok(Some(starter)) => starter,
            Ok(None) => return fail(&Setup::Stopped),
            Err(error) => {
                let error = error.to_string();
                return fail(&Setup::NotWritten {
                    path,
                    error: &error,
                });
            }
        }
    } else {
        match from_flags(init) {
            Ok(starter) => starter,
            Err(name) => return fail(&Setup::NoPlatform { name: &name }),
        }
    };
    match write(path, &starter, force) {
        Ok(()) => {
            say(&Setup::Written { path }.render(language));
            ExitCode::SUCCESS
        }
        Err(Refused::Exists) => fail(&Setup::Exists { path }),
        Err(Refused::Wrong(text)) => {
            complain(&text);
            ExitCode::from(config::EXIT_CONFIG)
        }
        Err(Refused::System(error)) => {
            let error = error.to_string();
            fail(&Setup::NotWritten {
                path,
                error: &error,
            })
        }
    }
}

fn from_flags(init: Init) -> Result<Starter, String> {
    let known = adapters::starters();
    let mut platforms = Vec::new();
    for name in &init.platforms {
        match known.iter().find(|(known, _)| known == name) {
            Some(known) => platforms.push(*known),
            None => return Err(name.clone()),
        }
    }
    platforms.dedup();
    let key = match (init.api_key_env, init.api_key_file) {
        (Some(name), _) => Key::Variable(name),
        (None, Some(file)) => Key::File(file),
        (None, None) => Key::None,
    };
    Ok(Starter {
        language: init.language.unwrap_or_else(|| "auto".to_owned()),
        answers: match (init.base_url, init.model) {
            (Some(base_url), Some(model)) => Answers::Provider {
                base_url,
                model,
                key,
            },
            _ => Answers::Demo,
        },
        platforms: if platforms.is_empty() {
            adapters::first_starter().into_iter().collect()
        } else {
            platforms
        },
        listen: init.listen,
        database: init.database,
    })
}

/// Why nothing was written.
enum Refused {
    Exists,
    Wrong(String),
    System(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::AlreadyExists {
            Self::Exists
        } else {
            Self::System(error)
        }
    }
}

/// Writes the file if what is to stand in it can be used.
fn write(path: &Path, starter: &Starter, force: bool) -> Result<(), Refused> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    let unfinished = PathBuf::from(unfinished);
    let written = checked(&unfinished, starter).and_then(|()| {
        if force {
            fs::rename(&unfinished, path)?;
        } else {
            // Unlike a rename, a link never replaces a file that came in between.
            fs::hard_link(&unfinished, path)?;
        }
        Ok(())
    });
    // After a rename there is none.
    let _ = fs::remove_file(&unfinished);
    written
}

fn checked(path: &Path, starter: &Starter) -> Result<(), Refused> {
    let mode = if starter.is_secret() { 0o600 } else { 0o644 };
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)?;
    file.write_all(starter.text().as_bytes())?;
    file.sync_all()?;
    // A variable or a file that is to hold a key may be made later.
    let env = |name: &str| match &starter.answers {
        Answers::Provider {
            key: Key::Variable(known),
            ..
        } if known == name => {
            Some(environment(name).unwrap_or_else(|| "a-value-that-comes-later".to_owned()))
        }
        _ => environment(name),
    };
    match config::load(Some(path), &env, &adapters::known()) {
        Ok(_) => Ok(()),
        Err(error) => Err(Refused::Wrong(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_that_holds_a_secret_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.yaml");
        let starter = Starter {
            language: "en".into(),
            answers: Answers::Provider {
                base_url: "https://example.com/v1".into(),
                model: "m".into(),
                key: Key::Written("a-key-that-is-typed".into()),
            },
            platforms: adapters::first_starter().into_iter().collect(),
            listen: None,
            database: Some("/somewhere/weirgate.db".into()),
        };
        assert!(write(&path, &starter, false).is_ok());
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(matches!(
            write(&path, &starter, false),
            Err(Refused::Exists)
        ));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
