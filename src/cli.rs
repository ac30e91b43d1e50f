//! The command line: one file a subcommand.
//!
//! Owns the arguments and the exit codes. It never holds logic of the gateway.

mod audit;
mod backup;
mod check;
mod doctor;
mod healthcheck;
mod init;
mod lists;
mod migrate;
mod run;
mod sandbox;
mod schema;
mod security;
mod settings;
mod shell;
mod table;
mod tool;

use std::{io::Write, path::PathBuf, process::ExitCode};

use clap::{CommandFactory as _, Parser, Subcommand};

use self::tool::Tool;
use crate::hook::Hooks;

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
    /// Write a new agent.yaml with only what is needed.
    Init(init::Init),
    /// Look at everything that the gateway needs: one line each, what is wrong and what to do.
    Doctor {
        /// Do not ask the models anything.
        #[arg(long)]
        offline: bool,
    },
    /// Replies: list them, send them again, drop them.
    #[command(subcommand)]
    Outbox(lists::Outbox),
    /// Messages that wait for their turn.
    #[command(subcommand)]
    Queue(lists::Queue),
    /// What failed: messages and replies, to be taken up again or dropped.
    #[command(subcommand)]
    Dead(lists::Dead),
    /// The configuration as it was changed while the gateway ran.
    #[command(subcommand)]
    Config(settings::Config),
    /// The audit log: verify that it is whole, or write it out.
    #[command(subcommand)]
    Audit(audit::Audit),
    /// Copy the database, also while the gateway runs.
    Backup {
        /// A new file, or a folder in which one with the time in its name is made.
        to: PathBuf,
    },
    /// Put a copy in the place of the database; the one before is kept beside it.
    Restore {
        /// The copy.
        from: PathBuf,
    },
    /// Move everything from a SQLite file into an empty PostgreSQL database; no gateway may run on either.
    Migrate(migrate::Migrate),
    /// What may pass: measure the rules.
    #[command(subcommand)]
    Security(security::Security),
    /// What stands between the gateway and the programs that models have run.
    #[command(subcommand, hide = true)]
    Sandbox(sandbox::Sandbox),
    /// Print the completions of a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual, for man.
    Man,
}

/// Runs the command line and tells the exit code: 0 done, 1 failed, 2 wrong arguments, 78 wrong
/// configuration.
#[must_use]
pub fn main() -> ExitCode {
    main_with(Hooks::default())
}

/// The same for a program of one's own, whose gateway has these plug-ins.
#[must_use]
pub fn main_with(hooks: Hooks) -> ExitCode {
    let arguments = Arguments::parse();
    let config = arguments.config;
    match arguments.command.unwrap_or(Command::Run) {
        Command::Run => run::run(config.as_deref(), hooks),
        Command::Healthcheck { alive } => healthcheck::healthcheck(config.as_deref(), alive),
        Command::Check { file } => check::check(file.or(config).as_deref()),
        Command::Schema => schema::schema_of_configuration(),
        Command::Init(flags) => init::init(config.as_deref(), flags),
        Command::Completions { shell } => shell::completions(shell),
        Command::Man => shell::man(),
        Command::Doctor { offline } => doctor::doctor(config.as_deref(), offline),
        Command::Outbox(command) => with(config, |tool| lists::outbox(tool, command)),
        Command::Queue(command) => with(config, |tool| lists::queue(tool, command)),
        Command::Audit(command) => with(config, |tool| audit::audit(tool, &command)),
        Command::Config(command) => with(config, |tool| settings::config(tool, &command)),
        Command::Backup { to } => with(config, |tool| backup::backup(tool, &to)),
        Command::Restore { from } => with(config, |tool| backup::restore(tool, &from)),
        Command::Migrate(arguments) => migrate::migrate(config.as_deref(), &arguments),
        Command::Security(command) => with(config, |tool| security::security(tool, &command)),
        Command::Sandbox(command) => sandbox::sandbox(command),
        Command::Dead(command) => with(config, |tool| lists::dead(tool, command)),
    }
}

/// The arguments as clap knows them, for the reference, completions and the manual.
#[must_use]
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Runs a tool that needs the configuration.
fn with(config: Option<PathBuf>, act: impl FnOnce(&Tool) -> ExitCode) -> ExitCode {
    Tool::load(config.as_deref()).map_or_else(|code| code, |tool| act(&tool))
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
