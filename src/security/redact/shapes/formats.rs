//! The maintained formats of keys, tokens and passwords: read from `formats.yaml`.
//!
//! Owns how a format is written and what is looked at in a match. It never knows whose key it is.

use std::sync::OnceLock;

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use regex::Regex;
use serde::Deserialize;

/// The formats as they are written.
const FILE: &str = include_str!("formats.yaml");
/// The letters that belong to a key behind what is enough to know one.
const MORE: &str = "A-Za-z0-9_-";
/// Letters that follow a value which is longer than its format looks at. They are letters of every such value, so of a
/// shorter one nothing follows.
const MORE_OF_VALUE: &str = r"A-Za-z0-9!#%*+./:=?@\^_|~-";
/// Words that stand where a password would.
const NO_SECRETS: [&str; 12] = [
    "password",
    "passwd",
    "example",
    "placeholder",
    "redacted",
    "changeme",
    "undefined",
    "required",
    "optional",
    "your_",
    "your-",
    "xxxx",
];

/// A format, read.
#[derive(Debug)]
pub(super) struct Format {
    /// The whole expression.
    pub(super) regex: String,
    /// What it begins with.
    pub(super) markers: Vec<String>,
    /// The bytes that belong to a match and follow it.
    pub(super) more: [bool; 256],
    /// Everything up to this is swallowed.
    pub(super) until: Option<String>,
    /// It begins at a word's begin.
    pub(super) at_word: bool,
    /// The automaton reads what is not ASCII byte by byte, and a match is read again.
    pub(super) by_bytes: bool,
    /// Finds the part that is replaced, if that is not all of it.
    value: Option<Part>,
    check: Check,
}

/// The part of a match that is replaced. Compiled when there is a first match: all of them together would take
/// several megabytes, and most are never needed.
#[derive(Debug)]
struct Part {
    expression: String,
    /// For all of a match.
    whole: OnceLock<Option<Regex>>,
    /// For the begin of one that is not all ASCII.
    begin: OnceLock<Option<Regex>>,
}

/// Where a match ends, and what of it is replaced.
struct Found {
    end: usize,
    value: std::ops::Range<usize>,
}

impl Part {
    fn new(regex: &str) -> Self {
        Self {
            expression: format!("\\A(?:{regex})"),
            whole: OnceLock::new(),
            begin: OnceLock::new(),
        }
    }

    fn find(&self, matched: &str) -> Option<Found> {
        let whole = self
            .whole
            .get_or_init(|| Regex::new(&format!("{}\\z", self.expression)).ok());
        let begin = || {
            let begin = self.begin.get_or_init(|| Regex::new(&self.expression).ok());
            begin.as_ref()?.captures(matched)
        };
        let captures = match whole.as_ref()?.captures(matched) {
            None if !matched.is_ascii() => begin()?,
            found => found?,
        };
        Some(Found {
            end: captures.get(0)?.end(),
            value: captures.get(1)?.range(),
        })
    }
}

/// What is looked at in what would be replaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Check {
    /// Nothing.
    #[default]
    None,
    /// A digit, or upper and lower case.
    Mixed,
    /// It reads like a chosen password, and not like code or prose.
    Assigned,
    /// The same, with at least three kinds of characters.
    Strong,
    /// Upper and lower case and digits, and no readable text in Base64.
    Random,
}

#[derive(Deserialize)]
struct Written {
    formats: Vec<WrittenFormat>,
}

#[derive(Deserialize)]
struct WrittenFormat {
    #[serde(rename = "name")]
    _name: String,
    #[serde(default)]
    marker: Vec<String>,
    body: String,
    more: Option<String>,
    until: Option<String>,
    #[serde(default)]
    value: bool,
    #[serde(default)]
    check: Check,
}

/// All formats, in the order of the file.
///
/// # Errors
/// What is wrong with the file.
pub(super) fn all() -> Result<Vec<Format>, String> {
    let written: Written = serde_saphyr::from_str(FILE).map_err(|error| error.to_string())?;
    written.formats.into_iter().map(Format::read).collect()
}

impl Format {
    fn read(written: WrittenFormat) -> Result<Self, String> {
        let escaped: Vec<String> = written
            .marker
            .iter()
            .map(|marker| regex_syntax::escape(marker))
            .collect();
        let regex = match escaped.as_slice() {
            [] => written.body,
            markers => format!("(?:{}){}", markers.join("|"), written.body),
        };
        let value = written.value.then(|| Part::new(&regex));
        let more = match (&written.more, written.value) {
            (Some(more), _) => more.as_str(),
            (None, false) => MORE,
            (None, true) => MORE_OF_VALUE,
        };
        Ok(Self {
            by_bytes: value.is_some(),
            value,
            regex,
            markers: written.marker,
            more: class(more),
            until: written.until,
            at_word: true,
            check: written.check,
        })
    }

    /// A pattern of the operator: replaced as it is written.
    pub(super) fn as_written(regex: &str) -> Self {
        Self {
            regex: regex.to_owned(),
            markers: Vec::new(),
            more: [false; 256],
            until: None,
            at_word: false,
            by_bytes: false,
            value: None,
            check: Check::None,
        }
    }

    /// Whether the part that is replaced can be looked for.
    #[cfg(test)]
    pub(super) fn compiles(&self) -> bool {
        let part = self.value.as_ref();
        part.is_none_or(|part| Regex::new(&part.expression).is_ok())
    }

