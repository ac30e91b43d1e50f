//! What is under `deploy/`: files that name real keys, paths, ports and figures of the program, and, in the
//! long form of the tests, a real container engine that runs them.

mod containers;
mod files;
mod monitoring;

use std::{fs, path::PathBuf};

use serde_json::Value;

/// A file of the repository.
fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The documents of a YAML file.
fn yaml(name: &str) -> Vec<Value> {
    let text = read(name);
    let documents = text.split("\n---\n");
    let parsed = documents.map(serde_saphyr::from_str);
    let parsed: Result<Vec<Value>, _> = parsed.collect();
    parsed.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The texts of a list.
fn texts(list: &Value) -> Vec<&str> {
    let items = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    items.iter().map(|item| item.as_str().unwrap()).collect()
}
