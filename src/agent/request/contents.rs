//! What fills the context of a turn, for the tool that tells of it.
//!
//! Owns the sums and the list of the parts, made only when a model asks. What is dropped is written by
//! [`Compactor`](crate::agent::compact::Compactor).

use std::{collections::HashSet, sync::Arc};

use super::Question;
use crate::{
    agent::{
        Agent,
        compact::{Compactor, parts::Replaced},
        context::{
            estimate_tokens, file_cost,
            parts::{self, Part},
            row_cost,
        },
        tool::context::NAME,
        turn::{Input, Turn},
        work::Work,
    },
    store::{HistoryScope, Role, StoreError},
};

/// What fills the context of a turn. All numbers are tokens, about.
#[derive(Debug)]
pub struct Contents {
    /// Most of a request.
    pub most: usize,
    /// The system prompt.
    pub system: usize,
    /// The declarations of tools.
    pub tools: usize,
    /// The newest message, with its files and what stands before it.
    pub newest: usize,
    /// What people said without being answered.
    pub overheard: usize,
    /// The parts, oldest first.
    pub parts: Vec<Part>,
    scope: HistoryScope,
    compactor: Arc<Compactor>,
}

impl Contents {
    /// The parts of these names go, from the store for good and from this turn's requests.
    ///
    /// # Errors
    /// The store's.
    pub async fn drop_parts(&self, names: &HashSet<String>) -> Result<Replaced, StoreError> {
        let stored = |part: &Part| part.at.is_some() && names.contains(&part.name);
        if !self.parts.iter().any(stored) {
            // What belongs to this turn is stored with its end.
            return Ok(Replaced::Rows(0));
        }
        self.compactor.drop_parts(self.scope, names).await
    }
}

impl Agent {
    /// What fills the context, if the last step asks for it. An errand has none of the conversation.
    pub(in crate::agent) fn contents(
        &self,
        input: &Input,
        turn: &Turn,
        question: &Question,
        work: &Work,
    ) -> Option<Contents> {
        let (last, before) = work.steps.split_last()?;
        if work.errand.is_some() || !last.calls.iter().any(|call| call.name == NAME) {
            return None;
        }
        let gone = parts::dropped(before);
        let mut list = parts::of_rows(&question.history, &question.known);
        list.extend(parts::of_steps(
            before.get(work.digest.steps..).unwrap_or_default(),
        ));
        list.retain(|part| !gone.contains(&part.name));
        let ambient = question.history.iter();
        let ambient = ambient.filter(|row| row.role == Role::Ambient);
        let used = (&work.usage, question.tokens);
        let offers = self.offers(input, turn, &question.said, None, used);
        let files: usize = question.enclosed.iter().map(file_cost).sum();
        Some(Contents {
            most: question.tokens,
            system: estimate_tokens(&question.system),
            tools: offers.tokens,
            newest: estimate_tokens(&question.newest) + files,
            overheard: ambient.map(row_cost).sum(),
            parts: list,
            scope: turn.scope,
            compactor: Arc::clone(&self.compactor),
        })
    }
}
