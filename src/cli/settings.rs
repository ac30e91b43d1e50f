//! `weirgate config`: what was set at run time, on top of the file.
//!
//! Owns how it is shown. It changes nothing: that is what /config, /policy and agent.yaml are for.

use std::process::ExitCode;

use clap::Subcommand;

use super::{
    lists::{Stopped, asked},
    say,
    tool::{Tool, Way},
};
use crate::{
    i18n::console::Console,
    operate::{
        ask::{Answer, Ask, PAGE, Sheet},
        row::SetRow,
    },
};

/// `weirgate config`
#[derive(Debug, Subcommand)]
pub(super) enum Config {
    /// Print what was set by /config and /policy: the keys that lie on top of agent.yaml, and behind the name of
    /// each conversation what was set there.
    Diff,
}

pub(super) fn config(tool: &Tool, Config::Diff: &Config) -> ExitCode {
    tool.run(async {
        let mut way = match tool.reach().await {
            Ok(way) => way,
            Err(code) => return code,
        };
        let told = diff(&mut way).await;
        way.close().await;
        match told {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => {
                say(&Console::Nothing.render(tool.language));
                ExitCode::SUCCESS
            }
            Err(stopped) => stopped.told(tool),
        }
    })
}

/// Prints what is set; says whether anything is.
async fn diff(way: &mut Way) -> Result<bool, Stopped> {
    let Answer::Settings { set } = asked(way, &Ask::Settings).await? else {
        return Err(Stopped::other_answer());
    };
    let mut any = !set.is_empty();
    for (key, value) in set {
        say(&format!("{key}: {value}"));
    }
    let mut next = Some(0);
    while let Some(after) = next {
        let ask = Ask::SettingsThere { after, limit: PAGE };
        let Answer::SettingsThere(sheet) = asked(way, &ask).await? else {
            return Err(Stopped::other_answer());
        };
        let Sheet { rows, next: more } = sheet;
        next = more;
        for SetRow { conversation, set } in rows {
            any |= !set.is_empty();
            for (key, value) in set {
                say(&format!("{conversation} {key}: {value}"));
            }
        }
    }
    Ok(any)
}
