//! Runs the calls of one answer of the model.
//!
//! Owns what stands around a tool: the order, the time limit and the retries; and that the journal (`journal`) knows of a
//! call that is not safe to repeat before it runs. Whether a call may run is `ready`'s, what waits for a yes `park`'s, and how
//! a result reaches the model `dress`'s. It never asks a model.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::{
    Asker, Call, Fault, Given,
    asking::Asking,
    journal::{self, Doing, Mark},
    order::{Kind, groups},
    park::{Asks, park},
    ready::{Ready, Refused, kind},
    sending::Sending,
    usage::Usage,
};
use crate::{
    agent::{
        Agent,
        choice::of_turn,
        history::{Cost, Step},
        skill::template::progress::{Came, Progress},
        subagent::{Errands, errand::Giving},
        turn::{Input, Turn},
        work::{Shared, Work},
    },
    pending::Parked,
    reason::Reason,
    store::{ReplyFile, StoreError},
    telemetry::metrics,
    trace::turn_id,
};

/// The pause before a call is made again, times the number of tries.
const PAUSE: Duration = Duration::from_millis(250);
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
    Asks { asks: Asks, cost: Cost },
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
            let Some((place, Asks::Elicited(elicited))) = &asks else {
                break asks;
            };
            let refused = self.cannot_be_asked(input, work, &elicited.content);
            let Some(refused) = refused.await? else {
                break asks;
            };
            // Those behind it run as if it had failed.
            self.refuse_at(input, work, *place, refused);
            settled(work, &mut ready);
        };
        let Some((place, asks)) = asks.or(waits.map(|place| (place, Asks::Call))) else {
            return Ok(goes);
        };
        if let Some(parked) = park(input, turn, work, place, asks) {
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
    ) -> Result<Option<(usize, Asks)>, StoreError> {
        let calling = &input.rules.settings.tool_calling;
        let kinds: Vec<Kind> = ready.iter().map(kind).collect();
        let Some(last) = work.steps.len().checked_sub(1) else {
            return Ok(None);
        };
        let (steps, kept, shared) = work.apart();
        let places = Semaphore::new(input.rules.settings.subagents.max_parallel);
        let calls = &Semaphore::new(calling.max_parallel_calls);
        let fragile = |at: &usize| {
            let ready = ready.get(*at).and_then(Option::as_ref);
            ready.is_some_and(|ready| !ready.entry.tool.spec().repeatable)
        };
        let gives = |at: &usize| {
            let ready = ready.get(*at).and_then(Option::as_ref);
            ready.is_some_and(|ready| ready.entry.tool.gives_errands())
        };
        let (mut unsaid, mut asks) = (false, None);
        for group in groups(calling.strategy, calling.parallel_calls, &kinds) {
            let doing: Vec<usize> = group.iter().copied().filter(fragile).collect();
            match shared.errand {
                _ if doing.is_empty() => {}
                Some(errand) => errand.mark.set().await?,
                None => {
                    journal::write(&self.store, input.turn, steps, kept, &doing).await?;
                    unsaid = true;
                }
            }
            let marks = shared.errand.is_none() && group.iter().any(gives);
            let doing = Doing::of(self, input.turn, (steps, kept), &doing, marks);
            let Some(step) = steps.get_mut(last) else {
                break;
            };
            let mut running = FuturesUnordered::<BoxFuture<'_, (usize, Ran)>>::new();
            for place in group {
                if let Some(Some(ready)) = ready.get(place) {
                    let doing = Arc::clone(&doing);
                    let mark = || Mark { doing, place };
                    let errand = shared.errand;
                    let mark = errand.map_or_else(mark, |errand| errand.mark.clone());
                    let of = |(at, progress): &(usize, Progress)| {
                        (*at == place).then(|| progress.clone())
                    };
                    let progress = step.progress.iter().find_map(of);
                    let run = self.run(input, turn, (ready, progress), (shared, mark, &places));
                    let apart = kinds.get(place).is_some_and(|kind| kind.apart);
                    running.push(Box::pin(placed((calls, apart), place, run)));
                }
            }
            while let Some((at, ran)) = running.next().await {
                if let Some(found) = landed(step, at, ran, shared.cost) {
                    asks.get_or_insert((at, found));
                }
            }
            unsaid |= marks && doing.is_marked().await;
            if asks.is_some() {
                break;
            }
        }
        if unsaid {
            journal::write(&self.store, input.turn, steps, kept, &[]).await?;
        }
        Ok(asks)
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
        (ready, progress): (&Ready, Option<Progress>),
        (shared, mark, places): (Shared<'_>, Mark, &Semaphore),
    ) -> Ran {
        let settings = &input.rules.settings;
        let calling = &settings.tool_calling;
        let spec = ready.entry.tool.spec();
        let note = |reason| self.traces.note(input.turn, reason, self.clock.now());
        let usage = shared.usage;
        let gives = ready.entry.tool.gives_errands();
        let giving = gives.then(|| {
            let before = (progress, ready.within.clone());
            Giving::new(self, (input, turn), shared, (mark, places), before)
        });
        let mut tries = 0;
        let mut cost = Cost::default();
        loop {
            let asking = Asking::new(of_turn(input, turn), input.turn, self.random);
            let started = self.clock.tick();
            let sending = self.sending(input, turn, usage);
            let asker = asker(input, turn);
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
                contents: shared.contents,
                asking: &asking,
                sending: sending.as_ref(),
                effects: Some(shared.effects),
                errands: giving.as_ref().map(|giving| giving as &dyn Errands),
            };
            let longest = ready.entry.tool.longest().unwrap_or(calling.timeout);
            let (outcome, given) = once(ready, call, longest).await;
            let mut waits = giving.as_ref().and_then(Giving::waiting);
            cost.add(&asking.into_cost());
            let took = Duration::from_micros(self.clock.tick().saturating_sub(started));
            let told = match &given {
                Err(fault) if fault.asks.is_some() || waits.is_some() => Reason::ToolAsked.code(),
                _ => outcome.map_or("ok", Reason::code),
            };
            metrics::tool_call(&spec.name, told, took);
            let fault = match given {
                Ok(given) => {
                    let files = sending.map(|sending| sending.taken.into_inner());
                    return Ran::Told {
                        text: self.given(input, turn, (given, true), shared),
                        files: files.unwrap_or_default(),
                        cost,
                    };
                }
                Err(fault) => fault,
            };
            let asks = fault.asks.map(|elicited| Asks::Elicited(*elicited));
            if let Some(asks) = asks.or(waits.take()) {
                return Ran::Asks { asks, cost };
            }
            if let Some(reason) = outcome {
                note(reason);
                tracing::info!(turn = %turn_id(input.turn), tool = %spec.name, %reason, "a tool gave nothing");
            }
            tries += 1;
            let again = fault.passing && spec.repeatable && tries <= calling.max_retries;
            if !(again && usage.take_retry(settings.tool_retries)) {
                return Ran::Told {
                    text: self.given(input, turn, (fault.given, false), shared),
                    files: Vec::new(),
                    cost,
                };
            }
            note(Reason::ToolRetried);
            tokio::time::sleep(PAUSE * tries).await;
        }
    }

    /// What is told of a call's end, good or not. What a step of a skill gives is for the steps behind it.
    fn given(
        &self,
        input: &Input,
        turn: &Turn,
        (given, ok): (Given, bool),
        shared: Shared<'_>,
    ) -> String {
        let given = self.bounded(input, given);
        let place = shared.errand.and_then(|errand| errand.result.as_ref());
        if let Some(place) = place {
            let Given { text, origin } = given;
            *place.lock() = Some(Came { ok, text, origin });
            return String::new();
        }
        let before = if ok { "" } else { FAILED };
        format!("{before}{}", self.dressed(input, turn, given))
    }
}

