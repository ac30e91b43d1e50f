//! What a model thought before it answered, as people are shown it.
//!
//! Owns the filter, the bound and the look of it: a quote in front of the answer. It is never part of the answer, so it
//! reaches no history, and it holds nothing that the filter of answers takes out.

use std::sync::Arc;

use super::ending::Ending;
use crate::{
    i18n::{Language, mind::Mind},
    security::redact::{Filter, Redactor},
};

/// Most characters that are shown, of all steps of a turn together.
const MOST: usize = 2_000;
/// Most bytes that are kept: more than is shown, so that what a reload takes out is whole here.
const KEPT: usize = 64 * 1024;

/// The thoughts of a turn.
pub(super) struct Thoughts {
    redactor: Arc<Redactor>,
    filter: Filter,
    language: Language,
    /// Those of the steps before.
    before: String,
    /// Those of this step so far.
    now: String,
    piece: String,
    /// What was replaced in the steps before: secrets, words of the blocklist.
    replaced: (bool, bool),
}

/// Thoughts that are whole.
pub(super) struct Shown {
    /// Markdown; empty for none.
    pub(super) text: String,
    /// A secret was replaced.
    pub(super) secrets: bool,
    /// A word of the blocklist was replaced.
    pub(super) words: bool,
}

impl Thoughts {
    /// None so far.
    pub(super) fn new(redactor: &Arc<Redactor>, language: Language) -> Self {
        Self {
            filter: redactor.filter(),
            redactor: Arc::clone(redactor),
            language,
            before: String::new(),
            now: String::new(),
            piece: String::new(),
            replaced: (false, false),
        }
    }

    /// The model is asked anew: what it thought in this step counts no more.
    pub(super) fn restart(&mut self) {
        self.filter = self.redactor.filter();
        self.now.clear();
    }

    /// The model thinks on.
    pub(super) fn push(&mut self, delta: &str) {
        self.piece.clear();
        self.filter.push(delta, &mut self.piece);
        self.keep();
    }

    /// The answer of a step is whole.
    pub(super) fn end_step(&mut self) {
        self.piece.clear();
        self.filter.finish(&mut self.piece);
        self.keep();
        self.replaced.0 |= self.filter.has_replaced();
        self.replaced.1 |= self.filter.has_filtered();
        if !self.now.trim().is_empty() {
            let gap = if self.before.is_empty() { "" } else { "\n\n" };
            self.before.push_str(gap);
            self.before.push_str(self.now.trim());
        }
        self.restart();
    }

    fn keep(&mut self) {
        if self.before.len() + self.now.len() < KEPT {
            self.now.push_str(&self.piece);
        }
    }

    /// What is shown of them so far; empty for nothing.
    pub(super) fn text(&self) -> String {
        let gap = if self.before.is_empty() || self.now.trim().is_empty() {
            ""
        } else {
            "\n\n"
        };
        // Each piece asks for it: what is far behind the bound is not looked at again and again.
        let whole = [&self.before, gap, self.now.trim()];
        let whole = whole.into_iter().flat_map(str::chars);
        quoted(&whole.take(2 * MOST).collect::<String>(), self.language)
    }

    /// What is shown of them in the end.
    pub(super) fn finish(mut self) -> Shown {
        self.end_step();
        // What a reload brought while they came, in whichever step.
        let cleaned = self.redactor.clean(&self.before);
        Shown {
            text: quoted(&cleaned.text, self.language),
            secrets: self.replaced.0 || cleaned.secrets,
            words: self.replaced.1 || cleaned.words,
        }
    }
}

/// The ending with thoughts in front of its answer. Its history, which was made before, has the answer alone; an ending that
/// only tells what went wrong has no thoughts.
pub(super) fn in_front(thoughts: &str, mut ending: Ending) -> Ending {
    if ending.filtered && !thoughts.is_empty() {
        let gap = if ending.text.is_empty() { "" } else { "\n\n" };
        ending.text.insert_str(0, gap);
        ending.text.insert_str(0, thoughts);
    }
    ending
}

