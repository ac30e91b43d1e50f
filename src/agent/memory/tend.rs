//! What becomes of entries as time goes by.
//!
//! Owns the look through a place: what rises, is put aside or goes, and that what tells of the past becomes one entry. All
//! changes of a look are one transaction, so what is merged is gone only when the merged one is there.

use std::collections::HashSet;

use super::{
    LISTED, MAX_CHARS, Memories,
    score::{Fate, fate},
    words,
};
use crate::{
    agent::rules::Rules,
    store::{
        MemoryChange, MemoryKind, MemoryQuestion, MemoryRow, MemorySource, MemoryTier, Place,
        StoreError,
    },
};

/// Places that are looked for at once.
const PLACES: usize = 256;
/// Entries that tell of the past, from which on they become one.
const MERGED: usize = 3;
/// How such entries speak.
const PAST: [&str; 14] = [
    "last time",
    "last week",
    "last month",
    "last year",
    "once ",
    "used to",
    "earlier",
    "back then",
    "上次",
    "曾经",
    "以前",
    "之前",
    "过去",
    "当时",
];

impl Memories {
    /// Looks through everything that is remembered.
    ///
    /// # Errors
    /// The store's; what was looked through before is done.
    pub async fn tend_all(&self, rules: &Rules) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let places = self.store.memory_places(after, PLACES).await?;
            for place in &places {
                self.tend(rules, *place).await?;
            }
            after = match places.last() {
                Some(last) if places.len() == PLACES => Some(*last),
                _ => return Ok(()),
            };
        }
    }

    /// Looks through what belongs to a place.
    ///
    /// # Errors
    /// The store's; nothing has changed then.
    pub async fn tend(&self, rules: &Rules, place: Place) -> Result<(), StoreError> {
        let question = MemoryQuestion::Places(vec![place]);
        let rows = self.store.remembered(question, LISTED).await?;
        let retention = &rules.settings.memory.retention;
        let now = self.clock.now();
        let mut changes = Vec::new();
        let mut gone = Vec::new();
        let mut left = Vec::new();
        for mut row in rows {
            match fate(&row, now, retention) {
                Fate::Stays => {}
                Fate::Goes => {
                    gone.push(row.id);
                    continue;
                }
                Fate::Rises => {
                    row.tier = MemoryTier::Important;
                    changes.push(MemoryChange::Put(Box::new(row.clone())));
                }
                Fate::Aside => {
                    row.archived = true;
                    changes.push(MemoryChange::Put(Box::new(row.clone())));
                }
            }
            left.push(row);
        }
        if let Some((history, parts)) = merged(&left, place, now) {
            let parts: HashSet<i64> = parts.into_iter().collect();
            changes.retain(
                |change| !matches!(change, MemoryChange::Put(row) if parts.contains(&row.id)),
            );
            changes.push(MemoryChange::Put(Box::new(history)));
            gone.extend(parts);
        }
        if !gone.is_empty() {
            changes.push(MemoryChange::Remove(gone));
        }
        if changes.is_empty() {
            return Ok(());
        }
        self.store.change_memory(changes).await.map(drop)
    }
}

/// Whether an entry tells of the past.
fn is_past(row: &MemoryRow) -> bool {
    let text = row.content.to_lowercase();
    row.source != MemorySource::Merged
        && !matches!(row.tier, MemoryTier::System)
        && row.name.is_none()
        && PAST.iter().any(|word| text.contains(word))
}

/// Whose words an entry comes from, and where they were said.
fn origin(row: &MemoryRow) -> (i64, i64) {
    (row.from_person, row.from_conversation)
}

/// One entry for those of one origin that tell of the past, if there are several, and the numbers of those that it stands
/// for. Words of different people are never mixed, so that each can have his own deleted.
fn merged(rows: &[MemoryRow], place: Place, now: i64) -> Option<(MemoryRow, Vec<i64>)> {
    let past: Vec<&MemoryRow> = rows.iter().rev().filter(|row| is_past(row)).collect();
    let of = |of: (i64, i64)| past.iter().copied().filter(move |row| origin(row) == of);
    let first = *past.iter().find(|row| of(origin(row)).count() >= MERGED)?;
    let room = |row: &&MemoryRow| {
        row.source == MemorySource::Merged
            && origin(row) == origin(first)
            && row.content.chars().count() < MAX_CHARS / 2
    };
    let before = rows.iter().find(room);
    let mut lines: Vec<String> = before
        .map(|row| row.content.lines().map(str::to_owned).collect())
        .unwrap_or_default();
    let mut parts = Vec::new();
    let mut size: usize = lines.iter().map(|line| line.chars().count() + 1).sum();
    for row in of(origin(first)) {
        let line = row.content.replace('\n', " ");
        size += line.chars().count() + 1;
        // What does not fit stays by itself.
        if size > MAX_CHARS {
            break;
        }
        if !lines.contains(&line) {
            lines.push(line);
        }
        parts.push(row);
    }
    if parts.len() < 2 {
        return None;
    }
    let content = lines.join("\n");
    let importance = parts
        .iter()
        .copied()
        .chain(before)
        .map(|row| row.importance);
    let history = MemoryRow {
        id: before.map_or(0, |row| row.id),
        place,
        kind: MemoryKind::Episodic,
        tier: MemoryTier::Important,
        name: None,
        tokens: words::stored(&content),
        content,
        importance: importance.max().unwrap_or_default(),
        relevance: Vec::new(),
        recalls: 0,
        archived: false,
        created_at: before.map_or(first.created_at, |row| row.created_at),
        updated_at: now,
        recalled_at: 0,
        source: MemorySource::Merged,
        from_conversation: first.from_conversation,
        from_person: first.from_person,
        from_turn: first.from_turn,
        embedding: None,
    };
    Some((history, parts.iter().map(|row| row.id).collect()))
}
