//! `weirgate check [FILE]`.

use std::{path::Path, process::ExitCode};

use super::{complain, environment, say, tool::language};
use crate::{app::adapters, config};

/// Checks a configuration.
pub(super) fn check(file: Option<&Path>) -> ExitCode {
    let checked = config::check::check(file, &environment, &adapters::known(), language);
    if checked.exit_code == 0 {
        say(&checked.text);
    } else {
        complain(&checked.text);
    }
    ExitCode::from(checked.exit_code)
}
