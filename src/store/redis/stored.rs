//! An entry as it is kept on a Redis server, and what the scripts are told.
//!
//! Owns the form of both. Numbers are written as texts wherever a script sees them: it has none of 64 bits. A key never
//! changes its meaning. Pure.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::store::{
    Embedding, MemoryChange, MemoryKind, MemoryQuestion, MemoryRow, MemorySource, MemoryTier, Place,
};

/// What a script gives for an entry: its number, its words, when it was made, and how it was recalled.
pub(super) type Found = (String, String, String, String);

/// What of an entry only a change of its words changes.
#[derive(Serialize, Deserialize)]
struct Words {
    place: (i64, i64),
    kind: i64,
    tier: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    content: String,
    tokens: String,
    importance: u16,
    updated: i64,
    source: i64,
    from: (i64, i64, i64),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    embedding: Option<(String, String)>,
}

/// What a recall changes.
#[derive(Serialize, Deserialize)]
struct Recalled {
    relevance: Vec<u16>,
    recalls: u32,
    at: i64,
    archived: bool,
}

/// A question as a script takes it.
pub(super) struct Asked {
    pub(super) kind: &'static str,
    about: Value,
}

impl Asked {
    pub(super) fn of(question: &MemoryQuestion) -> Self {
        let all = |places: &[Place]| places.iter().copied().map(place).collect::<Vec<_>>();
        let (kind, about) = match question {
            MemoryQuestion::Places(places) => ("places", json!({ "places": all(places) })),
            MemoryQuestion::Standing(places, since) => (
                "standing",
                json!({ "places": all(places), "since": since.to_string() }),
            ),
            MemoryQuestion::Words(places, words) => {
                ("words", json!({ "places": all(places), "words": words }))
            }
            MemoryQuestion::Embedded(places, model) => {
                ("embedded", json!({ "places": all(places), "model": model }))
            }
            MemoryQuestion::Ids(ids) => {
                let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
                ("ids", json!({ "ids": ids }))
            }
            MemoryQuestion::About(person) => (
                "about",
                json!({ "places": [place(Place::of_person(*person))], "person": person.to_string() }),
            ),
        };
        Self { kind, about }
    }

    pub(super) fn json(&self) -> String {
        self.about.to_string()
    }
}

/// Changes as a script takes them.
pub(super) fn changes(changes: &[MemoryChange]) -> String {
    let texts = |ids: &[i64]| ids.iter().map(i64::to_string).collect::<Vec<_>>();
    let change = |change: &MemoryChange| match change {
        MemoryChange::Put(row) => put(row),
        MemoryChange::Recalled(row) => json!({
            "do": "recalled", "id": row.id.to_string(), "seen": seen(row),
            "archived": flag(row.archived),
        }),
        MemoryChange::Remove(ids) => json!({ "do": "remove", "ids": texts(ids) }),
        MemoryChange::Clear(of) => json!({ "do": "clear", "places": [place(*of)] }),
        MemoryChange::ClearConversation(id) => json!({
            "do": "clear", "places": [place(Place::of_conversation(*id))],
            "conversation": id.to_string(),
        }),
        MemoryChange::ClearPerson(id) => json!({
            "do": "clear", "places": [place(Place::of_person(*id))], "person": id.to_string(),
        }),
    };
    Value::Array(changes.iter().map(change).collect()).to_string()
}

fn put(row: &MemoryRow) -> Value {
    let words = Words {
        place: (row.place.conversation, row.place.person),
        kind: row.kind.code(),
        tier: row.tier.code(),
        name: row.name.clone(),
        content: row.content.clone(),
        tokens: row.tokens.clone(),
        importance: row.importance,
        updated: row.updated_at,
        source: row.source.code(),
        from: (row.from_conversation, row.from_person, row.from_turn),
        embedding: row
            .embedding
            .as_ref()
            .map(|own| (own.model.clone(), own.vector.clone())),
    };
    // What lasts longest first, of that what matters most.
    let rank = (row.tier != MemoryTier::Misc)
        .then(|| row.tier.code() * 10_000 + i64::from(1_000_u16.saturating_sub(row.importance)));
    json!({
        "do": "put",
        "id": row.id.to_string(),
        "place": place(row.place),
        "name": row.name.clone().unwrap_or_default(),
        "words": text(&words),
        "tokens": row.tokens,
        "made": row.created_at.to_string(),
        "seen": seen(row),
        "archived": flag(row.archived),
        "rank": rank.map(|rank| rank.to_string()).unwrap_or_default(),
        "daily": flag(row.tier == MemoryTier::Daily),
        "model": row.embedding.as_ref().map(|own| own.model.clone()).unwrap_or_default(),
        "person": row.from_person.to_string(),
        "conversation": row.from_conversation.to_string(),
    })
}

fn seen(row: &MemoryRow) -> String {
    text(&Recalled {
        relevance: row.relevance.clone(),
        recalls: row.recalls,
        at: row.recalled_at,
        archived: row.archived,
    })
}

/// Texts and numbers always serialise.
fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn flag(is: bool) -> &'static str {
    if is { "1" } else { "0" }
}

/// The entry; `None` if a later version wrote it.
pub(super) fn row((id, words, made, seen): Found) -> Option<MemoryRow> {
    let words: Words = serde_json::from_str(&words).ok()?;
    let seen: Recalled = serde_json::from_str(&seen).ok()?;
    Some(MemoryRow {
        id: id.parse().ok()?,
        place: Place {
            conversation: words.place.0,
            person: words.place.1,
        },
        kind: MemoryKind::of_code(words.kind)?,
        tier: MemoryTier::of_code(words.tier)?,
        name: words.name,
        content: words.content,
        tokens: words.tokens,
        importance: words.importance,
        relevance: seen.relevance,
        recalls: seen.recalls,
        archived: seen.archived,
        created_at: made.parse().ok()?,
        updated_at: words.updated,
        recalled_at: seen.at,
        source: MemorySource::of_code(words.source)?,
        from_conversation: words.from.0,
        from_person: words.from.1,
        from_turn: words.from.2,
        embedding: words
            .embedding
            .map(|(model, vector)| Embedding { model, vector }),
    })
}

/// A place as part of a key; in order of the letters they are in order of the numbers.
pub(super) fn place(place: Place) -> String {
    format!("{:020}:{:020}", place.conversation, place.person)
}

/// A place that [`place`] wrote.
pub(super) fn read_place(text: &str) -> Option<Place> {
    let (conversation, person) = text.split_once(':')?;
    Some(Place {
        conversation: conversation.parse().ok()?,
        person: person.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_in_their_order() {
        let places = [
            Place::GATEWAY,
            Place::of_person(2),
            Place::of_person(10),
            Place::of_conversation(3),
            Place::of_conversation(i64::MAX),
        ];
        let written: Vec<String> = places.iter().copied().map(place).collect();
        assert!(written.is_sorted(), "{written:?}");
        let read: Vec<Option<Place>> = written.iter().map(|text| read_place(text)).collect();
        assert_eq!(read, places.map(Some));
        assert_eq!(read_place("x"), None);
    }
}
