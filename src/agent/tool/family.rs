//! Programs that the gateway starts for models: a small environment, a keeper for each, and an end with everything that
//! they started.
//!
//! Owns the keeper, a process of its own (`crate::sandbox`): it ends what it keeps when it is told to and when the gateway
//! is gone, however that came. What is said to the program is its starter's.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    process::Stdio,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

/// What of the gateway's environment a program sees: nothing that holds a secret.
const PASSED: [&str; 5] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ"];
/// Where programs are looked for where nothing says it.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// This program, also if it was replaced on the disk since it was started.
pub(super) const SELF: &str = "/proc/self/exe";

/// The keeper of a child; with it ends everything that it keeps.
#[derive(Debug)]
pub(in crate::agent) struct Family(pub(in crate::agent) Child);

impl Drop for Family {
    fn drop(&mut self) {
        let keeper = self.0.id().and_then(|id| i32::try_from(id).ok());
        if let Some(keeper) = keeper.and_then(Pid::from_raw) {
            // It may be gone already. Killed it could not end what it keeps.
            let _ = kill_process(keeper, Signal::TERM);
        }
    }
}

/// A program in a folder, with pipes, and nothing of the gateway's environment but what is harmless.
///
/// # Errors
/// There is no such program.
pub(in crate::agent) fn command(program: impl AsRef<OsStr>, folder: &Path) -> io::Result<Command> {
    let program = found(program.as_ref())?;
    let passed = PASSED
        .iter()
        .filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let mut command = kept(folder, false);
    command
        .arg(program)
        .envs(passed)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok(command)
}

/// A keeper without a program and without an environment; with `temporary` the program has a folder of its own for
/// temporary files.
pub(super) fn kept(folder: &Path, temporary: bool) -> Command {
    let mut command = Command::new(SELF);
    command
        .arg0("weirgate")
        .args(["sandbox", "keep", "--parent"])
        .arg(std::process::id().to_string())
        .args(temporary.then_some("--temporary"))
        .arg("--")
        .current_dir(folder)
        .env_clear();
    command
}

/// Where a program is: one with a slash is there or nowhere, others are looked for in PATH.
fn found(program: &OsStr) -> io::Result<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.metadata().map(|_| path.to_owned());
    }
    let folders = std::env::var_os("PATH").unwrap_or_else(|| PATH.into());
    let mut all = std::env::split_paths(&folders).map(|folder| folder.join(path));
    let found = all.find(|path| path.is_file());
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}
