//! The load tool: what a gateway costs beside a bare bot.
//!
//! Owns the command line. Everything runs on this machine, and everything ends: counts and times are
//! bounded, and an address beyond loopback is refused.

mod address;
mod chat;
mod echo;
mod model;
mod onebot;
mod process;
mod program;
mod report;
mod run;
mod stamp;
mod tag;
mod tally;

use std::{error::Error, io::Write, net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};
use tokio::time::timeout;

use crate::{
    address::Target,
    model::Pace,
    run::{Plan, Shape},
};

/// Anything that ends a command.
type Fault = Box<dyn Error + Send + Sync>;

/// Loads a bot on this machine and measures it.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve a model of known speed
    Model(ModelArgs),
    /// Serve a bare bot, the floor
    Echo(EchoArgs),
    /// Send messages to a bot and measure the answers
    Run(RunArgs),
    /// Measure a gateway and the floor side by side, and write a table
    Report(ReportArgs),
    /// Measure a gateway's web chat: silent sockets, and answers that are shown while they are written
    Chat(ChatArgs),
}

#[derive(Args)]
struct ModelArgs {
    /// Where to listen
    #[arg(long, value_parser = address::loopback)]
    listen: SocketAddr,
    /// Time to the first token, in milliseconds
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=60_000))]
    first_ms: u64,
    /// Tokens of an answer
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4_096))]
    tokens: u32,
    /// Time between two tokens, in milliseconds
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=10_000))]
    inter_ms: u64,
    /// Each token says when it was written
    #[arg(long)]
    stamped: bool,
    #[command(flatten)]
    life: Life,
}

#[derive(Args)]
struct EchoArgs {
    /// Where to listen
    #[arg(long, value_parser = address::loopback)]
    listen: SocketAddr,
    /// Ask this model, such as http://127.0.0.1:8000/v1, when a text does not begin with a slash
    #[arg(long, value_parser = address::web_url)]
    model: Option<Target>,
    #[command(flatten)]
    life: Life,
}

#[derive(Args)]
struct Life {
    /// End after so many seconds
    #[arg(long, default_value_t = 3_600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
}

#[derive(Args)]
struct RunArgs {
    /// Where the bot takes reverse WebSocket connections
    #[arg(long, value_parser = address::socket_url)]
    url: Target,
    /// Users that take turns
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    users: u32,
    /// Messages of all users together
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    messages: u32,
    #[command(flatten)]
    shape: ShapeArgs,
    /// What is said
    #[arg(long, default_value = "/ping {tag}")]
    text: String,
    /// What the bot wants to be shown
    #[arg(long)]
    token: Option<String>,
    /// The bot's process, to measure what it uses
    #[arg(long)]
    pid: Option<u32>,
    /// Write a line, not JSON
    #[arg(long)]
    line: bool,
}

#[derive(Args)]
#[group(multiple = false)]
struct ShapeArgs {
    /// Messages on their way at once, in all [default: 64]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    window: Option<u32>,
    /// Messages on their way at once, of each user
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    user_window: Option<u32>,
    /// All messages at once
    #[arg(long)]
    burst: bool,
}

#[derive(Args)]
struct ReportArgs {
    /// The gateway's program
    #[arg(long)]
    gateway: PathBuf,
    /// Fewer messages
    #[arg(long)]
    quick: bool,
    /// Where the report goes, instead of standard output
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Args)]
struct ChatArgs {
    /// The gateway's program
    #[arg(long)]
    gateway: PathBuf,
    /// Sockets that are open and silent
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(0..=20_000))]
    idle: u32,
    /// Visitors who are answered at the same time
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    streams: u32,
    /// Tokens of an answer
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=4_096))]
    tokens: u32,
    /// Time between two tokens, in milliseconds
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    inter_ms: u64,
    /// Write a line, not JSON
    #[arg(long)]
    line: bool,
}

#[tokio::main]
async fn main() -> Result<(), Fault> {
    match Cli::parse().command {
        Command::Model(args) => {
            let pace = Pace {
                first_ms: args.first_ms,
                tokens: args.tokens,
                inter_ms: args.inter_ms,
                stamped: args.stamped,
            };
            live(&args.life, model::serve(args.listen, pace)).await
        }
        Command::Echo(args) => live(&args.life, echo::serve(args.listen, args.model)).await,
        Command::Run(args) => {
            let line = args.line;
            let outcome = run::run(&plan(args)?).await?;
            let text = if line {
                outcome.line()
            } else {
                serde_json::to_string_pretty(&outcome)?
            };
            write(&text)?;
            if outcome.counts.faultless() {
                Ok(())
            } else {
                Err("not every message was answered once, in order, to its user".into())
            }
        }
        Command::Chat(args) => {
            let outcome = chat::chat(&chat::Plan {
                gateway: args.gateway,
                idle: usize::try_from(args.idle)?,
                streams: usize::try_from(args.streams)?,
                pace: Pace {
                    first_ms: chat::FIRST_MS,
                    tokens: args.tokens,
                    inter_ms: args.inter_ms,
                    stamped: true,
                },
            })
            .await?;
            write(&if args.line {
                outcome.line()
            } else {
                serde_json::to_string_pretty(&outcome)?
            })?;
            if outcome.faultless() {
                Ok(())
            } else {
                Err("a socket was lost, or an answer did not end".into())
            }
        }
        Command::Report(args) => {
            let text = report::report(&args.gateway, args.quick).await?;
            match args.out {
                Some(path) => Ok(std::fs::write(path, text)?),
                None => write(&text),
            }
        }
    }
}

/// Serves for as long as was asked.
async fn live(life: &Life, server: impl Future<Output = Result<(), Fault>>) -> Result<(), Fault> {
    let ended = timeout(Duration::from_secs(life.seconds), server).await;
    ended.unwrap_or(Ok(()))
}

fn plan(args: RunArgs) -> Result<Plan, Fault> {
    let shape = match (args.shape.window, args.shape.user_window) {
        _ if args.shape.burst => Shape::Burst,
        (_, Some(each)) => Shape::UserWindow(usize::try_from(each)?),
        (all, None) => Shape::Window(usize::try_from(all.unwrap_or(64))?),
    };
    Ok(Plan {
        target: args.url,
        token: args.token,
        pid: args.pid,
        users: usize::try_from(args.users)?,
        messages: usize::try_from(args.messages)?,
        shape,
        text: args.text,
    })
}

fn write(text: &str) -> Result<(), Fault> {
    writeln!(std::io::stdout().lock(), "{}", text.trim_end())?;
    Ok(())
}