    /// The part of a match that is replaced; `None` if it is no match after all. `next` is what follows it.
    pub(super) fn judge(&self, matched: &str, next: Option<u8>) -> Option<std::ops::Range<usize>> {
        let (range, next) = match &self.value {
            Some(part) => {
                let found = part.find(matched)?;
                let within = matched.as_bytes().get(found.end).copied();
                (found.value, within.or(next))
            }
            None => (0..matched.len(), next),
        };
        let value = matched.get(range.clone())?;
        let before = range
            .start
            .checked_sub(1)
            .and_then(|at| matched.as_bytes().get(at));
        let holds = match self.check {
            Check::None => true,
            Check::Mixed => is_mixed(value),
            Check::Random => is_random(value),
            Check::Assigned => {
                let quoted = matches!(before, Some(b'"' | b'\'' | b'`' | b';'));
                is_chosen(value, quoted, next)
            }
            Check::Strong => Kinds::of(value).count() > 2 && is_chosen(value, false, next),
        };
        holds.then_some(range)
    }
}

/// The bytes of a class such as `A-Za-z0-9_-`; a dash at the end is one.
fn class(text: &str) -> [bool; 256] {
    let mut class = [false; 256];
    let mut set = |byte: u8| {
        if let Some(entry) = class.get_mut(usize::from(byte)) {
            *entry = true;
        }
    };
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        if let [b'-', last, behind @ ..] = after {
            (*first..=*last).for_each(&mut set);
            rest = behind;
        } else {
            set(*first);
            rest = after;
        }
    }
    class
}

/// Kinds of characters in a value.
#[derive(Debug, Clone, Copy, Default)]
struct Kinds {
    upper: usize,
    lower: usize,
    digit: usize,
    sign: usize,
}

impl Kinds {
    /// How many kinds there are.
    fn count(self) -> usize {
        let all = [self.upper, self.lower, self.digit, self.sign];
        all.into_iter().filter(|kind| *kind > 0).count()
    }

    fn of(value: &str) -> Self {
        let mut kinds = Self::default();
        for letter in value.chars() {
            match letter {
                'A'..='Z' => kinds.upper += 1,
                '0'..='9' => kinds.digit += 1,
                '!' | '@' | '#' | '^' | '*' | '?' | '~' | '+' | '\\' | '%' | '$' => kinds.sign += 1,
                other if other.is_alphabetic() => kinds.lower += 1,
                _ => {}
            }
        }
        kinds
    }
}

fn is_mixed(value: &str) -> bool {
    let kinds = Kinds::of(value);
    kinds.digit > 0 || (kinds.upper > 0 && kinds.lower > 0)
}

/// Random bytes in Base64, or what cannot be told from them.
fn is_random(value: &str) -> bool {
    let kinds = Kinds::of(value);
    // A name in a program has fewer changes of case, and digits at its end.
    let random = kinds.digit > 0 && changes(value) * 3 >= value.len();
    kinds.upper > 1 && kinds.lower > 1 && random && !is_text(value)
}

/// How often the kind of character changes.
fn changes(value: &str) -> usize {
    let pairs = value.as_bytes().windows(2);
    pairs.filter(|pair| kind(pair[0]) != kind(pair[1])).count()
}

fn kind(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' => 0,
        b'a'..=b'z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    }
}

/// Says something when it is decoded.
fn is_text(value: &str) -> bool {
    let value = value.trim_end_matches('=');
    let whole = value.get(..value.len() / 4 * 4).unwrap_or_default();
    let decoded = STANDARD_NO_PAD.decode(whole).unwrap_or_default();
    let plain = decoded
        .iter()
        .filter(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace() || **byte >= 0x80);
    let shown = decoded
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric() || **byte == b' ')
        .count();
    !decoded.is_empty() && plain.count() == decoded.len() && shown * 2 >= decoded.len()
}

/// Reads like a password that somebody chose or got, and not like a name, a call or a word.
fn is_chosen(value: &str, quoted: bool, next: Option<u8>) -> bool {
    let kinds = Kinds::of(value);
    let lower = value.to_ascii_lowercase();
    let is_code = matches!(next, Some(b'(' | b'[' | b'.' | b'{' | b'$'))
        || ["::", "->", "://", "()", ".get", "self.", "this."]
            .iter()
            .any(|mark| value.contains(mark));
    if is_code || NO_SECRETS.iter().any(|word| lower.contains(word)) || value.len() < 5 {
        return false;
    }
    let letters = kinds.upper + kinds.lower;
    if quoted {
        return kinds.digit > 0 && letters > 0 || kinds.sign > 0 && letters > 3;
    }
    // `password2` is a name; `pa55word` and `IhqSb1Gg` are not.
    let stem = value.trim_end_matches(|last: char| {
        last.is_ascii_digit() || last == '.' || last == '!' || last == '?'
    });
    let inside = Kinds::of(stem);
    let path = value.contains('/') && inside.digit + inside.sign < 3;
    let dotted = value.contains('.') && inside.sign == 0;
    let snake = value.contains('_') && kinds.upper == 0 && inside.sign == 0;
    let constant = kinds.lower == 0 && inside.sign == 0 && value.contains('_');
    let telling = inside.digit > 0 || inside.sign > 0 || changes(value) * 2 >= value.len();
    telling && letters > 0 && !path && !dotted && !snake && !constant
}