/// Runs a call when there is room for it. An errand stands `apart`: it waits for a place among errands, and the calls in
/// it have places of their own.
async fn placed(
    (calls, apart): (&Semaphore, bool),
    place: usize,
    run: impl Future<Output = Ran>,
) -> (usize, Ran) {
    let _room = if apart {
        None
    } else {
        calls.acquire().await.ok()
    };
    (place, run.await)
}

/// Who asks, as tools are told.
fn asker<'a>(input: &Input, turn: &'a Turn) -> Asker<'a> {
    Asker {
        person: &turn.person,
        body: turn.body(),
        language: turn.language,
        place: turn.place(input),
    }
}

/// Puts in how a call of a step ended; gives what it asks instead.
fn landed(step: &mut Step, at: usize, ran: Ran, cost: &Mutex<Cost>) -> Option<Asks> {
    step.progress.retain(|(place, _)| *place != at);
    let (files, asks) = match ran {
        Ran::Told {
            text,
            files,
            cost: took,
        } => {
            cost.lock().add(&took);
            if let Some(result) = step.results.get_mut(at) {
                *result = Some(text);
            }
            (files, None)
        }
        Ran::Asks {
            mut asks,
            cost: took,
        } => {
            cost.lock().add(&took);
            let mut files = Vec::new();
            if let Asks::Within { progress, .. } = &mut asks {
                // They go out with the question.
                files = std::mem::take(&mut progress.files);
                step.progress.push((at, progress.clone()));
            }
            (files, Some(asks))
        }
    };
    step.files.extend(files.into_iter().map(|file| (at, file)));
    step.files.sort_by_key(|(at, _)| *at);
    asks
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
