//! `weirgate migrate`.
//!
//! Owns the two addresses and which ways there are between them. It needs no configuration; from one that is
//! there it takes the language.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;

use super::{complain, environment, say, tool};
use crate::{
    app::{adapters, store_on_server},
    config,
    i18n::{Language, console::Console},
    store::{
        config::{AddressFault, Database},
        transfer::{Moved, transfer},
    },
};

#[derive(Debug, Args)]
pub(super) struct Migrate {
    /// What is moved: the address of a SQLite database as in storage.url, or the path of its file.
    #[arg(long, value_name = "URL")]
    from: String,
    /// Where to: the address of an empty PostgreSQL database. A password that is left out is taken from
    /// $PGPASSWORD or ~/.pgpass, where other users of the machine do not see it.
    #[arg(long, value_name = "URL")]
    to: String,
    /// Do everything and then take it back: nothing stays in the target but empty tables.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn migrate(file: Option<&Path>, arguments: &Migrate) -> ExitCode {
    let config = config::load(file, &environment, &adapters::known()).ok();
    let language = tool::language(config.as_ref().map(|(config, _)| config));
    let fail = |text: &str| {
        complain(text);
        ExitCode::FAILURE
    };
    let (from, to) = match (database(&arguments.from), database(&arguments.to)) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(fault), _) => return fail(&format!("--from: {fault}")),
        (_, Err(fault)) => return fail(&format!("--to: {fault}")),
    };
    let (Database::Sqlite(from), Database::Postgres(url)) = (&from, &to) else {
        return fail(&Console::NoSuchMove.render(language));
    };
    // As for a gateway; only an already installed provider can make this fail.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let redactor = tool::redactor_of(&to.secrets());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("the runtime could not be started: {error}")),
    };
    let mut all = Moved::default();
    let mut tell = |moved: Moved| {
        let (table, rows) = (moved.table, moved.rows);
        say(&Console::MovedTable { table, rows }.render(language));
        all.rows += rows;
        all.replaced += moved.replaced;
    };
    let options = store_on_server(url);
    let moving = transfer(from, &options, arguments.dry_run, &mut tell);
    if let Err(error) = runtime.block_on(moving) {
        return fail(&redactor.redact(&error.to_string()));
    }
    finish(&all, from, arguments.dry_run, language);
    ExitCode::SUCCESS
}

/// Says what came of it.
fn finish(all: &Moved, from: &Path, dry_run: bool, language: Language) {
    let (rows, texts) = (all.rows, all.replaced);
    if texts > 0 {
        say(&Console::MovedReplaced { texts }.render(language));
    }
    let text = if dry_run {
        Console::MoveRehearsed { rows }
    } else {
        Console::Moved { rows, from }
    };
    say(&text.render(language));
}

/// Reads an address; what has no scheme is the path of a file.
fn database(url: &str) -> Result<Database, AddressFault> {
    if url.contains("://") || url.starts_with("sqlite:") {
        Database::parse(url)
    } else {
        Ok(Database::Sqlite(PathBuf::from(url)))
    }
}
