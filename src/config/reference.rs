//! The reference of agent.yaml: every key that a reader asks for, with what the shipped file says about it.
//!
//! Owns docs/configuration.md. Types, limits and defaults come from the readers themselves, in their
//! describing mode; the words come from the shipped agent.yaml. It never reads another file.

use std::fmt::Write as _;

use weirgate_sdk::settings::{Described, Node, Problems, Shape, Value};

use super::{
    Config, KnownPlatform,
    comments::{self, Commented},
    reload::needs_restart,
};
use crate::store::config::Storage;

/// Longest default that is shown, in characters.
const LONGEST: usize = 60;

/// One key.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The path; `*` stands for a name of the operator's choice, `[]` for an item of a list.
    pub path: String,
    /// What may stand there.
    pub shapes: Vec<Shape>,
    /// What holds without it.
    pub default: Option<String>,
    /// It must be there, where the map around it is.
    pub required: bool,
    /// It is read at a start only.
    pub restart: bool,
    /// What it is, in words; empty for items of lists.
    pub comment: String,
}

impl Entry {
    /// It is taken and has no effect.
    #[must_use]
    pub fn is_ignored(&self) -> bool {
        self.shapes == [Shape::Ignored]
    }

    /// It stands for an item, or for any key, of what is above it.
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.path.ends_with("[]") || self.path.ends_with(".*")
    }

    fn is_map(&self) -> bool {
        matches!(self.shapes.as_slice(), [Shape::Section | Shape::Map])
    }
}

