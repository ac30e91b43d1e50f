//! Deleting what is kept of a conversation, as values.
//!
//! Owns what each step takes away. Rows of the journal stay without their words: they say that an event was taken and
//! how it ended.

/// The body of a message whose words were taken out.
pub const NO_MESSAGE: &str = r#"{"i":""}"#;
/// The body of an answer whose words were taken out.
pub const NO_REPLY: &str = r#"{"t":"","f":"plain"}"#;

/// A slice of the journal from which the words of a conversation are taken out. Answers that nobody knows to be
/// delivered are given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Erase {
    /// The conversation's number.
    pub conversation: i64,
    /// Messages and answers with greater ids.
    pub after: i64,
    /// And smaller ones than this.
    pub before: i64,
}

/// What goes with the end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forget {
    /// The conversation's number.
    pub conversation: i64,
    /// Besides what was said: its settings but for roles, and what waits for an answer.
    pub all: bool,
}
