//! `weirgate audit`: verifies the chain of the audit log, and writes the log out.
//!
//! Owns the form of the export: a record a line, and the head as the last line. What counts as a fault is in
//! [`crate::store::audit`].

use std::process::ExitCode;

use clap::Subcommand;
use serde_json::json;

use super::{
    lists::{Stopped, asked},
    say,
    tool::{Tool, Way},
};
use crate::{
    i18n::console::Console,
    operate::{
        ask::{Answer, Ask, PAGE},
        audit::AuditRow,
    },
    store::audit::{Hash, Head, Verifier},
};

#[derive(Debug, Subcommand)]
pub(super) enum Audit {
    /// Verify that no record of the audit log was changed, removed, added or moved.
    Verify {
        /// The hash of a record that was the newest once, from the log or an export: what is written anew from there on
        /// has other hashes.
        #[arg(long, value_name = "HASH")]
        head: Option<Hash>,
    },
    /// Print the audit log as lines of JSON, oldest first; the last line is the head of the chain.
    Export,
}

/// Runs a command of `weirgate audit`.
pub(super) fn audit(tool: &Tool, command: &Audit) -> ExitCode {
    match command {
        Audit::Verify { head } => tool.run(verify(tool, *head)),
        Audit::Export => tool.run(export(tool)),
    }
}

/// Goes through the whole log; tells its head.
async fn each(way: &mut Way, mut act: impl FnMut(AuditRow)) -> Result<Head, Stopped> {
    let mut after = 0;
    loop {
        let ask = Ask::Audit { after, limit: PAGE };
        let Answer::Audit { rows, seq, head } = asked(way, &ask).await? else {
            return Err(Stopped::other_answer());
        };
        let Some(last) = rows.last() else {
            let hash = head.parse().unwrap_or_default();
            return Ok(Head { seq, hash });
        };
        after = last.record.id;
        rows.into_iter().for_each(&mut act);
    }
}

async fn verify(tool: &Tool, wanted: Option<Hash>) -> ExitCode {
    let mut way = match tool.reach().await {
        Ok(way) => way,
        Err(code) => return code,
    };
    let mut verifier = Verifier::new(wanted);
    let head = each(&mut way, |row| verifier.record(&row.record)).await;
    way.close().await;
    let verdict = match head {
        Ok(head) => verifier.end(head),
        Err(stopped) => return stopped.told(tool),
    };
    for fault in &verdict.faults {
        tool.fail(&Console::AuditFault(*fault));
    }
    if !verdict.faults.is_empty() {
        let records = verdict.records;
        return tool.fail(&Console::AuditBroken { records });
    }
    say(&Console::AuditWhole(&verdict).render(tool.language));
    ExitCode::SUCCESS
}

async fn export(tool: &Tool) -> ExitCode {
    let mut way = match tool.reach().await {
        Ok(way) => way,
        Err(code) => return code,
    };
    let head = each(&mut way, |row| say(&json!(row).to_string())).await;
    way.close().await;
    match head {
        Ok(Head { seq, hash }) => {
            say(&json!({ "head": hash.to_string(), "seq": seq }).to_string());
            ExitCode::SUCCESS
        }
        Err(stopped) => stopped.told(tool),
    }
}
