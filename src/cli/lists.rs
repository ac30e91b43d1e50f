//! `weirgate outbox`, `weirgate queue` and `weirgate dead`: what waits and what failed, and what is done
//! about it.
//!
//! Owns how rows are shown and which of them `--all` means. What is possible decides the gateway.

mod act;

use std::{io, process::ExitCode, time::Duration};

use clap::{Args, Subcommand};
use serde_json::json;

use self::act::{Act, act_on};
use super::{
    say, table,
    tool::{Tool, Way},
};
use crate::{
    i18n::{
        Language,
        console::{Console, Heading},
    },
    operate::{
        ask::{Answer, Ask, PAGE, Refusal},
        row::{FailedRow, ReplyRow, WaitingRow},
    },
};

/// How much is listed, and how.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Rows at most.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    limit: u16,
    /// Only what comes after this id.
    #[arg(long, value_name = "ID", default_value_t = 0)]
    after: i64,
    /// As JSON: the rows, and after which id more would come.
    #[arg(long)]
    json: bool,
}

/// `weirgate outbox`
#[derive(Debug, Subcommand)]
pub(super) enum Outbox {
    /// List the replies that wait, that were given up, or of which nobody knows whether they arrived.
    List(List),
    /// Send replies that were given up.
    Retry(Act),
    /// Do not send replies, also those that wait.
    Drop(Act),
}

/// `weirgate queue`
#[derive(Debug, Subcommand)]
pub(super) enum Queue {
    /// List the messages that wait for their turn or are being answered.
    List(List),
}

/// `weirgate dead`
#[derive(Debug, Subcommand)]
pub(super) enum Dead {
    /// List the messages whose turn failed, and the replies that were given up or are in doubt.
    List(List),
    /// Answer messages again, send replies again.
    Retry(Act),
    /// Take messages and replies off the list.
    Drop(Act),
}

/// Which sorts of rows a list has.
#[derive(Debug, Clone, Copy)]
struct Sorts {
    messages: bool,
    waiting: bool,
}

const OUTBOX: Sorts = Sorts {
    messages: false,
    waiting: true,
};
const DEAD: Sorts = Sorts {
    messages: true,
    waiting: false,
};

pub(super) fn outbox(tool: &Tool, command: Outbox) -> ExitCode {
    match command {
        Outbox::List(list) => tool.run(show(tool, list, OUTBOX)),
        Outbox::Retry(act) => tool.run(act_on(tool, act, OUTBOX, true)),
        Outbox::Drop(act) => tool.run(act_on(tool, act, OUTBOX, false)),
    }
}

pub(super) fn queue(tool: &Tool, Queue::List(list): Queue) -> ExitCode {
    tool.run(show_waiting(tool, list))
}

pub(super) fn dead(tool: &Tool, command: Dead) -> ExitCode {
    match command {
        Dead::List(list) => tool.run(show(tool, list, DEAD)),
        Dead::Retry(act) => tool.run(act_on(tool, act, DEAD, true)),
        Dead::Drop(act) => tool.run(act_on(tool, act, DEAD, false)),
    }
}

/// Why nothing more is shown or done.
pub(super) enum Stopped {
    Broken(io::Error),
    Refused(Refusal),
}

impl Stopped {
    /// The gateway answered something else.
    pub(super) fn other_answer() -> Self {
        let error = "an answer of another kind".to_owned();
        Self::Refused(Refusal::Protocol { error })
    }

    pub(super) fn told(&self, tool: &Tool) -> ExitCode {
        match self {
            Self::Broken(error) => tool.fail(&Console::SocketFailed {
                error: &error.to_string(),
            }),
            Self::Refused(refusal) => tool.fail(&Console::Refused { id: "", refusal }),
        }
    }
}

pub(super) async fn asked(way: &mut Way, ask: &Ask) -> Result<Answer, Stopped> {
    match way.ask(ask).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(refusal)) => Err(Stopped::Refused(refusal)),
        Err(error) => Err(Stopped::Broken(error)),
    }
}

/// Rows from `after` on, `limit` at most, and after which id more would come. `page` makes the question of
/// a page and reads its answer.
async fn collect<T>(
    way: &mut Way,
    after: i64,
    limit: usize,
    ask: impl Fn(i64, usize) -> Ask,
    read: impl Fn(Answer) -> Option<(Vec<T>, Option<i64>)>,
) -> Result<(Vec<T>, Option<i64>), Stopped> {
    let (mut rows, mut next) = (Vec::new(), Some(after));
    while let Some(after) = next
        && rows.len() < limit
    {
        let answer = asked(way, &ask(after, (limit - rows.len()).min(PAGE))).await?;
        let Some((more, after)) = read(answer) else {
            return Err(Stopped::other_answer());
        };
        rows.extend(more);
        next = after;
    }
    Ok((rows, next))
}

async fn replies(
    way: &mut Way,
    after: i64,
    limit: usize,
    waiting: bool,
) -> Result<(Vec<ReplyRow>, Option<i64>), Stopped> {
    let ask = |after, limit| Ask::Replies {
        after,
        limit,
        waiting,
        given_up: true,
    };
    let read = |answer| match answer {
        Answer::Replies(sheet) => Some((sheet.rows, sheet.next)),
        _ => None,
    };
    collect(way, after, limit, ask, read).await
}

