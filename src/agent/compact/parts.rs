//! Parts of a history that give way to a mark because somebody wants them dropped.
//!
//! Owns the writing: row by row, each as long as it is there. It shares the right to work on a history with who makes
//! summaries, so that neither writes over the other. Who may have something dropped is decided before.

use std::collections::HashSet;

use super::{Compactor, MOST_ROWS};
use crate::{
    agent::context::parts::row_without,
    store::{Compact, HistoryScope, StoreError, Write, commit},
};

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// So many rows say that something was dropped. Those that have gone meanwhile are not among them.
    Rows(usize),
    /// Somebody works on the history now.
    Busy,
}

impl Compactor {
    /// Puts a mark in the place of the parts of these names.
    ///
    /// # Errors
    /// The store's; some rows may be replaced already.
    pub async fn drop_parts(
        &self,
        scope: HistoryScope,
        names: &HashSet<String>,
    ) -> Result<Replaced, StoreError> {
        let Some(_working) = self.enter(scope) else {
            return Ok(Replaced::Busy);
        };
        let done = self.replace(scope, names).await;
        // Also if not all of them were written.
        self.recent.forget(scope);
        done.map(Replaced::Rows)
    }

    async fn replace(
        &self,
        scope: HistoryScope,
        names: &HashSet<String>,
    ) -> Result<usize, StoreError> {
        let mut replaced = 0;
        for (number, row) in self.store.numbered_history(scope, MOST_ROWS).await? {
            let Some(without) = row_without(&row, names) else {
                continue;
            };
            let compact = Box::new(Compact {
                scope,
                first: number,
                last: number,
                rows: 1,
                older: false,
                summary: without,
            });
            let there = commit(&self.store, |then| Write::Compact(compact, then)).await?;
            replaced += usize::from(there);
        }
        Ok(replaced)
    }
}
