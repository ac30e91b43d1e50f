//! Programs that are measured, as children.
//!
//! Owns how they are started, with their output in a file, and what is told when one does not come up. A child ends
//! with whoever holds it.

use std::{
    fs::{self, File},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::Fault;

/// Longest start of a program.
const START: Duration = Duration::from_secs(20);
/// Lines of a log that a fault shows.
const LOG_LINES: usize = 10;

/// Starts a program in a folder.
///
/// # Errors
/// The system's.
pub fn spawn(mut command: Command, folder: &TempDir, log: &Path) -> Result<Child, Fault> {
    let log = File::create(log)?;
    command
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .kill_on_drop(true);
    Ok(command.spawn()?)
}

/// Fails when a program has ended or takes too long.
///
/// # Errors
/// That, with the end of its log.
pub fn alive(child: &mut Child, began: Instant, log: &Path) -> Result<(), Fault> {
    if let Some(status) = child.try_wait()? {
        return Err(format!("a program ended at its start: {status}{}", tail(log)).into());
    }
    if began.elapsed() > START {
        return Err(format!("a program did not start in time{}", tail(log)).into());
    }
    Ok(())
}

/// The end of a log.
#[must_use]
pub fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let skipped = lines.len().saturating_sub(LOG_LINES);
    let shown = lines.iter().skip(skipped);
    shown.map(|line| format!("\n  {line}")).collect()
}
