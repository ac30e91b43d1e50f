//! Entries of the memory: found by place, by words and by whom they are about, and gone when they are to be. The same
//! holds for a memory on a Redis server and for one that is gone with the process.

use std::sync::Arc;

use weirgate::{
    agent::memory::volatile::Volatile,
    store::{
        Embedding, MemoryChange, MemoryKind, MemoryQuestion, MemoryRow, MemorySource, MemoryStore,
        MemoryTier, Place,
        redis::{Options, RedisMemory},
    },
};

use super::{Bed, Engine, NOW};

const ANN: Place = Place::of_person(1);
const BEN: Place = Place::of_person(2);
const GROUP: Place = Place::of_conversation(7);

fn entry(place: Place, content: &str, tokens: &str) -> MemoryRow {
    MemoryRow {
        id: 0,
        place,
        kind: MemoryKind::Semantic,
        tier: MemoryTier::Important,
        name: None,
        content: content.to_owned(),
        tokens: tokens.to_owned(),
        importance: 500,
        relevance: vec![1, 1_000],
        recalls: 2,
        archived: false,
        created_at: NOW,
        updated_at: NOW + 1,
        recalled_at: NOW + 2,
        source: MemorySource::Tool,
        from_conversation: 9,
        from_person: place.person,
        from_turn: 11,
        embedding: None,
    }
}

type Memory = Arc<dyn MemoryStore>;

async fn put(memory: &Memory, row: MemoryRow) -> i64 {
    let put = MemoryChange::Put(Box::new(row));
    memory.change_memory(vec![put]).await.unwrap()[0]
}

async fn change(memory: &Memory, change: MemoryChange) {
    memory.change_memory(vec![change]).await.unwrap();
}

