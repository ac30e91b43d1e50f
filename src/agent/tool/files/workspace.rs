//! The workspace of a conversation: a folder that nothing leads out of.
//!
//! Owns how files in it are reached: beneath a handle of the folder, by paths whose links are resolved before and not
//! followed again, past the guard for blocked files; and how much it may hold. All of it blocks.

use std::{
    collections::BTreeSet,
    fs::{DirBuilder, File},
    io::{self, Read as _, Write as _},
    os::{fd::OwnedFd, unix::fs::DirBuilderExt as _},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{Dir, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat2, renameat, unlinkat},
    io::Errno,
};
use sha2::{Digest as _, Sha256};
use weirgate_sdk::ConversationKey;

use crate::{
    agent::tool::Fault,
    hex::hex,
    security::paths::{PathGuard, Refused},
};

/// Most bytes of a file.
pub(in crate::agent::tool) const MAX_FILE: usize = 1024 * 1024;
/// Most files that are looked through, and how deep folders may lie in each other.
const MAX_FILES: usize = 10_000;
const MAX_DEPTH: usize = 16;
/// The same for what programs may see; what lies deeper is closed to them.
const MAX_LOOKED_AT: usize = 200_000;
const DEEPEST: usize = 64;
/// Most rules that a program is given.
const MAX_PARTS: usize = 1_000;
/// Where a file is written before it takes its name.
const DRAFT: &str = ".weirgate-draft";

/// Nothing is followed out of the folder, and no link at all: paths are resolved before.
const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_SYMLINKS);

/// The folder in which all workspaces are.
#[derive(Debug)]
pub(in crate::agent::tool) struct Workspaces {
    pub(in crate::agent::tool) root: PathBuf,
    pub(in crate::agent::tool) guard: PathGuard,
    /// Most bytes of all files of one.
    pub(in crate::agent::tool) max_bytes: u64,
}

/// The workspace of one conversation.
#[derive(Debug)]
pub(in crate::agent::tool) struct Workspace<'a> {
    path: PathBuf,
    handle: OwnedFd,
    of: &'a Workspaces,
}

/// What of a workspace a program may see that opens files by itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::agent::tool) struct Granted {
    /// What it may see with all that is below, if not everything.
    pub(in crate::agent::tool) parts: Vec<PathBuf>,
    /// Folders that it may only list, because something in them is closed.
    pub(in crate::agent::tool) frames: Vec<PathBuf>,
    /// What is closed.
    pub(in crate::agent::tool) closed: Vec<PathBuf>,
    /// Bytes of all files.
    pub(in crate::agent::tool) bytes: u64,
}

/// What was come by.
struct Seen {
    path: PathBuf,
    kind: FileType,
    bytes: u64,
    blocked: bool,
}

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::agent::tool) struct Found {
    /// Its path in the workspace.
    pub(in crate::agent::tool) path: String,
    /// It is a folder.
    pub(in crate::agent::tool) folder: bool,
    /// Its size in bytes.
    pub(in crate::agent::tool) bytes: u64,
}

impl Workspaces {
    /// The workspace of a conversation; it is made if it is not there.
    pub(in crate::agent::tool) fn of(
        &self,
        conversation: &ConversationKey,
    ) -> Result<Workspace<'_>, Fault> {
        let hash = Sha256::digest(conversation.encode());
        let (name, _) = hash.split_at(16);
        let path = self.root.join(hex(name));
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
        // The guard resolves paths, and they are compared with this one.
        let path = made.and_then(|()| path.canonicalize()).map_err(failed)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(&path, flags, Mode::empty()).map_err(failed)?;
        Ok(Workspace {
            path,
            handle,
            of: self,
        })
    }
}

