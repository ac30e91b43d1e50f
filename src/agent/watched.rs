//! What is read from a folder, at the start and whenever the folder changes.
//!
//! Owns the look at regular times and the value in place meanwhile. What is read and what tells one state of the folder
//! from another is the caller's.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path, sync::Arc, time::Duration};

use tokio::task::JoinHandle;

use crate::current::Current;

/// Between two looks.
const LOOK: Duration = Duration::from_secs(2);

/// A value that follows a folder.
#[derive(Debug)]
pub struct Watched<T> {
    found: Arc<Current<T>>,
    watch: Option<JoinHandle<()>>,
}

impl<T: Send + Sync + 'static> Watched<T> {
    /// Reads now, and again whenever `stamp` gives something else than before. Without a runtime it reads once. `what`
    /// is what the log calls the folder.
    #[must_use]
    pub fn of<S: PartialEq + Send + Sync + 'static>(
        what: &'static str,
        stamp: impl Fn() -> S + Send + Sync + 'static,
        read: impl Fn() -> T + Send + Sync + 'static,
    ) -> Self {
        let first = stamp();
        let found = Arc::new(Current::new(read()));
        let runtime = tokio::runtime::Handle::try_current().ok();
        let task = watch(what, first, Arc::new((stamp, read)), Arc::clone(&found));
        Self {
            found,
            watch: runtime.map(|runtime| runtime.spawn(task)),
        }
    }

    /// The value as it is now.
    #[must_use]
    pub fn get(&self) -> Arc<T> {
        self.found.get()
    }
}

impl<T> Drop for Watched<T> {
    fn drop(&mut self) {
        if let Some(watch) = &self.watch {
            watch.abort();
        }
    }
}

async fn watch<T, S>(
    what: &'static str,
    first: S,
    how: Arc<(
        impl Fn() -> S + Send + Sync + 'static,
        impl Fn() -> T + Send + Sync + 'static,
    )>,
    found: Arc<Current<T>>,
) where
    T: Send + Sync + 'static,
    S: PartialEq + Send + Sync + 'static,
{
    let mut last = Arc::new(first);
    loop {
        tokio::time::sleep(LOOK).await;
        let (how, before) = (Arc::clone(&how), Arc::clone(&last));
        // A folder may be on a disk that does not answer.
        let looked = tokio::task::spawn_blocking(move || {
            let now = how.0();
            let read = (now != *before).then(|| how.1());
            (now, read)
        });
        // A look that panicked is made again.
        let Ok((now, read)) = looked.await else {
            continue;
        };
        last = Arc::new(now);
        if let Some(read) = read {
            tracing::info!(what, "a folder has changed and was read again");
            found.set(read);
        }
    }
}

/// The folders in a folder, in order, at most so many; none if it is not there.
#[must_use]
pub fn folders(folder: &Path, most: usize) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    names.truncate(most);
    names
}

/// The files in a folder with this ending of their names, in order, at most so many; none if it is not there.
#[must_use]
pub fn files(folder: &Path, ending: &str, most: usize) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| !entry.path().is_dir());
    let mut names: Vec<String> = files
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.') && name.ends_with(ending))
        .collect();
    names.sort();
    names.truncate(most);
    names
}

/// What tells one state of these folders in a folder from another: each name, and the state of its file called `file`.
#[must_use]
pub fn stamps(folder: &Path, names: Vec<String>, file: &str) -> Vec<(String, Option<[i64; 4]>)> {
    let stamped = |name: String| {
        let stamp = stamp(&folder.join(&name).join(file));
        (name, stamp)
    };
    names.into_iter().map(stamped).collect()
}

/// What tells one state of a file from another: number, size and time; nothing of one that is not there.
#[must_use]
pub fn stamp(file: &Path) -> Option<[i64; 4]> {
    let file = fs::metadata(file).ok()?;
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    Some([
        signed(file.ino()),
        signed(file.len()),
        file.mtime(),
        file.mtime_nsec(),
    ])
}