async fn found(memory: &Memory, question: MemoryQuestion) -> Vec<String> {
    let rows = memory.remembered(question, 10).await.unwrap();
    rows.into_iter().map(|row| row.content).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

async fn entries_come_back_whole_and_change(memory: Memory) {
    let mut row = entry(ANN, "tea \u{1f375}\n\"'\\", "tea");
    row.embedding = Some(Embedding {
        model: "a/b".into(),
        vector: "AAE=".into(),
    });
    row.id = put(&memory, row.clone()).await;
    let ids = MemoryQuestion::Ids(vec![row.id]);
    let back = memory.remembered(ids.clone(), 10).await.unwrap();
    assert_eq!(back, [row.clone()]);
    row.content = "coffee".into();
    row.tokens = "coffee".into();
    row.tier = MemoryTier::Daily;
    row.relevance = Vec::new();
    row.archived = true;
    row.embedding = None;
    assert_eq!(put(&memory, row.clone()).await, row.id);
    let back = memory.remembered(ids, 10).await.unwrap();
    assert_eq!(back, [row]);
    let none = MemoryQuestion::Words(vec![ANN], words(&["tea"]));
    assert_eq!(found(&memory, none).await, [""; 0], "the index follows");
}

async fn a_recall_changes_nothing_else(memory: Memory) {
    let mut row = entry(ANN, "tea", "tea");
    row.archived = true;
    row.id = put(&memory, row.clone()).await;
    let mut recalled = row.clone();
    recalled.content = "stale".into();
    (recalled.relevance, recalled.recalls) = (vec![7], 3);
    (recalled.recalled_at, recalled.archived) = (NOW + 9, false);
    change(&memory, MemoryChange::Recalled(Box::new(recalled.clone()))).await;
    let back = memory
        .remembered(MemoryQuestion::Ids(vec![row.id]), 1)
        .await;
    recalled.content = "tea".into();
    assert_eq!(back.unwrap(), [recalled.clone()]);
    change(&memory, MemoryChange::Remove(vec![row.id])).await;
    change(&memory, MemoryChange::Recalled(Box::new(recalled))).await;
    assert_eq!(
        found(&memory, MemoryQuestion::Places(vec![ANN])).await,
        [""; 0]
    );
}

async fn words_find_entries_of_their_places_with_the_most_of_them_first(memory: Memory) {
    for (place, content, tokens) in [
        (ANN, "one", "door code 门禁 禁密"),
        (ANN, "two", "door 花生"),
        (BEN, "three", "door code"),
        (GROUP, "four", "code"),
    ] {
        put(&memory, entry(place, content, tokens)).await;
    }
    let ask = |places: Vec<Place>, asked: &[&str]| {
        found(&memory, MemoryQuestion::Words(places, words(asked)))
    };
    assert_eq!(ask(vec![ANN], &["door", "code"]).await, ["one", "two"]);
    assert_eq!(ask(vec![ANN, GROUP], &["code"]).await.len(), 2);
    assert_eq!(ask(vec![ANN], &["花生"]).await, ["two"]);
    assert_eq!(ask(vec![GROUP], &["door"]).await, [""; 0]);
    // Whatever a language of questions makes of it, it is a word.
    for odd in ["\"", "door OR code", "a*", "(", "NOT", "'); --", "&"] {
        assert_eq!(ask(vec![ANN], &[odd]).await, [""; 0], "{odd}");
    }
}

async fn what_stands_is_what_lasts_and_what_is_of_the_day(memory: Memory) {
    let row = |content: &str, tier, importance, created_at| {
        let mut row = entry(ANN, content, "x");
        (row.tier, row.importance, row.created_at) = (tier, importance, created_at);
        row
    };
    let rows = [
        row("misc", MemoryTier::Misc, 900, NOW),
        row("yesterday", MemoryTier::Daily, 900, NOW - 10),
        row("today", MemoryTier::Daily, 500, NOW),
        row("less", MemoryTier::Important, 100, 0),
        row("more", MemoryTier::Important, 800, 0),
        row("rule", MemoryTier::System, 0, 0),
    ];
    for row in rows {
        put(&memory, row).await;
    }
    let mut aside = entry(ANN, "aside", "x");
    aside.archived = true;
    put(&memory, aside).await;
    let standing = MemoryQuestion::Standing(vec![ANN, BEN], NOW);
    assert_eq!(
        found(&memory, standing).await,
        ["rule", "more", "less", "today"]
    );
}

async fn a_name_is_replaced_and_what_is_gone_stays_gone(memory: Memory) {
    let named = |content: &str| {
        let mut row = entry(GROUP, content, "x");
        row.name = Some("tone".into());
        row
    };
    let first = put(&memory, named("rhymes")).await;
    assert_eq!(put(&memory, named("prose")).await, first);
    let mut other = named("songs");
    other.place = ANN;
    assert_ne!(
        put(&memory, other).await,
        first,
        "a name is one of its place"
    );
    let all = MemoryQuestion::Places(vec![GROUP]);
    assert_eq!(found(&memory, all.clone()).await, ["prose"]);
    let mut late = named("late");
    late.id = first;
    change(&memory, MemoryChange::Remove(vec![first])).await;
    assert_eq!(put(&memory, late).await, 0);
    assert_eq!(found(&memory, all).await, [""; 0]);
}

async fn everything_of_a_person_a_place_or_a_conversation_goes(memory: Memory) {
    let fill = async || {
        put(&memory, entry(ANN, "ann", "x")).await;
        let mut said = entry(GROUP, "ann in the group", "x");
        said.from_person = 1;
        put(&memory, said).await;
        let mut said = entry(GROUP, "ben in the group", "x");
        (said.from_person, said.from_conversation) = (2, 7);
        put(&memory, said).await;
        put(&memory, entry(Place::GATEWAY, "all", "x")).await;
    };
    let places = vec![ANN, BEN, GROUP, Place::GATEWAY];
    let left = async || found(&memory, MemoryQuestion::Places(places.clone())).await;
    fill().await;
    let about = found(&memory, MemoryQuestion::About(1)).await;
    assert_eq!(about, ["ann in the group", "ann"]);
    let known = memory.memory_places(None, 10).await.unwrap();
    assert_eq!(known, [Place::GATEWAY, ANN, GROUP]);
    assert_eq!(memory.memory_places(Some(ANN), 1).await.unwrap(), [GROUP]);
    change(&memory, MemoryChange::ClearPerson(1)).await;
    assert_eq!(left().await, ["all", "ben in the group"]);
    change(&memory, MemoryChange::ClearConversation(9)).await;
    assert_eq!(left().await, ["ben in the group"]);
    fill().await;
    change(&memory, MemoryChange::ClearConversation(7)).await;
    assert_eq!(left().await, ["all", "ann"]);
    change(&memory, MemoryChange::Clear(ANN)).await;
    assert_eq!(left().await, ["all"]);
}

async fn vectors_are_those_of_one_model(memory: Memory) {
    for (content, model) in [("one", Some("a/b")), ("two", Some("c/d")), ("three", None)] {
        let mut row = entry(ANN, content, "x");
        row.embedding = model.map(|model| Embedding {
            model: model.into(),
            vector: "AA==".into(),
        });
        put(&memory, row).await;
    }
    let question = MemoryQuestion::Embedded(vec![ANN], "a/b".into());
    assert_eq!(found(&memory, question).await, ["one"]);
}

/// A memory on the server that the tests share, with keys that no other has.
fn on_redis(test: &str) -> Memory {
    let options = Options {
        host: "127.0.0.1".into(),
        port: crate::redis::shared(),
        prefix: format!("{test}:"),
        ..Options::default()
    };
    Arc::new(RedisMemory::new(&options).unwrap())
}

/// Declares the tests for both databases, for a Redis server, and for the memory in the process.
macro_rules! remembered {
    ($($test:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $test() {
                let bed = super::Bed::new(super::Engine::Sqlite).await;
                super::$test(bed.store()).await;
            })*
        }

        mod postgres {
            $(#[tokio::test]
            async fn $test() {
                let bed = super::Bed::new(super::Engine::Postgres).await;
                super::$test(bed.store()).await;
            })*
        }

        mod redis {
            $(#[tokio::test]
            async fn $test() {
                super::$test(super::on_redis(stringify!($test))).await;
            })*
        }

        mod process {
            $(#[tokio::test]
            async fn $test() {
                super::$test(std::sync::Arc::new(super::Volatile::default())).await;
            })*
        }
    };
}

remembered!(
    entries_come_back_whole_and_change,
    a_recall_changes_nothing_else,
    words_find_entries_of_their_places_with_the_most_of_them_first,
    what_stands_is_what_lasts_and_what_is_of_the_day,
    a_name_is_replaced_and_what_is_gone_stays_gone,
    everything_of_a_person_a_place_or_a_conversation_goes,
    vectors_are_those_of_one_model,
);
