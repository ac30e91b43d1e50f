//! What of a turn's words reaches the model.
//!
//! Owns what follows from the guard's verdict: the reason, the log, the audit record, and the refusal. It changes
//! nothing that is stored: the journal keeps the words as they came.

use super::{
    Agent,
    ending::Ending,
    history::Content,
    media::Media,
    turn::{Input, Turn},
};
use crate::{
    agent::context::clean_name,
    i18n::Text,
    inbound::body,
    permission::{AuditEvent, Capability, Scope, decide},
    reason::Reason,
    security::guard::{Checked, Verdict},
    store::{History, Role},
    trace::turn_id,
};

/// The words of a turn, as the model gets them and the history keeps them.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// What was said.
    pub(super) words: String,
    /// Who says it, where several share a history; else empty.
    pub(super) name: String,
    /// The model is to be told not to trust it.
    pub(super) untrusted: bool,
    /// What was sent beside it.
    pub(super) media: Media,
}

impl Agent {
    /// Looks at the words of a turn and at the name of who says them.
    ///
    /// # Errors
    /// How the turn ends if they must not reach the model.
    pub(super) fn hear(
        &self,
        input: &Input,
        turn: &Turn,
        media: Media,
    ) -> Result<Heard, Box<Ending>> {
        let mut files = media.words();
        let texts = turn.bodies.iter();
        let texts: Vec<String> = texts
            .map(|body| body::text_with(body, &mut files))
            .collect();
        drop(files);
        let text = self.hooks.filter_content(texts.join("\n"));
        for finding in self.hooks.check_security(&text) {
            tracing::warn!(turn = %turn_id(input.turn), finding, "security check");
        }
        let words = input.rules.guard.check(text);
        let name = input.rules.guard.check(clean_name(speaker(turn)));
        self.report(input, "message", &words);
        self.report(input, "name", &name);
        let verdict = words.verdict.max(name.verdict);
        let reason = match verdict {
            Verdict::Pass => None,
            Verdict::Sanitised => Some(Reason::InjectionSanitised),
            Verdict::Warned => Some(Reason::InjectionWarned),
            Verdict::Blocked => {
                return Err(Box::new(self.refuse(input, turn, [&words, &name])));
            }
        };
        let filtered = !(words.filtered.is_empty() && name.filtered.is_empty());
        let filtered = filtered.then_some(Reason::ContentFiltered);
        for reason in reason.into_iter().chain(filtered) {
            self.traces.note(input.turn, reason, self.clock.now());
        }
        Ok(Heard {
            words: words.text,
            name: name.text,
            untrusted: verdict == Verdict::Warned,
            media,
        })
    }

    /// What was said around the bot, as it may stand in the context.
    pub(super) fn overheard(&self, input: &Input, rows: Vec<History>) -> Vec<History> {
        let checked = |row: History| match (row.role, Content::decode(&row.parts)) {
            (Role::Ambient, Some(content)) => {
                let guard = &input.rules.guard;
                let name = guard.overheard(clean_name(&content.name));
                let text = guard.overheard(content.text());
                History {
                    parts: Content::person(&name, text).encode(),
                    ..row
                }
            }
            _ => row,
        };
        rows.into_iter().map(checked).collect()
    }

    /// Writes what was found into the log: which rule and where, never the text.
    fn report(&self, input: &Input, place: &'static str, checked: &Checked) {
        for hit in &checked.filtered {
            let turn = turn_id(input.turn);
            tracing::info!(%turn, entry = &*hit.entry, place, "an entry of the blocklist was taken out");
        }
        if !input.rules.guard.logs() {
            return;
        }
        for finding in &checked.found {
            tracing::warn!(
                turn = %turn_id(input.turn),
                rule = &*finding.rule,
                severity = finding.severity.name(),
                place,
                start = finding.span.start,
                end = finding.span.end,
                disguise = finding.disguise,
                "it reads like an attempt to take over the model"
            );
        }
    }

    fn refuse(&self, input: &Input, turn: &Turn, checked: [&Checked; 2]) -> Ending {
        let mut rules: Vec<&str> = checked
            .iter()
            .flat_map(|checked| &checked.found)
            .map(|finding| &*finding.rule)
            .collect();
        rules.sort_unstable();
        rules.dedup();
        let (event, here) = (
            AuditEvent::InjectionBlocked,
            Scope::Conversation(input.conversation),
        );
        let (now, rules) = (self.clock.now(), rules.join(","));
        // What he may do otherwise is part of the record.
        let record = match decide(&turn.actor, Capability::SEND_MESSAGE, here, now) {
            Ok(proof) => proof.record(event, rules, input.turn),
            Err(denial) => denial.record(event, rules, input.turn),
        };
        let reference = turn_id(input.turn);
        let told = Text::InjectionBlocked { reference }.render(turn.language);
        let mut ending = Ending::failed(told, Reason::InjectionBlocked);
        ending.effects.push(record.into());
        self.noted(input, ending)
    }
}

/// The name under which the sender speaks: only where several share a history.
fn speaker(turn: &Turn) -> &str {
    let body = turn.body();
    if body.group && turn.scope.person == 0 {
        &body.name
    } else {
        ""
    }
}
