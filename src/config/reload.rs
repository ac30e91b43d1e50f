//! What a changed configuration changes: the difference for people, and what a running gateway cannot take
//! over.
//!
//! Pure. Owns the list of keys that need a restart. It never shows a secret, nor what came from a variable.

use std::collections::{BTreeMap, BTreeSet};

use weirgate_sdk::settings::{Node, Place, Scalar, Secret, Value, join};

use super::Config;

/// Keys that are read at a start only: sections, or single keys. Everything else follows a reload.
pub const NEEDS_RESTART: [&str; 9] = [
    "storage",
    "http.listen",
    "observability.traces",
    "memory.enable",
    "memory.backend",
    "memory.sqlite",
    "memory.redis",
    // Which queue a message waits in decides what it may overtake, so it cannot change while some wait.
    "input_buffer.per_user_queue",
    "input_buffer.per_conversation_queue",
];

/// Longest value in a difference, in characters.
const LONGEST: usize = 80;

/// Whether a key is read at a start only.
#[must_use]
pub fn needs_restart(key: &str) -> bool {
    NEEDS_RESTART.iter().any(|fixed| {
        key.strip_prefix(fixed)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    })
}

/// `new`, but for what needs a restart: there the running configuration stays.
#[must_use]
pub fn keep_fixed(mut new: Config, running: &Config) -> Config {
    new.storage.clone_from(&running.storage);
    new.http.listen = running.http.listen;
    new.observability
        .traces
        .clone_from(&running.observability.traces);
    new.memory.enable = running.memory.enable;
    new.memory.backend = running.memory.backend;
    new.memory.sqlite.clone_from(&running.memory.sqlite);
    new.memory.redis.clone_from(&running.memory.redis);
    new.input_buffer.per_user_queue = running.input_buffer.per_user_queue;
    new.input_buffer.per_conversation_queue = running.input_buffer.per_conversation_queue;
    new.secrets.retain(|(key, _)| !needs_restart(key));
    let fixed = running.secrets.iter().filter(|(key, _)| needs_restart(key));
    new.secrets.extend(fixed.cloned());
    new
}

/// Whether two configurations mean the same: where in the file something stands, how it is quoted and
/// whether a variable gave it does not count.
#[must_use]
pub fn same(one: &Config, other: &Config) -> bool {
    let bare = |config: &Config| Config {
        platforms: config
            .platforms
            .iter()
            .map(|(name, node)| (name.clone(), bare(node)))
            .collect(),
        file: None,
        ..config.clone()
    };
    bare(one) == bare(other)
}

fn bare(node: &Node) -> Node {
    let value = match &node.value {
        Value::Scalar(scalar) => Value::Scalar(Scalar {
            text: scalar.text.clone(),
            quoted: false,
            variable: None,
        }),
        Value::List(items) => Value::List(items.iter().map(bare).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|entry| weirgate_sdk::settings::Entry {
                    key: entry.key.clone(),
                    place: Place::START,
                    node: bare(&entry.node),
                })
                .collect(),
        ),
        other => other.clone(),
    };
    Node::new(value)
}

/// What a file says, key by key, as far as it may be shown. `Debug` shows no value.
#[derive(Clone, Default)]
pub struct Written(BTreeMap<String, Shown>);

impl std::fmt::Debug for Written {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A value, and how it is shown.
#[derive(Clone, PartialEq, Eq)]
struct Shown {
    /// Compared, never shown.
    value: Secret,
    shown: String,
}

/// One key whose value is another one now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path of the key.
    pub key: String,
    /// What stood there, fit to be shown; `None` if nothing did.
    pub from: Option<String>,
    /// What stands there now; `None` if nothing does.
    pub to: Option<String>,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const UNSET: &str = "not set";
        let (from, to) = (self.from.as_deref(), self.to.as_deref());
        let (from, to) = (from.unwrap_or(UNSET), to.unwrap_or(UNSET));
        write!(f, "{}: {from} -> {to}", self.key)
    }
}

impl Written {
    /// What an expanded tree says; `secrets` are those that were read from it. The content of a file that
    /// holds a secret counts as part of its key.
    #[must_use]
    pub fn new(root: &Node, secrets: &[(String, Secret)]) -> Self {
        let mut written = Self::default();
        written.add(String::new(), root, secrets);
        written
    }

    fn add(&mut self, path: String, node: &Node, secrets: &[(String, Secret)]) {
        let (text, shown) = match &node.value {
            Value::Map(entries) if !entries.is_empty() => {
                for entry in entries {
                    self.add(join(&path, &entry.key), &entry.node, secrets);
                }
                return;
            }
            Value::List(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    self.add(format!("{path}[{index}]"), item, secrets);
                }
                return;
            }
            Value::Map(_) => ("{}".to_owned(), "{}".to_owned()),
            Value::List(_) => ("[]".to_owned(), "[]".to_owned()),
            Value::Null | Value::Failed => (String::new(), "nothing".to_owned()),
            Value::Scalar(scalar) => match secrets.iter().find(|(key, _)| *key == path) {
                Some((_, secret)) => (
                    format!("{}\n{}", scalar.text, secret.expose()),
                    "***".to_owned(),
                ),
                None => (scalar.text.clone(), shown(scalar)),
            },
        };
        let value = Secret::new(text);
        self.0.insert(path, Shown { value, shown });
    }

    /// A key and those below it, with their values as they may be shown.
    #[must_use]
    pub fn below(&self, key: &str) -> Vec<(String, String)> {
        let is_below = |path: &&String| {
            let below = path.strip_prefix(key);
            key.is_empty()
                || below.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let found = self.0.iter().filter(|(path, _)| is_below(path));
        found
            .map(|(path, shown)| (path.clone(), shown.shown.clone()))
            .collect()
    }

    /// What is another value in `new`, in the order of the keys.
    #[must_use]
    pub fn changes(&self, new: &Self) -> Vec<Change> {
        let keys: BTreeSet<&String> = self.0.keys().chain(new.0.keys()).collect();
        let change = |key: &String| {
            let (from, to) = (self.0.get(key), new.0.get(key));
            (from.map(|from| &from.value) != to.map(|to| &to.value)).then(|| Change {
                key: key.clone(),
                from: from.map(|from| from.shown.clone()),
                to: to.map(|to| to.shown.clone()),
            })
        };
        keys.into_iter().filter_map(change).collect()
    }

    /// This, but for what needs a restart: there stays what `running` says.
    #[must_use]
    pub fn keep_fixed(mut self, running: &Self) -> Self {
        self.0.retain(|key, _| !needs_restart(key));
        let fixed = running.0.iter().filter(|(key, _)| needs_restart(key));
        self.0
            .extend(fixed.map(|(key, shown)| (key.clone(), shown.clone())));
        self
    }
}

/// A value for people. An address with a name or password in it is as good as a secret.
fn shown(scalar: &Scalar) -> String {
    if let Some(name) = &scalar.variable {
        return format!("the value of ${{{name}}}");
    }
    let text = scalar.text.as_str();
    if text.contains("://") && text.contains('@') {
        return "***".to_owned();
    }
    let mut out: String = text
        .chars()
        .take(LONGEST)
        .flat_map(|c| {
            let escaped = c.is_control().then(|| c.escape_default());
            let plain = escaped.is_none().then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    if out.is_empty() {
        "\"\"".to_owned()
    } else {
        out
    }
}

#[cfg(test)]
mod tests;
