//! What outlives the words of a conversation: facts, events and rules, found again when they fit.
//!
//! Owns what is remembered where and who sees it: what somebody says in private is his own and is told nowhere else, what
//! is said in a group is the group's. It decides nothing about rights; who calls has done that.

pub mod config;
mod dates;
pub mod extract;
mod keep;
pub mod recall;
mod score;
pub mod scribe;
mod tend;
mod vector;
pub mod volatile;
mod words;

use std::{sync::Arc, time::Duration};

pub use keep::{Kept, MAX_CHARS, New};
use weirgate_sdk::Timestamp;

use super::{model::Permits as _, rules::Rules};
use crate::{
    clock::Clock,
    store::{
        Effect, Embedding, MemoryChange, MemoryQuestion, MemoryRow, MemoryStore, Place, StoreError,
    },
};

/// Where something is remembered or recalled, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// The conversation's number.
    pub conversation: i64,
    /// The person's number.
    pub person: i64,
    /// Others are there too.
    pub group: bool,
    /// The turn, or 0.
    pub turn: i64,
}

impl Site {
    /// Where what is said here belongs: to the person alone, or to all who are there.
    #[must_use]
    pub fn own(&self) -> Place {
        if self.group {
            Place::of_conversation(self.conversation)
        } else {
            Place::of_person(self.person)
        }
    }

    /// What is told here: what belongs here, and what is for everybody. What somebody said in private is not told in a
    /// group, also to himself.
    #[must_use]
    pub fn recalled_from(&self) -> Vec<Place> {
        vec![self.own(), Place::GATEWAY]
    }
}

/// The memory.
pub struct Memories {
    store: Arc<dyn MemoryStore>,
    clock: Clock,
}

/// What was said until `at` is not looked through again where something was forgotten: it would come back.
#[must_use]
pub fn forgotten(site: Site, at: Timestamp) -> Effect {
    Effect::Set {
        of: site.own(),
        key: scribe::FORGOTTEN.into(),
        value: Some(at.to_string()),
    }
}

impl std::fmt::Debug for Memories {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memories").finish_non_exhaustive()
    }
}

/// Entries that are listed at once.
const LISTED: usize = 1_000;

impl Memories {
    /// A memory that keeps what it knows there.
    #[must_use]
    pub fn new(store: Arc<dyn MemoryStore>, clock: Clock) -> Self {
        Self { store, clock }
    }

    /// Everything that belongs to a place, the newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn of_place(&self, place: Place) -> Result<Vec<MemoryRow>, StoreError> {
        let question = MemoryQuestion::Places(vec![place]);
        self.store.remembered(question, LISTED).await
    }

    /// Everything that is kept about a person: his own, and what comes from his words wherever it is. The newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn about(&self, person: i64) -> Result<Vec<MemoryRow>, StoreError> {
        let question = MemoryQuestion::About(person);
        self.store.remembered(question, LISTED).await
    }

    /// Entries by their numbers.
    ///
    /// # Errors
    /// The store's.
    pub async fn entries(&self, ids: Vec<i64>) -> Result<Vec<MemoryRow>, StoreError> {
        let question = MemoryQuestion::Ids(ids);
        self.store.remembered(question, LISTED).await
    }

    /// Entries go for good.
    ///
    /// # Errors
    /// The store's.
    pub async fn forget(&self, ids: Vec<i64>) -> Result<(), StoreError> {
        self.change(MemoryChange::Remove(ids)).await
    }

    /// Everything goes that is kept about a person.
    ///
    /// # Errors
    /// The store's.
    pub async fn forget_person(&self, person: i64) -> Result<(), StoreError> {
        self.change(MemoryChange::ClearPerson(person)).await
    }

    /// Everything goes that comes from a conversation.
    ///
    /// # Errors
    /// The store's.
    pub async fn forget_conversation(&self, conversation: i64) -> Result<(), StoreError> {
        self.change(MemoryChange::ClearConversation(conversation))
            .await
    }

    /// Everything goes that belongs to a place.
    ///
    /// # Errors
    /// The store's.
    pub async fn forget_place(&self, place: Place) -> Result<(), StoreError> {
        self.change(MemoryChange::Clear(place)).await
    }

    async fn change(&self, change: MemoryChange) -> Result<(), StoreError> {
        self.store.change_memory(vec![change]).await.map(drop)
    }

    /// What a text means, if a model is configured that knows and it says so in time.
    async fn meaning(&self, rules: &Rules, text: &str, patience: Duration) -> Option<Embedding> {
        let model = rules.embed.as_ref()?;
        let asked = async {
            rules.permits.acquire(model.provider()).await;
            model.embed(text).await
        };
        let told = match tokio::time::timeout(patience, asked).await {
            Ok(Ok(vector)) => vector,
            Ok(Err(error)) => {
                tracing::warn!(model = model.name(), %error, "what a text means is not known");
                return None;
            }
            Err(_) => {
                tracing::warn!(
                    model = model.name(),
                    "what a text means was not told in time"
                );
                return None;
            }
        };
        Some(Embedding {
            model: model.name().to_owned(),
            vector: vector::Vector::of(&told).encode(),
        })
    }
}

#[cfg(test)]
mod tests;
