//! `module.json`: what a program says of itself.
//!
//! Owns the keys, their defaults and the rule that the name is that of the folder. It starts nothing.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Program;
use crate::agent::tool::{Access, Spec};

/// Largest manifest, in bytes.
pub(super) const MAX_BYTES: usize = 64 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    /// The folder's.
    name: String,
    #[serde(default)]
    version: String,
    description: String,
    /// What it needs, for people.
    #[serde(default)]
    dependencies: Value,
    /// The program and its arguments; one with a slash is in the folder.
    command: Vec<String>,
    /// The JSON Schema of its arguments.
    #[serde(default)]
    parameters: Option<Value>,
    #[serde(default)]
    access: Kind,
    #[serde(default)]
    repeatable: bool,
    #[serde(default)]
    approval: bool,
    #[serde(default)]
    scope: Scope,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Read,
    Write,
    #[default]
    WriteShared,
}

#[derive(Deserialize, Default, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Scope {
    #[default]
    Conversation,
    Global,
}

/// Reads the manifest of a folder.
///
/// # Errors
/// What is wrong with it.
pub(super) fn read(folder: &Path, name: &str, text: &str) -> Result<Program, String> {
    let manifest: Manifest = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if manifest.name != name {
        return Err(format!(
            "the name {:?} is not that of the folder",
            manifest.name
        ));
    }
    if manifest.command.first().is_none_or(String::is_empty) {
        return Err("command names no program".to_owned());
    }
    // They are for people; that they are read keeps a manifest of the source whole.
    let _ = (manifest.version, manifest.dependencies);
    Ok(Program {
        spec: Spec {
            name: manifest.name,
            description: manifest.description,
            parameters: manifest
                .parameters
                .unwrap_or_else(|| json!({"type": "object"})),
            global: manifest.scope == Scope::Global,
            access: match manifest.access {
                Kind::Read => Access::Read,
                Kind::Write => Access::Write,
                Kind::WriteShared => Access::WriteShared,
            },
            repeatable: manifest.repeatable,
            approval: manifest.approval,
        },
        folder: folder.to_owned(),
        command: manifest.command,
    })
}
