//! `security.content_filter`: words that are not to be read here.
//!
//! Owns the keys, the entries of the list and what names a file. It opens none: the loader of the configuration does.

use std::sync::Arc;

use weirgate_sdk::settings::{Fields, Place, Setting};

use crate::security::{
    injection::Severity,
    words::{self, Entry, Level, Words},
};

/// Most entries of all blocklists together.
const MAX_WORDS: usize = 200_000;

/// The section `security.content_filter`.
#[derive(Debug, Clone, PartialEq)]
pub struct ContentFilter {
    /// Look for them.
    pub enable: bool,
    /// How hard.
    pub level: Level,
    /// Words, `/expressions/` and exceptions, those of files included.
    pub blocklist: Vec<Entry>,
    /// Files with more of them, which the loader of the configuration reads.
    pub files: Vec<ListFile>,
    /// What stands in place of what is taken out, also of attempts that are sanitised.
    pub replacement: String,
}

/// A file with a blocklist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListFile {
    /// The file; a relative path starts at the folder of the configuration.
    pub path: String,
    /// What follows from its entries.
    pub severity: Severity,
    /// The key that names it, and where that stands.
    pub key: (String, Place),
}

impl Default for ContentFilter {
    fn default() -> Self {
        Self {
            enable: true,
            level: Level::Standard,
            blocklist: Vec::new(),
            files: Vec::new(),
            replacement: "[已过滤]".to_owned(),
        }
    }
}

impl ContentFilter {
    pub(super) fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let enable = fields.bool("enable", default.enable);
        let level = fields.choice("level", default.level, &Level::WORDS);
        let list = fields.get("blocklist");
        let (blocklist, files) = list.map(|list| blocklist(&list, level)).unwrap_or_default();
        let read = Self {
            enable,
            level,
            blocklist,
            files,
            replacement: fields.text("replacement", &default.replacement),
        };
        fields.finish();
        read
    }
}

impl ContentFilter {
    /// The blocklist, compiled; `None` if there is nothing to look for.
    ///
    /// # Errors
    /// What is wrong with an expression of a file.
    pub fn words(&self) -> Result<Option<Arc<Words>>, String> {
        self.compiled(Severity::Low)
    }

    /// What of it is taken out of answers.
    ///
    /// # Errors
    /// As there.
    pub fn words_of_answers(&self) -> Result<Option<Arc<Words>>, String> {
        self.compiled(Severity::Medium)
    }

    /// The entries that are at least so severe, and all exceptions.
    fn compiled(&self, least: Severity) -> Result<Option<Arc<Words>>, String> {
        if !self.enable {
            return Ok(None);
        }
        let list = self.blocklist.iter();
        let list = list.filter(|entry| entry.severity >= least || entry.text.starts_with('!'));
        let words = Words::new(list, self.level, &self.replacement)?;
        Ok(words.map(Arc::new))
    }

    /// Takes the entries of a file: one a line; empty lines and those that begin with `#` are none.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub fn take(&mut self, text: &str, severity: Severity) -> Result<(), String> {
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
        let entries: Vec<&str> = lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .collect();
        if entries.len() + self.blocklist.len() > MAX_WORDS {
            return Err(format!(
                "all lists together have more than {MAX_WORDS} entries"
            ));
        }
        for entry in &entries {
            if let Some(expression) = words::expression(entry) {
                words::compile(expression, self.level)
                    .map_err(|fault| format!("{entry}: {fault}"))?;
            }
        }
        self.blocklist.extend(entries.into_iter().map(|text| Entry {
            text: text.to_owned(),
            severity,
        }));
        Ok(())
    }
}

/// The entries of a list, and the files that it names.
fn blocklist(list: &Setting<'_>, level: Level) -> (Vec<Entry>, Vec<ListFile>) {
    let (mut entries, mut files) = (Vec::new(), Vec::new());
    for item in list.list().unwrap_or_default().iter().take(MAX_WORDS) {
        let Some((entry, severity)) = graded(item) else {
            continue;
        };
        if let Some(expression) = words::expression(entry) {
            if let Err(fault) = words::compile(expression, level) {
                item.invalid(format!("the expression is not valid: {fault}"), None);
                continue;
            }
        } else if let Some(path) = file(entry) {
            files.push(ListFile {
                path: path.to_owned(),
                severity,
                key: (item.path().to_owned(), item.place()),
            });
            continue;
        }
        entries.push(Entry {
            text: entry.to_owned(),
            severity,
        });
    }
    (entries, files)
}

/// An item of the list with its severity: a text, or a map of both.
fn graded<'a>(item: &Setting<'a>) -> Option<(&'a str, Severity)> {
    let plain = if item.is_map() { None } else { item.word() };
    if !item.is_map() && !item.describes() {
        return plain.map(|text| (text, Severity::Medium));
    }
    let mut fields = item.fields();
    let entry = fields.require("entry");
    let severity = fields.choice("severity", Severity::Medium, &Severity::WORDS);
    fields.finish();
    Some((entry?.word()?, severity))
}

/// The file that an entry names: `file:` and a path, a path with a folder, or a name that ends in `.txt`.
fn file(entry: &str) -> Option<&str> {
    let named = entry.strip_prefix("file:");
    let path = ["/", "./", "../"]
        .iter()
        .any(|start| entry.starts_with(start));
    named.or_else(|| (path || entry.ends_with(".txt")).then_some(entry))
}
