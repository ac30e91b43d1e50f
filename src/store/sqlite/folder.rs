//! The data folder: made, checked and locked before the database is touched.
//!
//! Owns the lock file and the modes of what it makes (folder 0700, files 0600). It never changes the
//! mode or owner of what was there before.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

/// Why the store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder cannot be made or written.
    #[error(
        "the data folder {path} is not writable for {user}{owner}: {source}\n  \
         hint: give it to that user (chown), mount a volume that it owns, or set storage.url to \
         another folder"
    )]
    NotWritable {
        /// The folder.
        path: PathBuf,
        /// Who this process is, as `uid 10001`.
        user: String,
        /// Whose the folder is, if it exists; starts with a space.
        owner: String,
        /// What the system said.
        source: io::Error,
    },
    /// Another process has it.
    #[error(
        "the data folder {path} is in use by another process{holder}\n  \
         hint: stop that process, or set storage.url to another folder; the lock is {lock} and needs \
         no removal after a crash"
    )]
    Locked {
        /// The folder.
        path: PathBuf,
        /// The lock file.
        lock: PathBuf,
        /// ` (process 123)`, if it is known.
        holder: String,
    },
    /// A newer version of the program wrote it.
    #[error(
        "the database {path} has schema version {found}, and this program knows versions up to {known}\n  \
         hint: start the newer program, or put back the copy that was made before the update"
    )]
    Newer {
        /// The database file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest known version.
        known: i64,
    },
    /// The database failed.
    #[error(
        "the database {path} cannot be opened: {reason}\n  \
         hint: make room if the disk is full; put a copy back if the file is damaged"
    )]
    Database {
        /// The database file.
        path: PathBuf,
        /// What it said.
        reason: String,
    },
}

impl OpenError {
    /// An error of the database at `path`.
    pub fn database(path: &Path, reason: &dyn std::fmt::Display) -> Self {
        Self::Database {
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }
}

/// Makes the folder of the database at `path` if it is missing, locks it, and makes the database file if
/// it is missing. The lock holds until the file is dropped, and ends with the process.
pub fn prepare(path: &Path) -> Result<File, OpenError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."));
    let refused = |source| not_writable(folder, source);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(refused)?;
    let lock_path = folder.join("weirgate.lock");
    let mut lock = private(&lock_path).map_err(refused)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder = holder(&mut lock);
            return Err(OpenError::Locked {
                path: folder.to_owned(),
                lock: lock_path,
                holder,
            });
        }
        Err(TryLockError::Error(source)) => return Err(refused(source)),
    }
    lock.set_len(0)
        .and_then(|()| write!(lock, "{}", std::process::id()))
        .and_then(|()| private(path).map(drop))
        .map_err(refused)?;
    Ok(lock)
}

/// Opens a file for reading and writing, and makes it for its owner only.
pub fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
}

fn holder(lock: &mut File) -> String {
    let mut process = String::new();
    // The number only helps to find the other process; without it the message is still right.
    let read = lock.take(20).read_to_string(&mut process);
    if read.is_ok_and(|length| length > 0) && process.bytes().all(|byte| byte.is_ascii_digit()) {
        format!(" (process {process})")
    } else {
        String::new()
    }
}

fn not_writable(folder: &Path, source: io::Error) -> OpenError {
    // Linux tells a process its own user id as the owner of this folder.
    let user = std::fs::metadata("/proc/self").map_or_else(
        |_| "this user".to_owned(),
        |own| format!("uid {}", own.uid()),
    );
    let owner = std::fs::metadata(folder).map_or_else(
        |_| String::new(),
        |folder| {
            format!(
                " (it belongs to uid {}, mode {:o})",
                folder.uid(),
                folder.mode() & 0o7777
            )
        },
    );
    OpenError::NotWritable {
        path: folder.to_owned(),
        user,
        owner,
        source,
    }
}
