//! What is taken out of answers: how many of the named values, and how often something else.
//!
//! Owns the counting. A line with a `value` counts as found if the value is gone; a line without one is ordinary,
//! and counts as mistaken if anything in it is replaced. It never keeps a line.

use std::{collections::BTreeMap, fmt::Write as _};

use super::percent;
use crate::security::{config::Security, redact::Redactor};

/// The measurement.
#[derive(Debug)]
pub(super) struct Secrets {
    redactor: Redactor,
    /// For each kind, how many there were and how many were found.
    kinds: BTreeMap<String, [usize; 2]>,
    ordinary: usize,
    mistaken: usize,
}

impl Secrets {
    pub(super) fn new(security: &Security) -> Result<Self, String> {
        Ok(Self {
            redactor: Redactor::seeking([""; 0], &security.sought_in_answers()?).0,
            kinds: BTreeMap::new(),
            ordinary: 0,
            mistaken: 0,
        })
    }

    pub(super) fn add(&mut self, line: &str, value: Option<&str>, kind: String) {
        let left = self.redactor.redact(line);
        match value {
            Some(value) => {
                let [all, found] = self.kinds.entry(kind).or_default();
                *all += 1;
                *found += usize::from(!left.contains(value));
            }
            None => {
                self.ordinary += 1;
                self.mistaken += usize::from(left != line);
            }
        }
    }

    /// How many values there were, and how many were found.
    pub(super) fn found(&self) -> (usize, usize) {
        let sum = |index: usize| self.kinds.values().map(|counts| counts[index]).sum();
        (sum(0), sum(1))
    }

    /// Ordinary lines, and those in which something was replaced.
    pub(super) fn mistaken(&self) -> (usize, usize) {
        (self.ordinary, self.mistaken)
    }

    /// The table; `None` if nothing was measured.
    pub(super) fn table(&self) -> Option<String> {
        let (all, found) = self.found();
        let (ordinary, mistaken) = self.mistaken();
        if all + ordinary == 0 {
            return None;
        }
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = writeln!(out, "{all} secrets, {found} found: {}", percent(found, all));
        let share = percent(mistaken, ordinary);
        let _ = writeln!(
            out,
            "{ordinary} ordinary lines, {mistaken} mistaken: {share}"
        );
        if all > 0 {
            out.push_str("\nkind                                       all   found\n");
            for (kind, [all, found]) in &self.kinds {
                let _ = writeln!(out, "{kind:<40} {all:>5}  {found:>6}");
            }
        }
        Some(out.trim_end().to_owned())
    }
}
