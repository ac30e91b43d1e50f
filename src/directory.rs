//! The keys behind the store's numbers, and people's preferences, kept close.
//!
//! Owns bounded caches in front of the store, and the language in which people wrote. Losing an entry
//! costs one read, or a guess. A preference that changes is dropped here before its turn ends.

use std::{
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use lru::LruCache;
use parking_lot::Mutex;
use weirgate_sdk::{ConversationKey, UserKey};

use crate::{
    i18n::Language,
    store::{Place, Store, StoreError},
};

/// Entries of each cache.
const CACHED: NonZeroUsize = NonZeroUsize::new(4_096).expect("not zero");

type Preferences = Arc<Vec<(String, String)>>;

/// Looks up conversations, people and preferences.
pub struct Directory {
    store: Arc<dyn Store>,
    conversations: Mutex<LruCache<i64, Arc<ConversationKey>>>,
    people: Mutex<LruCache<i64, Arc<UserKey>>>,
    preferences: Mutex<LruCache<i64, Preferences>>,
    /// Counts changes of preferences, so that a read that raced with one is not kept.
    changes: AtomicU64,
    languages: Mutex<LruCache<i64, Language>>,
}

impl std::fmt::Debug for Directory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Directory").finish_non_exhaustive()
    }
}

impl Directory {
    /// An empty directory in front of a store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            conversations: Mutex::new(LruCache::new(CACHED)),
            people: Mutex::new(LruCache::new(CACHED)),
            preferences: Mutex::new(LruCache::new(CACHED)),
            changes: AtomicU64::new(0),
            languages: Mutex::new(LruCache::new(CACHED)),
        }
    }

    /// Remembers keys whose numbers the store just told.
    pub fn learn(&self, conversation: i64, key: &ConversationKey, person: i64, user: &UserKey) {
        self.conversations
            .lock()
            .get_or_insert(conversation, || Arc::new(key.clone()));
        self.people
            .lock()
            .get_or_insert(person, || Arc::new(user.clone()));
    }

    /// Remembers that nothing is stored about a person, because the store has just met him.
    pub fn learn_new(&self, person: i64) {
        self.preferences.lock().get_or_insert(person, Arc::default);
    }

    /// The key of a conversation.
    ///
    /// # Errors
    /// The store's, also when it knows no such number.
    pub async fn conversation(&self, id: i64) -> Result<Arc<ConversationKey>, StoreError> {
        if let Some(key) = self.conversations.lock().get(&id) {
            return Ok(Arc::clone(key));
        }
        let key = self
            .store
            .conversation(id)
            .await?
            .ok_or_else(|| unknown("conversation", id))?;
        let key = Arc::new(key);
        self.conversations.lock().put(id, Arc::clone(&key));
        Ok(key)
    }

    /// The key of a person.
    ///
    /// # Errors
    /// The store's, also when it knows no such number.
    pub async fn person(&self, id: i64) -> Result<Arc<UserKey>, StoreError> {
        if let Some(key) = self.people.lock().get(&id) {
            return Ok(Arc::clone(key));
        }
        let key = self
            .store
            .person(id)
            .await?
            .ok_or_else(|| unknown("person", id))?;
        let key = Arc::new(key);
        self.people.lock().put(id, Arc::clone(&key));
        Ok(key)
    }

    /// Whether the conversation with this number has this key. Only for conversations in use, whose
    /// keys are remembered.
    #[must_use]
    pub fn is_conversation(&self, id: i64, key: &ConversationKey) -> bool {
        self.conversations
            .lock()
            .peek(&id)
            .is_some_and(|known| **known == *key)
    }

    /// Whether the person with this number has this key. Only for people in use.
    #[must_use]
    pub fn is_person(&self, id: i64, key: &UserKey) -> bool {
        self.people
            .lock()
            .peek(&id)
            .is_some_and(|known| **known == *key)
    }

    /// One preference of a person.
    ///
    /// # Errors
    /// The store's.
    pub async fn preference(&self, person: i64, key: &str) -> Result<Option<String>, StoreError> {
        let cached = self.preferences.lock().get(&person).cloned();
        let all = match cached {
            Some(all) => all,
            None => {
                let before = self.changes.load(Ordering::Acquire);
                let all = self
                    .store
                    .settings(Place {
                        conversation: 0,
                        person,
                    })
                    .await?;
                let all = Arc::new(all);
                let mut cache = self.preferences.lock();
                if self.changes.load(Ordering::Acquire) == before {
                    cache.put(person, Arc::clone(&all));
                }
                all
            }
        };
        Ok(all
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.clone()))
    }

    /// Forgets a person's preferences, because they have changed.
    pub fn changed(&self, person: i64) {
        let mut cache = self.preferences.lock();
        self.changes.fetch_add(1, Ordering::AcqRel);
        cache.pop(&person);
    }

    /// Remembers in which language a person wrote.
    pub fn heard(&self, person: i64, language: Language) {
        self.languages.lock().put(person, language);
    }

    /// The language in which a person wrote last, if this process heard it.
    #[must_use]
    pub fn spoken(&self, person: i64) -> Option<Language> {
        self.languages.lock().get(&person).copied()
    }
}

fn unknown(what: &str, id: i64) -> StoreError {
    StoreError::Database(format!("no {what} has the number {id}"))
}
