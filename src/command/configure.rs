//! What /config may ask of the running configuration.
//!
//! Owns the trait between commands and whoever keeps the configuration. It never decides who may ask.

use async_trait::async_trait;

use crate::config::overrides::NotSet;

/// A key and its value, fit to be shown: secrets are masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The path of the key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Who said so.
    pub origin: Origin,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Nobody: it is the default.
    Default,
    /// The file.
    File,
    /// Set at run time.
    RunTime,
}

/// Why a key was not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// This key is none that is set at run time.
    Key(String, NotSet),
    /// The configuration would be wrong: what, in the words of `weirgate check`.
    Value(Vec<String>),
    /// It cannot be done now.
    Busy,
}

/// What came of reading the file again: lines fit to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reloaded {
    /// It is in force.
    Applied {
        /// What has changed.
        changes: Vec<String>,
        /// What changes with a restart.
        restart: Vec<String>,
        /// What is odd.
        warnings: Vec<String>,
    },
    /// Nothing of it is another one.
    Unchanged {
        /// What changes with a restart.
        restart: Vec<String>,
    },
    /// Something is wrong, and the running one stays.
    Refused {
        /// What, in the words of `weirgate check`.
        problems: Vec<String>,
    },
}

/// The running configuration.
#[async_trait]
pub trait Configure: Send + Sync {
    /// A key and those below it, or all keys for an empty one. None if there is no such key.
    async fn show(&self, key: &str) -> Vec<Shown>;

    /// The keys that have a default, with it.
    async fn defaults(&self) -> Vec<Shown>;

    /// Reads the file again and puts it in force, whole or not at all; `None` if that cannot be done now.
    async fn reload(&self) -> Option<Reloaded>;

    /// Sets keys of the whole gateway, or takes back what was set: all or none. They are in force when this
    /// returns; the caller stores them.
    ///
    /// # Errors
    /// Why they were not set; nothing has changed then.
    async fn set(&self, changes: &[(&str, Option<&str>)]) -> Result<(), Refused>;
}
