//! The tree of what a configuration file says, each key and value with its place.
//!
//! Owns the shape only. Scalars keep the text as it was written, so that ids and secrets lose nothing;
//! whether a text is a number is decided by who reads it. `Debug` never shows a scalar's text, because
//! it may be a secret.

use std::fmt;

/// A place in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Place {
    /// The top of the file.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// A value and where it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where the value starts.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A key without a value, `null` or `~`.
    Null,
    /// A text, number, true or false: whatever is neither list nor map.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A map, in the order of the file.
    Map(Vec<Entry>),
    /// Something that was reported already; readers take the default in silence.
    Failed,
}

/// The text of a scalar after expansion.
#[derive(Clone, PartialEq, Eq)]
pub struct Scalar {
    /// The text.
    pub text: String,
    /// It was written in quotes or as a block.
    pub quoted: bool,
    /// The first environment variable that went into it. Such a text is never shown.
    pub variable: Option<String>,
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scalar(***)")
    }
}

/// One key of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub place: Place,
    /// Its value.
    pub node: Node,
}

/// What every key holds in the describing mode.
pub(super) static NOTHING: Node = Node {
    place: Place::START,
    value: Value::Failed,
};

impl Node {
    /// A node at the top of the file, for tests and for defaults.
    #[must_use]
    pub fn new(value: Value) -> Self {
        Self {
            place: Place::START,
            value,
        }
    }

    /// A scalar written without quotes.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::new(Value::Scalar(Scalar {
            text: text.to_owned(),
            quoted: false,
            variable: None,
        }))
    }

    /// A list.
    #[must_use]
    pub fn list(items: impl IntoIterator<Item = Self>) -> Self {
        Self::new(Value::List(items.into_iter().collect()))
    }

    /// A map.
    #[must_use]
    pub fn map<'k>(entries: impl IntoIterator<Item = (&'k str, Self)>) -> Self {
        let entry = |(key, node): (&str, Self)| Entry {
            key: key.to_owned(),
            place: Place::START,
            node,
        };
        Self::new(Value::Map(entries.into_iter().map(entry).collect()))
    }

    /// The value of a key, if this is a map that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|e| e.key == key).map(|e| &e.node),
            _ => None,
        }
    }

    /// What this is, in words for a message.
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Scalar(_) => "a single value",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Failed => "a faulty value",
        }
    }
}

/// The path of a key under `path`: `a.b`; a key that is not a plain word is quoted and shortened.
#[must_use]
pub fn join(path: &str, key: &str) -> String {
    let plain = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-/".contains(c));
    let key = if plain && key.len() <= 64 {
        key.to_owned()
    } else {
        super::scalar::shorten(key, 32)
    };
    if path.is_empty() {
        key
    } else {
        format!("{path}.{key}")
    }
}