async fn failed(
    way: &mut Way,
    after: i64,
    limit: usize,
) -> Result<(Vec<FailedRow>, Option<i64>), Stopped> {
    let read = |answer| match answer {
        Answer::Failed(sheet) => Some((sheet.rows, sheet.next)),
        _ => None,
    };
    let ask = |after, limit| Ask::Failed { after, limit };
    collect(way, after, limit, ask, read).await
}

async fn show_waiting(tool: &Tool, list: List) -> ExitCode {
    let mut way = match tool.reach().await {
        Ok(way) => way,
        Err(code) => return code,
    };
    let read = |answer| match answer {
        Answer::Waiting(sheet) => Some((sheet.rows, sheet.next)),
        _ => None,
    };
    let ask = |after, limit| Ask::Waiting { after, limit };
    let found = collect(&mut way, list.after, list.limit.into(), ask, read).await;
    way.close().await;
    let (rows, next): (Vec<WaitingRow>, _) = match found {
        Ok(found) => found,
        Err(stopped) => return stopped.told(tool),
    };
    if list.json {
        say(&json!({ "rows": rows, "next": next }).to_string());
        return ExitCode::SUCCESS;
    }
    let line = |row: &WaitingRow| {
        vec![
            format!("m{}", row.id),
            age(row.at, tool.language),
            row.conversation.clone(),
            row.name.clone(),
            row.lane.clone(),
            row.attempts.to_string(),
            row.text.clone(),
        ]
    };
    let heading = [
        Heading::Id,
        Heading::Age,
        Heading::Conversation,
        Heading::From,
        Heading::Lane,
        Heading::Attempts,
        Heading::Text,
    ];
    print(tool, &heading, rows.iter().map(line).collect(), next);
    ExitCode::SUCCESS
}

async fn show(tool: &Tool, list: List, sorts: Sorts) -> ExitCode {
    let mut way = match tool.reach().await {
        Ok(way) => way,
        Err(code) => return code,
    };
    let found = found(&mut way, &list, sorts).await;
    way.close().await;
    let (messages, replies, next) = match found {
        Ok(found) => found,
        Err(stopped) => return stopped.told(tool),
    };
    if list.json {
        let shown = if sorts.messages {
            json!({ "messages": messages, "replies": replies, "next": next })
        } else {
            json!({ "rows": replies, "next": next })
        };
        say(&shown.to_string());
        return ExitCode::SUCCESS;
    }
    let mut lines: Vec<(i64, Vec<String>)> = Vec::new();
    for row in &messages {
        let cells = [
            format!("m{}", row.id),
            "failed".to_owned(),
            age(row.at, tool.language),
            row.conversation.clone(),
            String::new(),
            row.reason.clone().unwrap_or_default(),
            row.text.clone(),
        ];
        lines.push((row.id, cells.to_vec()));
    }
    for row in &replies {
        let cells = [
            format!("r{}", row.id),
            row.state.clone(),
            age(row.at, tool.language),
            row.conversation.clone(),
            format!("{}/{}", row.part, row.parts),
            row.reason.clone().unwrap_or_default(),
            row.text.clone(),
        ];
        lines.push((row.id, cells.to_vec()));
    }
    lines.sort_by_key(|(id, _)| *id);
    let heading = [
        Heading::Id,
        Heading::State,
        Heading::Age,
        Heading::Conversation,
        Heading::Part,
        Heading::Reason,
        Heading::Text,
    ];
    let lines = lines.into_iter().map(|(_, cells)| cells).collect();
    print(tool, &heading, lines, next);
    ExitCode::SUCCESS
}

/// The rows of a list up to one id: where one sort goes on behind the other, the rest is left for later.
async fn found(
    way: &mut Way,
    list: &List,
    sorts: Sorts,
) -> Result<(Vec<FailedRow>, Vec<ReplyRow>, Option<i64>), Stopped> {
    let limit = usize::from(list.limit);
    let (mut messages, mut next) = (Vec::new(), None);
    if sorts.messages {
        (messages, next) = failed(way, list.after, limit).await?;
    }
    let (mut rows, more) = replies(way, list.after, limit, sorts.waiting).await?;
    next = [next, more].into_iter().flatten().min();
    if let Some(last) = next {
        messages.retain(|row| row.id <= last);
        rows.retain(|row| row.id <= last);
    }
    Ok((messages, rows, next))
}

fn print(tool: &Tool, heading: &[Heading], lines: Vec<Vec<String>>, next: Option<i64>) {
    if lines.is_empty() {
        say(&Console::Nothing.render(tool.language));
    } else {
        let heading: Vec<String> = heading
            .iter()
            .map(|heading| Console::Head(*heading).render(tool.language))
            .collect();
        say(&table::render(&heading, &lines));
    }
    if let Some(after) = next {
        say(&Console::More { after }.render(tool.language));
    }
}

fn age(at: i64, language: Language) -> String {
    let now = crate::clock::Clock::system().now();
    let millis = u64::try_from(now.saturating_sub(at)).unwrap_or(0);
    Console::Age(Duration::from_millis(millis)).render(language)
}
