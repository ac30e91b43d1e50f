//! The gateway's own rules: read from `rules.yaml`, compiled once, looked for in one pass.
//!
//! Owns how a rule is written and how it is found: the words with which rules begin are one automaton, and only
//! behind such a word the rest of that rule is tried, for a bounded stretch. Time is linear in the text.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    ops::Range,
    sync::{Arc, OnceLock},
};

use aho_corasick::{
    Anchored as At,
    automaton::{Automaton, StateID},
    nfa::contiguous::NFA,
};
use regex_automata::{Anchored, Input, meta::Regex};
use serde::Deserialize;

use super::{Severity, disguise};
use crate::security::normalise::Normalised;

/// The rules as they are written.
const FILE: &str = include_str!("rules.yaml");
/// How far a rule may reach beyond its first words, in bytes.
const REACH: usize = 400;

/// One rule.
#[derive(Debug)]
pub(super) struct Rule {
    /// Its name.
    pub(super) name: Arc<str>,
    /// How sure a match is.
    pub(super) severity: Severity,
    /// It begins a line.
    line: bool,
    /// What follows the first words; `None` for nothing.
    then: Option<Regex>,
}

/// All rules.
#[derive(Debug)]
pub(super) struct Rules {
    rules: Vec<Rule>,
    starts: Option<NFA>,
    /// For each of the words in `starts`, whose it is.
    targets: Vec<Vec<Target>>,
}

/// Whose a word in the automaton is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// The beginning of a rule, by its place in the list.
    Rule(usize),
    /// Shows that the text is written in a simple cipher.
    Cipher(disguise::Cipher),
}

/// The file.
#[derive(Deserialize)]
struct Written {
    shapes: BTreeMap<String, String>,
    words: BTreeMap<String, Vec<String>>,
    rules: Vec<WrittenRule>,
}

#[derive(Deserialize)]
struct WrittenRule {
    name: String,
    severity: Severity,
    #[serde(default)]
    line: bool,
    starts: Vec<String>,
    then: String,
}

impl Rules {
    /// The rules, compiled at the first use: a start does not wait for them.
    pub(super) fn own() -> &'static Self {
        static OWN: OnceLock<Rules> = OnceLock::new();
        OWN.get_or_init(|| match Self::read(FILE) {
            Ok(rules) => rules,
            Err(fault) => {
                // The file is part of the program and a test reads it: this cannot happen.
                tracing::error!(fault, "the rules against injection cannot be used");
                Self::empty()
            }
        })
    }

    fn empty() -> Self {
        Self {
            rules: Vec::new(),
            starts: None,
            targets: Vec::new(),
        }
    }

    /// Reads and compiles rules.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(super) fn read(file: &str) -> Result<Self, String> {
        let written: Written = serde_saphyr::from_str(file).map_err(|error| error.to_string())?;
        let mut words: HashMap<String, Vec<Target>> = HashMap::new();
        let mut rules = Vec::new();
        for rule in &written.rules {
            let target = Target::Rule(rules.len());
            for start in written.starts(rule)? {
                words.entry(start.to_lowercase()).or_default().push(target);
            }
            let then = match rule.then.as_str() {
                "" => None,
                then => {
                    let regex = Regex::new(&written.expand(then));
                    Some(regex.map_err(|error| format!("{}: {error}", rule.name))?)
                }
            };
            rules.push(Rule {
                name: rule.name.as_str().into(),
                severity: rule.severity,
                line: rule.line,
                then,
            });
        }
        for (word, cipher) in disguise::words() {
            words.entry(word).or_default().push(Target::Cipher(cipher));
        }
        let (words, targets): (Vec<String>, Vec<Vec<Target>>) = words.into_iter().unzip();
        let starts = NFA::new(words).map_err(|error| error.to_string())?;
        Ok(Self {
            rules,
            starts: Some(starts),
            targets,
        })
    }

    /// What is found of rules that are at least so severe, and the simple ciphers in which the text may be
    /// written, each once.
    pub(super) fn find<'r>(
        &'r self,
        form: &Normalised,
        least: Severity,
        mut found: impl FnMut(&'r Rule, Range<usize>),
    ) -> Vec<disguise::Cipher> {
        let text = form.text();
        let mut ciphers = Vec::new();
        // Where the last match of each rule ended, so that none is told twice.
        let mut ends = vec![0; self.rules.len()];
        self.begins(text, |target, at| {
            let index = match target {
                Target::Rule(index) => index,
                Target::Cipher(cipher) => {
                    if !ciphers.contains(&cipher) {
                        ciphers.push(cipher);
                    }
                    return;
                }
            };
            let Some(rule) = self.rules.get(index).filter(|rule| rule.severity >= least) else {
                return;
            };
            let over = ends.get(index).is_none_or(|end| at.start < *end);
            if over || (rule.line && !form.begins_line(at.start)) {
                return;
            }
            if let Some(end) = rule.end(text, at.end) {
                if let Some(last) = ends.get_mut(index) {
                    *last = end;
                }
                found(rule, at.start..end);
            }
        });
        ciphers
    }

    /// Every whole word of the automaton in a text. The automaton is only walked from where a word may begin, and
    /// leaves most words after a letter or two.
    fn begins(&self, text: &str, mut found: impl FnMut(Target, Range<usize>)) {
        let Some(starts) = &self.starts else {
            return;
        };
        let Ok(root) = starts.start_state(At::Yes) else {
            return;
        };
        let bytes = text.as_bytes();
        let mut before = b' ';
        for (at, byte) in bytes.iter().enumerate() {
            if !is_inside(std::mem::replace(&mut before, *byte), *byte) {
                self.walk(starts, root, bytes, at, &mut found);
            }
        }
    }

    /// The words of the automaton that begin at a place.
    fn walk(
        &self,
        starts: &NFA,
        root: StateID,
        bytes: &[u8],
        at: usize,
        found: &mut impl FnMut(Target, Range<usize>),
    ) {
        let mut state = root;
        for (end, byte) in bytes.iter().enumerate().skip(at) {
            state = starts.next_state(At::Yes, state, *byte);
            if starts.is_dead(state) {
                return;
            }
            if starts.is_match(state) && is_whole(bytes, end + 1) {
                for index in 0..starts.match_len(state) {
                    let word = starts.match_pattern(state, index).as_usize();
                    for target in self.targets.get(word).into_iter().flatten() {
                        found(*target, at..end + 1);
                    }
                }
            }
        }
    }
}

