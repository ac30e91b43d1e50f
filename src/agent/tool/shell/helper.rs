//! How the helper is told what a command may.
//!
//! Owns its arguments and the environment of the shell.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::process::Command;

use super::{
    super::{
        family::{SELF, kept},
        files::workspace::Granted,
    },
    Settings,
};

/// Where programs are.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What may be read, with what of the system is, links resolved.
pub(super) fn readable(more: &[PathBuf]) -> impl Iterator<Item = PathBuf> + '_ {
    let system = crate::sandbox::SYSTEM.iter().map(Path::new);
    let all = system.chain(more.iter().map(PathBuf::as_path));
    all.filter_map(|path| path.canonicalize().ok())
}

/// The helper, up to the program that it becomes.
pub(super) fn command(
    settings: &Settings,
    folder: &Path,
    granted: &Granted,
    time: Duration,
) -> Command {
    let mut command = kept(folder, true);
    // The time of the processor never ends a command before its own time does, unless it uses several.
    let cpu = time.as_secs().saturating_add(1);
    command
        .arg(SELF)
        .args(["sandbox", "enter", "--temporary"])
        .args(["--isolation", settings.isolation.word()])
        .args(settings.network.then_some("--network"))
        .args(["--cpu".to_owned(), cpu.to_string()])
        .args(["--memory".to_owned(), settings.memory.to_string()])
        .args(["--file".to_owned(), settings.max_file.to_string()])
        .args(["--processes".to_owned(), settings.processes.to_string()])
        .args(["--open-files".to_owned(), settings.open_files.to_string()])
        .arg("--workspace")
        .arg(folder);
    for path in &settings.read {
        command.arg("--read").arg(path);
    }
    for part in &granted.parts {
        command.arg("--part").arg(part);
    }
    for frame in &granted.frames {
        // The workspace itself has no name in itself.
        command.arg("--frame").arg(Path::new(".").join(frame));
    }
    command
        .arg("--")
        .env("PATH", PATH)
        .env("HOME", folder)
        .env("LANG", "C.UTF-8")
        .env("TERM", "dumb")
        .envs(std::env::var_os("TZ").map(|zone| ("TZ", zone)));
    command
}
