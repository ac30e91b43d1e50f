//! Whether the calls of an answer may run.
//!
//! Owns what is looked at before: the limits of the turn, the rights of the one who asks as they are now, and the
//! arguments, which lose what must not leave. It runs nothing.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};

use super::{
    Access,
    execute::{FAILED, Goes},
    order::Kind,
    registry::Entry,
    usage::{Admitted, Most, Usage},
};
use crate::{
    agent::{
        Agent,
        model::{ToolCall, calls::object},
        skill::template::{progress::Progress, run::unsure},
        turn::{Input, Turn},
        work::{Errand, Work},
    },
    pending::{Elicited, Parked},
    permission::{Actor, AuditEvent, AuditRecord, Denial, Proof, Scope, decide},
    reason::Reason,
    store::StoreError,
    telemetry::metrics,
};

/// A call that may run.
pub(super) struct Ready {
    /// The tool.
    pub(super) entry: Arc<Entry>,
    /// The proof that the one who asks may.
    pub(super) proof: Proof,
    /// The arguments as they are given to the tool.
    pub(super) arguments: Map<String, Value>,
    /// Somebody has to say yes before.
    pub(super) asks: bool,
    /// What somebody said yes to that the tool asked in the middle of the same call.
    pub(super) consent: Option<Elicited>,
    /// What became of a call inside of it that waited, in a step of a skill.
    pub(super) within: Option<Parked>,
}

/// Why a call does not run: what the model is told, and the reason.
pub(super) struct Refused(pub(super) String, pub(super) Reason);

/// What comes of a look at a call that does not run.
enum Unready {
    /// It is not possible.
    Refused(Refused),
    /// The one who asks may not; this is accounted for.
    Denied(Box<Denial>),
}

impl From<Refused> for Unready {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<Denial> for Unready {
    fn from(denial: Denial) -> Self {
        Self::Denied(Box::new(denial))
    }
}

impl Agent {
    /// The calls of the last step that may run, in their places; the others get what the model is told.
    pub(super) async fn ready_calls(
        &self,
        input: &Input,
        turn: &Turn,
        work: &mut Work,
    ) -> Result<(Vec<Option<Ready>>, Goes), StoreError> {
        // Rights that were taken meanwhile are gone.
        let (actor, _) = self.actor(input, &turn.person, turn.body()).await?;
        let Work {
            steps,
            usage,
            allowed,
            errand,
            effects,
            ..
        } = work;
        let errand = errand.as_ref();
        let (mut ready, mut goes) = (Vec::new(), Goes::On);
        let Some(step) = steps.last_mut() else {
            return Ok((ready, goes));
        };
        // A yes is for one call of the step with which the turn went on.
        let allowed = allowed.take();
        let of = |place| allowed.as_deref().filter(|parked| parked.place == place);
        for (place, (call, result)) in step.calls.iter().zip(&mut step.results).enumerate() {
            if result.is_some() {
                ready.push(None);
                continue;
            }
            match self.ready(input, turn, (&actor, of(place), errand), call, usage) {
                Ok(found) => ready.push(Some(found)),
                Err(unready) => {
                    let refused = match unready {
                        Unready::Refused(refused) => refused,
                        Unready::Denied(denial) => {
                            effects.lock().push(denied(*denial, call, input).into());
                            let text = "The person who asks may not use this tool here.";
                            Refused(text.to_owned(), Reason::ToolRefused)
                        }
                    };
                    if matches!(refused.1, Reason::ToolLimit | Reason::ToolLoop) {
                        goes = Goes::ToItsEnd;
                    }
                    let mut told = self.refuse_call(input, &call.name, refused);
                    let of = |(at, progress): &(usize, Progress)| *at == place && progress.begun;
                    if step.progress.iter().any(of) {
                        let now = self.clock.now();
                        self.traces.note(input.turn, Reason::ToolUnsure, now);
                        told = unsure(&told);
                    }
                    *result = Some(told);
                    ready.push(None);
                }
            }
        }
        Ok((ready, goes))
    }

    /// Counts a call that does not run; gives what the model is told.
    pub(super) fn refuse_call(
        &self,
        input: &Input,
        tool: &str,
        Refused(text, reason): Refused,
    ) -> String {
        self.traces.note(input.turn, reason, self.clock.now());
        metrics::tool_call(known(input, tool), reason.code(), Duration::ZERO);
        format!("{FAILED}{text}")
    }

