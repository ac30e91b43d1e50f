//! `weirgate sandbox`: the helper between the gateway and the programs that models have run.
//!
//! Owns its arguments. It is not for people, but shows them what a confined program can do: `weirgate sandbox enter
//! --workspace . -- sh`.

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};

use super::complain;
use crate::sandbox::{self, Confine, Limits, NOT_BEGUN, Workspace, kernel::Isolation};

#[derive(Debug, Subcommand)]
pub(super) enum Sandbox {
    /// Start a program, and end it with everything that it started when it has ended itself or whoever started this is gone.
    Keep {
        /// The process that started this one; when it ends, the program does.
        #[arg(long)]
        parent: Option<i32>,
        /// Give it a folder of its own for temporary files, and remove that behind it.
        #[arg(long)]
        temporary: bool,
        /// The program and its arguments.
        #[arg(last = true, required = true)]
        program: Vec<OsString>,
    },
    /// Confine this process to some folders, and become a program.
    Enter(Box<Enter>),
}

#[derive(Debug, Args)]
pub(super) struct Enter {
    /// How much has to be kept apart.
    #[arg(long, default_value = "full", value_parser = isolation)]
    isolation: Isolation,
    /// It may use the network.
    #[arg(long)]
    network: bool,
    /// A file or folder that may be read, beside the system's.
    #[arg(long)]
    read: Vec<PathBuf>,
    /// The folder that may be written.
    #[arg(long)]
    workspace: Option<PathBuf>,
    /// What of that folder may be, if not all of it.
    #[arg(long)]
    part: Vec<PathBuf>,
    /// What of that folder may be listed only.
    #[arg(long)]
    frame: Vec<PathBuf>,
    /// The folder that TMPDIR names may be written too.
    #[arg(long)]
    temporary: bool,
    /// Seconds of a processor.
    #[arg(long, default_value_t = 60)]
    cpu: u64,
    /// Bytes of memory of a process.
    #[arg(long, default_value_t = 1 << 30)]
    memory: u64,
    /// Bytes of a file.
    #[arg(long, default_value_t = 100 << 20)]
    file: u64,
    /// Processes and threads at once.
    #[arg(long, default_value_t = 128)]
    processes: u64,
    /// Open files of a process.
    #[arg(long, default_value_t = 256)]
    open_files: u64,
    /// The program and its arguments.
    #[arg(last = true, required = true)]
    program: Vec<OsString>,
}

fn isolation(word: &str) -> Result<Isolation, String> {
    let found = Isolation::WORDS.iter().find(|(known, _)| *known == word);
    found
        .map(|(_, isolation)| *isolation)
        .ok_or_else(|| "full or files".to_owned())
}

/// Does what the helper is for. The exit code is that of the program, 128 and the signal that ended it, or
/// [`NOT_BEGUN`].
pub(super) fn sandbox(command: Sandbox) -> ExitCode {
    let done = match command {
        Sandbox::Keep {
            parent,
            temporary,
            program,
        } => sandbox::keep(parent, temporary, &program),
        Sandbox::Enter(enter) => {
            let (plan, program) = enter.plan();
            sandbox::enter(&plan, &program).map(|never| match never {})
        }
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            complain(&format!("weirgate sandbox: {error}"));
            ExitCode::from(NOT_BEGUN)
        }
    }
}

impl Enter {
    fn plan(self) -> (Confine, Vec<OsString>) {
        let (parts, frames) = (self.part, self.frame);
        let workspace = self.workspace.map(|folder| Workspace {
            folder,
            parts,
            frames,
        });
        let plan = Confine {
            isolation: self.isolation,
            network: self.network,
            read: self.read,
            workspace,
            temporary: self.temporary,
            limits: Limits {
                cpu: self.cpu,
                memory: self.memory,
                file: self.file,
                processes: self.processes,
                open_files: self.open_files,
            },
        };
        (plan, self.program)
    }
}
