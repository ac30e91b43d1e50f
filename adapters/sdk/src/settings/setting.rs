//! One value of the configuration with its path: read it as what it should be.
//!
//! Owns the conversions of a single node. Each returns `None` after it has reported what is wrong, and
//! in silence for a value that was reported before.

use std::{fmt::Display, ops::RangeInclusive, time::Duration};

use super::{
    fields::Fields,
    nearest::nearest,
    node::{NOTHING, Node, Place, Scalar, Value, join},
    problem::{Kind, Problem, Problems},
    reference::Shape,
    scalar::{self, Refused},
    secret::Secret,
};

/// One value and where it belongs.
#[derive(Debug, Clone)]
pub struct Setting<'a> {
    node: &'a Node,
    path: String,
    problems: &'a Problems,
}

impl<'a> Setting<'a> {
    /// The value at `path`.
    #[must_use]
    pub fn new(node: &'a Node, path: String, problems: &'a Problems) -> Self {
        Self {
            node,
            path,
            problems,
        }
    }

    /// The path of the key.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value as it stands.
    #[must_use]
    pub fn node(&self) -> &'a Node {
        self.node
    }

    /// Nothing is read: the readers run to describe what they would take. A reader that takes a value in
    /// one of several ways then tries them all.
    #[must_use]
    pub fn describes(&self) -> bool {
        self.problems.describes()
    }

    fn takes(&self, shape: impl FnOnce() -> Shape) {
        self.problems.note_shape(&self.path, shape);
    }

    /// The value is a map.
    #[must_use]
    pub fn is_map(&self) -> bool {
        matches!(self.node.value, Value::Map(_))
    }

    /// Where the value stands.
    #[must_use]
    pub fn place(&self) -> Place {
        self.node.place
    }

    /// Reports an error of this value. `what` is a lower-case fragment that tells no secret.
    pub fn invalid(&self, what: impl Into<String>, hint: Option<&str>) {
        self.report(Kind::Invalid(what.into()), hint);
    }

    /// Reports a warning about this value.
    pub fn warn(&self, what: impl Into<String>) {
        let kind = Kind::Note(what.into());
        self.problems.push(Problem::warning(
            self.path.clone(),
            Some(self.node.place),
            kind,
        ));
    }

    /// Reports that this value names something which this version does not have.
    pub fn not_available(&self, note: impl Into<String>) {
        self.report(Kind::NotAvailable(note.into()), None);
    }

    fn report(&self, kind: Kind, hint: Option<&str>) {
        let mut problem = Problem::error(self.path.clone(), Some(self.node.place), kind);
        problem.hint = hint.map(str::to_owned);
        self.problems.push(problem);
    }

    /// The scalar, or a report that there is none.
    fn scalar(&self, expected: &'static str) -> Option<&'a Scalar> {
        match &self.node.value {
            Value::Scalar(scalar) => return Some(scalar),
            Value::Failed => {}
            Value::Null => self.report(Kind::Missing, Some("write a value or remove the key")),
            Value::List(_) | Value::Map(_) => {
                self.report(
                    Kind::WrongType {
                        expected,
                        found: self.node.describe().into(),
                    },
                    None,
                );
            }
        }
        None
    }

    fn read<T>(
        &self,
        expected: &'static str,
        read: impl Fn(&Scalar) -> Result<T, Refused>,
    ) -> Option<T> {
        let scalar = self.scalar(expected)?;
        match read(scalar) {
            Ok(value) => Some(value),
            Err(Refused { expected, hint }) => {
                let found = scalar::shown(scalar);
                self.report(Kind::WrongType { expected, found }, hint);
                None
            }
        }
    }

    fn within<T: PartialOrd + Display>(
        &self,
        value: T,
        range: &RangeInclusive<T>,
        unit: &'static str,
    ) -> Option<T> {
        if range.contains(&value) {
            return Some(value);
        }
        let found = match &self.node.value {
            Value::Scalar(scalar) => scalar::shown(scalar),
            _ => value.to_string(),
        };
        let (least, most) = (range.start().to_string(), range.end().to_string());
        self.report(
            Kind::OutOfRange {
                found,
                least,
                most,
                unit,
            },
            None,
        );
        None
    }

    /// A whole number in a range.
    #[must_use]
    pub fn u64(&self, range: RangeInclusive<u64>) -> Option<u64> {
        self.takes(|| Shape::Whole {
            least: *range.start(),
            most: *range.end(),
        });
        let value = self.read("a whole number", |s| scalar::whole(&s.text))?;
        self.within(value, &range, "")
    }

    /// A finite number in a range.
    #[must_use]
    pub fn f64(&self, range: RangeInclusive<f64>) -> Option<f64> {
        self.takes(|| decimal(&range, ""));
        let value = self.read("a number", |s| scalar::decimal(&s.text))?;
        self.within(value, &range, "")
    }

    /// A duration, written as a number of seconds in a range.
    #[must_use]
    pub fn seconds(&self, range: RangeInclusive<f64>) -> Option<Duration> {
        self.duration(range, 1.0, " seconds")
    }

    /// A duration, written as a number of days in a range.
    #[must_use]
    pub fn days(&self, range: RangeInclusive<f64>) -> Option<Duration> {
        self.duration(range, 86_400.0, " days")
    }

    fn duration(
        &self,
        range: RangeInclusive<f64>,
        seconds: f64,
        unit: &'static str,
    ) -> Option<Duration> {
        self.takes(|| decimal(&range, unit.trim_start()));
        let value = self.read("a number", |s| scalar::decimal(&s.text))?;
        let value = self.within(value, &range, unit)?;
        Duration::try_from_secs_f64(value * seconds).ok()
    }

    /// `true` or `false`.
    #[must_use]
    pub fn bool(&self) -> Option<bool> {
        self.takes(|| Shape::Truth);
        self.read("true or false", |s| scalar::truth(&s.text))
    }

    /// A text, which may be empty; a number is taken as it was written.
    #[must_use]
    pub fn text(&self) -> Option<&'a str> {
        self.takes(|| Shape::Text { empty: true });
        self.scalar("a text").map(|scalar| scalar.text.as_str())
    }

    /// A text that is not empty.
    #[must_use]
    pub fn word(&self) -> Option<&'a str> {
        self.takes(|| Shape::Text { empty: false });
        self.word_of()
    }

    fn word_of(&self) -> Option<&'a str> {
        let scalar = self.scalar("a text")?;
        if !scalar.text.trim().is_empty() {
            return Some(&scalar.text);
        }
        self.report_empty(scalar);
        None
    }

    /// An id of a platform: a whole number without loss, or a text; see the module's scalar rules.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        self.takes(|| Shape::Id);
        self.read("an id", scalar::id)
    }

    /// A secret that is written here. It must not be empty; the value is never shown.
    #[must_use]
    pub fn secret(&self) -> Option<Secret> {
        self.takes(|| Shape::Secret);
        let scalar = self.scalar("a text")?;
        if scalar.text.trim().is_empty() {
            self.report_empty(scalar);
            return None;
        }
        Some(self.checked(Secret::new(&scalar.text)))
    }

    /// A secret in the file that is named here. One line break at its end is cut off.
    #[must_use]
    pub fn secret_file(&self) -> Option<Secret> {
        self.takes(|| Shape::SecretFile);
        let file = self.word_of()?;
        let text = match self.problems.read_file(file) {
            Ok(text) => text,
            Err(reason) => {
                self.invalid(format!("the file cannot be read: {reason}"), None);
                return None;
            }
        };
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.trim().is_empty() {
            self.invalid("the file is empty", Some("put the secret into it"));
            return None;
        }
        Some(self.checked(Secret::new(line)))
    }

    fn checked(&self, secret: Secret) -> Secret {
        if secret.is_short() {
            self.warn(format!(
                "the secret has fewer than {} characters: it is easy to guess and is not \
                 recognised where texts are redacted",
                Secret::SHORT
            ));
        }
        self.problems.keep_secret(self.path.clone(), secret.clone());
        secret
    }

    fn report_empty(&self, scalar: &Scalar) {
        match &scalar.variable {
            Some(name) => self.invalid(
                format!("the value is empty because the variable {name} is"),
                Some(&format!("set {name}")),
            ),
            None => self.report(Kind::Missing, Some("write a value or remove the key")),
        }
    }

    /// One of a few words.
    #[must_use]
    pub fn choice<T: Clone>(&self, options: &[(&str, T)]) -> Option<T> {
        self.choice_or_unavailable(options, &[])
    }

    /// One of a few words; `unavailable` are words that this version does not have, each with a note.
    #[must_use]
    pub fn choice_or_unavailable<T: Clone>(
        &self,
        options: &[(&str, T)],
        unavailable: &[(&str, &str)],
    ) -> Option<T> {
        self.takes(|| Shape::Choice(options.iter().map(|(word, _)| (*word).to_owned()).collect()));
        let scalar = self.scalar("a word")?;
        if let Some((_, value)) = options.iter().find(|(word, _)| *word == scalar.text) {
            return Some(value.clone());
        }
        if let Some((_, note)) = unavailable.iter().find(|(word, _)| *word == scalar.text) {
            self.not_available(*note);
            return None;
        }
        let words = options.iter().map(|(word, _)| *word);
        let hint = nearest(&scalar.text, words.clone()).map(|word| format!("did you mean {word}?"));
        let choices = words.map(str::to_owned).collect();
        self.report(
            Kind::NotAChoice {
                found: scalar::shown(scalar),
                choices,
            },
            hint.as_deref(),
        );
        None
    }

    /// The items of a list; nothing at all is an empty list.
    #[must_use]
    pub fn list(&self) -> Option<Vec<Self>> {
        if self.describes() {
            self.takes(|| Shape::List);
            let item = Self::new(&NOTHING, format!("{}[]", self.path), self.problems);
            return Some(vec![item]);
        }
        let items = match &self.node.value {
            Value::List(items) => items.as_slice(),
            Value::Null => &[],
            _ => return self.wrong("a list"),
        };
        let at = |(i, node)| Self::new(node, format!("{}[{i}]", self.path), self.problems);
        Some(items.iter().enumerate().map(at).collect())
    }

    /// The entries of a map with free keys; nothing at all is an empty map.
    #[must_use]
    pub fn map(&self) -> Option<Vec<(&'a str, Self)>> {
        if self.describes() {
            self.takes(|| Shape::Map);
            let entry = Self::new(&NOTHING, format!("{}.*", self.path), self.problems);
            return Some(vec![("*", entry)]);
        }
        let entries = match &self.node.value {
            Value::Map(entries) => entries.as_slice(),
            Value::Null => &[],
            _ => return self.wrong("a map"),
        };
        let at = |entry: &'a super::node::Entry| {
            let path = join(&self.path, &entry.key);
            (
                entry.key.as_str(),
                Self::new(&entry.node, path, self.problems),
            )
        };
        Some(entries.iter().map(at).collect())
    }

    /// Like [`Setting::map`], for keys of which the reader takes only `names`. It still has to look at each.
    #[must_use]
    pub fn map_of(&self, names: &[&'a str]) -> Option<Vec<(&'a str, Self)>> {
        if !self.describes() {
            return self.map();
        }
        self.takes(|| Shape::Section);
        let entry = |name: &&'a str| {
            let path = join(&self.path, name);
            (*name, Self::new(&NOTHING, path, self.problems))
        };
        Some(names.iter().map(entry).collect())
    }

    /// The value as a map with known keys.
    pub fn fields(&self) -> Fields<'a> {
        self.takes(|| Shape::Section);
        Fields::new(self.node, &self.path, self.problems)
    }

    fn wrong<T>(&self, expected: &'static str) -> Option<T> {
        let found = match &self.node.value {
            Value::Failed => return None,
            Value::Scalar(scalar) => scalar::shown(scalar),
            _ => self.node.describe().to_owned(),
        };
        self.report(Kind::WrongType { expected, found }, None);
        None
    }
}

fn decimal(range: &RangeInclusive<f64>, unit: &'static str) -> Shape {
    Shape::Decimal {
        least: *range.start(),
        most: *range.end(),
        unit,
    }
}
