//! How the files of a skill are reached: beneath a handle of its folder, by plain paths, past the guard for blocked files.
//!
//! Owns what of a folder can be read and listed. No link in it is followed, and no `..` is taken. All of it blocks.

use std::{
    fmt,
    fs::File as Opened,
    io::{self, Read as _},
    os::fd::OwnedFd,
    path::{Component, Path},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, openat2, statat},
    io::Errno,
};

use crate::security::paths::PathGuard;

/// Most files that are listed, and how deep folders may lie in each other.
const MAX_FILES: usize = 200;
const MAX_DEPTH: usize = 4;

/// Nothing leads out of the folder, and no link anywhere else.
const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_SYMLINKS);

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct File {
    /// Its path in the folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Why a file is not read.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::agent) enum Error {
    /// The path leads elsewhere, or must not be opened.
    Refused,
    /// There is no such file.
    Absent,
    /// It is larger than is read.
    TooLarge,
    /// It is no text.
    NoText,
    /// The system says no.
    System(io::ErrorKind),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => f.write_str("this path must not be opened"),
            Self::Absent => f.write_str("there is no such file"),
            Self::TooLarge => f.write_str("it is too large to be read"),
            Self::NoText => f.write_str("it is no text"),
            Self::System(kind) => write!(f, "{kind}"),
        }
    }
}

impl From<Errno> for Error {
    fn from(error: Errno) -> Self {
        match error {
            Errno::LOOP | Errno::XDEV => Self::Refused,
            Errno::NOENT | Errno::NOTDIR => Self::Absent,
            error => Self::System(error.kind()),
        }
    }
}

/// The text of a file of at most so many bytes, with the line ends of this system.
pub(in crate::agent) fn read(
    folder: &Path,
    path: &str,
    most: usize,
    guard: &PathGuard,
) -> Result<String, Error> {
    let path = plain(path)?;
    if guard.check(folder, path).is_err() {
        // What is not there is not refused.
        let there = folder.join(path).symlink_metadata().is_ok();
        return Err(if there { Error::Refused } else { Error::Absent });
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat2(root(folder)?, path, flags, Mode::empty(), BENEATH)?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(Error::Absent);
    }
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let read = Opened::from(file).take(limit).read_to_end(&mut bytes);
    read.map_err(|error| Error::System(error.kind()))?;
    if bytes.len() > most {
        return Err(Error::TooLarge);
    }
    let text = String::from_utf8(bytes).map_err(|_| Error::NoText)?;
    Ok(text.trim_start_matches('\u{feff}').replace("\r\n", "\n"))
}

/// The files in a folder and below it, in order of their paths; not those that are hidden or blocked.
pub(in crate::agent) fn list(folder: &Path, guard: &PathGuard) -> Vec<File> {
    let mut files = Vec::new();
    if let Ok(root) = root(folder) {
        below(folder, (&root, ""), guard, MAX_DEPTH, &mut files);
    }
    files.sort();
    files
}

fn below(
    folder: &Path,
    (handle, path): (&OwnedFd, &str),
    guard: &PathGuard,
    depth: usize,
    files: &mut Vec<File>,
) {
    let entries = Dir::read_from(handle).into_iter().flatten().flatten();
    for entry in entries {
        let Ok(name) = entry.file_name().to_str() else {
            continue;
        };
        if name.starts_with('.') || files.len() >= MAX_FILES {
            continue;
        }
        let Ok(stat) = statat(handle, name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        let path = format!("{path}{name}");
        if guard.check(folder, Path::new(&path)).is_err() {
            continue;
        }
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => files.push(File {
                bytes: u64::try_from(stat.st_size).unwrap_or(0),
                path,
            }),
            FileType::Directory if depth > 0 => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                if let Ok(inner) = openat2(handle, name, flags, Mode::empty(), BENEATH) {
                    let path = format!("{path}/");
                    below(folder, (&inner, &path), guard, depth - 1, files);
                }
            }
            _ => {}
        }
    }
}

/// The folder of the skill: itself it may be a link that the operator made.
fn root(folder: &Path) -> Result<OwnedFd, Error> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(folder, flags, Mode::empty())?)
}

/// A path of names only.
fn plain(path: &str) -> Result<&Path, Error> {
    let path = Path::new(path);
    let mut parts = path.components();
    let fits = |part: Component<'_>| matches!(part, Component::Normal(_));
    let none = path.as_os_str().is_empty();
    if none || !parts.all(fits) {
        return Err(Error::Refused);
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn nothing_leads_out_of_the_folder() {
        let all = tempfile::tempdir().unwrap();
        let folder = all.path().join("maps");
        fs::create_dir_all(folder.join("forms")).unwrap();
        fs::write(folder.join("SKILL.md"), "skill").unwrap();
        fs::write(folder.join("forms/a.md"), "\u{feff}a\r\nb").unwrap();
        fs::write(folder.join("bytes"), [0xff, 0xfe]).unwrap();
        fs::write(folder.join(".env"), "KEY=1").unwrap();
        fs::write(all.path().join("secret"), "secret").unwrap();
        symlink(all.path().join("secret"), folder.join("link")).unwrap();
        symlink("SKILL.md", folder.join("own")).unwrap();
        symlink(all.path(), folder.join("up")).unwrap();
        let guard = PathGuard::new(&["**/.env"]).unwrap();
        let read = |path: &str| read(&folder, path, 100, &guard);
        assert_eq!(read("forms/a.md").unwrap(), "a\nb");
        for refused in [
            "../secret",
            "link",
            "own",
            "up/secret",
            "forms/../SKILL.md",
            "/etc/hostname",
            ".env",
            "",
        ] {
            assert_eq!(read(refused), Err(Error::Refused), "{refused}");
        }
        for absent in ["none", "forms", "SKILL.md/x", "forms/none.md"] {
            assert_eq!(read(absent), Err(Error::Absent), "{absent}");
        }
        assert_eq!(read("bytes"), Err(Error::NoText));
        fs::write(folder.join("large"), "x".repeat(101)).unwrap();
        assert_eq!(read("large"), Err(Error::TooLarge));
        let listed: Vec<String> = list(&folder, &guard)
            .into_iter()
            .map(|file| file.path)
            .collect();
        assert_eq!(listed, ["SKILL.md", "bytes", "forms/a.md", "large"]);
    }
}
