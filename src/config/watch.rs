//! Watches the configuration file: tells when it has become another one.
//!
//! Owns the settling: a file that is being written, replaced or missing for a moment is left alone until it
//! comes to rest. The folders are watched, not the file, so that a rename or a link that is turned elsewhere
//! counts too. A look every few seconds finds what no event tells (network disks, single files mounted into a
//! container); while the system refuses to watch, that look is all there is. It never reads the content.

mod chain;

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use notify::{
    EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{AccessKind, AccessMode, ModifyKind},
};
use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};
use weirgate_sdk::Stop;

use chain::chain;

/// How long nothing may happen to the file before it counts as written.
const SETTLE: Duration = Duration::from_millis(250);
/// The longest wait for that. A file that never comes to rest is looked at all the same.
const LONGEST: Duration = Duration::from_secs(20);
/// Between two looks without an event.
const LOOK: Duration = Duration::from_secs(5);

/// What tells one content of the file from another without reading it: device, number, size, and the times of
/// the last change of content and of anything. `None` if there is no file, or one that cannot be read twice.
type Stamp = Option<(u64, u64, u64, (i64, i64), (i64, i64))>;

fn stamp(path: &Path) -> Stamp {
    let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((
        file.dev(),
        file.ino(),
        file.len(),
        (file.mtime(), file.mtime_nsec()),
        (file.ctime(), file.ctime_nsec()),
    ))
}

/// Calls `changed` each time the file has become another one and has come to rest, until `stop`. What happens
/// while it runs leads to one more call at most.
pub async fn watch(path: PathBuf, stop: Stop, mut changed: impl AsyncFnMut()) {
    let path = std::path::absolute(&path).unwrap_or(path);
    // The first look finds what was saved after the file was read for the start.
    let mut last = None;
    let mut watcher = Watcher::default();
    watcher.aim(&path);
    let signals = Arc::clone(&watcher.signals);
    signals.changed.notify_one();
    loop {
        tokio::select! {
            () = stop.stopped() => return,
            () = signals.changed.notified() => {}
            () = tokio::time::sleep(LOOK) => {
                if stamp(&path) == last {
                    watcher.aim(&path);
                    continue;
                }
            }
        }
        tokio::select! {
            () = stop.stopped() => return,
            () = settled(&path, &signals) => {}
        }
        // A link may lead elsewhere now. What changes from here on is told by the new watch.
        watcher.aim(&path);
        let now = stamp(&path);
        if now != last {
            last = now;
            changed().await;
        }
    }
}

/// Waits until nothing has happened to the file for a while.
async fn settled(path: &Path, signals: &Signals) {
    let until = Instant::now() + LONGEST;
    loop {
        let before = stamp(path);
        tokio::select! {
            () = signals.changed.notified() => {}
            () = tokio::time::sleep(SETTLE) => {
                // Somebody who has it open to write is not done.
                if stamp(path) == before && !signals.writing.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
        if Instant::now() >= until {
            return;
        }
    }
}

/// What the system's own thread tells.
#[derive(Default)]
struct Signals {
    changed: Notify,
    /// The file was changed by somebody who has not closed it since.
    writing: AtomicBool,
    /// The paths that count.
    names: Mutex<BTreeSet<PathBuf>>,
}

/// The system's watch over the folders of the file.
#[derive(Default)]
struct Watcher {
    signals: Arc<Signals>,
    watch: Option<RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
    /// The last attempt failed, and that was told.
    failing: bool,
}

impl Watcher {
    /// Watches the folders in which something decides what the file is. After a failure it is tried again at
    /// every call, however often it failed.
    fn aim(&mut self, path: &Path) {
        let names = chain(path);
        let folders: BTreeSet<PathBuf> = names
            .iter()
            .filter_map(|name| name.parent())
            .map(Path::to_owned)
            .collect();
        self.signals.names.lock().clone_from(&names);
        if self.watch.is_some() && self.folders == folders {
            return;
        }
        match begin(&self.signals, &folders) {
            Ok(watch) => {
                if self.failing {
                    tracing::info!("the configuration file is watched again");
                }
                // What the watch before would have told next is not told any more.
                self.signals.writing.store(false, Ordering::Relaxed);
                (self.watch, self.folders, self.failing) = (Some(watch), folders, false);
            }
            Err(error) => {
                if !self.failing {
                    tracing::warn!(%error, every = ?LOOK,
                        "the configuration file cannot be watched; it is looked at from time to time");
                }
                (self.watch, self.failing) = (None, true);
            }
        }
    }
}

fn begin(
    signals: &Arc<Signals>,
    folders: &BTreeSet<PathBuf>,
) -> Result<RecommendedWatcher, notify::Error> {
    let told = Arc::clone(signals);
    let mut watch = notify::recommended_watcher(move |event| told.note(event))?;
    for folder in folders {
        watch.watch(folder, RecursiveMode::NonRecursive)?;
    }
    Ok(watch)
}

impl Signals {
    /// Runs on the thread of the watch. Events that are lost end in a look of their own.
    fn note(&self, event: Result<notify::Event, notify::Error>) {
        let Ok(event) = event else {
            self.changed.notify_one();
            return;
        };
        let ours = {
            let names = self.names.lock();
            event.need_rescan() || event.paths.iter().any(|path| names.contains(path))
        };
        if !ours {
            return;
        }
        match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => {
                self.writing.store(false, Ordering::Relaxed);
            }
            EventKind::Access(_) => return,
            EventKind::Modify(ModifyKind::Data(_)) => self.writing.store(true, Ordering::Relaxed),
            // Another file has its name now.
            EventKind::Modify(ModifyKind::Name(_)) | EventKind::Remove(_) => {
                self.writing.store(false, Ordering::Relaxed);
            }
            _ => {}
        }
        self.changed.notify_one();
    }
}

#[cfg(test)]
mod tests;
