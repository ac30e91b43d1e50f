//! A map with known keys: typed getters, each with its default and its limits.
//!
//! Owns which keys are known and reports the others in [`Fields::finish`]. A getter never fails: it
//! reports and gives the default.

use std::{ops::RangeInclusive, time::Duration};

use super::{
    nearest::nearest,
    node::{Entry, NOTHING, Node, Place, Value, join},
    problem::{Kind, Problem, Problems},
    reference::Shape,
    secret::Secret,
    setting::Setting,
};

/// A map of the configuration that is being read.
#[derive(Debug)]
#[must_use = "finish() reports the unknown keys"]
pub struct Fields<'a> {
    entries: &'a [Entry],
    path: String,
    place: Option<Place>,
    problems: &'a Problems,
    /// Each key that was asked for, and whether it may be suggested.
    known: Vec<(String, bool)>,
}

impl<'a> Fields<'a> {
    /// The map at `path` (empty for the whole file). A key without a value is an empty map; anything
    /// else that is no map is reported and read as an empty one.
    pub fn new(node: &'a Node, path: &str, problems: &'a Problems) -> Self {
        let entries: &[Entry] = match &node.value {
            Value::Map(entries) => entries,
            Value::Null | Value::Failed => &[],
            Value::Scalar(_) | Value::List(_) => {
                let found = node.describe().to_owned();
                let kind = Kind::WrongType {
                    expected: "a map",
                    found,
                };
                problems.push(Problem::error(path, Some(node.place), kind));
                &[]
            }
        };
        Self {
            entries,
            path: path.to_owned(),
            place: Some(node.place),
            problems,
            known: vec![],
        }
    }

    /// A map that is not in the file: every getter gives its default. `place` is where it would belong.
    pub fn absent_section(path: &str, place: Option<Place>, problems: &'a Problems) -> Self {
        Self {
            entries: &[],
            path: path.to_owned(),
            place,
            problems,
            known: vec![],
        }
    }

