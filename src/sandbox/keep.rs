//! The keeper of a program: starts it, and ends it with everything that it started as soon as it has ended itself, the
//! one who asked for it is gone, or somebody wants it to end.
//!
//! Owns the private folder for temporary files of what it keeps. It is a process of its own, so that nothing outlives a
//! gateway that is killed.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File},
    io,
    os::unix::{fs::DirBuilderExt as _, process::CommandExt as _},
    path::PathBuf,
    process::Command,
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{Pid, PidfdFlags, getpid, getppid, pidfd_open, set_child_subreaper, setsid},
};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::oneshot,
};

use super::{NOT_BEGUN, descendants};

/// What a keeper ends with that was told to end.
const TOLD: u8 = 143;
/// The exit code of a program that is not there or cannot be started, as shells say it.
const NO_PROGRAM: u8 = 127;

/// Runs a program until it ends, or until the process `parent`, which has to be the one that started this one, is gone.
/// With `private` it has a folder for temporary files of its own. Gives its exit code.
///
/// # Errors
/// Why it was not started.
pub fn keep(parent: Option<i32>, private: bool, command: &[OsString]) -> Result<u8, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let folder = private.then(private_folder).transpose();
    let folder = folder.map_err(|error| format!("no folder for temporary files: {error}"))?;
    let code = runtime.block_on(async {
        let code = kept(parent, folder.as_ref(), command).await;
        // Also what was started and has lost its parent since.
        descendants::end_all().await;
        code
    });
    if let Some(folder) = folder {
        // Where something in it may not be removed, it stays: the system looks after its own folder.
        let _ = fs::remove_dir_all(folder);
    }
    code.map_err(|error| error.to_string())
}

async fn kept(
    parent: Option<i32>,
    folder: Option<&PathBuf>,
    command: &[OsString],
) -> io::Result<u8> {
    let Some((program, arguments)) = command.split_first() else {
        return Ok(NOT_BEGUN);
    };
    // Away from the gateway's terminal, if it has one. Who is called by hand is at the head of a group already, and stays.
    let _ = setsid();
    let mut parent = parent.map(watched).transpose()?;
    // Before anything is started: what loses its parent comes to this process.
    set_child_subreaper(Some(getpid()))?;
    let mut ended = signal(SignalKind::child())?;
    let mut end = [
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
        signal(SignalKind::hangup())?,
    ];
    let mut child = Command::new(program);
    child.args(arguments).process_group(0);
    if let Some(folder) = folder {
        child.env("TMPDIR", folder);
    }
    let child = match child.spawn() {
        Ok(child) => i32::try_from(child.id()).unwrap_or_default(),
        Err(error) => {
            complain(&format!("{}: {error}", program.to_string_lossy()));
            return Ok(NO_PROGRAM);
        }
    };
    let _ = let_go();
    let [terminate, interrupt, hangup] = &mut end;
    loop {
        let codes = descendants::reap();
        if let Some((_, code)) = codes.into_iter().find(|(id, _)| *id == child) {
            return Ok(code);
        }
        tokio::select! {
            _ = ended.recv() => {}
            _ = terminate.recv() => return Ok(TOLD),
            _ = interrupt.recv() => return Ok(TOLD),
            _ = hangup.recv() => return Ok(TOLD),
            () = gone(parent.as_mut()) => return Ok(TOLD),
        }
    }
}

/// Resolves when the one who asked is gone.
async fn gone(parent: Option<&mut oneshot::Receiver<()>>) {
    match parent {
        Some(parent) => drop(parent.await),
        None => std::future::pending().await,
    }
}

/// What is told when the process ends that started this one. It is watched by a handle: its number may be another
/// process's by then.
fn watched(parent: i32) -> io::Result<oneshot::Receiver<()>> {
    let none = || io::Error::other("the process that started this one is gone");
    let id = Pid::from_raw(parent).ok_or_else(none)?;
    let handle = pidfd_open(id, PidfdFlags::empty())?;
    // It was the right one if it is this one's parent still.
    if getppid() != Some(id) {
        return Err(none());
    }
    let (told, watched) = oneshot::channel();
    thread::spawn(move || {
        let mut ends = [PollFd::new(&handle, PollFlags::IN)];
        // A signal interrupts the wait.
        while poll(&mut ends, None) == Err(Errno::INTR) {}
        let _ = told.send(());
    });
    Ok(watched)
}

/// The pipes are the program's alone: who reads them sees their end when it ends or closes them.
fn let_go() -> io::Result<()> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    Ok(())
}

/// A folder that only this user looks into, and that was not there before.
fn private_folder() -> io::Result<PathBuf> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map(|time| time.as_nanos()).unwrap_or_default();
    let name = format!("weirgate-{}-{now:x}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    DirBuilder::new().mode(0o700).create(&folder)?;
    folder.canonicalize()
}

/// Says to whoever reads the program's complaints why there is nothing to complain.
pub(super) fn complain(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(io::stderr(), "weirgate sandbox: {text}");
}
