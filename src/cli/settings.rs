//! `weirgate config`: what was set at run time, on top of the file.
//!
//! Owns how it is shown. It changes nothing: that is what /config and agent.yaml are for.

use std::process::ExitCode;

use clap::Subcommand;

use super::{say, tool::Tool};
use crate::{
    i18n::console::Console,
    operate::ask::{Answer, Ask},
};

/// `weirgate config`
#[derive(Debug, Subcommand)]
pub(super) enum Config {
    /// Print the keys that were set by /config, as they lie on top of agent.yaml.
    Diff,
}

pub(super) fn config(tool: &Tool, Config::Diff: &Config) -> ExitCode {
    tool.run(async {
        let mut way = match tool.reach().await {
            Ok(way) => way,
            Err(code) => return code,
        };
        let answer = way.ask(&Ask::Settings).await;
        way.close().await;
        match answer {
            Ok(Ok(Answer::Settings { set })) => {
                if set.is_empty() {
                    say(&Console::Nothing.render(tool.language));
                }
                for (key, value) in set {
                    say(&format!("{key}: {value}"));
                }
                ExitCode::SUCCESS
            }
            Ok(Err(refusal)) => tool.fail(&Console::Refused {
                id: "",
                refusal: &refusal,
            }),
            Ok(Ok(_)) => tool.fail(&Console::NoAnswer),
            Err(error) => tool.fail(&Console::SocketFailed {
                error: &error.to_string(),
            }),
        }
    })
}
