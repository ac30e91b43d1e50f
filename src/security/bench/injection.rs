//! What the rules against injection find: recall, precision and false positives of each mode.
//!
//! Owns the counting. It never keeps a text.

use std::{collections::BTreeMap, fmt::Write as _};

use super::percent;
use crate::security::{
    config::{Mode, Security},
    injection::{Detector, Severity},
};

/// What was counted of one kind of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) all: usize,
    /// Found by strict, moderate and permissive.
    pub(super) found: [usize; 3],
}

impl Count {
    fn add(&mut self, worst: Option<Severity>) {
        self.all += 1;
        for ((_, mode), found) in Mode::WORDS.iter().zip(&mut self.found) {
            *found += usize::from(worst.is_some_and(|worst| worst >= mode.least()));
        }
    }
}

/// The measurement.
#[derive(Debug)]
pub(super) struct Injection {
    detector: Detector,
    pub(super) attacks: Count,
    pub(super) benign: Count,
    /// For each rule, in how many attacks and in how many benign texts it was found.
    rules: BTreeMap<String, [usize; 2]>,
}

impl Injection {
    pub(super) fn new(security: &Security) -> Self {
        let patterns = security.injection.patterns.iter();
        Self {
            detector: Detector::new(patterns.map(|pattern| pattern.0.clone()), Severity::Low),
            attacks: Count::default(),
            benign: Count::default(),
            rules: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, text: &str, attack: bool) {
        let mut found = self.detector.find(text);
        let worst = found.iter().map(|finding| finding.severity).max();
        let count = if attack {
            &mut self.attacks
        } else {
            &mut self.benign
        };
        count.add(worst);
        found.sort_by(|one, other| one.rule.cmp(&other.rule));
        found.dedup_by(|one, other| one.rule == other.rule);
        for finding in found {
            let counts = self.rules.entry(finding.rule.to_string()).or_default();
            counts[usize::from(!attack)] += 1;
        }
    }

    /// The table; `None` if nothing was measured.
    pub(super) fn table(&self) -> Option<String> {
        if self.attacks.all + self.benign.all == 0 {
            return None;
        }
        let mut out = format!(
            "{} attacks, {} benign\n\n",
            self.attacks.all, self.benign.all
        );
        out.push_str("mode        recall  precision  false positives\n");
        for (index, (name, _)) in Mode::WORDS.iter().enumerate() {
            let (right, wrong) = (self.attacks.found[index], self.benign.found[index]);
            let recall = percent(right, self.attacks.all);
            let precision = percent(right, right + wrong);
            let mistaken = percent(wrong, self.benign.all);
            // Writing to a string does not fail.
            let _ = writeln!(
                out,
                "{name:<10} {recall:>7}  {precision:>9}  {mistaken:>7} ({wrong})"
            );
        }
        if !self.rules.is_empty() {
            out.push_str("\nrule                         attacks  benign\n");
            for (rule, [attacks, benign]) in &self.rules {
                let _ = writeln!(out, "{rule:<28} {attacks:>7}  {benign:>6}");
            }
        }
        Some(out.trim_end().to_owned())
    }
}