impl Rule {
    /// Where the rule ends whose first words end at a place; `None` if the rest is not there.
    fn end(&self, text: &str, from: usize) -> Option<usize> {
        let Some(then) = &self.then else {
            return Some(from);
        };
        let mut reach = (from + REACH).min(text.len());
        while !text.is_char_boundary(reach) {
            reach -= 1;
        }
        let input = Input::new(text).span(from..reach).anchored(Anchored::Yes);
        then.search(&input).map(|found| found.end())
    }
}

/// Whether a byte goes on with what the one before belongs to: a word of Latin letters, or one character.
fn is_inside(before: u8, byte: u8) -> bool {
    (before.is_ascii_alphanumeric() && byte.is_ascii_alphanumeric())
        || matches!(byte, 0x80..=0xbf | b' ')
}

/// Whether a word that ends at a place is not part of a longer one of Latin letters.
fn is_whole(bytes: &[u8], end: usize) -> bool {
    let letter = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_alphanumeric)
    };
    !(letter(end.checked_sub(1)) && letter(Some(end)))
}

impl Written {
    /// The first words of a rule, groups taken apart.
    fn starts(&self, rule: &WrittenRule) -> Result<Vec<String>, String> {
        let mut starts = Vec::new();
        for start in &rule.starts {
            match start
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'))
            {
                Some(group) => {
                    let words = self.words.get(group);
                    let words = words.ok_or_else(|| format!("{}: no words {group}", rule.name))?;
                    starts.extend(words.iter().cloned());
                }
                None => starts.push(start.clone()),
            }
        }
        Ok(starts)
    }

    /// An expression with the shapes and words in it written out.
    fn expand(&self, then: &str) -> String {
        let mut out = then.to_owned();
        for (name, shape) in &self.shapes {
            out = out.replace(&format!("{{{name}}}"), shape);
        }
        for (name, words) in &self.words {
            let mut words: Vec<&String> = words.iter().collect();
            // The longest first: the first that fits is taken.
            words.sort_by_key(|word| std::cmp::Reverse(word.len()));
            let mut group = String::new();
            for word in words {
                let mark = if group.is_empty() { "" } else { "|" };
                // Writing to a string does not fail.
                let _ = write!(group, "{mark}{}", regex_syntax::escape(word));
            }
            out = out.replace(&format!("{{{name}}}"), &group);
        }
        // The end of a word of ASCII letters: an automaton cannot tell others.
        out.replace("\\b", "(?-u:\\b)")
    }
}