impl Workspace<'_> {
    /// A file, opened to be read, and its size in bytes.
    pub(in crate::agent::tool) fn opened(&self, path: &str) -> Result<(File, u64), Fault> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = self.open(&self.checked(path)?, flags)?;
        let stat = fstat(&opened).map_err(failed)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Fault::lasting("That is no file."));
        }
        Ok((File::from(opened), u64::try_from(stat.st_size).unwrap_or(0)))
    }

    /// The text of a file.
    pub(in crate::agent::tool) fn read(&self, path: &str) -> Result<String, Fault> {
        let bytes = self.read_bytes(path, MAX_FILE)?;
        String::from_utf8(bytes).map_err(|_| Fault::lasting("The file is no text."))
    }

    /// The bytes of a file of at most so many.
    pub(in crate::agent::tool) fn read_bytes(
        &self,
        path: &str,
        most: usize,
    ) -> Result<Vec<u8>, Fault> {
        let (file, _) = self.opened(path)?;
        let mut bytes = Vec::new();
        let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() > most {
            return Err(Fault::lasting("The file is too large to be read."));
        }
        Ok(bytes)
    }

    /// Writes a text file whole, with its folders; what reads it sees the old one or the new one.
    pub(in crate::agent::tool) fn write(&self, path: &str, text: &str) -> Result<(), Fault> {
        self.write_bytes(path, text.as_bytes(), MAX_FILE)
    }

    /// As [`Self::write`], for at most so many bytes of any kind.
    pub(in crate::agent::tool) fn write_bytes(
        &self,
        path: &str,
        bytes: &[u8],
        most: usize,
    ) -> Result<(), Fault> {
        if bytes.len() > most {
            return Err(Fault::lasting("The text is too long for a file."));
        }
        let relative = self.checked_or_made(path)?;
        let used: u64 = self.list("")?.iter().map(|found| found.bytes).sum();
        let more = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if used.saturating_add(more) > self.of.max_bytes {
            return Err(Fault::lasting("The workspace is full."));
        }
        let name = relative
            .file_name()
            .ok_or_else(|| Fault::lasting("The path names no file."))?;
        let folder = self.folder(relative.parent().unwrap_or(Path::new("")))?;
        // What an earlier process left.
        let _ = unlinkat(&folder, DRAFT, rustix::fs::AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let draft = openat2(&folder, DRAFT, flags, Mode::RUSR | Mode::WUSR, BENEATH);
        let mut draft = File::from(draft.map_err(failed)?);
        draft.write_all(bytes).map_err(failed)?;
        renameat(&folder, DRAFT, &folder, name).map_err(failed)
    }

    /// What is in a folder and below it, in order of the paths; at most [`MAX_FILES`]. What is blocked is not shown.
    pub(in crate::agent::tool) fn list(&self, path: &str) -> Result<Vec<Found>, Fault> {
        let seen = self.look_through(self.checked(path)?, (MAX_FILES, MAX_DEPTH))?;
        let shown = seen.into_iter().filter(|seen| {
            let plain = matches!(seen.kind, FileType::Directory | FileType::RegularFile);
            plain && !seen.blocked
        });
        let mut found: Vec<Found> = shown
            .map(|seen| Found {
                path: seen.path.to_string_lossy().into_owned(),
                folder: seen.kind == FileType::Directory,
                bytes: seen.bytes,
            })
            .collect();
        found.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }

    /// Where it is.
    pub(in crate::agent::tool) fn path(&self) -> &Path {
        &self.path
    }

    /// What a program may see of it that opens files by itself: all of it, or what is beside what is blocked. In a folder
    /// with something blocked it may make nothing new, and move nothing, so that nothing gets another name.
    pub(in crate::agent::tool) fn granted(&self) -> Result<Granted, Fault> {
        let seen = self.look_through(PathBuf::new(), (MAX_LOOKED_AT, DEEPEST))?;
        let bytes = seen.iter().map(|seen| seen.bytes).sum();
        let closed: Vec<PathBuf> = seen
            .iter()
            .filter(|seen| seen.blocked)
            .map(|seen| seen.path.clone())
            .collect();
        let above = closed.iter().flat_map(|path| path.ancestors().skip(1));
        let frames: BTreeSet<PathBuf> = above.map(Path::to_owned).collect();
        let is_part = |seen: &&Seen| {
            let beside = seen
                .path
                .parent()
                .is_some_and(|above| frames.contains(above));
            let plain = matches!(seen.kind, FileType::Directory | FileType::RegularFile);
            plain && beside && !seen.blocked && !frames.contains(&seen.path)
        };
        let parts: Vec<PathBuf> = seen
            .iter()
            .filter(is_part)
            .map(|seen| seen.path.clone())
            .collect();
        if parts.len() + frames.len() > MAX_PARTS {
            return Err(Fault::lasting(
                "Too many files here lie beside files that must not be opened.",
            ));
        }
        Ok(Granted {
            parts,
            frames: frames.into_iter().collect(),
            closed,
            bytes,
        })
    }

    /// Everything in a folder and below it, but what is below something that is blocked: so many entries, so deep.
    fn look_through(&self, relative: PathBuf, most: (usize, usize)) -> Result<Vec<Seen>, Fault> {
        let mut found = Vec::new();
        let mut folders = vec![(relative, 0)];
        while let Some((folder, depth)) = folders.pop() {
            let handle = self.folder(&folder)?;
            for entry in Dir::read_from(&handle).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if matches!(name.as_str(), "." | ".." | DRAFT) {
                    continue;
                }
                let path = folder.join(&name);
                let no_follow = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
                let Ok(stat) = rustix::fs::statat(&handle, entry.file_name(), no_follow) else {
                    continue;
                };
                let kind = FileType::from_raw_mode(stat.st_mode);
                let is_folder = kind == FileType::Directory;
                // Its name is all that it has: what a link leads to is not gone into.
                let mut blocked = self.of.guard.blocks(&self.path.join(&path));
                if is_folder && !blocked {
                    if depth < most.1 {
                        folders.push((path.clone(), depth + 1));
                    } else {
                        blocked = most.1 == DEEPEST;
                    }
                }
                let bytes = if is_folder { 0 } else { stat.st_size };
                found.push(Seen {
                    path,
                    kind,
                    bytes: u64::try_from(bytes).unwrap_or(0),
                    blocked,
                });
                if found.len() >= most.0 {
                    return Err(Fault::lasting("There are too many files here."));
                }
            }
        }
        Ok(found)
    }

    fn open(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, Fault> {
        openat2(&self.handle, relative, flags, Mode::empty(), BENEATH).map_err(failed)
    }

    fn folder(&self, relative: &Path) -> Result<OwnedFd, Fault> {
        let here = Path::new(".");
        let relative = if relative == Path::new("") {
            here
        } else {
            relative
        };
        self.open(
            relative,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        )
    }

    /// The path beneath the folder, with links resolved, if it may be opened.
    fn checked(&self, path: &str) -> Result<PathBuf, Fault> {
        self.resolve(path).map_err(|refused| match refused {
            Refused::Blocked => Fault::lasting("This file must not be opened."),
            Refused::Unresolved(error) => failed(error),
        })
    }

    /// As [`Self::checked`]; the folders of the path are made first.
    fn checked_or_made(&self, path: &str) -> Result<PathBuf, Fault> {
        match self.resolve(path) {
            Err(Refused::Unresolved(error)) if error.kind() == io::ErrorKind::NotFound => {
                self.make_folders(Path::new(path.trim_start_matches('/')))?;
                self.checked(path)
            }
            _ => self.checked(path),
        }
    }

    fn resolve(&self, path: &str) -> Result<PathBuf, Refused> {
        let relative = Path::new(path.trim_start_matches('/'));
        let resolved = self.of.guard.check(&self.path, relative)?;
        let beneath = resolved.strip_prefix(&self.path);
        beneath.map(Path::to_owned).map_err(|_| Refused::Blocked)
    }

    /// Makes the folders of a path, one beneath the other.
    fn make_folders(&self, path: &Path) -> Result<(), Fault> {
        let parts: Vec<Component<'_>> = path
            .parent()
            .into_iter()
            .flat_map(Path::components)
            .collect();
        let plain = |part: &Component<'_>| matches!(part, Component::Normal(_));
        if parts.len() > MAX_DEPTH || !parts.iter().all(plain) {
            return Err(Fault::lasting("There is no such folder."));
        }
        let mut folder = self.folder(Path::new(""))?;
        for part in parts {
            let name: &Path = part.as_ref();
            match mkdirat(&folder, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(failed(error)),
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            folder = openat2(&folder, name, flags, Mode::empty(), BENEATH).map_err(failed)?;
        }
        Ok(())
    }
}

/// A refusal of the system, without paths of this machine.
fn failed(error: impl Into<io::Error>) -> Fault {
    let error = error.into();
    let told = match error.kind() {
        io::ErrorKind::NotFound => "There is no such file or folder.".to_owned(),
        io::ErrorKind::NotADirectory => "A part of the path is no folder.".to_owned(),
        io::ErrorKind::IsADirectory => "That is a folder.".to_owned(),
        _ if matches!(
            Errno::from_io_error(&error),
            Some(Errno::LOOP | Errno::XDEV)
        ) =>
        {
            "This path leads out of the workspace.".to_owned()
        }
        kind => format!("That did not work: {kind}."),
    };
    Fault::lasting(told)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    fn key() -> ConversationKey {
        ConversationKey {
            platform: "test".into(),
            account: "main".into(),
            conversation: "private:1".into(),
            thread: None,
        }
    }

    fn workspaces(root: &Path) -> Workspaces {
        Workspaces {
            root: root.to_owned(),
            guard: PathGuard::new(&["**/.env"]).unwrap(),
            max_bytes: 1_000,
        }
    }

    #[test]
    fn files_are_written_read_and_listed() {
        let folder = tempfile::tempdir().unwrap();
        let all = workspaces(folder.path());
        let workspace = all.of(&key()).unwrap();
        workspace.write("a/b/note.txt", "hello").unwrap();
        workspace.write("/top.txt", "x").unwrap();
        workspace.write("a/b/note.txt", "again").unwrap();
        assert_eq!(workspace.read("a/../a/b/note.txt").unwrap(), "again");
        let paths: Vec<String> = workspace
            .list("")
            .unwrap()
            .into_iter()
            .map(|one| one.path)
            .collect();
        assert_eq!(paths, ["a", "a/b", "a/b/note.txt", "top.txt"]);
        assert!(workspace.read("a").is_err() && workspace.read("none").is_err());
        assert!(
            workspace.write("large", &"x".repeat(2_000)).is_err(),
            "the workspace is full"
        );
    }

    #[test]
    fn nothing_leads_out_and_blocked_files_stay_closed() {
        let folder = tempfile::tempdir().unwrap();
        let all = workspaces(folder.path());
        let workspace = all.of(&key()).unwrap();
        let secret = folder.path().join("secret.txt");
        fs::write(&secret, "secret").unwrap();
        let inside = workspace.path.clone();
        symlink(&secret, inside.join("file")).unwrap();
        symlink(folder.path(), inside.join("folder")).unwrap();
        symlink("/proc/self", inside.join("magic")).unwrap();
        fs::write(inside.join(".env"), "KEY=1").unwrap();
        symlink(".env", inside.join("plain")).unwrap();
        for path in [
            "../secret.txt",
            "file",
            "folder/secret.txt",
            "folder/../../secret.txt",
            "magic/root/etc/passwd",
            "/etc/passwd",
            ".env",
            "plain",
            "./x/../.ENV",
            "a\0b",
            "",
        ] {
            assert!(workspace.read(path).is_err(), "{path}");
        }
        for path in [
            "../new",
            "folder/new",
            "file",
            "folder/deep/new",
            "../a/b/c",
            "/.env",
            "",
        ] {
            assert!(workspace.write(path, "x").is_err(), "{path}");
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
        assert!(!folder.path().join("new").exists() && !folder.path().join("deep").exists());
        assert_eq!(
            workspace.list("").unwrap(),
            [],
            "links and what is blocked are not shown"
        );
    }
}