    /// Whether a call may run, by everything that is known before. `allowed`: what somebody has said yes to.
    fn ready(
        &self,
        input: &Input,
        turn: &Turn,
        (actor, allowed, errand): (&Actor, Option<&Parked>, Option<&Errand>),
        call: &ToolCall,
        usage: &mut Usage,
    ) -> Result<Ready, Unready> {
        let calling = &input.rules.settings.tool_calling;
        let steps = errand.is_some_and(|errand| errand.result.is_some());
        let most = if steps {
            calling.most_in_steps()
        } else {
            calling.most()
        };
        admitted(call, usage, most)?;
        let refused = |text: String| Unready::from(Refused(text, Reason::ToolRefused));
        let here = errand.is_none_or(|errand| errand.has(&call.name));
        let found = input.rules.tools.get(&call.name).filter(|_| here);
        let Some(entry) = found else {
            return Err(refused("There is no tool of this name.".to_owned()));
        };
        let spec = entry.tool.spec();
        let scope = if spec.global {
            Scope::Global
        } else {
            Scope::Conversation(input.conversation)
        };
        let (group, now) = (turn.body().group, self.clock.now());
        // Before anything is said of the arguments.
        let _may = decide(actor, spec.needs(group), scope, now)?;
        // What must not leave does not leave through a tool either.
        let cleaned = input.rules.composer.redactor().clean(&call.arguments);
        let Some(arguments) = object(&cleaned.text) else {
            return Err(refused("The arguments are no JSON object.".to_owned()));
        };
        if let Err(misfit) = entry.schema.check(&arguments) {
            return Err(refused(format!("The arguments do not fit: {misfit}")));
        }
        let needs = spec.needs(group) | entry.tool.changes(&arguments).needs(group);
        let also = entry.tool.needs_also(&arguments);
        let (needs, scope) = match &also {
            Some(also) => (needs | also.rights.capability, also.rights.scope(scope)),
            None => (needs, scope),
        };
        let proof = decide(actor, needs, scope, now)?;
        usage.expect(also.map(|also| also.next).unwrap_or_default());
        let (within, allowed) = match allowed {
            Some(parked) if parked.within.is_some() => (Some(parked), None),
            allowed => (None, allowed),
        };
        let same = |parked: &Parked| {
            parked.tool == call.name && object(&parked.arguments).as_ref() == Some(&arguments)
        };
        if allowed.is_some_and(|parked| !same(parked)) {
            let text = "The arguments are not those that were approved.";
            return Err(refused(text.to_owned()));
        }
        // Who has come to a step in the middle has had his yes for the whole.
        let asks = allowed.or(within).is_none()
            && (input.rules.tools.asks(spec) || entry.tool.asks(&arguments));
        Ok(Ready {
            within: within.cloned(),
            consent: allowed.and_then(|parked| parked.elicited.clone()),
            entry,
            proof,
            arguments,
            asks,
        })
    }
}

/// Counts a call; refuses it if the turn has made enough of them.
fn admitted(call: &ToolCall, usage: &mut Usage, most: Most) -> Result<(), Refused> {
    let (text, reason) = match usage.admit(call, most) {
        Admitted::Yes => return Ok(()),
        Admitted::TooMany => (
            "No more calls are possible now. Answer with what you have.",
            Reason::ToolLimit,
        ),
        Admitted::Searched => (
            "No more searches are possible now. Answer with what you have.",
            Reason::ToolLimit,
        ),
        Admitted::Repeated => (
            "The same call was made just before. Answer with what you have.",
            Reason::ToolLoop,
        ),
    };
    Err(Refused(text.to_owned(), reason))
}

/// The record of a call that the one who asks may not make, written with the end of the turn. The arguments are what he or
/// the model said, so they are not in it.
fn denied(denial: Denial, call: &ToolCall, input: &Input) -> AuditRecord {
    let reason = serde_json::json!({ "reason": Reason::ToolRefused.code() });
    let record = denial.record(AuditEvent::PermissionDenied, call.name.clone(), input.turn);
    record.with(&reason)
}

/// What the order of a call depends on; one that does not run depends on nothing.
pub(super) fn kind(ready: &Option<Ready>) -> Kind {
    Kind {
        writes: ready
            .as_ref()
            .is_some_and(|ready| ready.entry.tool.changes(&ready.arguments) != Access::Read),
        resource: ready
            .as_ref()
            .and_then(|ready| ready.entry.tool.resource(&ready.arguments)),
        apart: ready
            .as_ref()
            .is_some_and(|ready| ready.entry.tool.gives_errands() && !ready.entry.tool.has_steps()),
    }
}

/// A name that may stand in a metric: not whatever a model makes up.
fn known<'a>(input: &Input, name: &'a str) -> &'a str {
    if input.rules.tools.get(name).is_some() {
        name
    } else {
        "unknown"
    }
}