    /// The path of this map.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The collector.
    #[must_use]
    pub fn problems(&self) -> &'a Problems {
        self.problems
    }

    /// The key is written in the file.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    fn entry(&self, key: &str) -> Option<&'a Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The value of a key, if it is written.
    pub fn get(&mut self, key: &str) -> Option<Setting<'a>> {
        let path = join(&self.path, key);
        self.known.push((key.to_owned(), true));
        self.problems.know(path.clone());
        self.setting(key, path)
    }

    fn setting(&self, key: &str, path: String) -> Option<Setting<'a>> {
        let written = self.entry(key).map(|entry| &entry.node);
        let node = written.or_else(|| self.problems.describes().then_some(&NOTHING))?;
        Some(Setting::new(node, path, self.problems))
    }

    /// Notes for the reference what holds without a key.
    fn default(&self, key: &str, default: impl FnOnce() -> String) {
        self.problems.note_default(&join(&self.path, key), default);
    }

    /// The value of a key that is taken but not offered: it is neither suggested nor part of the
    /// reference of what can be set.
    pub fn peek(&mut self, key: &str) -> Option<Setting<'a>> {
        self.known.push((key.to_owned(), false));
        self.setting(key, join(&self.path, key))
    }

    /// A whole number in a range.
    pub fn u64(&mut self, key: &str, default: u64, range: RangeInclusive<u64>) -> u64 {
        self.default(key, || default.to_string());
        self.optional_u64(key, range).unwrap_or(default)
    }

    /// A whole number in a range, if it is written.
    pub fn optional_u64(&mut self, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
        self.get(key)?.u64(range)
    }

    /// Like [`Fields::u64`].
    pub fn u32(&mut self, key: &str, default: u32, range: RangeInclusive<u32>) -> u32 {
        self.default(key, || default.to_string());
        self.optional_u32(key, range).unwrap_or(default)
    }

    /// Like [`Fields::optional_u64`].
    pub fn optional_u32(&mut self, key: &str, range: RangeInclusive<u32>) -> Option<u32> {
        let range = u64::from(*range.start())..=u64::from(*range.end());
        self.optional_u64(key, range)
            .and_then(|value| u32::try_from(value).ok())
    }

    /// Like [`Fields::u64`].
    pub fn usize(&mut self, key: &str, default: usize, range: RangeInclusive<usize>) -> usize {
        self.default(key, || default.to_string());
        let most = |value: usize| u64::try_from(value).unwrap_or(u64::MAX);
        self.optional_u64(key, most(*range.start())..=most(*range.end()))
            .and_then(|value| usize::try_from(value).ok())
            .unwrap_or(default)
    }

    /// A finite number in a range.
    pub fn f64(&mut self, key: &str, default: f64, range: RangeInclusive<f64>) -> f64 {
        self.default(key, || default.to_string());
        self.optional_f64(key, range).unwrap_or(default)
    }

    /// A finite number in a range, if it is written.
    pub fn optional_f64(&mut self, key: &str, range: RangeInclusive<f64>) -> Option<f64> {
        self.get(key)?.f64(range)
    }

    /// A duration, written as seconds in a range.
    pub fn seconds(
        &mut self,
        key: &str,
        default: Duration,
        range: RangeInclusive<f64>,
    ) -> Duration {
        self.default(key, || default.as_secs_f64().to_string());
        self.get(key)
            .and_then(|setting| setting.seconds(range))
            .unwrap_or(default)
    }

    /// A duration, written as days in a range.
    pub fn days(&mut self, key: &str, default: Duration, range: RangeInclusive<f64>) -> Duration {
        self.default(key, || (default.as_secs_f64() / 86_400.0).to_string());
        self.get(key)
            .and_then(|setting| setting.days(range))
            .unwrap_or(default)
    }

    /// `true` or `false`.
    pub fn bool(&mut self, key: &str, default: bool) -> bool {
        self.default(key, || default.to_string());
        self.get(key)
            .and_then(|setting| setting.bool())
            .unwrap_or(default)
    }

    /// A text, which may be empty.
    pub fn text(&mut self, key: &str, default: &str) -> String {
        self.default(key, || default.to_owned());
        self.get(key)
            .and_then(|setting| setting.text())
            .unwrap_or(default)
            .to_owned()
    }

    /// A text that is not empty, if it is written.
    pub fn optional_text(&mut self, key: &str) -> Option<String> {
        self.get(key)?.word().map(str::to_owned)
    }

    /// A text that is not empty; that it is missing is an error.
    pub fn required_text(&mut self, key: &str) -> Option<String> {
        self.require(key)?.word().map(str::to_owned)
    }

    /// The value of a key; that it is missing is an error.
    pub fn require(&mut self, key: &str) -> Option<Setting<'a>> {
        let setting = self.get(key);
        self.problems.note_required(&join(&self.path, key));
        if setting.is_none() {
            self.missing(key, None);
        }
        setting
    }

    /// Reports that a key must be written here.
    pub fn missing(&self, key: &str, hint: Option<&str>) {
        let mut problem = Problem::error(join(&self.path, key), self.place, Kind::Missing);
        problem.hint = hint.map(str::to_owned);
        self.problems.push(problem);
    }

    /// An id of a platform, if it is written; see [`Setting::id`].
    pub fn id(&mut self, key: &str) -> Option<String> {
        self.get(key)?.id()
    }

    /// One of a few words.
    pub fn choice<T: Clone + PartialEq>(
        &mut self,
        key: &str,
        default: T,
        options: &[(&str, T)],
    ) -> T {
        if let Some((word, _)) = options.iter().find(|(_, value)| *value == default) {
            self.default(key, || (*word).to_owned());
        }
        self.get(key)
            .and_then(|setting| setting.choice(options))
            .unwrap_or(default)
    }

    /// The items of a list; none if it is not written.
    pub fn list(&mut self, key: &str) -> Vec<Setting<'a>> {
        self.get(key)
            .and_then(|setting| setting.list())
            .unwrap_or_default()
    }

    /// A list of at most `most` texts that are not empty; none if it is not written.
    pub fn texts(&mut self, key: &str, most: usize) -> Vec<String> {
        let items = self.list(key);
        if items.len() > most {
            self.invalid(key, format!("the list has more than {most} items"), None);
            return Vec::new();
        }
        items
            .iter()
            .filter_map(|item| item.word().map(str::to_owned))
            .collect()
    }

    /// The entries of a map with free keys; none if it is not written.
    pub fn map(&mut self, key: &str) -> Vec<(&'a str, Setting<'a>)> {
        self.get(key)
            .and_then(|setting| setting.map())
            .unwrap_or_default()
    }

    /// A map with known keys; an empty one if it is not written.
    pub fn section(&mut self, key: &str) -> Fields<'a> {
        match self.get(key) {
            Some(setting) => setting.fields(),
            None => Fields::absent_section(&join(&self.path, key), self.place, self.problems),
        }
    }

    /// A secret, written under `key` or in the file that `<key>_file` names. Both at once is an error,
    /// and so is an empty one.
    pub fn secret(&mut self, key: &str) -> Option<Secret> {
        let file_key = format!("{key}_file");
        let (here, file) = (self.get(key), self.get(&file_key));
        match (here, file) {
            (Some(here), Some(file)) if self.problems.describes() => {
                let _ = (here.secret(), file.secret_file());
                None
            }
            (Some(_), Some(file)) => {
                file.invalid(
                    format!("{key} and {file_key} are both set"),
                    Some("keep one of them"),
                );
                None
            }
            (Some(here), None) => here.secret(),
            (None, Some(file)) => file.secret_file(),
            (None, None) => None,
        }
    }

    /// A key that is taken and ignored with a warning, because nothing acts on it yet.
    pub fn absent(&mut self, key: &str, note: &str) {
        let path = join(&self.path, key);
        self.problems.note_shape(&path, || Shape::Ignored);
        self.passed_over(key, Problem::warning, Kind::Note(note.to_owned()));
    }

    /// A key that is refused, because this version does not have what it asks for.
    pub fn refused(&mut self, key: &str, note: &str) {
        self.passed_over(key, Problem::error, Kind::NotAvailable(note.to_owned()));
    }

    fn passed_over(
        &mut self,
        key: &str,
        problem: fn(String, Option<Place>, Kind) -> Problem,
        kind: Kind,
    ) {
        self.known.push((key.to_owned(), false));
        if let Some(entry) = self.entry(key) {
            self.problems
                .push(problem(join(&self.path, key), Some(entry.place), kind));
        }
    }

    /// Reports an error of a key's value, for what only a look at several keys can show. It stands at
    /// the key if that is written, else at this map.
    pub fn invalid(&self, key: &str, what: impl Into<String>, hint: Option<&str>) {
        let place = self.entry(key).map(|entry| entry.node.place).or(self.place);
        let kind = Kind::Invalid(what.into());
        let mut problem = Problem::error(join(&self.path, key), place, kind);
        problem.hint = hint.map(str::to_owned);
        self.problems.push(problem);
    }

    /// Ends the reading: every key that nobody asked for is an error, with the nearest known one.
    pub fn finish(self) {
        let known = || {
            self.known
                .iter()
                .filter(|(_, suggest)| *suggest)
                .map(|(key, _)| key.as_str())
        };
        for entry in self.entries {
            if self.known.iter().any(|(key, _)| *key == entry.key) {
                continue;
            }
            let hint = match nearest(&entry.key, known()) {
                Some(key) => format!("did you mean {key}?"),
                None if known().next().is_none() => "nothing can be set here".to_owned(),
                None => format!("known here: {}", known().collect::<Vec<_>>().join(", ")),
            };
            let path = join(&self.path, &entry.key);
            self.problems
                .push(Problem::error(path, Some(entry.place), Kind::Unknown).hint(hint));
        }
    }
}
