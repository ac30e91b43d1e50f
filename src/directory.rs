//! The keys behind the store's numbers, people's preferences and conversations' rules, kept close.
//!
//! Owns bounded caches in front of the store, and the language in which people wrote. Losing an entry
//! costs one read, or a guess. What changes is dropped here before its turn ends, and everything that can change is
//! when another process has written.

mod seen;
pub mod standings;

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
    permission::policy::ConversationRules,
    store::{Place, Store, StoreError},
};

/// Entries of each cache.
const CACHED: NonZeroUsize = NonZeroUsize::new(4_096).expect("not zero");

/// What the stored key of a claimed owner begins with; his key follows.
const OWNER: &str = "owner:";
/// What the stored key of somebody begins with who is blocked in the whole gateway; his key follows.
const BLOCKED: &str = "blocked:";

/// What was set for the whole gateway about somebody.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// He claimed the gateway.
    pub claimed: bool,
    /// He is blocked everywhere.
    pub blocked: bool,
}

pub use seen::Seen;

use standings::Standings;

type Settings = Arc<Vec<(String, String)>>;

/// Looks up conversations, people and preferences.
pub struct Directory {
    store: Arc<dyn Store>,
    conversations: Mutex<LruCache<i64, Arc<ConversationKey>>>,
    people: Mutex<LruCache<i64, Arc<UserKey>>>,
    /// Of people, and of the gateway itself.
    settings: Mutex<LruCache<Place, Settings>>,
    rules: Mutex<LruCache<i64, Arc<ConversationRules>>>,
    /// The numbers of chats in which something was said; `None` where nothing is stored yet.
    numbers: Mutex<LruCache<ConversationKey, Option<i64>>>,
    /// Counts changes of settings and rules, so that a read that raced with one is not kept.
    changes: AtomicU64,
    /// The store's [`Store::others`] as of the last look at settings and rules.
    others: AtomicU64,
    languages: Mutex<LruCache<i64, Language>>,
    seen: Seen,
    standings: Standings,
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
            settings: Mutex::new(LruCache::new(CACHED)),
            rules: Mutex::new(LruCache::new(CACHED)),
            numbers: Mutex::new(LruCache::new(CACHED)),
            changes: AtomicU64::new(0),
            others: AtomicU64::new(0),
            languages: Mutex::new(LruCache::new(CACHED)),
            seen: Seen::default(),
            standings: Standings::default(),
        }
    }

    /// Remembers keys whose numbers the store just told.
    pub fn learn(&self, conversation: i64, key: &ConversationKey, person: i64, user: &UserKey) {
        self.conversations
            .lock()
            .get_or_insert(conversation, || Arc::new(key.clone()));
        if let Some(number) = self.numbers.lock().peek_mut(key) {
            *number = Some(conversation);
        }
        self.people
            .lock()
            .get_or_insert(person, || Arc::new(user.clone()));
    }

    /// Remembers that nothing is stored about a person, because the store has just met him.
    pub fn learn_new(&self, person: i64) {
        self.look();
        let mut settings = self.settings.lock();
        settings.get_or_insert(Place::of_person(person), Arc::default);
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
        let all = self.settings(Place::of_person(person)).await?;
        Ok(all
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.clone()))
    }

    /// What was set for the whole gateway.
    ///
    /// # Errors
    /// The store's.
    pub async fn of_gateway(&self) -> Result<Arc<Vec<(String, String)>>, StoreError> {
        self.settings(Place::GATEWAY).await
    }

    /// What was set for the whole gateway about a person.
    ///
    /// # Errors
    /// The store's.
    pub async fn marks(&self, person: &UserKey) -> Result<Marks, StoreError> {
        let all = self.settings(Place::GATEWAY).await?;
        let person = person.encode();
        let has = |mark: &str| {
            let mut marked = all.iter().filter_map(|(key, _)| key.strip_prefix(mark));
            marked.any(|marked| marked == person)
        };
        Ok(Marks {
            claimed: has(OWNER),
            blocked: has(BLOCKED),
        })
    }

    /// Who was blocked in the whole gateway with /block, and the value that is stored with it.
    ///
    /// # Errors
    /// The store's.
    pub async fn blocked(&self) -> Result<Vec<(UserKey, String)>, StoreError> {
        let all = self.settings(Place::GATEWAY).await?;
        let blocked = all.iter().filter_map(|(key, value)| {
            let person = UserKey::decode(key.strip_prefix(BLOCKED)?)?;
            Some((person, value.clone()))
        });
        Ok(blocked.collect())
    }

    /// The key under which it is stored in [`Place::GATEWAY`] that somebody is blocked.
    #[must_use]
    pub fn block_key(person: &UserKey) -> String {
        format!("{BLOCKED}{}", person.encode())
    }

    /// Whether anybody claimed the gateway.
    ///
    /// # Errors
    /// The store's.
    pub async fn is_claimed(&self) -> Result<bool, StoreError> {
        let all = self.settings(Place::GATEWAY).await?;
        Ok(all.iter().any(|(key, _)| key.starts_with(OWNER)))
    }

    /// The key under which a claim is stored in [`Place::GATEWAY`].
    #[must_use]
    pub fn claim_key(person: &UserKey) -> String {
        format!("{OWNER}{}", person.encode())
    }

    async fn settings(&self, of: Place) -> Result<Settings, StoreError> {
        self.look();
        if let Some(all) = self.settings.lock().get(&of) {
            return Ok(Arc::clone(all));
        }
        let before = self.changes.load(Ordering::Acquire);
        let all = Arc::new(self.store.settings(of).await?);
        self.look();
        let mut cache = self.settings.lock();
        if self.changes.load(Ordering::Acquire) == before {
            cache.put(of, Arc::clone(&all));
        }
        Ok(all)
    }

    /// Who spoke where lately.
    #[must_use]
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Who has which standing on the platform.
    #[must_use]
    pub fn standings(&self) -> &Standings {
        &self.standings
    }

    /// What is stored of the permissions in a conversation. A thread has what its chat has, unless it has its own.
    ///
    /// # Errors
    /// The store's.
    pub async fn rules(&self, conversation: i64) -> Result<Arc<ConversationRules>, StoreError> {
        self.look();
        if let Some(rules) = self.rules.lock().get(&conversation) {
            return Ok(Arc::clone(rules));
        }
        let before = self.changes.load(Ordering::Acquire);
        let mut rows = self.rows_of_chat(conversation).await?;
        let of = Place::of_conversation(conversation);
        rows.extend(self.store.settings(of).await?);
        let rules = Arc::new(ConversationRules::read(&rows));
        self.look();
        let mut cache = self.rules.lock();
        if self.changes.load(Ordering::Acquire) == before {
            cache.put(conversation, Arc::clone(&rules));
        }
        Ok(rules)
    }

    /// What is stored of the permissions where something is said, before it is accepted; nothing where nothing can be.
    ///
    /// # Errors
    /// The store's.
    pub async fn rules_at(
        &self,
        place: &ConversationKey,
    ) -> Result<Option<Arc<ConversationRules>>, StoreError> {
        let mut number = self.number(place).await?;
        if number.is_none() && place.thread.is_some() {
            // A new thread has what its chat has.
            number = self.number(&chat(place)).await?;
        }
        match number {
            Some(number) => self.rules(number).await.map(Some),
            None => Ok(None),
        }
    }

    async fn number(&self, key: &ConversationKey) -> Result<Option<i64>, StoreError> {
        self.look();
        if let Some(number) = self.numbers.lock().get(key) {
            return Ok(*number);
        }
        let number = self.store.conversation_number(key).await?;
        // One that was learned meanwhile is better known.
        Ok(*self.numbers.lock().get_or_insert(key.clone(), || number))
    }

    /// What is stored of the chat that a thread is part of.
    async fn rows_of_chat(&self, conversation: i64) -> Result<Vec<(String, String)>, StoreError> {
        let key = self.conversation(conversation).await?;
        if key.thread.is_none() {
            return Ok(Vec::new());
        }
        let chat = ConversationKey {
            thread: None,
            ..(*key).clone()
        };
        match self.store.conversation_number(&chat).await? {
            Some(chat) => self.store.settings(Place::of_conversation(chat)).await,
            None => Ok(Vec::new()),
        }
    }

    /// Forgets all settings and rules if another process has written since the last look.
    fn look(&self) {
        let others = self.store.others();
        if self.others.load(Ordering::Acquire) == others {
            return;
        }
        let mut settings = self.settings.lock();
        let mut rules = self.rules.lock();
        self.changes.fetch_add(1, Ordering::AcqRel);
        settings.clear();
        rules.clear();
        self.numbers.lock().clear();
        self.others.store(others, Ordering::Release);
    }

    /// Forgets what was set at a place, because it has changed.
    pub fn changed(&self, place: Place) {
        let mut settings = self.settings.lock();
        let mut rules = self.rules.lock();
        self.changes.fetch_add(1, Ordering::AcqRel);
        settings.pop(&place);
        rules.pop(&place.conversation);
        // The rules of a chat are part of those of its threads.
        let conversations = self.conversations.lock();
        let is_thread = |id: &i64| {
            let key = conversations.peek(id);
            key.is_none_or(|key| key.thread.is_some())
        };
        let threads: Vec<i64> = rules.iter().map(|(id, _)| *id).filter(is_thread).collect();
        for thread in threads {
            rules.pop(&thread);
        }
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

/// The chat, without the thread: people are members of the whole.
fn chat(key: &ConversationKey) -> ConversationKey {
    ConversationKey {
        thread: None,
        ..key.clone()
    }
}

fn unknown(what: &str, id: i64) -> StoreError {
    StoreError::Database(format!("no {what} has the number {id}"))
}

#[cfg(test)]
mod tests;
