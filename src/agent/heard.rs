//! What of a turn's words reaches the model.
//!
//! Owns what follows from the guard's verdict: the reason, the log, the audit record, and the refusal. It changes
//! nothing that is stored: the journal keeps the words as they came.

use super::{
    Agent,
    ending::Ending,
    history::Content,
    media::Media,
    peer::trail,
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
        if trail::ends_here(&turn.body().passed, &self.desk.mark) {
            let told = Text::AgentLoop.render(turn.language);
            let ending = Ending::failed(told, Reason::AgentLoop);
            return Err(Box::new(self.noted(input, ending)));
        }
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
        if let Some(refusal) = Refusal::words(&words) {
            return Err(Box::new(self.refuse(input, turn, refusal)));
        }
        let verdict = words.verdict.max(name.verdict);
        let reason = match verdict {
            Verdict::Pass => None,
            Verdict::Sanitised => Some(Reason::InjectionSanitised),
            Verdict::Warned => Some(Reason::InjectionWarned),
            Verdict::Blocked => {
                let refusal = Refusal::injection([&words, &name]);
                return Err(Box::new(self.refuse(input, turn, refusal)));
            }
        };
        let filtered = words.is_filtered() || name.is_filtered();
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
    pub(in crate::agent) fn report(&self, input: &Input, place: &'static str, checked: &Checked) {
        for hit in &checked.filtered {
            let (turn, severity) = (turn_id(input.turn), hit.severity.name());
            tracing::info!(%turn, entry = &*hit.entry, severity, place, "an entry of the blocklist was found");
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

    /// The end of a turn whose words do not pass: recorded, and told unless he was told often enough just now.
    fn refuse(&self, input: &Input, turn: &Turn, refusal: Refusal) -> Ending {
        let Refusal {
            event,
            found,
            reason,
        } = refusal;
        if !self.may_tell(input) {
            return self.noted(input, Ending::failed(String::new(), reason));
        }
        let (here, now) = (Scope::Conversation(input.conversation), self.clock.now());
        // What he may do otherwise is part of the record.
        let record = match decide(&turn.actor, Capability::SEND_MESSAGE, here, now) {
            Ok(proof) => proof.record(event, found, input.turn),
            Err(denial) => denial.record(event, found, input.turn),
        };
        let reference = turn_id(input.turn);
        let told = match reason {
            Reason::ContentBlocked => Text::ContentBlocked { reference },
            _ => Text::InjectionBlocked { reference },
        };
        let mut ending = Ending::failed(told.render(turn.language), reason);
        ending.effects.push(record.into());
        self.noted(input, ending)
    }
}

/// Why words do not pass.
struct Refusal {
    event: AuditEvent,
    /// The rules or entries that were found, for the operator.
    found: String,
    reason: Reason,
}

impl Refusal {
    fn injection(checked: [&Checked; 2]) -> Self {
        let found = checked.iter().flat_map(|checked| &checked.found);
        Self {
            event: AuditEvent::InjectionBlocked,
            found: named(found.map(|finding| &*finding.rule)),
            reason: Reason::InjectionBlocked,
        }
    }

    /// `None` if no entry of the blocklist wants it.
    fn words(checked: &Checked) -> Option<Self> {
        let found = named(checked.forbidden());
        (!found.is_empty()).then_some(Self {
            event: AuditEvent::ContentBlocked,
            found,
            reason: Reason::ContentBlocked,
        })
    }
}

/// Each name once.
fn named<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names.join(",")
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
