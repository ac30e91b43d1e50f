//! The log: one line an event to standard error and, if wanted, to a file, as text or JSON.
//! Owns the subscriber, the redaction of every line, the bound of a line, the summary of repeats and
//! the panic hook. It never shows a secret of the redactor, whatever part of an event holds it, and never
//! waits for the file.

mod collect;
mod entry;
mod file;
mod layer;
mod panic;
mod repeat;

use super::config::{LogFile, LogFormat};
use crate::clock::Zone;
use crate::security::redact::Redactor;
pub(crate) use collect::causes;
pub use file::FLUSH;
use file::FileSink;
use layer::{LogLayer, Shared};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Registry, reload};

/// Longest line, in bytes, without its line end.
pub const LINE_BYTES: usize = 8 * 1024;

/// What is written of one and the same message before the rest is only counted.
const REPEATS: repeat::Limits = repeat::Limits {
    burst: 20,
    window: Duration::from_secs(60),
    capacity: 1024,
};

/// Why the log could not be set up or changed.
#[derive(Debug, thiserror::Error)]
pub enum LoggingError {
    /// The directives do not parse.
    #[error("log level {directives:?} is not valid: {source}")]
    Directives {
        /// As they were given.
        directives: String,
        /// What is wrong with them.
        source: tracing_subscriber::filter::ParseError,
    },
    /// The process has a logger already, or the logger in use was taken down.
    #[error("the logger could not be installed: {0}")]
    Install(String),
}

/// Handle of the installed log. Cheap to clone.
#[derive(Clone)]
pub struct Logging {
    shared: Arc<Shared>,
    filter: reload::Handle<EnvFilter, Registry>,
}

impl Logging {
    /// Installs the log and the panic hook for the whole process. Until [`Logging::set_redactor`] no
    /// secret is known, so nothing that could hold one may be logged before.
    ///
    /// # Errors
    /// When the directives do not parse or another logger is installed.
    pub fn init(format: LogFormat, directives: &str) -> Result<Self, LoggingError> {
        let shared = Arc::new(Shared::new(format, REPEATS, Box::new(to_stderr)));
        let (filter, handle) = reload::Layer::new(parse(directives)?);
        tracing_subscriber::registry()
            .with(filter)
            .with(LogLayer::new(Arc::clone(&shared)))
            .try_init()
            .map_err(|error| LoggingError::Install(error.to_string()))?;
        panic::install();
        Ok(Self {
            shared,
            filter: handle,
        })
    }

    /// Changes format and levels, once the configuration is read or read again.
    ///
    /// # Errors
    /// When the directives do not parse; nothing has changed then.
    pub fn configure(&self, format: LogFormat, directives: &str) -> Result<(), LoggingError> {
        self.filter
            .reload(parse(directives)?)
            .map_err(|error| LoggingError::Install(error.to_string()))?;
        self.shared.set_format(format);
        Ok(())
    }

    /// Redacts all lines from now on with these secrets.
    pub fn set_redactor(&self, redactor: Redactor) {
        self.shared.set_redactor(redactor);
    }

    /// Shows times in this zone from now on.
    pub fn set_zone(&self, zone: Zone) {
        self.shared.set_zone(zone);
    }

    /// Writes all lines from now on to this file too, or to none.
    ///
    /// # Errors
    /// The system's, if the file cannot be opened; the file of before is written on then.
    pub fn set_file(&self, file: Option<&LogFile>) -> std::io::Result<()> {
        self.shared.set_file(file.map(FileSink::start).transpose()?);
        Ok(())
    }

    /// Writes the summaries of repeats whose minute is over. Each event does that too; a timer that
    /// calls this keeps a summary from waiting for the next event.
    pub fn summarise(&self) {
        self.shared.summarise(false);
    }

    /// Writes all summaries of repeats and what waits for the file, at the end of the process; for two
    /// seconds at most.
    pub fn finish(&self) {
        self.shared.summarise(true);
        self.shared.flush();
    }
}

impl std::fmt::Debug for Logging {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Logging").finish_non_exhaustive()
    }
}

/// Directives as a filter.
fn parse(directives: &str) -> Result<EnvFilter, LoggingError> {
    EnvFilter::builder()
        .parse(directives)
        .map_err(|source| LoggingError::Directives {
            directives: directives.to_owned(),
            source,
        })
}

/// One write for each line, so that lines of several threads do not mix. There is nobody to tell
/// when standard error is closed.
fn to_stderr(line: &str) {
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests;
