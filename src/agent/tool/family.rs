//! Programs that the gateway starts for models: a small environment, a group of their own, and an end with everything
//! that they started.
//!
//! Owns the child; what is said to it is its starter's.

use std::{ffi::OsStr, path::Path, process::Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

/// What of the gateway's environment a program sees: nothing that holds a secret.
const PASSED: [&str; 5] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ"];

/// A child with all that it starts; they end with it.
#[derive(Debug)]
pub(in crate::agent) struct Family(pub(in crate::agent) Child);

impl Drop for Family {
    fn drop(&mut self) {
        let leader = self.0.id().and_then(|id| i32::try_from(id).ok());
        if let Some(leader) = leader.and_then(Pid::from_raw) {
            // It may be gone already.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// A program in a folder, with pipes, and nothing of the gateway's environment but what is harmless.
pub(in crate::agent) fn command(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let passed = PASSED
        .iter()
        .filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .env_clear()
        .envs(passed)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    command
}
