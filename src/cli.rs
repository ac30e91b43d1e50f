//! The command line: one file a subcommand.
//!
//! Owns the arguments and the exit codes. It never holds logic of the gateway.

mod check;
mod healthcheck;
mod run;
mod schema;

use std::{io::Write, path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

/// A chat bot gateway: group chats and web chat in front of a language model.
#[derive(Debug, Parser)]
#[command(name = "weirgate", version, about)]
struct Arguments {
    /// The configuration; else $WEIRGATE_CONFIG, else ./agent.yaml, else built-in defaults.
    #[arg(long, short, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the gateway (the default).
    Run,
    /// Check a configuration and report everything that is wrong with it.
    Check {
        /// The file to check.
        file: Option<PathBuf>,
    },
    /// Ask the gateway that runs here whether it takes messages; for the health check of a container.
    Healthcheck {
        /// Only whether it answers at all.
        #[arg(long)]
        alive: bool,
    },
    /// Print a JSON Schema of the configuration, for editors.
    Schema,
}

/// Runs the command line and tells the exit code: 0 done, 1 failed, 2 wrong arguments, 78 wrong
/// configuration.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let config = arguments.config;
    match arguments.command.unwrap_or(Command::Run) {
        Command::Run => run::run(config.as_deref()),
        Command::Healthcheck { alive } => healthcheck::healthcheck(config.as_deref(), alive),
        Command::Check { file } => check::check(file.or(config).as_deref()),
        Command::Schema => schema::schema_of_configuration(),
    }
}

/// Prints a line for people. A closed pipe is nobody's fault.
fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Prints a line about a fault.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The variables of the process, for the configuration.
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
