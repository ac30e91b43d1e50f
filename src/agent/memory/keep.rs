//! Keeping something: what may be kept, and whether it is known already.
//!
//! Owns the limits of an entry and of a place, and what makes two entries one. Secrets of the configuration are never
//! kept, and neither is what reads like an attempt to take over the model: it would come back in every later turn.

use std::time::Duration;

use super::{LISTED, Memories, Site, score::score, words};
use crate::{
    agent::rules::Rules,
    security::guard::Verdict,
    store::{
        MemoryChange, MemoryKind, MemoryQuestion, MemoryRow, MemorySource, MemoryTier, Place,
        StoreError,
    },
};

/// Most characters of an entry.
pub const MAX_CHARS: usize = 2_000;
/// Most entries of one place. When there are more, the least valuable of those that may go makes room.
const MOST: usize = 1_000;
/// Entries that are alike more than this are one.
const SAME: f64 = 0.8;
/// Entries that are compared.
const COMPARED: usize = 20;
/// How long the meaning of an entry may take. Without it, it is found by its words.
const PATIENCE: Duration = Duration::from_secs(10);

/// Something that is to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct New {
    /// What.
    pub content: String,
    /// What it is.
    pub kind: MemoryKind,
    /// How long it lives.
    pub tier: MemoryTier,
    /// The name by which it is replaced.
    pub name: Option<String>,
    /// How much it matters, from 0 to 1.
    pub importance: f64,
    /// Who makes it.
    pub source: MemorySource,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It has this number.
    Added(i64),
    /// It was known, and the entry of this number has its words now.
    Updated(i64),
    /// There is nothing to keep.
    Empty,
    /// It reads like an attempt to take over the model.
    Suspicious,
    /// There is no room, and nothing that may go.
    Full,
}

impl Memories {
    /// Keeps something where it belongs.
    ///
    /// # Errors
    /// The store's.
    pub async fn keep(&self, rules: &Rules, site: Site, new: New) -> Result<Kept, StoreError> {
        self.keep_in(rules, site.own(), site, new).await
    }

    /// Keeps something for everybody.
    ///
    /// # Errors
    /// The store's.
    pub async fn keep_for_all(
        &self,
        rules: &Rules,
        site: Site,
        new: New,
    ) -> Result<Kept, StoreError> {
        self.keep_in(rules, Place::GATEWAY, site, new).await
    }

    async fn keep_in(
        &self,
        rules: &Rules,
        place: Place,
        site: Site,
        new: New,
    ) -> Result<Kept, StoreError> {
        let cleaned = rules.composer.redactor().clean(new.content.trim());
        let content: String = cleaned.text.chars().take(MAX_CHARS).collect();
        if content.is_empty() {
            return Ok(Kept::Empty);
        }
        if rules.guard.check(content.clone()).verdict != Verdict::Pass {
            return Ok(Kept::Suspicious);
        }
        let now = self.clock.now();
        let fresh = MemoryRow {
            id: 0,
            place,
            kind: new.kind,
            tier: new.tier,
            name: new.name,
            tokens: words::stored(&content),
            content,
            importance: thousandths(new.importance),
            relevance: Vec::new(),
            recalls: 0,
            archived: false,
            created_at: now,
            updated_at: now,
            recalled_at: 0,
            source: new.source,
            from_conversation: site.conversation,
            from_person: site.person,
            from_turn: site.turn,
            embedding: None,
        };
        let known = match fresh.name {
            Some(_) => None,
            None => self.same(&fresh).await?,
        };
        let (mut row, updated) = match known {
            Some(known) => (renewed(known, fresh), true),
            None => (fresh, false),
        };
        row.embedding = self.meaning(rules, &row.content, PATIENCE).await;
        let mut changes = Vec::new();
        if !updated {
            match self.room(rules, place).await? {
                Room::Free => {}
                Room::Instead(id) => changes.push(MemoryChange::Remove(vec![id])),
                Room::None => return Ok(Kept::Full),
            }
        }
        changes.push(MemoryChange::Put(Box::new(row)));
        let ids = self.store.change_memory(changes).await?;
        let id = ids.first().copied().unwrap_or_default();
        Ok(if updated {
            Kept::Updated(id)
        } else {
            Kept::Added(id)
        })
    }

    /// The entry that says the same, if there is one.
    async fn same(&self, fresh: &MemoryRow) -> Result<Option<MemoryRow>, StoreError> {
        let asked: Vec<String> = fresh.tokens.split(' ').map(str::to_owned).collect();
        if fresh.tokens.is_empty() {
            return Ok(None);
        }
        let question = MemoryQuestion::Words(vec![fresh.place], asked);
        let rows = self.store.remembered(question, COMPARED).await?;
        let like = |row: &MemoryRow| words::likeness(&row.content, &fresh.content);
        Ok(rows
            .into_iter()
            .filter(|row| row.name.is_none() && row.tier != MemoryTier::System)
            .filter(|row| like(row) > SAME)
            .max_by(|one, other| like(one).total_cmp(&like(other))))
    }

    async fn room(&self, rules: &Rules, place: Place) -> Result<Room, StoreError> {
        let rows = self
            .store
            .remembered(MemoryQuestion::Places(vec![place]), LISTED)
            .await?;
        if rows.len() < MOST {
            return Ok(Room::Free);
        }
        let (now, long_term) = (self.clock.now(), rules.settings.memory.retention.long_term);
        let worth = |row: &MemoryRow| score(row, None, now, long_term);
        let lasting = |row: &&MemoryRow| {
            row.archived || matches!(row.tier, MemoryTier::Daily | MemoryTier::Misc)
        };
        let least = rows
            .iter()
            .filter(lasting)
            .min_by(|one, other| worth(one).total_cmp(&worth(other)));
        Ok(least.map_or(Room::None, |row| Room::Instead(row.id)))
    }
}

/// Whether there is room for one more entry.
enum Room {
    Free,
    Instead(i64),
    None,
}

/// A known entry with newer words. It lives as long and matters as much as the more lasting of both.
fn renewed(known: MemoryRow, fresh: MemoryRow) -> MemoryRow {
    let lasting = |tier: MemoryTier| tier.code();
    MemoryRow {
        tier: if lasting(known.tier) <= lasting(fresh.tier) {
            known.tier
        } else {
            fresh.tier
        },
        importance: known.importance.max(fresh.importance),
        archived: false,
        content: fresh.content,
        tokens: fresh.tokens,
        kind: fresh.kind,
        updated_at: fresh.updated_at,
        source: fresh.source,
        from_conversation: fresh.from_conversation,
        from_person: fresh.from_person,
        from_turn: fresh.from_turn,
        ..known
    }
}

/// A number from 0 to 1 as it is stored.
fn thousandths(value: f64) -> u16 {
    let value = if value.is_finite() { value } else { 0.5 };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between 0 and 1000"
    )]
    let whole = (value.clamp(0.0, 1.0) * 1_000.0).round() as u16;
    whole
}
