//! Where a setting belongs: to a person, to a conversation, or to the whole gateway.
//!
//! Owns the two numbers that say so. It never reads or writes a setting.

/// Whose a setting is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The conversation's number, or 0 for a person's own settings.
    pub conversation: i64,
    /// The person's number, or 0 for a conversation's settings.
    pub person: i64,
}

impl Place {
    /// What concerns the whole gateway.
    pub const GATEWAY: Self = Self {
        conversation: 0,
        person: 0,
    };

    /// What concerns a conversation.
    #[must_use]
    pub const fn of_conversation(conversation: i64) -> Self {
        Self {
            conversation,
            person: 0,
        }
    }

    /// What concerns a person, wherever he is.
    #[must_use]
    pub const fn of_person(person: i64) -> Self {
        Self {
            conversation: 0,
            person,
        }
    }
}
