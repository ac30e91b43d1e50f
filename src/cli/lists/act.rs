//! Retrying and dropping what is on a list.
//!
//! Owns the reading of ids and what `--all` means. What is possible decides the gateway.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::{Sorts, Stopped, failed, replies};
use crate::{
    cli::{
        complain, say,
        tool::{Tool, Way},
    },
    i18n::console::Console,
    operate::ask::{Answer, Ask, PAGE, Refusal, Response},
};

/// What something is done with.
#[derive(Debug, Args)]
#[group(required = true)]
pub(in crate::cli) struct Which {
    /// The ids, as they are listed: r and a number for a reply, m and a number for a message.
    #[arg(value_name = "ID", conflicts_with = "all")]
    ids: Vec<String>,
    /// Everything that was given up.
    #[arg(long)]
    all: bool,
}

/// What became of it, and how that is told.
#[derive(Debug, Args)]
pub(in crate::cli) struct Act {
    #[command(flatten)]
    which: Which,
    /// The outcomes as JSON.
    #[arg(long)]
    json: bool,
}

/// Something that has an id on a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Id {
    Message(i64),
    Reply(i64),
}

impl Id {
    /// Reads an id as it is listed; a bare number is a reply's where there are only replies.
    fn read(text: &str, sorts: Sorts) -> Option<Self> {
        let (sort, number) = match text.split_at_checked(1)? {
            ("r", number) => (Self::Reply as fn(i64) -> Self, number),
            ("m", number) if sorts.messages => (Self::Message as fn(i64) -> Self, number),
            _ if !sorts.messages => (Self::Reply as fn(i64) -> Self, text),
            _ => return None,
        };
        let id = number.parse().ok().filter(|id| *id > 0)?;
        Some(sort(id))
    }

    fn ask(self, retry: bool) -> Ask {
        match (self, retry) {
            (Self::Message(id), true) => Ask::RetryMessage { id },
            (Self::Message(id), false) => Ask::DropMessage { id },
            (Self::Reply(id), true) => Ask::RetryReply { id },
            (Self::Reply(id), false) => Ask::DropReply { id },
        }
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Message(id) => write!(f, "m{id}"),
            Self::Reply(id) => write!(f, "r{id}"),
        }
    }
}

pub(super) async fn act_on(tool: &Tool, act: Act, sorts: Sorts, retry: bool) -> ExitCode {
    let mut ids = Vec::new();
    for text in &act.which.ids {
        match Id::read(text, sorts) {
            Some(id) => ids.push(id),
            None => {
                complain(&Console::BadId { text }.render(tool.language));
                return ExitCode::from(2);
            }
        }
    }
    let mut way = match tool.reach().await {
        Ok(way) => way,
        Err(code) => return code,
    };
    let mut outcomes = Outcomes {
        tool,
        json: act.json.then(Vec::new),
        failed: false,
    };
    let done = if act.which.all {
        everything(&mut way, sorts, retry, &mut outcomes).await
    } else {
        each(&mut way, ids, retry, &mut outcomes).await
    };
    way.close().await;
    if let Some(outcomes) = &outcomes.json {
        say(&json!(outcomes).to_string());
    }
    match done {
        Err(stopped) => stopped.told(tool),
        Ok(()) if outcomes.failed => ExitCode::FAILURE,
        Ok(()) => ExitCode::SUCCESS,
    }
}

/// What became of each, told at once or kept for JSON.
struct Outcomes<'a> {
    tool: &'a Tool,
    json: Option<Vec<serde_json::Value>>,
    failed: bool,
}

impl Outcomes<'_> {
    fn tell(&mut self, id: Id, result: Result<Answer, Refusal>) {
        self.failed |= result.is_err();
        let name = id.to_string();
        if let Some(outcomes) = &mut self.json {
            let response = Response::from(result);
            outcomes.push(json!({ "id": name, "ok": response.ok, "error": response.error }));
            return;
        }
        match &result {
            Ok(answer) => say(&Console::Done { id: &name, answer }.render(self.tool.language)),
            Err(refusal) => {
                let text = Console::Refused { id: &name, refusal };
                complain(&text.render(self.tool.language));
            }
        }
    }
}

async fn each(
    way: &mut Way,
    ids: Vec<Id>,
    retry: bool,
    outcomes: &mut Outcomes<'_>,
) -> Result<(), Stopped> {
    for id in ids {
        let result = way.ask(&id.ask(retry)).await.map_err(Stopped::Broken)?;
        outcomes.tell(id, result);
    }
    Ok(())
}

/// Everything that was given up when it began: what fails again meanwhile is left alone.
async fn everything(
    way: &mut Way,
    sorts: Sorts,
    retry: bool,
    outcomes: &mut Outcomes<'_>,
) -> Result<(), Stopped> {
    let mut after = Some(0);
    while let (true, Some(from)) = (sorts.messages, after) {
        let (rows, next) = failed(way, from, PAGE).await?;
        let ids = rows.iter().map(|row| Id::Message(row.id)).collect();
        each(way, ids, retry, outcomes).await?;
        after = next;
    }
    let mut after = Some(0);
    while let Some(from) = after {
        let (rows, next) = replies(way, from, PAGE, false).await?;
        let ids = rows.iter().map(|row| Id::Reply(row.id)).collect();
        each(way, ids, retry, outcomes).await?;
        after = next;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{DEAD, OUTBOX};
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_listed() {
        assert_eq!(Id::read("r12", DEAD), Some(Id::Reply(12)));
        assert_eq!(Id::read("m12", DEAD), Some(Id::Message(12)));
        assert_eq!(Id::read("12", DEAD), None, "a message or a reply?");
        assert_eq!(Id::read("12", OUTBOX), Some(Id::Reply(12)));
        for text in ["", "r", "m12", "r-1", "r0", "消息", "r12x", "1r"] {
            assert_eq!(Id::read(text, OUTBOX), None, "{text}");
        }
    }
}
