//! The folder of tools: which programs are in it, at the start and whenever that changes.
//!
//! Owns the look at the folder. A program that is broken, or whose name is taken, is left out and reported; the
//! others stay. It runs none of them.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::task::JoinHandle;

use super::manifest;
use crate::{agent::tool::registry::Entry, current::Current};

/// The name of a manifest.
const MANIFEST: &str = "module.json";
/// Between two looks.
const LOOK: Duration = Duration::from_secs(2);
/// Most programs.
const MAX_PROGRAMS: usize = 256;

/// The programs of a folder, as they are now.
#[derive(Debug)]
pub struct Programs {
    found: Arc<Current<Vec<Arc<Entry>>>>,
    watch: Option<JoinHandle<()>>,
}

impl Programs {
    /// Looks into the folder, now and again. Names of `taken` cannot be had. Without a runtime it looks once.
    #[must_use]
    pub fn of(folder: PathBuf, taken: Vec<String>) -> Self {
        let stamp = stamp(&folder);
        let found = Arc::new(Current::new(look(&folder, &taken)));
        let task = watch(folder, taken, stamp, Arc::clone(&found));
        let runtime = tokio::runtime::Handle::try_current().ok();
        Self {
            found,
            watch: runtime.map(|runtime| runtime.spawn(task)),
        }
    }

    /// The programs.
    #[must_use]
    pub fn all(&self) -> Arc<Vec<Arc<Entry>>> {
        self.found.get()
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        if let Some(watch) = &self.watch {
            watch.abort();
        }
    }
}

async fn watch(
    folder: PathBuf,
    taken: Vec<String>,
    mut last: Vec<Stamp>,
    found: Arc<Current<Vec<Arc<Entry>>>>,
) {
    loop {
        tokio::time::sleep(LOOK).await;
        let (at, names, before) = (folder.clone(), taken.clone(), last.clone());
        let looked = tokio::task::spawn_blocking(move || {
            let now = stamp(&at);
            let changed = (now != before).then(|| look(&at, &names));
            (now, changed)
        });
        // A look that panicked is made again.
        let Ok((now, changed)) = looked.await else {
            continue;
        };
        last = now;
        if let Some(programs) = changed {
            tracing::info!(count = programs.len(), "the folder of tools has changed");
            found.set(programs);
        }
    }
}

/// What tells one state of a program from another: its name, and number, size and time of its manifest.
type Stamp = (String, u64, u64, i64, i64);

fn stamp(folder: &Path) -> Vec<Stamp> {
    let stamp = |name: String| {
        let manifest = fs::metadata(folder.join(&name).join(MANIFEST)).ok();
        let of = |part: fn(&fs::Metadata) -> u64| manifest.as_ref().map_or(0, part);
        let (ino, size) = (of(fs::Metadata::ino), of(fs::Metadata::len));
        let time = manifest
            .as_ref()
            .map_or((0, 0), |file| (file.mtime(), file.mtime_nsec()));
        (name, ino, size, time.0, time.1)
    };
    names(folder).into_iter().map(stamp).collect()
}

/// The folders in the folder, in order; none if it is not there.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    names.truncate(MAX_PROGRAMS);
    names
}

fn look(folder: &Path, taken: &[String]) -> Vec<Arc<Entry>> {
    let mut found = Vec::new();
    for name in names(folder) {
        match program(&folder.join(&name), &name, taken) {
            Ok(entry) => found.push(Arc::new(entry)),
            Err(what) => {
                tracing::warn!(
                    tool = name,
                    what,
                    "a program in the folder of tools is left out"
                );
            }
        }
    }
    found
}

fn program(folder: &Path, name: &str, taken: &[String]) -> Result<Entry, String> {
    let path = folder.join(MANIFEST);
    let size = fs::metadata(&path)
        .map_err(|error| format!("{MANIFEST}: {error}"))?
        .len();
    if size > u64::try_from(manifest::MAX_BYTES).unwrap_or(u64::MAX) {
        return Err(format!("{MANIFEST} is too large"));
    }
    let text = fs::read_to_string(&path).map_err(|error| format!("{MANIFEST}: {error}"))?;
    let program = manifest::read(folder, name, &text)?;
    if taken.iter().any(|taken| taken == name) {
        return Err("another tool has this name".to_owned());
    }
    Entry::new(Arc::new(program)).map_err(|unfit| unfit.what)
}
