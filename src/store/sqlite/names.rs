//! Interning: long keys of accounts, conversations and people become small numbers once.
//!
//! Owns the writer's caches of them. After a rollback they are emptied, because a number that was
//! handed out in that transaction does not exist.

use std::num::NonZeroUsize;

use lru::LruCache;
use rusqlite::{Connection, OptionalExtension as _, params};
use weirgate_sdk::{AccountName, ConversationKey, Platform, UserKey};

/// How many keys of each sort are remembered.
const REMEMBERED: NonZeroUsize = match NonZeroUsize::new(4096) {
    Some(number) => number,
    None => NonZeroUsize::MIN,
};

/// The numbers that were used last.
#[derive(Debug)]
pub struct Names {
    accounts: LruCache<(Platform, AccountName), u32>,
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

    /// The number of an account; makes one if there is none.
    pub fn account(
        &mut self,
        connection: &Connection,
        platform: &Platform,
        account: &AccountName,
    ) -> rusqlite::Result<u32> {
        let key = (platform.clone(), account.clone());
        if let Some(id) = self.accounts.get(&key) {
            return Ok(*id);
        }
        let names = params![platform.as_str(), account.as_str()];
        let found = connection
            .prepare_cached("SELECT id FROM account WHERE platform = ?1 AND name = ?2")?
            .query_row(names, |row| row.get(0))
            .optional()?;
        let id = match found {
            Some(id) => id,
            None => connection
                .prepare_cached(
                    "INSERT INTO account (platform, name) VALUES (?1, ?2) RETURNING id",
                )?
                .query_row(names, |row| row.get(0))?,
        };
        self.accounts.put(key, id);
        Ok(id)
    }

    /// The number of a conversation; makes one if there is none.
    pub fn conversation(
        &mut self,
        connection: &Connection,
        key: &ConversationKey,
    ) -> rusqlite::Result<i64> {
        if let Some(id) = self.conversations.get(key) {
            return Ok(*id);
        }
        let (id, _) = intern(
            connection,
            "SELECT id FROM conversation WHERE key = ?1",
            "INSERT INTO conversation (key) VALUES (?1) RETURNING id",
            &key.encode(),
        )?;
        self.conversations.put(key.clone(), id);
        Ok(id)
    }

    /// The number of a person, and whether it was made just now, because there was none.
    pub fn person(
        &mut self,
        connection: &Connection,
        key: &UserKey,
    ) -> rusqlite::Result<(i64, bool)> {
        if let Some(id) = self.persons.get(key) {
            return Ok((*id, false));
        }
        let (id, new) = intern(
            connection,
            "SELECT id FROM person WHERE key = ?1",
            "INSERT INTO person (key) VALUES (?1) RETURNING id",
            &key.encode(),
        )?;
        self.persons.put(key.clone(), id);
        Ok((id, new))
    }
}

/// The number of a key, and whether it is new.
fn intern(
    connection: &Connection,
    select: &str,
    insert: &str,
    key: &str,
) -> rusqlite::Result<(i64, bool)> {
    let found = connection
        .prepare_cached(select)?
        .query_row([key], |row| row.get(0))
        .optional()?;
    match found {
        Some(id) => Ok((id, false)),
        None => connection
            .prepare_cached(insert)?
            .query_row([key], |row| Ok((row.get(0)?, true))),
    }
}
