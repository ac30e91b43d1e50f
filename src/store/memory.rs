//! What is remembered over conversations, as values.
//!
//! Owns the shape of a row, what is asked of rows and how they change. It never decides what is worth remembering, and
//! never touches a database.

use async_trait::async_trait;
use weirgate_sdk::Timestamp;

use super::{Place, StoreError};

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// What matters while something is being done.
    Working,
    /// What happened.
    Episodic,
    /// What holds.
    Semantic,
}

/// How long an entry lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryTier {
    /// A standing rule; replaced by its name.
    System,
    /// For good.
    Important,
    /// For some days.
    Daily,
    /// For a day, unless it turns out to matter.
    Misc,
}

/// Who made an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemorySource {
    /// A person, by a command.
    Person,
    /// The model, by a tool, because somebody asked or it saw fit.
    Tool,
    /// A model that looked through a conversation afterwards.
    Extraction,
    /// The gateway, out of several entries.
    Merged,
}

/// A number for each value of an enum, as it is stored: it never changes its meaning.
macro_rules! codes {
    ($type:ident { $($name:ident = $code:literal),+ $(,)? }) => {
        impl $type {
            /// The stored number.
            #[must_use]
            pub const fn code(self) -> i64 {
                match self { $(Self::$name => $code,)+ }
            }

            /// The value of a number; `None` for one that this version does not know.
            #[must_use]
            pub const fn of_code(code: i64) -> Option<Self> {
                match code { $($code => Some(Self::$name),)+ _ => None }
            }
        }
    };
}

codes!(MemoryKind { Working = 0, Episodic = 1, Semantic = 2 });
codes!(MemoryTier { System = 0, Important = 1, Daily = 2, Misc = 3 });
codes!(MemorySource { Person = 0, Tool = 1, Extraction = 2, Merged = 3 });

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRow {
    /// Its number; 0 for one that is not stored yet.
    pub id: i64,
    /// Whose it is: a person's own, a conversation's, or everybody's.
    pub place: Place,
    /// What it is.
    pub kind: MemoryKind,
    /// How long it lives.
    pub tier: MemoryTier,
    /// The name by which it is replaced.
    pub name: Option<String>,
    /// What is remembered.
    pub content: String,
    /// The words of it as they are searched, parted by blanks.
    pub tokens: String,
    /// How much it matters, in thousandths.
    pub importance: u16,
    /// How well it fitted when it was recalled, in thousandths, the last ten, oldest first.
    pub relevance: Vec<u16>,
    /// How often it was recalled.
    pub recalls: u32,
    /// It is kept, but no longer recalled by itself.
    pub archived: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its words changed last.
    pub updated_at: Timestamp,
    /// When it was recalled last; 0 for never.
    pub recalled_at: Timestamp,
    /// Who made it.
    pub source: MemorySource,
    /// The conversation that it comes from; 0 for none.
    pub from_conversation: i64,
    /// The person whose words it comes from; 0 for nobody in particular.
    pub from_person: i64,
    /// The turn that it comes from; 0 for none.
    pub from_turn: i64,
    /// What it means to a model, if one was asked.
    pub embedding: Option<Embedding>,
}

/// What a text means to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedding {
    /// The model, as `provider/model`: vectors of different ones cannot be compared.
    pub model: String,
    /// The vector in base64, one signed byte for each dimension.
    pub vector: String,
}

/// Which entries are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryQuestion {
    /// All of these places, the newest first.
    Places(Vec<Place>),
    /// Those of these places that live for some days or longer and are told without being sought: standing rules, what
    /// matters, and what was made daily since a time.
    Standing(Vec<Place>, Timestamp),
    /// Those of these places that have some of these words, those with the most of them first.
    Words(Vec<Place>, Vec<String>),
    /// Those of these places that have a vector of this model.
    Embedded(Vec<Place>, String),
    /// These.
    Ids(Vec<i64>),
    /// A person's own, and those that come from his words wherever they are, the newest first.
    About(i64),
}

/// A change of what is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryChange {
    /// An entry is made or takes the place of the one with its name (its number is 0), or changes; one that changes and is
    /// gone stays gone.
    Put(Box<MemoryRow>),
    /// An entry was recalled: nothing but that is noted of the row.
    Recalled(Box<MemoryRow>),
    /// Entries go for good.
    Remove(Vec<i64>),
    /// Everything goes that belongs to a place.
    Clear(Place),
    /// Everything goes that comes from a conversation or belongs to it.
    ClearConversation(i64),
    /// Everything goes that comes from a person or belongs to him.
    ClearPerson(i64),
}

