//! Markdown with a front matter in YAML between lines of `---`: what skills and agents have in common.
//!
//! Owns the keys that both have, and their limits. What is made of them is the caller's. Pure.

use serde_json::{Map, Value};

use super::shelf::{Fault, Rights};
use crate::permission::{Capability, Level};

/// Largest front matter, in bytes.
pub(in crate::agent) const MAX_FRONT: usize = 16 * 1024;
/// Longest name, in characters.
pub(in crate::agent) const MAX_NAME: usize = 64;
/// Longest description, in characters.
pub(in crate::agent) const MAX_DESCRIPTION: usize = 1_024;
/// Most tools that are named, and the longest name of one.
const MAX_TOOLS: usize = 64;

/// The keys of a text and what stands behind them, which is not empty.
///
/// # Errors
/// Why it cannot be used.
pub(in crate::agent) fn split(text: &str) -> Result<(Map<String, Value>, &str), Fault> {
    let (front, body) = parts(text).ok_or(Fault::NoFrontMatter)?;
    if front.len() > MAX_FRONT {
        return Err(Fault::TooLarge { most: MAX_FRONT });
    }
    let front = yaml(front)?;
    Ok((front, body.trim()))
}

/// The front matter and what stands behind it.
fn parts(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---\n")?;
    if let Some(rest) = rest.strip_prefix("---\n") {
        return Some(("", rest));
    }
    let (front, rest) = rest.split_once("\n---")?;
    // The line that ends it holds nothing else.
    let (end, body) = rest.split_once('\n').unwrap_or((rest, ""));
    end.trim().is_empty().then_some((front, body))
}

fn yaml(front: &str) -> Result<Map<String, Value>, Fault> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: 2_000,
            max_aliases: 0,
            max_anchors: 0,
            max_depth: 16,
            max_documents: 1,
        },
        strict_booleans: true,
        with_snippet: false,
    };
    let read = serde_saphyr::from_str_with_options(front, options);
    read.map_err(|error| {
        let error = error.to_string();
        let line = error.split_whitespace().collect::<Vec<_>>().join(" ");
        Fault::Yaml {
            error: line.chars().take(300).collect(),
        }
    })
}

/// The name.
///
/// # Errors
/// It is missing or no name.
pub(in crate::agent) fn name(front: &Map<String, Value>) -> Result<&str, Fault> {
    let wanted = Fault::Key {
        key: "name",
        wanted: "letters, digits, - and _, at most 64",
    };
    let Some(name) = front.get("name").and_then(Value::as_str) else {
        return Err(wanted);
    };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(fits) {
        Ok(name)
    } else {
        Err(wanted)
    }
}

/// What it is for, on one line.
///
/// # Errors
/// It is missing, or too long.
pub(in crate::agent) fn description(front: &Map<String, Value>) -> Result<String, Fault> {
    let text = front.get("description").and_then(Value::as_str);
    let words: Vec<&str> = text.unwrap_or_default().split_whitespace().collect();
    let line = words.join(" ");
    if (1..=MAX_DESCRIPTION).contains(&line.chars().count()) {
        Ok(line)
    } else {
        Err(Fault::Key {
            key: "description",
            wanted: "a text of at most 1024 characters",
        })
    }
}

/// The names of tools, as a list or as words; `None` if nothing is said of them.
///
/// # Errors
/// They are something else.
pub(in crate::agent) fn tools(front: &Map<String, Value>) -> Result<Option<Vec<String>>, Fault> {
    let wanted = || Fault::Key {
        key: "tools",
        wanted: "at most 64 names of tools",
    };
    let names: Vec<String> = match front.get("tools") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(names)) => names
            .split([',', ' '])
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
        Some(Value::Array(names)) => {
            let names = names.iter().map(|name| name.as_str().map(str::to_owned));
            names.collect::<Option<_>>().ok_or_else(wanted)?
        }
        Some(_) => return Err(wanted()),
    };
    let fits = |name: &String| (1..=MAX_TOOLS).contains(&name.len());
    if names.len() <= MAX_TOOLS && names.iter().all(fits) {
        Ok(Some(names))
    } else {
        Err(wanted())
    }
}

/// A level, or capabilities by name; nobody needs more than any tool if nothing is said.
///
/// # Errors
/// They are something else.
pub(in crate::agent) fn rights(written: Option<&Value>) -> Result<Rights, Fault> {
    let known = |name: &str| {
        let level = Level::ALL.into_iter().find(|level| level.name() == name);
        let capability = || Capability::from_name(name);
        level.map(Level::capability).or_else(capability)
    };
    let mut rights = Rights {
        capability: Capability::EXECUTE,
        global: false,
    };
    let names = match written {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(name)) => vec![Some(name.as_str())],
        Some(Value::Array(names)) => names.iter().map(Value::as_str).collect(),
        Some(_) => vec![None],
    };
    for name in names {
        match name {
            Some("global") => rights.global = true,
            Some(name) if known(name).is_some() => {
                rights.capability |= known(name).unwrap_or_default();
            }
            _ => {
                return Err(Fault::Key {
                    key: "rights",
                    wanted: "public, member, admin, owner, global, or names of capabilities",
                });
            }
        }
    }
    Ok(rights)
}
