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
    /// It is none that is set at run time.
    Key(NotSet),
    /// The configuration would be wrong: what, in the words of `weirgate check`.
    Value(Vec<String>),
    /// It cannot be done now.
    Busy,
}

/// The running configuration.
#[async_trait]
pub trait Configure: Send + Sync {
    /// A key and those below it; the most that a chat can bear. None if there is no such key.
    async fn show(&self, key: &str) -> Vec<Shown>;

    /// Sets a key of the whole gateway, or takes back what was set. It is in force when this returns; the
    /// caller stores it.
    ///
    /// # Errors
    /// Why it was not set; nothing has changed then.
    async fn set(&self, key: &str, value: Option<&str>) -> Result<(), Refused>;
}
