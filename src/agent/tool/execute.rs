//! Runs the calls of one answer of the model.
//!
//! Owns what stands around a tool: the order, the time limit and the retries; that what a tool gives reaches the model
//! as data, without secrets and not too long; and that the journal knows of a call that is not safe to repeat before
//! it runs. Whether a call may run is `ready`'s, what waits for a yes `park`'s. It never asks a model.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream};
use parking_lot::Mutex;

use super::{
    Asker, Call, Fault, Given,
    asking::Asking,
    config::ToolCalling,
    order::{Kind, groups},
    park::park,
    ready::{Ready, Refused, kind},
    sending::Sending,
    usage::Usage,
};
use crate::{
    agent::{
        Agent,
        answer::Work,
        choice::of_turn,
        context::{cut, estimate_tokens},
        history::{Content, Cost, Step},
        turn::{Input, Turn},
    },
    i18n::Text,
    pending::{Elicited, Parked},
    reason::Reason,
    security::{fence::fenced, guard::Verdict},
    store::{Effect, ReplyFile, StoreError, Write, commit},
    telemetry::metrics,
    trace::turn_id,
};

/// The pause before a call is made again, times the number of tries.
const PAUSE: Duration = Duration::from_millis(250);
/// What the model is told of a call that was running when the gateway ended.
const UNSURE: &str = "The gateway ended while this ran: it may have been done, or not, or in part. Do not do it again \
                      without looking what is there or asking.";
/// Put before what a failed call gives.
pub(in crate::agent) const FAILED: &str = "Error: ";

/// Whether the turn may go on to call tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Goes {
    /// It may.
    On,
    /// It is to answer with what it has.
    ToItsEnd,
    /// Not before somebody has said yes.
    Waits(Box<Parked>),
}

/// How a call ended.
enum Ran {
    /// With something for the model, what goes out with the answer, and what it took of models.
    Told {
        text: String,
        files: Vec<ReplyFile>,
        cost: Cost,
    },
    /// With a question that somebody has to answer first.
    Asks(Elicited),
}

impl Agent {
    /// Runs the calls of the last step that have no result yet, and puts their results in, in the order of the calls.
    /// A call that needs a yes, and what stands behind it, waits. Dropping the future stops what runs.
    ///
    /// # Errors
    /// The store's, of whom the rights are asked.
    pub(in crate::agent) async fn execute(
        &self,
        input: &Input,
        turn: &Turn,
        work: &mut Work,
    ) -> Result<Goes, StoreError> {
        let (mut ready, goes) = self.ready_calls(input, turn, work).await?;
        let waits = self.first_to_ask(input, work, &mut ready).await?;
        if let Some(place) = waits {
            // The order of what changes something holds over the wait.
            ready.iter_mut().skip(place).for_each(|ready| *ready = None);
        }
        let asks = loop {
            let asks = self.run_groups(input, turn, work, &ready).await?;
            let Some((place, Some(elicited))) = &asks else {
                break asks;
            };
            let Some(refused) = self.cannot_be_asked(input, &elicited.content).await? else {
                break asks;
            };
            // Those behind it run as if it had failed.
            self.refuse_at(input, work, *place, refused);
            settled(work, &mut ready);
        };
        let Some((place, elicited)) = asks.or(waits.map(|place| (place, None))) else {
            return Ok(goes);
        };
        if let Some(parked) = park(input, turn, work, place, elicited) {
            return Ok(Goes::Waits(Box::new(parked)));
        }
        // The model is told, as of any call that does not run.
        let text = "Somebody has to approve this, and it cannot be shown.".to_owned();
        self.refuse_at(input, work, place, Refused(text, Reason::ToolRefused));
        Ok(goes)
    }

    /// The call at this place of the last step does not run.
    fn refuse_at(&self, input: &Input, work: &mut Work, place: usize, refused: Refused) {
        let Some(step) = work.steps.last_mut() else {
            return;
        };
        let name = step.calls.get(place).map(|call| call.name.clone());
        let told = self.refuse_call(input, &name.unwrap_or_default(), refused);
        if let Some(result) = step.results.get_mut(place) {
            *result = Some(told);
        }
    }

