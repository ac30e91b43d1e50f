//! Everything that a process has started, and its end.
//!
//! Owns the end of a whole family: also of what has left its group or its session, because the keeper is the one to
//! whom the system gives what has lost its parent.

use std::{collections::HashSet, fs, time::Duration};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};

/// Looks until everything stands still; whoever starts others stands still before they are ended.
const LOOKS: usize = 64;
/// Rounds until everything is gone.
const ROUNDS: usize = 200;
/// Between two of them.
const PAUSE: Duration = Duration::from_millis(5);

/// Ends everything that this process has started, and waits for it.
pub(super) async fn end_all() {
    let mut standing: HashSet<i32> = HashSet::new();
    for _ in 0..LOOKS {
        let new: Vec<i32> = all()
            .into_iter()
            .filter(|id| standing.insert(*id))
            .collect();
        if new.is_empty() {
            break;
        }
        new.into_iter().for_each(|id| send(id, Signal::STOP));
    }
    for _ in 0..ROUNDS {
        let left = all();
        left.iter().for_each(|id| send(*id, Signal::KILL));
        reap();
        if left.is_empty() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Takes note of what has ended, so that nothing stays as a zombie. Gives the exit codes.
pub(super) fn reap() -> Vec<(i32, u8)> {
    let mut ended = Vec::new();
    while let Ok(Some((id, status))) = wait(WaitOptions::NOHANG) {
        let code = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => code,
            // As shells say it.
            (None, Some(signal)) => signal.saturating_add(128),
            (None, None) => continue,
        };
        ended.push((
            id.as_raw_nonzero().get(),
            u8::try_from(code).unwrap_or(u8::MAX),
        ));
    }
    ended
}

fn send(id: i32, signal: Signal) {
    if let Some(id) = Pid::from_raw(id) {
        // It may be gone already.
        let _ = kill_process(id, signal);
    }
}

/// The processes below this one that have not ended.
fn all() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let pairs: Vec<(i32, i32)> = ids.filter_map(|id| Some((id, parent(id)?))).collect();
    let mut found = vec![getpid().as_raw_nonzero().get()];
    let mut next = 0;
    while let Some(above) = found.get(next).copied() {
        next += 1;
        let below = pairs.iter().filter(|(_, parent)| *parent == above);
        found.extend(below.map(|(id, _)| *id));
    }
    found.split_off(1)
}

/// The parent of a process that has not ended.
fn parent(id: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name before may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok();
    parent.filter(|_| !matches!(state, "Z" | "X"))
}
