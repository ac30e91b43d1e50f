//! What the journal knows of the steps of a turn, so that a crash repeats nothing that is not safe to repeat.
//!
//! Owns when steps are written, and how a call is marked that may have run for whoever reads them. An errand has no steps
//! in the journal: the first of its calls that is not safe to repeat marks the call of the turn that gave it. A call that
//! runs the steps of a skill is written with how far they have come.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::Mutex;

use crate::{
    agent::{
        Agent,
        history::{Content, Step},
        skill::template::progress::Progress,
        turn::Input,
        work::Work,
    },
    reason::Reason,
    store::{Store, StoreError, Write, commit},
};

/// What the model is told of a call that was running when the gateway ended.
pub(in crate::agent) const UNSURE: &str = "The gateway ended while this ran: it may have been done, or not, or in part. Do not do it again \
                      without looking what is there or asking.";

/// The calls of a group that is about to run, as the journal knows them.
pub(in crate::agent) struct Doing {
    store: Arc<dyn Store>,
    turn: i64,
    /// The steps as they are before the group runs; none where no call of it could mark itself.
    steps: Vec<Step>,
    /// How many steps of the turn are written.
    kept: Arc<AtomicUsize>,
    /// What is told of them. Held while it is written.
    told: Mutex<Told>,
}

/// What is told of the calls of the last step, for whoever reads it after a crash.
#[derive(Debug, Clone, Default)]
struct Told {
    /// The places of those that may have done something.
    unsure: BTreeSet<usize>,
    /// How far those have come that have steps of their own.
    progress: BTreeMap<usize, Progress>,
    /// Something of it is written.
    written: bool,
}

impl Told {
    /// Whether the call at this place may have done something that is not safe to repeat.
    fn has_begun(&self, place: usize) -> bool {
        match self.progress.get(&place) {
            Some(progress) => progress.begun,
            None => self.unsure.contains(&place),
        }
    }

    fn begin(&mut self, place: usize) {
        match self.progress.get_mut(&place) {
            Some(progress) => progress.begun = true,
            None => _ = self.unsure.insert(place),
        }
    }

    /// Lays it over a step.
    fn lay_over(&self, step: &mut Step) {
        for place in &self.unsure {
            if let Some(result) = step.results.get_mut(*place) {
                *result = Some(UNSURE.to_owned());
            }
        }
        for (place, progress) in &self.progress {
            step.progress.retain(|(at, _)| at != place);
            step.progress.push((*place, progress.clone()));
        }
    }
}

impl std::fmt::Debug for Doing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Doing")
            .field("turn", &self.turn)
            .finish_non_exhaustive()
    }
}

/// How something that runs inside of a call of the turn says that it is about to do what is not safe to repeat.
#[derive(Debug, Clone)]
pub(in crate::agent) struct Mark {
    pub(in crate::agent) doing: Arc<Doing>,
    /// The place of the call in the last step of the turn.
    pub(in crate::agent) place: usize,
}

impl Mark {
    /// Writes that the call may have been done. Once that is written it does nothing.
    ///
    /// # Errors
    /// The store's; what was to be done must not be done then.
    pub(in crate::agent) async fn set(&self) -> Result<(), StoreError> {
        let mut told = self.doing.told.lock().await;
        if told.has_begun(self.place) {
            return Ok(());
        }
        let mut with = told.clone();
        with.begin(self.place);
        self.doing.write(&mut told, with).await
    }

    /// Says how far the steps of the call have come, none of which is under way. It is written once they have done
    /// something that is not safe to repeat, so that this is not told as unsure any more.
    ///
    /// # Errors
    /// The store's; nothing more must be done then.
    pub(in crate::agent) async fn keep(&self, progress: Progress) -> Result<(), StoreError> {
        let mut told = self.doing.told.lock().await;
        let had_begun = told.has_begun(self.place);
        let mut with = told.clone();
        with.progress.insert(self.place, progress);
        if had_begun {
            return self.doing.write(&mut told, with).await;
        }
        *told = with;
        Ok(())
    }
}

impl Doing {
    /// A group of calls of the last of `steps`. `marks`: one of them may mark itself.
    pub(super) fn of(
        agent: &Agent,
        turn: i64,
        (steps, kept): (&[Step], &Arc<AtomicUsize>),
        doing: &[usize],
        marks: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            store: Arc::clone(&agent.store),
            turn,
            steps: if marks { steps.to_vec() } else { Vec::new() },
            kept: Arc::clone(kept),
            told: Mutex::new(Told {
                unsure: doing.iter().copied().collect(),
                ..Told::default()
            }),
        })
    }

    /// Whether one of them has marked itself.
    pub(super) async fn is_marked(&self) -> bool {
        self.told.lock().await.written
    }

    async fn write(&self, told: &mut Told, with: Told) -> Result<(), StoreError> {
        write_told(&self.store, self.turn, &self.steps, &self.kept, &with).await?;
        *told = Told {
            written: true,
            ..with
        };
        Ok(())
    }
}

/// Writes the steps that are not in the journal yet. The calls of `doing` are about to run, and may have run for whoever
/// reads this.
pub(super) async fn write(
    store: &Arc<dyn Store>,
    turn: i64,
    steps: &[Step],
    kept: &AtomicUsize,
    doing: &[usize],
) -> Result<(), StoreError> {
    let told = Told {
        unsure: doing.iter().copied().collect(),
        ..Told::default()
    };
    write_told(store, turn, steps, kept, &told).await
}

async fn write_told(
    store: &Arc<dyn Store>,
    turn: i64,
    steps: &[Step],
    kept: &AtomicUsize,
    told: &Told,
) -> Result<(), StoreError> {
    let last = steps.len().saturating_sub(1);
    // Who is stopped in here has perhaps written them all the same.
    let first = kept.swap(steps.len(), Ordering::Relaxed).min(last);
    for (at, step) in steps.iter().enumerate().skip(first) {
        let mut step = step.clone();
        if at == last {
            told.lay_over(&mut step);
        }
        let content = Content::step(&step).encode().into_boxed_str();
        let step = u32::try_from(at).unwrap_or(u32::MAX);
        commit(store, |then| Write::Step {
            turn,
            step,
            content,
            then,
        })
        .await?;
    }
    Ok(())
}

impl Agent {
    /// Takes up the steps of a turn that ran before.
    ///
    /// # Errors
    /// The store's.
    pub(in crate::agent) async fn take_up(
        &self,
        input: &Input,
        work: &mut Work,
    ) -> Result<(), StoreError> {
        let most = input.rules.settings.tool_calling.most();
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
            let inside = step.progress.iter().map(|(_, progress)| progress);
            work.usage
                .count(inside.clone().map(|progress| progress.came.len()).sum());
            let files = inside.map(|progress| progress.files.len());
            for _ in 0..files.sum::<usize>() + step.files.len() {
                work.usage.take_file(u32::MAX);
            }
            work.steps.push(step);
        }
        work.kept.store(work.steps.len(), Ordering::Relaxed);
        work.requests = work.steps.len();
        Ok(())
    }
}