    /// Runs what may run, group after group. Gives the call that asks something in the middle, if one does.
    async fn run_groups(
        &self,
        input: &Input,
        turn: &Turn,
        work: &mut Work,
        ready: &[Option<Ready>],
    ) -> Result<Option<(usize, Option<Elicited>)>, StoreError> {
        let calling = &input.rules.settings.tool_calling;
        let kinds: Vec<Kind> = ready.iter().map(kind).collect();
        let Some(last) = work.steps.len().checked_sub(1) else {
            return Ok(None);
        };
        let Work {
            steps,
            usage,
            kept,
            cost: all,
            effects,
            ..
        } = work;
        let used = (&*usage, &*effects);
        let fragile = |at: &usize| {
            let ready = ready.get(*at).and_then(Option::as_ref);
            ready.is_some_and(|ready| !ready.entry.tool.spec().repeatable)
        };
        let (mut unsaid, mut asks) = (false, None);
        for group in groups(calling.strategy, calling.parallel_calls, &kinds) {
            let doing: Vec<usize> = group.iter().copied().filter(fragile).collect();
            if !doing.is_empty() {
                self.keep(input.turn, steps, kept, &doing).await?;
                unsaid = true;
            }
            let Some(step) = steps.get_mut(last) else {
                break;
            };
            let mut waiting: Vec<BoxFuture<'_, (usize, Ran)>> = Vec::with_capacity(group.len());
            for at in group {
                if let Some(Some(ready)) = ready.get(at) {
                    let run = self.run(input, turn, ready, used);
                    waiting.push(Box::pin(async move { (at, run.await) }));
                }
            }
            let mut running = stream::iter(waiting).buffer_unordered(calling.max_parallel_calls);
            while let Some((at, ran)) = running.next().await {
                match ran {
                    Ran::Told { text, files, cost } => {
                        all.add(&cost);
                        if let Some(result) = step.results.get_mut(at) {
                            *result = Some(text);
                        }
                        let files = files.into_iter().map(|file| (at, file));
                        step.files.extend(files);
                    }
                    Ran::Asks(elicited) if asks.is_none() => asks = Some((at, Some(elicited))),
                    Ran::Asks(_) => {}
                }
            }
            step.files.sort_by_key(|(at, _)| *at);
            if asks.is_some() {
                break;
            }
        }
        if unsaid {
            self.keep(input.turn, steps, kept, &[]).await?;
        }
        Ok(asks)
    }

    /// Writes the steps that are not in the journal yet. The calls of `doing` are about to run, and may have run
    /// for whoever reads this.
    async fn keep(
        &self,
        turn: i64,
        steps: &[Step],
        kept: &mut usize,
        doing: &[usize],
    ) -> Result<(), StoreError> {
        let last = steps.len().saturating_sub(1);
        let first = (*kept).min(last);
        // Who is stopped in here has perhaps written them all the same.
        *kept = steps.len();
        for (at, step) in steps.iter().enumerate().skip(first) {
            let mut step = step.clone();
            if at == last {
                for place in doing {
                    if let Some(result) = step.results.get_mut(*place) {
                        *result = Some(UNSURE.to_owned());
                    }
                }
            }
            let content = Content::step(&step).encode().into_boxed_str();
            let step = u32::try_from(at).unwrap_or(u32::MAX);
            commit(&self.store, |then| Write::Step {
                turn,
                step,
                content,
                then,
            })
            .await?;
        }
        Ok(())
    }

    /// Takes up the steps of a turn that ran before.
    ///
    /// # Errors
    /// The store's.
    pub(in crate::agent) async fn take_up(
        &self,
        input: &Input,
        work: &mut Work,
    ) -> Result<(), StoreError> {
        let most = input.rules.settings.tool_calling.max_calls_per_request;
        for content in self.store.steps(input.turn).await? {
            let Some(content) = Content::decode(&content) else {
                break;
            };
            let step = content.as_step();
            for (call, result) in step.calls.iter().zip(&step.results) {
                if result.is_some() {
                    work.usage.admit(call, most);
                }
                if result.as_deref() == Some(UNSURE) {
                    let now = self.clock.now();
                    self.traces.note(input.turn, Reason::ToolUnsure, now);
                }
            }
            for _ in &step.files {
                work.usage.take_file(u32::MAX);
            }
            work.steps.push(step);
        }
        work.kept = work.steps.len();
        work.requests = work.steps.len();
        Ok(())
    }

