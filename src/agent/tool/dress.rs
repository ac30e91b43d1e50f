//! What tools give, as a model may have it.
//!
//! Owns the order of the looks: without secrets, not too long, checked, and fenced where the words are not the gateway's own.

use super::{Given, config::ToolCalling};
use crate::{
    agent::{
        Agent,
        context::{cut, estimate_tokens},
        turn::{Input, Turn},
    },
    i18n::Text,
    reason::Reason,
    security::{fence::fenced, guard::Verdict},
};

impl Agent {
    /// What was given, without what must not leave and not too long.
    pub(in crate::agent) fn bounded(&self, input: &Input, given: Given) -> Given {
        let calling: &ToolCalling = &input.rules.settings.tool_calling;
        let cleaned = input.rules.composer.redactor().clean(&given.text);
        let (text, was_cut) = shortened(cleaned.text.into_owned(), calling.max_result_tokens);
        if was_cut {
            let now = self.clock.now();
            self.traces.note(input.turn, Reason::ToolResultCut, now);
        }
        Given { text, ..given }
    }

    /// What was given and is bounded, as the model may have it.
    pub(in crate::agent) fn dressed(&self, input: &Input, turn: &Turn, given: Given) -> String {
        let note = |reason| self.traces.note(input.turn, reason, self.clock.now());
        let Some(origin) = given.origin else {
            return given.text;
        };
        let checked = input.rules.guard.check(given.text);
        self.report(input, "tool result", &checked);
        if checked.is_filtered() {
            note(Reason::ContentFiltered);
        }
        match checked.verdict {
            Verdict::Pass => fenced(origin, &checked.text),
            Verdict::Sanitised => {
                note(Reason::InjectionSanitised);
                fenced(origin, &checked.text)
            }
            Verdict::Warned => {
                note(Reason::InjectionWarned);
                let hint = Text::HintUntrusted.render(turn.language);
                format!("{hint}\n{}", fenced(origin, &checked.text))
            }
            Verdict::Blocked => {
                note(Reason::InjectionBlocked);
                "The result was withheld: it reads like an attempt to change your instructions."
                    .into()
            }
        }
    }
}

/// A text of at most so many tokens: its beginning, a mark and its end; says whether it was cut.
fn shortened(text: String, tokens: usize) -> (String, bool) {
    if estimate_tokens(&text) <= tokens {
        return (text, false);
    }
    let end = tokens / 4;
    let turned: String = text.chars().rev().collect();
    let (tail, _) = cut(turned, end);
    // The mark of `cut` stands at the end of the turned text, and is turned with it.
    let tail: String = tail
        .chars()
        .rev()
        .skip_while(|sign| *sign != '\n')
        .collect();
    let (head, _) = cut(text, tokens - end);
    (format!("{head}{tail}"), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_keeps_its_beginning_and_its_end() {
        let text: String = (0..5_000).map(|n| format!("line {n}\n")).collect();
        let (short, was_cut) = shortened(text, 200);
        assert!(
            was_cut && estimate_tokens(&short) <= 210,
            "{}",
            estimate_tokens(&short)
        );
        assert!(
            short.starts_with("line 0\n") && short.ends_with("line 4999\n"),
            "{short}"
        );
        assert!(short.contains("[…]"));
        let (short, _) = shortened("好".repeat(9_000), 100);
        assert!(short.chars().filter(|sign| *sign == '好').count() > 60);
        assert_eq!(shortened("short".into(), 100), ("short".into(), false));
    }
}
