//! Interning: long keys of accounts, conversations and people become small numbers once.
//!
//! Owns the writer's caches of them. After a transaction that did not commit they are emptied, because a
//! number that was handed out in it does not exist. It runs inside the writer's transaction, while no other
//! process writes, so that a key gets one number.

use std::{
    collections::{HashMap, HashSet},
    hash::Hash,
    num::NonZeroUsize,
};

use lru::LruCache;
use sqlx::PgConnection;
use weirgate_sdk::{AccountName, ConversationKey, Platform, UserKey};

use super::plan::{Numbers, clean};
use crate::store::Write;

/// How many keys of each sort are remembered.
const REMEMBERED: NonZeroUsize = match NonZeroUsize::new(4096) {
    Some(number) => number,
    None => NonZeroUsize::MIN,
};

/// The numbers that were used last.
#[derive(Debug)]
pub struct Names {
    accounts: LruCache<(Platform, AccountName), i64>,
    conversations: LruCache<ConversationKey, i64>,
    persons: LruCache<UserKey, i64>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            accounts: LruCache::new(REMEMBERED),
            conversations: LruCache::new(REMEMBERED),
            persons: LruCache::new(REMEMBERED),
        }
    }
}

impl Names {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.accounts.clear();
        self.conversations.clear();
        self.persons.clear();
    }

    /// The numbers of all keys in a batch; makes those that there are none for, in the order of the batch.
    pub async fn numbers<'a>(
        &mut self,
        connection: &mut PgConnection,
        batch: &'a [Write],
    ) -> sqlx::Result<Numbers<'a>> {
        let mut numbers = Numbers::default();
        let mut conversations = Unknown::default();
        let mut persons = Unknown::default();
        for write in batch {
            match write {
                Write::Accept {
                    platform,
                    account,
                    messages,
                    ..
                } => {
                    let id = self.account(connection, platform, account).await?;
                    numbers.accounts.insert((platform, account), id);
                    for message in messages {
                        let here = &message.conversation;
                        conversations.look(
                            &mut self.conversations,
                            here,
                            &mut numbers.conversations,
                        );
                        persons.look(&mut self.persons, &message.person, &mut numbers.persons);
                    }
                }
                Write::Meet(meeting, _) => {
                    let here = &meeting.conversation;
                    conversations.look(&mut self.conversations, here, &mut numbers.conversations);
                    persons.look(&mut self.persons, &meeting.person, &mut numbers.persons);
                }
                Write::Ambient(ambient, _) => {
                    let here = &ambient.conversation;
                    conversations.look(&mut self.conversations, here, &mut numbers.conversations);
                }
                _ => {}
            }
        }
        let found = conversations.encode(ConversationKey::encode);
        let (ids, _) = intern(connection, &CONVERSATION, &found).await?;
        conversations.keep(&ids, &mut self.conversations, &mut numbers.conversations);
        let found = persons.encode(UserKey::encode);
        let (ids, new) = intern(connection, &PERSON, &found).await?;
        numbers.new_persons = new;
        persons.keep(&ids, &mut self.persons, &mut numbers.persons);
        Ok(numbers)
    }

    async fn account(
        &mut self,
        connection: &mut PgConnection,
        platform: &Platform,
        account: &AccountName,
    ) -> sqlx::Result<i64> {
        let key = (platform.clone(), account.clone());
        if let Some(id) = self.accounts.get(&key) {
            return Ok(*id);
        }
        let (platform, name) = (clean(platform.as_str()), clean(account.as_str()));
        let found: Option<(i64,)> =
            sqlx::query_as("SELECT id FROM account WHERE platform = $1 AND name = $2")
                .bind(&platform)
                .bind(&name)
                .fetch_optional(&mut *connection)
                .await?;
        let (id,) = match found {
            Some(found) => found,
            None => {
                sqlx::query_as("INSERT INTO account (platform, name) VALUES ($1, $2) RETURNING id")
                    .bind(&platform)
                    .bind(&name)
                    .fetch_one(connection)
                    .await?
            }
        };
        self.accounts.put(key, id);
        Ok(id)
    }
}

/// Keys without a number, in the order in which they were met, none twice.
#[derive(Debug)]
struct Unknown<'a, K> {
    keys: Vec<&'a K>,
    encoded: Vec<String>,
}

impl<K> Default for Unknown<'_, K> {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            encoded: Vec::new(),
        }
    }
}

/// Stands for a number that is still to be found.
const NONE: i64 = 0;

impl<'a, K: Clone + Eq + Hash> Unknown<'a, K> {
    fn look(
        &mut self,
        remembered: &mut LruCache<K, i64>,
        key: &'a K,
        numbers: &mut HashMap<&'a K, i64>,
    ) {
        if numbers.contains_key(key) {
            return;
        }
        let known = remembered.get(key).copied();
        if known.is_none() {
            self.keys.push(key);
        }
        numbers.insert(key, known.unwrap_or(NONE));
    }

    fn encode(&mut self, encode: impl Fn(&K) -> String) -> Vec<String> {
        let clean = |key: &&K| clean(&encode(key)).into_owned();
        self.encoded = self.keys.iter().map(clean).collect();
        self.encoded.clone()
    }

    fn keep(
        &self,
        ids: &HashMap<String, i64>,
        remembered: &mut LruCache<K, i64>,
        numbers: &mut HashMap<&'a K, i64>,
    ) {
        for (key, encoded) in self.keys.iter().zip(&self.encoded) {
            if let Some(id) = ids.get(encoded) {
                numbers.insert(key, *id);
                remembered.put((*key).clone(), *id);
            }
        }
    }
}

struct Table {
    select: &'static str,
    insert: &'static str,
}

const CONVERSATION: Table = Table {
    select: "SELECT key, id FROM conversation WHERE key = ANY($1)",
    insert: "INSERT INTO conversation (key)
             SELECT key FROM unnest($1::text[]) WITH ORDINALITY AS w (key, place) ORDER BY place
             RETURNING key, id",
};

const PERSON: Table = Table {
    select: "SELECT key, id FROM person WHERE key = ANY($1)",
    insert: "INSERT INTO person (key)
             SELECT key FROM unnest($1::text[]) WITH ORDINALITY AS w (key, place) ORDER BY place
             RETURNING key, id",
};

/// The numbers of keys, and those that are new.
async fn intern(
    connection: &mut PgConnection,
    table: &Table,
    keys: &[String],
) -> sqlx::Result<(HashMap<String, i64>, HashSet<i64>)> {
    let mut new = HashSet::new();
    if keys.is_empty() {
        return Ok((HashMap::new(), new));
    }
    let found: Vec<(String, i64)> = sqlx::query_as(table.select)
        .bind(keys)
        .fetch_all(&mut *connection)
        .await?;
    let mut ids: HashMap<String, i64> = found.into_iter().collect();
    let mut missing: Vec<&String> = keys.iter().filter(|key| !ids.contains_key(*key)).collect();
    // Two keys are one text if they differ by a character that the database does not know.
    let mut seen = HashSet::new();
    missing.retain(|key| seen.insert(*key));
    if missing.is_empty() {
        return Ok((ids, new));
    }
    let made: Vec<(String, i64)> = sqlx::query_as(table.insert)
        .bind(missing)
        .fetch_all(connection)
        .await?;
    new.extend(made.iter().map(|(_, id)| *id));
    ids.extend(made);
    Ok((ids, new))
}
