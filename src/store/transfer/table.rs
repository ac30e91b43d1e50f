//! The tables that both stores have, with the columns that both have.
//!
//! Owns the list; a test compares it with the schemas. It reads and writes nothing.

/// A value of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<'a> {
    /// None.
    Null,
    /// A number, or a truth as 0 or 1.
    Integer(i64),
    /// A text.
    Text(&'a str),
}

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns, as a list in SQL.
    pub columns: &'static str,
    /// The columns by which its rows are read in order.
    pub key: &'static str,
    /// The server numbers its rows by itself.
    pub numbered: bool,
}

/// All tables but those in which each store keeps what it knows of itself.
pub const TABLES: [Table; 15] = [
    Table {
        name: "account",
        columns: "id, platform, name, bot, cursor",
        key: "id",
        numbered: true,
    },
    Table {
        name: "conversation",
        columns: "id, key",
        key: "id",
        numbered: true,
    },
    Table {
        name: "person",
        columns: "id, key",
        key: "id",
        numbered: true,
    },
    Table {
        name: "inbox",
        columns: "id, account, event, event_until, conversation, person, at, route, priority, shown, body",
        key: "id",
        numbered: false,
    },
    Table {
        name: "ended",
        columns: "id, state, reason, turn, at",
        key: "id",
        numbered: false,
    },
    Table {
        name: "turn",
        columns: "id, attempt, state, reason, started_at, ended_at",
        key: "id",
        numbered: false,
    },
    Table {
        name: "step",
        columns: "turn, step, content",
        key: "turn, step",
        numbered: false,
    },
    Table {
        name: "outbox",
        columns: "id, conversation, turn, kind, state, part, attempts, process, due_at, created_at, shown, \
                  reason, message, body, doubtful, subject",
        key: "id",
        numbered: false,
    },
    Table {
        name: "history",
        columns: "conversation, person, id, role, turn, at, parts",
        key: "conversation, person, id",
        numbered: false,
    },
    Table {
        name: "setting",
        columns: "conversation, person, key, value",
        key: "conversation, person, key",
        numbered: false,
    },
    Table {
        name: "audit",
        columns: "id, at, event, operator, target, conversation, turn, details, writer, seq, result, salt, \
                  personal, hash",
        key: "id",
        numbered: false,
    },
    Table {
        name: "pending",
        columns: "id, conversation, asker, kind, answerer, four_eyes, action, hash, created_at, expires_at, state, \
                  answer, answered_by, answered_in, answered_at, reason",
        key: "id",
        numbered: false,
    },
    Table {
        name: "media",
        columns: "id, conversation, source, kind, mime, name, size, created_at, expires_at",
        key: "id",
        numbered: false,
    },
    Table {
        name: "memory",
        columns: "id, conversation, person, kind, tier, name, content, tokens, importance, relevance, recalls, \
                  archived, created_at, updated_at, recalled_at, source, from_conversation, from_person, from_turn, \
                  embedded_by, vector",
        key: "id",
        numbered: true,
    },
    Table {
        name: "audit_head",
        columns: "one, seq, hash",
        key: "one",
        numbered: false,
    },
];
