//! How far a model has come with what it was asked: in a turn, or in an errand of one.
//!
//! Owns what is kept from step to step, and what an errand shares with the turn that gave it. It does nothing.

use std::sync::{Arc, atomic::AtomicUsize};

use parking_lot::Mutex;

use super::{
    digest::Digest,
    history::{Cost, Step},
    request::contents::Contents,
    skill::template::progress::Came,
    tool::{journal::Mark, usage::Usage},
};
use crate::{
    outbound::preview::Board,
    pending::Parked,
    store::{Effect, ReplyFile},
};

/// How far it has come.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// The steps in which tools were called.
    pub(super) steps: Vec<Step>,
    /// What was used of the limits.
    pub(super) usage: Usage,
    /// Requests so far, each with its retries counted as one.
    pub(super) requests: usize,
    /// How often the model was told that its calls cannot be used.
    pub(super) broken: u32,
    /// What it cost; errands count in here as well.
    pub(super) cost: Arc<Mutex<Cost>>,
    /// How many of the steps are in the journal.
    pub(super) kept: Arc<AtomicUsize>,
    /// What somebody said yes to: the call with which the turn goes on.
    pub(super) allowed: Option<Box<Parked>>,
    /// What tools want done with the end of the turn, also those of errands.
    pub(super) effects: Arc<Mutex<Vec<Effect>>>,
    /// Where the turn shows what is done.
    pub(super) board: Board,
    /// What stands for the first steps in requests.
    pub(super) digest: Digest,
    /// What fills the context, where the last step asks for it.
    pub(super) contents: Option<Contents>,
    /// It is an errand.
    pub(super) errand: Option<Errand>,
}

/// What sets an errand apart from a turn.
#[derive(Debug, Clone)]
pub(super) struct Errand {
    /// The tools that it may use; `None` for all.
    pub(super) only: Option<Arc<[String]>>,
    /// Those that it may not use whatever is listed.
    pub(super) without: &'static [&'static str],
    /// How the journal of the turn learns that it is about to do something.
    pub(super) mark: Mark,
    /// Where a call puts what came of it, where the errand is the steps of a skill. Such a call may wait for people.
    pub(super) result: Option<Arc<Mutex<Option<Came>>>>,
}

impl Errand {
    /// Whether it has a tool, as far as it is up to the errand.
    pub(super) fn has(&self, tool: &str) -> bool {
        let listed = |only: &Arc<[String]>| only.iter().any(|name| name == tool);
        !self.without.contains(&tool) && self.only.as_ref().is_none_or(listed)
    }
}

impl Work {
    /// The work of an errand, which counts for the turn that gives it.
    pub(super) fn of(errand: Errand, turn: &Shared<'_>) -> Self {
        Self {
            usage: turn.usage.shared(),
            cost: Arc::clone(turn.cost),
            effects: Arc::clone(turn.effects),
            board: turn.board.clone(),
            errand: Some(errand),
            ..Self::default()
        }
    }

    /// The steps, how many of them are in the journal, and what their calls share.
    pub(super) fn apart(&mut self) -> (&mut Vec<Step>, &Arc<AtomicUsize>, Shared<'_>) {
        let shared = Shared {
            usage: &self.usage,
            effects: &self.effects,
            cost: &self.cost,
            board: &self.board,
            contents: self.contents.as_ref(),
            errand: self.errand.as_ref(),
        };
        (&mut self.steps, &self.kept, shared)
    }

    /// The files that go out with the answer, in the order in which they were asked for.
    pub(super) fn files(&self) -> Vec<ReplyFile> {
        let files = self.steps.iter().flat_map(|step| &step.files);
        files.map(|(_, file)| file.clone()).collect()
    }

    /// What the model said last beside its calls; empty if nothing.
    pub(super) fn last_words(&self) -> String {
        let said = self.steps.iter().rev().map(|step| &step.text);
        let said = said.into_iter().find(|text| !text.trim().is_empty());
        said.cloned().unwrap_or_default()
    }
}

/// What the calls of a step share.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    /// What was used of the limits.
    pub(super) usage: &'a Usage,
    /// What is to be done with the end of the turn.
    pub(super) effects: &'a Arc<Mutex<Vec<Effect>>>,
    /// What it cost.
    pub(super) cost: &'a Arc<Mutex<Cost>>,
    /// Where the turn shows what is done.
    pub(super) board: &'a Board,
    /// What fills the context, where the last step asks for it.
    pub(super) contents: Option<&'a Contents>,
    /// It is an errand.
    pub(super) errand: Option<&'a Errand>,
}
