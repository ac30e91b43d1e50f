//! The data folder and the disk below it.
//!
//! Owns the limits of room. It writes nothing.

use std::{
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, access, statvfs};

use crate::i18n::health::Here;

/// Free megabytes under which somebody should look.
const LITTLE: u64 = 1_024;
/// Free megabytes under which writes fail soon.
const NONE: u64 = 100;
/// Free files under which writes fail soon.
const NO_FILES: u64 = 100;

/// The folder: whether it can be used, and whether others can look into it or into the database in it.
pub(super) fn folder(folder: &Path, database: Option<&Path>) -> Vec<Here> {
    let there = nearest(folder);
    let rights = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
    if let Err(error) = access(&there, rights) {
        let error = io::Error::from(error).to_string();
        return vec![Here::Forbidden { path: there, error }];
    }
    let path = folder.to_owned();
    if there != folder {
        return vec![Here::NoFolder { path }];
    }
    if let Some(database) = database
        && let Err(error) = access(database, Access::READ_OK | Access::WRITE_OK)
        && database.exists()
    {
        let error = io::Error::from(error).to_string();
        let path = database.to_owned();
        return vec![Here::Forbidden { path, error }];
    }
    let open = |path: &Path, mode| {
        let is_open = fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0);
        is_open.then(|| Here::Open {
            path: path.to_owned(),
            mode,
        })
    };
    // A folder that keeps others out keeps them from the files as well.
    let inside = || database.and_then(|database| open(database, "600"));
    let open = open(folder, "700").map(|found| inside().unwrap_or(found));
    open.map_or_else(|| vec![Here::Folder { path }], |found| vec![found])
}

/// The folder itself or the first above it that is there.
fn nearest(folder: &Path) -> PathBuf {
    let found = folder.ancestors().find(|folder| folder.exists());
    match found {
        Some(found) if !found.as_os_str().is_empty() => found.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The free room.
pub(super) fn disk(folder: &Path) -> Here {
    match statvfs(nearest(folder)) {
        Ok(found) => {
            let free = found.f_bavail.saturating_mul(found.f_frsize) >> 20;
            // Some file systems have no fixed number of files and say 0 of 0.
            let files = found.f_files > 0 && found.f_favail < NO_FILES;
            room(free, files)
        }
        Err(error) => Here::RoomUnknown {
            error: io::Error::from(error).to_string(),
        },
    }
}

fn room(free: u64, no_files: bool) -> Here {
    if free < NONE || no_files {
        Here::NoRoom { free }
    } else if free < LITTLE {
        Here::LittleRoom { free }
    } else {
        Here::Room { free }
    }
}

/// Whether somebody holds the lock of the folder.
pub(super) fn is_locked(folder: &Path) -> bool {
    // Opened for reading, so that nothing is made.
    File::open(folder.join("weirgate.lock"))
        .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_room_is_told_before_there_is_none() {
        assert_eq!(room(LITTLE, false), Here::Room { free: LITTLE });
        assert_eq!(
            room(LITTLE - 1, false),
            Here::LittleRoom { free: LITTLE - 1 }
        );
        assert_eq!(room(NONE - 1, false), Here::NoRoom { free: NONE - 1 });
        assert_eq!(room(LITTLE, true), Here::NoRoom { free: LITTLE });
    }

    #[test]
    fn modes_and_missing_folders_are_seen() {
        let folder_of = tempfile::tempdir().unwrap();
        let path = folder_of.path().join("data");
        let database = path.join("weirgate.db");
        assert_eq!(
            folder(&path, Some(&database)),
            [Here::NoFolder { path: path.clone() }]
        );
        fs::create_dir(&path).unwrap();
        let set = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        set(&path, 0o700);
        assert_eq!(
            folder(&path, Some(&database)),
            [Here::Folder { path: path.clone() }]
        );
        set(&path, 0o755);
        let open = |path: &Path, mode| Here::Open {
            path: path.to_owned(),
            mode,
        };
        assert_eq!(folder(&path, Some(&database)), [open(&path, "700")]);
        fs::write(&database, "").unwrap();
        set(&database, 0o644);
        assert_eq!(folder(&path, Some(&database)), [open(&database, "600")]);
        assert_eq!(folder(&path, None), [open(&path, "700")]);
        set(&path, 0o700);
        assert_eq!(folder(&path, Some(&database)), [Here::Folder { path }]);
    }
}
