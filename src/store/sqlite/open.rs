//! How a store in a file is opened, with a thread of its own or on the caller's.
//!
//! Owns the order: lock, migrations, readers, writer. It never runs SQL itself.

use std::{path::PathBuf, sync::Arc};

use parking_lot::Mutex;

use super::{
    Durability, OpenError, Retention, SqliteStore, Way, folder, migrate,
    read::{self, Readers},
    thread::Thread,
    writer::{Shared, Writer},
};

/// How the store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// The database file; its folder is the data folder, made if it is missing.
    pub path: PathBuf,
    /// What a commit survives.
    pub durability: Durability,
    /// How long finished rows are kept.
    pub retention: Retention,
    /// Reading connections, at least 1.
    pub readers: u32,
    /// The time in milliseconds since 1970, for retention and the age of ambient messages.
    pub now: fn() -> i64,
}

impl SqliteStore {
    /// Opens the store with a writing thread. Must be called on a runtime.
    ///
    /// # Errors
    /// The data folder cannot be used, or the database is not ours to open; see [`OpenError`].
    pub async fn open(options: Options) -> Result<Arc<Self>, OpenError> {
        let lock = folder::prepare(&options.path)?;
        migrate::migrate(&options.path).await?;
        let readers = Readers::pool(&options.path, options.readers);
        Self::start(&options, lock, readers, |writer, shared| {
            Thread::start(writer, shared).map(Way::Thread)
        })
    }

    /// Opens the store without a thread: operations and questions are done on the caller's thread, before
    /// the call returns, so that under virtual time none passes meanwhile. Nothing is removed by itself;
    /// see [`SqliteStore::sweep`].
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open_inline(options: Options) -> Result<Arc<Self>, OpenError> {
        let lock = folder::prepare(&options.path)?;
        read::wait_here(migrate::migrate(&options.path))?;
        let readers = Readers::inline(&options.path)
            .map_err(|error| OpenError::database(&options.path, &error))?;
        Self::start(&options, lock, readers, |writer, _| {
            Ok(Way::Inline(Box::new(Mutex::new(Some(writer)))))
        })
    }

    fn start(
        options: &Options,
        lock: std::fs::File,
        readers: Readers,
        way: impl FnOnce(Writer, Arc<Shared>) -> std::io::Result<Way>,
    ) -> Result<Arc<Self>, OpenError> {
        let failed = |error: &dyn std::fmt::Display| OpenError::database(&options.path, error);
        let shared = Arc::new(Shared::default());
        let writer =
            Writer::open(options, Arc::clone(&shared), lock).map_err(|error| failed(&error))?;
        let secret = writer.secret().map_err(|error| failed(&error))?;
        let process = writer.process();
        let way = way(writer, Arc::clone(&shared)).map_err(|error| failed(&error))?;
        Ok(Arc::new(Self {
            way,
            readers,
            shared,
            now: options.now,
            process,
            secret,
            held: Mutex::default(),
        }))
    }
}
