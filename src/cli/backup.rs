//! `weirgate backup` and `weirgate restore`.
//!
//! Owns the names of copies. Both work on files: a copy is made by whoever asks for it, with his rights and
//! for him, whether a gateway runs or not.

use std::{path::Path, process::ExitCode};

use super::{say, tool::Tool};
use crate::{
    clock::{Clock, compact},
    i18n::console::Console,
    store::sqlite::copy,
};

/// Copies the database into a file, or into a folder under a name with the time.
pub(super) fn backup(tool: &Tool, into: &Path) -> ExitCode {
    let Some(database) = tool.config.storage.file() else {
        return tool.fail(&Console::OnServer);
    };
    if !database.exists() {
        return tool.fail(&Console::NoDatabase { path: database });
    }
    let into = if into.is_dir() {
        into.join(format!("weirgate-{}.db", stamp()))
    } else {
        into.to_owned()
    };
    match copy::backup(database, &into, None) {
        Ok(copied) => {
            let (path, bytes) = (copied.path.as_path(), copied.bytes);
            say(&Console::BackedUp { path, bytes }.render(tool.language));
            ExitCode::SUCCESS
        }
        Err(error) => tool.fail(&Console::CopyFailed {
            error: &error.to_string(),
        }),
    }
}

/// Puts a copy in the place of the database.
pub(super) fn restore(tool: &Tool, from: &Path) -> ExitCode {
    let Some(path) = tool.config.storage.file() else {
        return tool.fail(&Console::OnServer);
    };
    match copy::restore(path, from, &stamp()) {
        Ok(restored) => {
            let kept = restored.kept.as_deref();
            say(&Console::Restored { path, kept }.render(tool.language));
            ExitCode::SUCCESS
        }
        Err(error) => tool.fail(&Console::CopyFailed {
            error: &error.to_string(),
        }),
    }
}

/// The time in UTC, for the name of a file.
fn stamp() -> String {
    compact(Clock::system().now())
}