    /// What a call of this turn may send, where files can be kept.
    fn sending<'a>(
        &'a self,
        input: &'a Input,
        turn: &'a Turn,
        usage: &'a Usage,
    ) -> Option<Sending<'a>> {
        let adapter = self.deliverer.adapter(&turn.conversation)?;
        Some(Sending {
            store: self.media.as_ref()?,
            conversation: (input.conversation, &*turn.conversation),
            limits: adapter.capabilities(&turn.conversation).media,
            redactor: input.rules.composer.redactor(),
            language: turn.language,
            usage,
            taken: Mutex::default(),
        })
    }

    /// Runs one call to its end, and makes a text for the model of it.
    async fn run(
        &self,
        input: &Input,
        turn: &Turn,
        ready: &Ready,
        (usage, effects): (&Usage, &Mutex<Vec<Effect>>),
    ) -> Ran {
        let settings = &input.rules.settings;
        let calling = &settings.tool_calling;
        let spec = ready.entry.tool.spec();
        let note = |reason| self.traces.note(input.turn, reason, self.clock.now());
        let mut tries = 0;
        let mut cost = Cost::default();
        loop {
            let asking = Asking::new(of_turn(input, turn), input.turn, self.random);
            let started = self.clock.tick();
            let sending = self.sending(input, turn, usage);
            let asker = Asker {
                person: &turn.person,
                body: turn.body(),
                language: turn.language,
            };
            let call = Call {
                proof: &ready.proof,
                arguments: &ready.arguments,
                consent: ready.consent.as_ref(),
                conversation: &turn.conversation,
                site: turn.site(input),
                rules: &input.rules,
                zone: &settings.zone,
                now: self.clock.now(),
                counter: Some((asker, &self.desk)),
                asking: &asking,
                sending: sending.as_ref(),
                effects: Some(effects),
            };
            let longest = ready.entry.tool.longest().unwrap_or(calling.timeout);
            let (outcome, given) = once(ready, call, longest).await;
            cost.add(&asking.into_cost());
            let took = Duration::from_micros(self.clock.tick().saturating_sub(started));
            let told = match &given {
                Err(fault) if fault.asks.is_some() => Reason::ToolAsked.code(),
                _ => outcome.map_or("ok", Reason::code),
            };
            metrics::tool_call(&spec.name, told, took);
            let fault = match given {
                Ok(given) => {
                    let files = sending.map(|sending| sending.taken.into_inner());
                    return Ran::Told {
                        text: self.dressed(input, turn, given, "", calling),
                        files: files.unwrap_or_default(),
                        cost,
                    };
                }
                Err(fault) => fault,
            };
            if let Some(elicited) = fault.asks {
                return Ran::Asks(*elicited);
            }
            if let Some(reason) = outcome {
                note(reason);
                tracing::info!(turn = %turn_id(input.turn), tool = %spec.name, %reason, "a tool gave nothing");
            }
            tries += 1;
            let again = fault.passing && spec.repeatable && tries <= calling.max_retries;
            if !(again && usage.take_retry(settings.tool_retries)) {
                return Ran::Told {
                    text: self.dressed(input, turn, fault.given, FAILED, calling),
                    files: Vec::new(),
                    cost,
                };
            }
            note(Reason::ToolRetried);
            tokio::time::sleep(PAUSE * tries).await;
        }
    }

    /// What a tool gave, as the model may have it.
    fn dressed(
        &self,
        input: &Input,
        turn: &Turn,
        given: Given,
        before: &str,
        calling: &ToolCalling,
    ) -> String {
        let note = |reason| self.traces.note(input.turn, reason, self.clock.now());
        let cleaned = input.rules.composer.redactor().clean(&given.text);
        let (text, was_cut) = shortened(cleaned.text.into_owned(), calling.max_result_tokens);
        if was_cut {
            note(Reason::ToolResultCut);
        }
        let Some(origin) = given.origin else {
            return format!("{before}{text}");
        };
        let checked = input.rules.guard.check(text);
        self.report(input, "tool result", &checked);
        if checked.is_filtered() {
            note(Reason::ContentFiltered);
        }
        let text = match checked.verdict {
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
        };
        format!("{before}{text}")
    }
}

/// What has a result does not run again.
fn settled(work: &Work, ready: &mut [Option<Ready>]) {
    let results = work.steps.last().map(|step| step.results.as_slice());
    for (ready, result) in ready.iter_mut().zip(results.unwrap_or_default()) {
        if result.is_some() {
            *ready = None;
        }
    }
}

/// Runs a tool once.
async fn once(
    ready: &Ready,
    call: Call<'_>,
    most: Duration,
) -> (Option<Reason>, Result<Given, Fault>) {
    let run = AssertUnwindSafe(ready.entry.tool.run(call)).catch_unwind();
    match tokio::time::timeout(most, run).await {
        Ok(Ok(Ok(given))) => (None, Ok(given)),
        Ok(Ok(Err(fault))) => (Some(Reason::ToolFailed), Err(fault)),
        Ok(Err(_)) => (
            Some(Reason::ToolFailed),
            Err(Fault::lasting("The tool has a fault of its own.")),
        ),
        Err(_) => (
            Some(Reason::ToolTimeout),
            Err(Fault::passing("The tool took too long and was stopped.")),
        ),
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
