//! The JSON Schema of agent.yaml, for editors.
//!
//! Owns the step from the reference to a schema of draft 2020-12. What only a look at several keys, or at the
//! text of a value, can show is left to `weirgate check`: the schema never refuses what is right.

use serde_json::{Map, Value, json};
use weirgate_sdk::settings::Shape;

use super::{
    KnownPlatform,
    reference::{Entry, reference},
};

/// A text that may become anything once its variables are expanded.
const VARIABLE: &str = "\\$";

/// The schema.
#[must_use]
pub fn schema(platforms: &[KnownPlatform]) -> Value {
    let all = reference(platforms);
    let mut root = section("", &all);
    if let Value::Object(root) = &mut root {
        root.insert(
            "$schema".to_owned(),
            "https://json-schema.org/draft/2020-12/schema".into(),
        );
        root.insert("title".to_owned(), "The agent.yaml of Weirgate".into());
    }
    root
}

/// The names of the keys right under a path, without items and free keys.
fn children<'e>(path: &str, all: &'e [Entry]) -> impl Iterator<Item = (&'e str, &'e Entry)> {
    let under = if path.is_empty() {
        String::new()
    } else {
        format!("{path}.")
    };
    all.iter().filter_map(move |entry| {
        let name = entry.path.strip_prefix(&under)?;
        let direct = !name.contains(['.', '[']) && name != "*";
        direct.then_some((name, entry))
    })
}

fn section(path: &str, all: &[Entry]) -> Value {
    let properties: Map<String, Value> = children(path, all)
        .map(|(name, entry)| (name.to_owned(), value(entry, all)))
        .collect();
    let required: Vec<&str> = children(path, all)
        .filter(|(_, entry)| entry.required)
        .map(|(name, _)| name)
        .collect();
    let mut section = json!({
        "type": ["object", "null"],
        "properties": properties,
        "additionalProperties": false,
    });
    if let Value::Object(section) = &mut section
        && !required.is_empty()
    {
        section.insert("required".to_owned(), required.into());
    }
    section
}

fn value(entry: &Entry, all: &[Entry]) -> Value {
    let mut shapes: Vec<Value> = entry
        .shapes
        .iter()
        .map(|each| shape(each, entry, all))
        .collect();
    let mut value = match shapes.len() {
        1 => shapes.remove(0),
        _ => json!({ "anyOf": shapes }),
    };
    if let Value::Object(value) = &mut value {
        let mut about = entry.comment.clone();
        if entry.restart {
            about.push_str(" A change needs a restart.");
        }
        if !about.is_empty() {
            value.insert("description".to_owned(), about.trim_start().into());
        }
        if let Some(default) = &entry.default {
            value.insert("default".to_owned(), typed(default, &entry.shapes));
        }
        if entry.is_ignored() {
            value.insert("deprecated".to_owned(), true.into());
        }
    }
    value
}

/// A default in its own type.
fn typed(default: &str, shapes: &[Shape]) -> Value {
    let number = shapes.iter().any(|shape| {
        matches!(
            shape,
            Shape::Whole { .. } | Shape::Decimal { .. } | Shape::Truth
        )
    });
    let typed = number.then(|| serde_json::from_str(default).ok()).flatten();
    typed.unwrap_or_else(|| default.into())
}

/// A value of its own type, or a text from which it is read.
fn or_text(own: Value, pattern: &str) -> Value {
    let text = json!({ "type": "string", "pattern": format!("{pattern}|{VARIABLE}") });
    json!({ "anyOf": [own, text] })
}

fn shape(shape: &Shape, entry: &Entry, all: &[Entry]) -> Value {
    let part = |suffix: &str| {
        let path = format!("{}{suffix}", entry.path);
        let part = all.iter().find(|entry| entry.path == path);
        part.map_or(Value::Bool(true), |part| value(part, all))
    };
    let text =
        |least: usize| json!({ "type": ["string", "number", "boolean"], "minLength": least });
    match shape {
        Shape::Section => section(&entry.path, all),
        Shape::Map => json!({ "type": ["object", "null"], "additionalProperties": part(".*") }),
        Shape::List => json!({ "type": ["array", "null"], "items": part("[]") }),
        Shape::Whole { least, most } => or_text(
            json!({ "type": "integer", "minimum": least, "maximum": most }),
            "^[0-9]+$",
        ),
        Shape::Decimal { least, most, .. } => or_text(
            json!({ "type": "number", "minimum": least, "maximum": most }),
            "^-?[0-9]+(\\.[0-9]+)?$",
        ),
        Shape::Truth => or_text(
            json!({ "type": "boolean" }),
            "^(true|True|TRUE|false|False|FALSE)$",
        ),
        Shape::Choice(words) => {
            let variable = json!({ "type": "string", "pattern": VARIABLE });
            json!({ "anyOf": [{ "enum": words }, variable] })
        }
        Shape::Text { empty: true } => text(0),
        Shape::Text { empty: false } | Shape::Secret | Shape::SecretFile => text(1),
        Shape::Id => json!({ "type": ["string", "integer"], "minLength": 1 }),
        Shape::Ignored => json!({}),
    }
}
