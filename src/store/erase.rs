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
    /// Besides what was said: its settings but for what [`stays`], and what waits for an answer.
    pub all: bool,
}

/// What the keys of roles begin with.
const ROLE: &str = "role:";
/// Settings of a conversation that stay when everything of it is deleted, beside roles: who is shut out of it, what whoever
/// has no role may, and what was used today.
pub const STAY: [&str; 4] = [
    "policy:blacklist",
    "policy:whitelist",
    "policy:default_role",
    "tokens",
];

/// Whether a setting of a conversation stays when everything of it is deleted: nobody comes back, rises or has more by that.
#[must_use]
pub fn stays(key: &str) -> bool {
    key.starts_with(ROLE) || STAY.contains(&key)
}