impl MemoryChange {
    /// Bytes of text that it carries, about.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Put(row) => row.content.len() + row.tokens.len(),
            _ => 0,
        }
    }
}

/// Where things are remembered.
#[async_trait]
pub trait MemoryStore: Send + Sync {
    /// Entries, at most `limit`.
    ///
    /// # Errors
    /// The store's.
    async fn remembered(
        &self,
        question: MemoryQuestion,
        limit: usize,
    ) -> Result<Vec<MemoryRow>, StoreError>;

    /// Does all of the changes or none; tells the numbers of the entries that were put, in order, 0 for one that is gone.
    ///
    /// # Errors
    /// The store's.
    async fn change_memory(&self, changes: Vec<MemoryChange>) -> Result<Vec<i64>, StoreError>;

    /// Places that have entries, after one of them, in order, at most `limit`.
    ///
    /// # Errors
    /// The store's.
    async fn memory_places(
        &self,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<Place>, StoreError>;
}

/// Columns of a row, in the order of the table.
#[derive(Debug, Clone)]
pub struct MemoryColumns {
    id: i64,
    conversation: i64,
    person: i64,
    kind: i64,
    tier: i64,
    name: Option<String>,
    content: String,
    tokens: String,
    importance: i64,
    relevance: String,
    recalls: i64,
    archived: bool,
    created_at: i64,
    updated_at: i64,
    recalled_at: i64,
    source: i64,
    from_conversation: i64,
    from_person: i64,
    from_turn: i64,
    embedded_by: Option<String>,
    vector: Option<String>,
}

impl<'r, R> sqlx::FromRow<'r, R> for MemoryColumns
where
    R: sqlx::Row,
    usize: sqlx::ColumnIndex<R>,
    i64: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
    bool: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
    String: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
    Option<String>: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
{
    fn from_row(row: &'r R) -> sqlx::Result<Self> {
        Ok(Self {
            id: row.try_get(0)?,
            conversation: row.try_get(1)?,
            person: row.try_get(2)?,
            kind: row.try_get(3)?,
            tier: row.try_get(4)?,
            name: row.try_get(5)?,
            content: row.try_get(6)?,
            tokens: row.try_get(7)?,
            importance: row.try_get(8)?,
            relevance: row.try_get(9)?,
            recalls: row.try_get(10)?,
            archived: row.try_get(11)?,
            created_at: row.try_get(12)?,
            updated_at: row.try_get(13)?,
            recalled_at: row.try_get(14)?,
            source: row.try_get(15)?,
            from_conversation: row.try_get(16)?,
            from_person: row.try_get(17)?,
            from_turn: row.try_get(18)?,
            embedded_by: row.try_get(19)?,
            vector: row.try_get(20)?,
        })
    }
}

impl MemoryColumns {
    /// The row; `None` if a later version wrote it.
    #[must_use]
    pub fn row(self) -> Option<MemoryRow> {
        let embedding = self.embedded_by.zip(self.vector);
        let small = |number: i64| u16::try_from(number).unwrap_or(u16::MAX);
        let relevance = self
            .relevance
            .split(' ')
            .filter_map(|part| part.parse().ok());
        Some(MemoryRow {
            id: self.id,
            place: Place {
                conversation: self.conversation,
                person: self.person,
            },
            kind: MemoryKind::of_code(self.kind)?,
            tier: MemoryTier::of_code(self.tier)?,
            name: self.name,
            content: self.content,
            tokens: self.tokens,
            importance: small(self.importance),
            relevance: relevance.collect(),
            recalls: u32::try_from(self.recalls).unwrap_or(u32::MAX),
            archived: self.archived,
            created_at: self.created_at,
            updated_at: self.updated_at,
            recalled_at: self.recalled_at,
            source: MemorySource::of_code(self.source)?,
            from_conversation: self.from_conversation,
            from_person: self.from_person,
            from_turn: self.from_turn,
            embedding: embedding.map(|(model, vector)| Embedding { model, vector }),
        })
    }
}

impl MemoryRow {
    /// `relevance` as it is stored.
    #[must_use]
    pub fn stored_relevance(&self) -> String {
        let parts: Vec<String> = self.relevance.iter().map(u16::to_string).collect();
        parts.join(" ")
    }
}
