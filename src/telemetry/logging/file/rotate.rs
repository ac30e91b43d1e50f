//! A file that is set aside when it is full: `log`, `log.1`, `log.2` and so on.
//!
//! Owns the bound: all these files together never hold more than `max_size` × `keep` bytes, also when
//! renaming fails, when the disk is full, or when somebody else moves the file away. It never waits and
//! never repeats a write.

use super::super::super::config::LogFile;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The file that is written now.
struct Current {
    file: File,
    size: u64,
    /// Device and inode; `None` for what is no ordinary file and is never set aside.
    place: Option<(u64, u64)>,
}

/// A rotating file.
pub(super) struct Rotating {
    path: PathBuf,
    max_size: u64,
    keep: u32,
    current: Option<Current>,
}

impl Rotating {
    /// Nothing is opened yet.
    pub(super) fn new(settings: &LogFile) -> Self {
        Self {
            path: settings.path.clone(),
            max_size: settings.max_size,
            keep: settings.keep.max(1),
            current: None,
        }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file for appending, makes its folder if it is missing, and removes old files beyond the
    /// number that is kept.
    pub(super) fn open(&mut self) -> io::Result<()> {
        if let Some(folder) = self.path.parent().filter(|folder| *folder != Path::new("")) {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)?;
        }
        self.remove_surplus();
        self.reopen(false)
    }

    /// Appends whole lines, at most a few times as many bytes as fit into a page of the disk and always
    /// less than a file may hold.
    ///
    /// # Errors
    /// The system's; nothing of `text` is in the file then, as far as the system lets that be undone.
    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        if self.was_moved() {
            self.current = None;
        }
        if self.current.is_none() {
            self.reopen(false)?;
        }
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let full = self.current.as_ref().is_some_and(|current| {
            current.place.is_some() && current.size.saturating_add(length) > self.max_size
        });
        if full {
            self.set_aside()?;
        }
        let Some(current) = &mut self.current else {
            return Err(ErrorKind::NotFound.into());
        };
        match current.file.write_all(text.as_bytes()) {
            Ok(()) => {
                current.size = current.size.saturating_add(length);
                Ok(())
            }
            Err(error) => {
                // Half a line would be glued to the next. What cannot be cut off counts as written.
                if current.place.is_some() && current.file.set_len(current.size).is_err() {
                    current.size = current.size.saturating_add(length);
                }
                Err(error)
            }
        }
    }

    /// Makes room: the oldest file goes, each other one gets the next number.
    fn set_aside(&mut self) -> io::Result<()> {
        self.current = None;
        if self.keep == 1 {
            return self.reopen(true);
        }
        forgive_missing(fs::remove_file(self.numbered(self.keep - 1)))?;
        for number in (1..self.keep - 1).rev() {
            forgive_missing(fs::rename(self.numbered(number), self.numbered(number + 1)))?;
        }
        forgive_missing(fs::rename(&self.path, self.numbered(1)))?;
        self.reopen(false)
    }

    fn reopen(&mut self, empty: bool) -> io::Result<()> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path)?;
        if empty {
            file.set_len(0)?;
        }
        let found = file.metadata()?;
        self.current = Some(Current {
            file,
            size: found.len(),
            place: found.is_file().then(|| (found.dev(), found.ino())),
        });
        Ok(())
    }

    /// Somebody else took the file away or put another one in its place.
    fn was_moved(&self) -> bool {
        let Some(place) = self.current.as_ref().and_then(|current| current.place) else {
            return false;
        };
        fs::metadata(&self.path).map_or(true, |found| (found.dev(), found.ino()) != place)
    }

    /// Removes files of an earlier run that kept more. What cannot be removed is told when it is next in
    /// the way.
    fn remove_surplus(&self) {
        let folder = match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let Some(name) = self.path.file_name().and_then(|name| name.to_str()) else {
            return;
        };
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let number = entry.file_name().to_str().and_then(|other| {
                let digits = other.strip_prefix(name)?.strip_prefix('.')?;
                let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
                plain.then(|| digits.parse::<u32>().ok()).flatten()
            });
            if number.is_some_and(|number| number >= self.keep) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn numbered(&self, number: u32) -> PathBuf {
        let mut name: OsString = self.path.clone().into();
        name.push(format!(".{number}"));
        name.into()
    }
}

fn forgive_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests;
