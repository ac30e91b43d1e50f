//! `weirgate security`: measures the rules of the security layer.

use std::{
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Subcommand;

use super::{complain, say, tool::Tool};
use crate::security::bench::Measured;

#[derive(Debug, Subcommand)]
pub(super) enum Security {
    /// Measure on labelled lines of JSON what the rules and the configuration's patterns find: recall, precision and
    /// false positives.
    Bench {
        /// A file with one object a line: {"text": …, "label": "injection" | "benign"} measures the rules against
        /// injection, {"line": …, "value": …} what is taken out of answers; a line without value is ordinary.
        path: PathBuf,
    },
}

/// Runs a command of `weirgate security`.
pub(super) fn security(tool: &Tool, command: &Security) -> ExitCode {
    match command {
        Security::Bench { path } => bench(tool, path),
    }
}

fn bench(tool: &Tool, path: &Path) -> ExitCode {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => {
            complain(&format!("{}: {error}", path.display()));
            return ExitCode::FAILURE;
        }
    };
    match Measured::of(BufReader::new(file), &tool.config.security) {
        Ok(measured) => {
            say(&measured.table());
            ExitCode::SUCCESS
        }
        Err(fault) => {
            complain(&format!("{}: {fault}", path.display()));
            ExitCode::FAILURE
        }
    }
}
