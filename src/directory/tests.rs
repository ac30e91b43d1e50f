//! The rules of a thread: those of its chat, and its own on top.

use std::time::Duration;

use weirgate_sdk::ConversationKey;

use super::*;
use crate::store::{
    Accept, Effect, Finish, HistoryScope, TurnState, Write, commit,
    config::{Durability, Retention},
    sqlite::{Options, SqliteStore},
};

const DAY: Duration = Duration::from_secs(86_400);

fn key(thread: Option<&str>) -> ConversationKey {
    ConversationKey {
        platform: "stage".into(),
        account: "main".into(),
        conversation: "g1".into(),
        thread: thread.map(Into::into),
    }
}

async fn met(store: &Arc<dyn Store>, thread: Option<&str>) -> i64 {
    let message = Accept {
        conversation: key(thread),
        person: UserKey {
            platform: "stage".into(),
            realm: "".into(),
            id: "ann".into(),
        },
        event: format!("{thread:?}").into(),
        event_until: 1 << 40,
        at: 1,
        route: 0,
        priority: 0,
        shown: false,
        body: r#"{"i":"m","t":"hi"}"#.into(),
    };
    let rows = commit(store, |then| Write::Accept {
        platform: "stage".into(),
        account: "main".into(),
        messages: vec![message],
        cursor: None,
        then,
    });
    rows.await.unwrap()[0].conversation
}

async fn set(store: &Arc<dyn Store>, conversation: i64, key: &'static str, value: Option<&str>) {
    let finish = Finish {
        turn: 0,
        begun: false,
        members: Vec::new(),
        state: TurnState::Done,
        reason: None,
        history: Vec::new(),
        scope: HistoryScope {
            conversation,
            person: 0,
        },
        replies: Vec::new(),
        effects: vec![Effect::Set {
            of: Place::of_conversation(conversation),
            key: key.into(),
            value: value.map(str::to_owned),
        }],
        at: 1,
    };
    let written = commit(store, |then| Write::Finish(Arc::new(finish), then));
    written.await.unwrap();
}

#[tokio::test]
async fn a_thread_has_what_its_chat_has_unless_it_has_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = SqliteStore::open_inline(Options {
        path: folder.path().join("db"),
        durability: Durability::Process,
        retention: Retention {
            inbox: DAY,
            outbox: DAY,
            history: DAY,
            audit: DAY,
            media: DAY,
        },
        readers: 1,
        now: || 1,
    })
    .unwrap();
    let directory = Directory::new(Arc::clone(&store));
    let thread = met(&store, Some("t")).await;
    let role = async |conversation| {
        let rules = directory.rules(conversation).await.unwrap();
        rules.grants.get("bob").map(|grant| grant.role.clone())
    };
    assert_eq!(role(thread).await, None, "the chat itself was never heard");
    let chat = met(&store, None).await;
    set(&store, chat, "role:bob", Some("admin")).await;
    directory.changed(Place::of_conversation(chat));
    assert_eq!(role(chat).await.as_deref(), Some("admin"));
    assert_eq!(role(thread).await.as_deref(), Some("admin"));
    set(&store, thread, "role:bob", Some("guest")).await;
    directory.changed(Place::of_conversation(thread));
    assert_eq!(role(thread).await.as_deref(), Some("guest"));
    assert_eq!(role(chat).await.as_deref(), Some("admin"));
    set(&store, chat, "role:bob", None).await;
    set(&store, thread, "role:bob", None).await;
    directory.changed(Place::of_conversation(thread));
    directory.changed(Place::of_conversation(chat));
    assert_eq!(role(thread).await, None);
}
