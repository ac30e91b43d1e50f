//! Keys that were set at run time, on top of the file.
//!
//! Owns where such a value goes in the tree, and what is never set that way. Values are YAML as in the file,
//! on one line; variables in them are not expanded, or whoever may set a key could read the environment.

use std::collections::BTreeMap;

use weirgate_sdk::settings::{Entry, Kind, Node, Place, Problem, Problems, Shape, Value};

use super::{
    KnownPlatform,
    parse::parse,
    reference::{is_at, reference},
    reload::needs_restart,
};

/// The most keys that are set at run time.
pub const MOST: usize = 256;
/// The longest value, in bytes.
const LONGEST: usize = 4_096;

/// Why a key is not set at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSet {
    /// There is no such key.
    Unknown,
    /// It holds a secret, which has no place in a chat.
    Secret,
    /// It is read at a start only.
    Restart,
    /// So many are set that there is no room for another, or the value is too long.
    TooMany,
}

/// Keys and their values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides(BTreeMap<String, String>);

impl Overrides {
    /// Keys and values as they were stored.
    #[must_use]
    pub fn new(stored: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(stored.into_iter().collect())
    }

    /// Whether none is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All keys with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// These with one more value, or without one.
    ///
    /// # Errors
    /// Why the key is not set at run time. Whether the value is right is seen when it is read.
    pub fn with(
        &self,
        key: &str,
        value: Option<&str>,
        platforms: &[KnownPlatform],
    ) -> Result<Self, NotSet> {
        let mut all = self.0.clone();
        let Some(value) = value else {
            all.remove(key);
            return Ok(Self(all));
        };
        may_be_set(key, platforms)?;
        let full = all.len() >= MOST && !all.contains_key(key);
        if full || value.len() > LONGEST || value.contains(['\n', '\r']) {
            return Err(NotSet::TooMany);
        }
        all.insert(key.to_owned(), value.to_owned());
        Ok(Self(all))
    }

    /// Puts the values into an expanded tree. What cannot be read is reported at its key.
    pub(super) fn apply(&self, root: &mut Node, problems: &Problems) {
        for (key, value) in &self.0 {
            let own = Problems::new();
            let read = parse(&format!("value: {value}"), &own);
            let read = read.as_ref().and_then(|read| read.get("value")).cloned();
            let (Some(node), false) = (read, own.has_errors()) else {
                invalid(key, "set at run time, is no YAML value", problems);
                continue;
            };
            let mut at = &mut *root;
            let mut names = key.split('.').peekable();
            while let Some(name) = names.next() {
                if at.value == Value::Null {
                    at.value = Value::Map(Vec::new());
                }
                let Value::Map(entries) = &mut at.value else {
                    invalid(
                        key,
                        "set at run time, is inside of what is no map",
                        problems,
                    );
                    break;
                };
                let found = entries.iter().position(|entry| entry.key == name);
                let place = found.unwrap_or(entries.len());
                if found.is_none() {
                    entries.push(Entry {
                        key: name.to_owned(),
                        place: Place::START,
                        node: Node::new(Value::Null),
                    });
                }
                let Some(entry) = entries.get_mut(place) else {
                    break;
                };
                if names.peek().is_none() {
                    entry.node = node.clone();
                }
                at = &mut entry.node;
            }
        }
    }
}

fn invalid(key: &str, what: &str, problems: &Problems) {
    let kind = Kind::Invalid(what.to_owned());
    problems.push(Problem::error(key, None, kind));
}

fn may_be_set(key: &str, platforms: &[KnownPlatform]) -> Result<(), NotSet> {
    let names: Vec<&str> = key.split('.').collect();
    let entries = reference(platforms);
    let Some(entry) = entries.iter().find(|entry| is_at(&entry.path, &names)) else {
        return Err(NotSet::Unknown);
    };
    // Whole sections are not set: what is in them is.
    if entry.shapes.contains(&Shape::Section) {
        return Err(NotSet::Unknown);
    }
    let secret = |shape: &Shape| matches!(shape, Shape::Secret | Shape::SecretFile);
    if entry.shapes.iter().any(secret) {
        return Err(NotSet::Secret);
    }
    if needs_restart(key) {
        return Err(NotSet::Restart);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: Node, key: &str, value: &str) -> (Node, Vec<String>) {
        let mut root = root;
        let problems = Problems::new();
        Overrides::new([(key.to_owned(), value.to_owned())]).apply(&mut root, &problems);
        let told = problems.take().iter().map(|it| it.path.clone()).collect();
        (root, told)
    }

    #[test]
    fn a_value_takes_its_place_in_the_tree() {
        let (root, told) = put(Node::new(Value::Null), "output.buffer.max_size", "7");
        assert_eq!(told, [""; 0]);
        let at = |root: &Node| {
            let node = root.get("output")?.get("buffer")?.get("max_size")?.clone();
            match node.value {
                Value::Scalar(scalar) => Some(scalar.text),
                _ => None,
            }
        };
        assert_eq!(at(&root).as_deref(), Some("7"));
        let (root, _) = put(root, "output.buffer.max_size", "8");
        assert_eq!(at(&root).as_deref(), Some("8"));
        let (root, _) = put(root, "context.system_prompt", "\"a ${HOME}: b\"");
        assert_eq!(at(&root).as_deref(), Some("8"), "the rest stays");
        let Value::Scalar(prompt) = &root
            .get("context")
            .expect("a map")
            .get("system_prompt")
            .expect("a text")
            .value
        else {
            panic!("a text");
        };
        assert_eq!(prompt.text, "a ${HOME}: b", "nothing is expanded");
    }

    #[test]
    fn what_cannot_be_read_is_told_at_its_key() {
        for (key, value) in [
            ("language", "[a"),
            ("language", "a: b: c"),
            ("language.x", "1"),
        ] {
            let root = Node::map([("language", Node::text("en"))]);
            assert_eq!(put(root, key, value).1, [key], "{value}");
        }
    }

    #[test]
    fn secrets_restarts_and_unknown_keys_are_not_set() {
        let none = Overrides::default();
        let set = |key: &str| none.with(key, Some("x"), &[]).map(|_| ());
        assert_eq!(set("language"), Ok(()));
        assert_eq!(set("lenguage"), Err(NotSet::Unknown));
        assert_eq!(set("output"), Err(NotSet::Unknown));
        assert_eq!(set("providers.main.api_key"), Err(NotSet::Secret));
        assert_eq!(set("providers.main.api_key_file"), Err(NotSet::Secret));
        assert_eq!(set("http.listen"), Err(NotSet::Restart));
        assert_eq!(
            none.with("language", Some("a\nb"), &[]),
            Err(NotSet::TooMany)
        );
        let one = none.with("language", Some("en"), &[]).expect("set");
        assert_eq!(one.get("language"), Some("en"));
        assert_eq!(one.with("language", None, &[]), Ok(none.clone()));
    }
}
