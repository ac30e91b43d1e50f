//! What goes wrong with a call.

use serde_json::Value;

/// A fault of one call.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// It is refused with this code, description and parameters; nothing is done.
    Refused(u16, String, Value),
    /// This status and body come in its place; nothing is done.
    Status(u16, String),
    /// Too many requests, for so many seconds.
    Flood(u64),
    /// Nothing is done, and the connection breaks.
    Broken,
    /// It is done, and the connection breaks before the answer.
    Lost,
    /// It is done, and no answer ever comes.
    Silent,
}

impl Fault {
    /// Refused with a description alone.
    #[must_use]
    pub fn refused(code: u16, description: &str) -> Self {
        Self::Refused(code, description.to_owned(), Value::Null)
    }
}