/// A quote under its heading, of at most [`MOST`] characters of the text; empty for none.
fn quoted(text: &str, language: Language) -> String {
    let text = text.trim();
    if text.is_empty() {
        return String::new();
    }
    let end = text.char_indices().nth(MOST).map(|(end, _)| end);
    let shown = end.and_then(|end| text.get(..end)).unwrap_or(text);
    // A lone carriage return ends a line of Markdown as well: what is behind it would be outside.
    let shown = shown.replace("\r\n", "\n").replace('\r', "\n");
    let mut quote = format!("> **{}**\n>", Mind::Thoughts.render(language));
    for line in shown.lines() {
        quote.push('\n');
        quote.push_str(&quoted_line(line));
    }
    if end.is_some() {
        let mark = Mind::ThoughtsCut.render(language);
        quote.push_str(&format!("\n>\n> {mark}"));
    }
    quote
}

fn quoted_line(line: &str) -> String {
    let line = line.trim_end();
    if line.is_empty() {
        return ">".to_owned();
    }
    // A definition of a link would hold in the answer, too.
    let defines = line.trim_start().starts_with('[') && line.contains("]:");
    if defines {
        return format!("> \\{}", line.trim_start());
    }
    format!("> {line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thoughts(secret: &str) -> Thoughts {
        let (redactor, _) = Redactor::new([secret]);
        Thoughts::new(&Arc::new(redactor), Language::En)
    }

    #[test]
    fn no_line_of_a_thought_is_outside_of_its_quote() {
        let text = "one\r\n\rtwo\r# three\n\n```\nfour";
        let quote = quoted(text, Language::En);
        assert!(!quote.contains('\r'), "{quote:?}");
        assert!(quote.lines().all(|line| line.starts_with('>')), "{quote}");
        for word in ["one", "two", "# three", "four"] {
            assert!(quote.contains(&format!("\n> {word}")), "{quote}");
        }
        assert_eq!(quoted(" \n", Language::En), "");
    }

    #[test]
    fn a_definition_in_a_thought_makes_no_link_of_the_answer() {
        let quote = quoted("  [docs]: https://elsewhere.example", Language::Zh);
        assert!(
            quote.ends_with("\n> \\[docs]: https://elsewhere.example"),
            "{quote}"
        );
        assert!(quoted("[a](b)", Language::Zh).ends_with("\n> [a](b)"));
    }

    #[test]
    fn what_is_shown_grows_and_ends_at_the_bound() {
        let mut thoughts = thoughts("no secret of this text");
        let mut last = String::new();
        for _ in 0..30 {
            thoughts.push(&"思考一下。".repeat(20));
            let text = thoughts.text();
            assert!(text.starts_with(&last), "{last}\n{text}");
            last = text;
        }
        let shown = thoughts.finish().text;
        assert_eq!(shown, last);
        assert_eq!(shown.matches('思').count(), MOST / 5);
        assert!(shown.ends_with("> (shortened)"), "{shown}");
    }

    #[test]
    fn a_step_that_begins_anew_leaves_nothing_and_one_that_ended_stays() {
        let mut thoughts = thoughts("hush-hush-0123");
        thoughts.push("first: hush-hu");
        thoughts.push("sh-0123.");
        thoughts.end_step();
        thoughts.push("second, in vain");
        thoughts.restart();
        assert_eq!(thoughts.text(), "> **Reasoning**\n>\n> first: [REDACTED].");
        thoughts.push("second");
        let shown = thoughts.finish();
        assert_eq!(
            shown.text,
            "> **Reasoning**\n>\n> first: [REDACTED].\n>\n> second"
        );
        assert!(shown.secrets && !shown.words);
    }

    #[test]
    fn either_may_be_missing_and_a_refusal_has_none() {
        let answer = |text: &str, filtered| Ending {
            filtered,
            ..Ending::done(text.to_owned())
        };
        for (thoughts, text, filtered, expected) in [
            ("", "answer", true, "answer"),
            ("> t", "", true, "> t"),
            ("> t", "answer", true, "> t\n\nanswer"),
            ("> t", "It failed.", false, "It failed."),
        ] {
            let ending = in_front(thoughts, answer(text, filtered));
            assert_eq!(ending.text, expected);
        }
    }
}