/// Every key, in the order of the shipped file.
#[must_use]
pub fn reference(platforms: &[KnownPlatform]) -> Vec<Entry> {
    let problems = Problems::describing();
    let nothing = Node::new(Value::Failed);
    let url = Storage::DEFAULT_URL.to_owned();
    let _ = Config::read(&nothing, platforms, url, &problems);
    let described = problems.described();
    let known = |path: &[String]| described.iter().any(|known| is_at(&known.path, path));
    let commented = comments::all(&known);
    let mut entries: Vec<(usize, Entry)> = described
        .iter()
        .cloned()
        .map(|described| entry(described, &commented))
        .collect();
    // Sections in the order of the file; what is in one in the order in which it is read.
    entries.sort_by_key(|(section, _)| *section);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

fn entry(described: Described, commented: &[Commented]) -> (usize, Entry) {
    let Described {
        path,
        shapes,
        default,
        required,
    } = described;
    let names: Vec<&str> = path.split('.').collect();
    let fits = |key: &&Commented| is_at(&path, &key.path);
    let mut found = commented.iter().filter(fits);
    let comment = found.clone().find(|key| !key.comment.is_empty());
    let mut comment = comment.map_or(String::new(), |key| key.comment.clone());
    if shapes == [Shape::SecretFile]
        && comment.is_empty()
        && let Some(key) = names.last().and_then(|name| name.strip_suffix("_file"))
    {
        comment = format!("A file that holds it, instead of {key}.");
    }
    // What stands in an example, or under a name, is an example.
    let shipped = found.find(|key| !key.example && !names.contains(&"*") && !key.value.is_empty());
    let shipped = shipped.map(|key| key.value.trim_matches('"').to_owned());
    let first = names.first().copied().unwrap_or_default();
    let section = commented.iter().position(|key| key.path == [first]);
    let entry = Entry {
        restart: needs_restart(&path),
        default: default.or(shipped).filter(|_| !required),
        path,
        shapes,
        required,
        comment,
    };
    (section.unwrap_or(usize::MAX), entry)
}

/// Whether the names are those of a path, in which `*` stands for any.
pub(super) fn is_at(path: &str, names: &[impl AsRef<str>]) -> bool {
    let wanted: Vec<&str> = path.split('.').collect();
    let mut pairs = wanted.iter().zip(names);
    wanted.len() == names.len()
        && pairs.all(|(wanted, name)| *wanted == "*" || *wanted == name.as_ref())
}

/// docs/configuration.md.
#[must_use]
pub fn page(platforms: &[KnownPlatform]) -> String {
    let mut out = String::from(
        "# Configuration\n\n\
         Generated from the code. Every key of agent.yaml; the file that is shipped says how to write one, where it is \
         looked for, and how variables and files with secrets are used. A file needs only the keys that it changes. \
         `weirgate check` shows everything that is wrong in a file, `weirgate schema` prints a JSON Schema for \
         editors.\n\n\
         A saved file is applied without a restart, whole or not at all; SIGHUP and `POST /admin/reload` do the same \
         at once. Turns that run keep what they started with. Keys with \"yes\" under \"Restart\" are read at a start \
         only: a change of one is named in the log and does nothing else. An account whose settings change is started \
         anew; the others keep their connections.\n\n\
         `<name>` stands for a name of your choice.\n",
    );
    let all = reference(platforms);
    let mut section = "";
    for entry in all.iter().filter(|entry| !entry.is_ignored()) {
        // What stands for each platform alike is told once, above them: there is no comment.
        if entry.is_part() || entry.comment.is_empty() || only_ignored(entry, &all) {
            continue;
        }
        let first = entry.path.split('.').next().unwrap_or_default();
        if first != section {
            section = first;
            let about = all.iter().find(|entry| entry.path == section);
            let about = about.map_or("", |about| about.comment.as_str());
            // Writing to a string does not fail.
            let _ = write!(
                out,
                "\n## {section}\n\n{about}\n\n| Key | Value | Default | Restart | What |\n|---|---|---|---|---|\n"
            );
        }
        if entry.path == section && entry.is_map() {
            continue;
        }
        let _ = writeln!(out, "{}", row(entry, &all));
    }
    out
}

/// A section with nothing in it but what has no effect.
fn only_ignored(section: &Entry, all: &[Entry]) -> bool {
    let under = format!("{}.", section.path);
    let mut below = all
        .iter()
        .filter(|entry| entry.path.starts_with(&under))
        .peekable();
    below.peek().is_some() && below.all(Entry::is_ignored)
}

fn row(entry: &Entry, all: &[Entry]) -> String {
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', "\\n");
    let values: Vec<String> = entry
        .shapes
        .iter()
        .map(|shape| words(shape, entry, all))
        .collect();
    let default = match &entry.default {
        _ if entry.required => "(must be there)".to_owned(),
        Some(default) if default.is_empty() => "`\"\"`".to_owned(),
        Some(default) => format!("`{}`", cell(&shortened(default))),
        None => String::new(),
    };
    format!(
        "| `{}` | {} | {default} | {} | {} |",
        entry.path.replace(".*", ".<name>"),
        cell(&values.join("; or ")),
        if entry.restart { "yes" } else { "" },
        cell(&entry.comment)
    )
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// What may stand there.
fn words(shape: &Shape, entry: &Entry, all: &[Entry]) -> String {
    let part = |suffix: &str| {
        let path = format!("{}{suffix}", entry.path);
        let part = all.iter().find(|entry| entry.path == path)?;
        let shapes = part.shapes.iter();
        let all: Vec<String> = shapes.map(|shape| words(shape, part, all)).collect();
        Some(all.join("; or "))
    };
    match shape {
        Shape::Section => "map".to_owned(),
        Shape::Map => part(".*").map_or("map".to_owned(), |of| {
            format!("map of a name to: {of}").replace("to: map", "to a map")
        }),
        Shape::List => part("[]").map_or("list".to_owned(), |of| format!("list, each: {of}")),
        Shape::Whole { least, most } => format!("whole number, {least} to {most}"),
        Shape::Decimal { least, most, unit } => {
            let unit = if unit.is_empty() { "number" } else { unit };
            format!("{unit}, {least} to {most}")
        }
        Shape::Truth => "true or false".to_owned(),
        Shape::Text { empty: true } => "text".to_owned(),
        Shape::Text { empty: false } => "text, not empty".to_owned(),
        Shape::Id => "id".to_owned(),
        Shape::Secret => "secret".to_owned(),
        Shape::SecretFile => "path of a file with a secret".to_owned(),
        Shape::Choice(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        }
        Shape::Ignored => "anything".to_owned(),
    }
}
