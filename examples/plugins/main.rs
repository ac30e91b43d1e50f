//! A gateway of one's own: the whole program, with plug-ins.
//!
//!     cargo run --example plugins
//!
//! It takes the same arguments and the same agent.yaml. What the plug-ins do is in `plugins.rs`.

mod plugins;

use std::process::ExitCode;

use weirgate::hook::Hooks;

fn main() -> ExitCode {
    weirgate::cli::main_with(Hooks::new(vec![
        Box::new(plugins::Remarks),
        Box::new(plugins::Urgent),
        Box::new(plugins::Numbers),
        Box::new(plugins::Silence),
        Box::new(plugins::Counter::default()),
    ]))
}
