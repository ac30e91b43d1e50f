//! What the documentation says of methods and their parameters, and the check of calls against it.
//!
//! Owns the reading of `bot_api.txt`. The real service passes over parameters that it does not know; here they are
//! refused, because they are mistakes of the caller.

use std::{collections::BTreeMap, sync::OnceLock};

use serde_json::{Map, Value};

/// A parameter or field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its type, as in the table: `Integer`, `Array:String`, `Integer|String`.
    pub kind: String,
    /// It must be there.
    pub required: bool,
}

/// The fields of methods and types by name.
pub type Table = BTreeMap<String, BTreeMap<String, Field>>;

/// The methods.
#[must_use]
pub fn methods() -> &'static Table {
    static METHODS: OnceLock<Table> = OnceLock::new();
    METHODS.get_or_init(|| read("method"))
}

/// The types that parameters are made of.
#[must_use]
pub fn types() -> &'static Table {
    static TYPES: OnceLock<Table> = OnceLock::new();
    TYPES.get_or_init(|| read("type"))
}

fn read(wanted: &str) -> Table {
    let mut table = Table::new();
    let mut current: Option<&mut BTreeMap<String, Field>> = None;
    for line in include_str!("bot_api.txt").lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (line.starts_with(' '), words.as_slice()) {
            (true, [name, kind, rest @ ..]) => {
                if let Some(fields) = &mut current {
                    let field = Field {
                        kind: (*kind).to_owned(),
                        required: rest == ["required"],
                    };
                    fields.insert((*name).to_owned(), field);
                }
            }
            (false, [kind, name]) if *kind == wanted => {
                current = Some(table.entry((*name).to_owned()).or_default());
            }
            _ => current = None,
        }
    }
    table
}

/// Checks the parameters of a call.
///
/// # Errors
/// What is wrong with them.
pub fn check(method: &str, parameters: &Value) -> Result<(), String> {
    let fields = methods()
        .get(method)
        .ok_or_else(|| format!("method {method} is not in the table"))?;
    match parameters {
        Value::Object(given) => object(method, given, fields),
        _ => Err("parameters are no object".to_owned()),
    }
}

fn object(
    path: &str,
    given: &Map<String, Value>,
    fields: &BTreeMap<String, Field>,
) -> Result<(), String> {
    for (name, value) in given {
        let path = format!("{path}.{name}");
        let field = fields
            .get(name)
            .ok_or_else(|| format!("{path} is unknown"))?;
        fits(&path, value, &field.kind)?;
    }
    let missing = fields
        .iter()
        .find(|(name, field)| field.required && !given.contains_key(*name));
    match missing {
        Some((name, _)) => Err(format!("{path}.{name} is empty")),
        None => Ok(()),
    }
}

/// Whether a value is one of the types of a field; of an array all of its items are.
fn fits(path: &str, value: &Value, kinds: &str) -> Result<(), String> {
    if let Some(kinds) = kinds.strip_prefix("Array:") {
        let items = value
            .as_array()
            .ok_or_else(|| format!("{path} is no array"))?;
        return items.iter().try_for_each(|one| fits(path, one, kinds));
    }
    if kinds.split('|').any(|kind| is(path, value, kind).is_ok()) {
        return Ok(());
    }
    // Of a choice the first says best what is missing.
    is(path, value, kinds.split('|').next().unwrap_or_default())
}

fn is(path: &str, value: &Value, kind: &str) -> Result<(), String> {
    let fits = match kind {
        "Integer" => value.is_i64() || value.is_u64(),
        "String" => value.is_string(),
        "Boolean" => value.is_boolean(),
        // As the server puts an upload.
        "InputFile" => value["uploaded"].is_string(),
        // One of several forms; the methods look closer.
        "BotCommandScope" => value["type"].is_string(),
        known => match (types().get(known), value) {
            (Some(fields), Value::Object(given)) => return object(path, given, fields),
            _ => false,
        },
    };
    if fits {
        Ok(())
    } else {
        Err(format!("{path} is no {kind}"))
    }
}
