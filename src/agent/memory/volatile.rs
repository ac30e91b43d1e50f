//! A memory that is gone with the process.
//!
//! Owns entries in a list, with a bound for all of them. It finds them as the databases do.

use std::collections::BTreeSet;

use async_trait::async_trait;
use parking_lot::Mutex;

use crate::store::{
    MemoryChange, MemoryQuestion, MemoryRow, MemoryStore, MemoryTier, Place, StoreError,
};

/// Entries in all; of more the oldest go.
const MOST: usize = 20_000;

/// The memory.
#[derive(Debug, Default)]
pub struct Volatile(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: i64,
    /// The oldest first.
    rows: Vec<MemoryRow>,
}

impl State {
    fn put(&mut self, row: &MemoryRow) -> i64 {
        let same = |other: &&mut MemoryRow| match &row.name {
            Some(_) if row.id == 0 => other.place == row.place && other.name == row.name,
            _ => other.id == row.id,
        };
        if let Some(known) = self.rows.iter_mut().find(same) {
            *known = MemoryRow {
                id: known.id,
                created_at: known.created_at,
                ..row.clone()
            };
            return known.id;
        }
        if row.id != 0 {
            // It was deleted meanwhile.
            return 0;
        }
        self.last += 1;
        let id = self.last;
        self.rows.push(MemoryRow { id, ..row.clone() });
        let surplus = self.rows.len().saturating_sub(MOST);
        self.rows.drain(..surplus);
        id
    }

    fn change(&mut self, change: &MemoryChange) -> Option<i64> {
        match change {
            MemoryChange::Put(row) => return Some(self.put(row)),
            MemoryChange::Recalled(row) => {
                let known = self.rows.iter_mut().find(|known| known.id == row.id);
                if let Some(known) = known {
                    known.relevance.clone_from(&row.relevance);
                    (known.recalls, known.recalled_at) = (row.recalls, row.recalled_at);
                    known.archived = row.archived;
                }
            }
            MemoryChange::Remove(ids) => self.rows.retain(|row| !ids.contains(&row.id)),
            MemoryChange::Clear(place) => self.rows.retain(|row| row.place != *place),
            MemoryChange::ClearConversation(conversation) => {
                let own = Place::of_conversation(*conversation);
                self.rows
                    .retain(|row| row.from_conversation != *conversation && row.place != own);
            }
            MemoryChange::ClearPerson(person) => {
                let own = Place::of_person(*person);
                self.rows
                    .retain(|row| row.from_person != *person && row.place != own);
            }
        }
        None
    }

    /// The rows that are asked for, in their order.
    fn rows(&self, question: &MemoryQuestion) -> Vec<&MemoryRow> {
        let newest = self.rows.iter().rev();
        match question {
            MemoryQuestion::Places(places) => {
                newest.filter(|row| places.contains(&row.place)).collect()
            }
            MemoryQuestion::Standing(places, since) => {
                let stands = |row: &&MemoryRow| match row.tier {
                    MemoryTier::System | MemoryTier::Important => true,
                    MemoryTier::Daily => row.created_at >= *since,
                    MemoryTier::Misc => false,
                };
                let mut rows: Vec<_> = newest
                    .filter(|row| places.contains(&row.place) && !row.archived)
                    .filter(stands)
                    .collect();
                rows.sort_by_key(|row| (row.tier.code(), std::cmp::Reverse(row.importance)));
                rows
            }
            MemoryQuestion::Words(places, words) => {
                let shared = |row: &MemoryRow| {
                    row.tokens
                        .split(' ')
                        .filter(|own| words.iter().any(|word| word == own))
                        .count()
                };
                let mut rows: Vec<_> = newest
                    .filter(|row| places.contains(&row.place) && shared(row) > 0)
                    .collect();
                rows.sort_by_key(|row| std::cmp::Reverse(shared(row)));
                rows
            }
            MemoryQuestion::Embedded(places, model) => newest
                .filter(|row| places.contains(&row.place))
                .filter(|row| {
                    row.embedding
                        .as_ref()
                        .is_some_and(|own| own.model == *model)
                })
                .collect(),
            MemoryQuestion::Ids(ids) => newest.filter(|row| ids.contains(&row.id)).collect(),
            MemoryQuestion::About(person) => {
                let own = Place::of_person(*person);
                newest
                    .filter(|row| row.place == own || row.from_person == *person)
                    .collect()
            }
        }
    }
}

#[async_trait]
impl MemoryStore for Volatile {
    async fn remembered(
        &self,
        question: MemoryQuestion,
        limit: usize,
    ) -> Result<Vec<MemoryRow>, StoreError> {
        let state = self.0.lock();
        let rows = state.rows(&question).into_iter();
        Ok(rows.take(limit).cloned().collect())
    }

    async fn change_memory(&self, changes: Vec<MemoryChange>) -> Result<Vec<i64>, StoreError> {
        let mut state = self.0.lock();
        Ok(changes
            .iter()
            .filter_map(|change| state.change(change))
            .collect())
    }

    async fn memory_places(
        &self,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<Place>, StoreError> {
        let state = self.0.lock();
        let pair = |place: Place| (place.conversation, place.person);
        let places: BTreeSet<(i64, i64)> = state
            .rows
            .iter()
            .map(|row| pair(row.place))
            .filter(|own| after.is_none_or(|after| *own > pair(after)))
            .collect();
        let place = |(conversation, person)| Place {
            conversation,
            person,
        };
        Ok(places.into_iter().take(limit).map(place).collect())
    }
}
