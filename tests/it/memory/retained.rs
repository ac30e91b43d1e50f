//! How long what is remembered lives, by the days of the configuration; and where it is, when the operator says so.

use serde_json::json;
use weirgate_testkit::model::Script;

use super::{agreeing, last, started, whole};
use crate::{
    gateway::{Chat as _, LIMIT, execute, rows},
    redis::Redis,
};

#[tokio::test]
async fn days_and_importance_say_how_long_something_is_told() {
    // Two days later, with these days for what passes and for what fades.
    for (working, long, days_told, faded_told) in [
        (1, 30, false, true),
        (3, 30, true, true),
        (3, 1, true, false),
    ] {
        let model = agreeing().await;
        let retention = json!({ "working_memory_days": working, "long_term_threshold_days": long });
        let memory = json!({ "retention": retention, "extract": "off" });
        let mut gateway = started(&model, memory).await;
        let fake = gateway.onebot().await;
        for (text, keep, importance) in [
            ("The parcel locker has the code 4711.", "days", 0.5),
            ("The tent is green.", "long", 0.2),
        ] {
            model.push(Script::calls(&[(
                "memory",
                json!({ "action": "remember", "text": text, "keep": keep, "importance": importance }),
            )]));
            fake.ask(1, "remember that").await;
        }
        fake.ask(1, "/reset").await;
        gateway.term().await;
        let days = "UPDATE memory SET updated_at = updated_at - 172800000, recalled_at = 0";
        execute(&gateway.database(), days);
        gateway.up().await;
        assert!(fake.connection_is(true, LIMIT).await);
        let asked = "which code has the parcel locker, and what colour is the tent?";
        assert_eq!(fake.ask(1, asked).await, "ok");
        let told = whole(&last(&model));
        let case = format!("{working}, {long}: {told}");
        assert_eq!(told.contains("4711"), days_told, "{case}");
        assert_eq!(told.contains("The tent is green."), faded_told, "{case}");
        // What has faded is put aside: whoever seeks it finds it.
        let found = fake.ask(1, "/memory find tent").await;
        assert!(found.contains("The tent is green."), "{case}: {found}");
        let found = fake.ask(1, "/memory find parcel").await;
        assert_eq!(found.contains("4711"), days_told, "{case}: {found}");
    }
}

#[tokio::test]
async fn a_file_of_its_own_is_where_the_operator_says() {
    let model = agreeing().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("elsewhere/mine.db");
    let memory = json!({ "backend": "sqlite", "sqlite": { "path": file }, "extract": "off" });
    let mut gateway = started(&model, memory).await;
    let fake = gateway.onebot().await;
    fake.ask(1, "/memory add My cat is called Pangur.").await;
    gateway.term().await;
    let kept = rows(&file, "SELECT content FROM memory");
    assert_eq!(kept, ["My cat is called Pangur."]);
    assert!(!gateway.database().with_file_name("memory").exists());
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    assert!(fake.ask(1, "/memory").await.contains("Pangur"));
}

#[tokio::test]
async fn a_redis_server_keeps_it_in_the_database_of_this_number() {
    let server = Redis::start();
    for (number, in_the_first) in [(3, ":0"), (0, ":1")] {
        let model = agreeing().await;
        let redis = json!({ "host": "127.0.0.1", "port": server.port(), "db": number,
            "prefix": format!("of-{number}:") });
        let memory = json!({ "backend": "redis", "redis": redis, "extract": "off" });
        let gateway = started(&model, memory).await;
        let fake = gateway.onebot().await;
        fake.ask(1, "/memory add My dog is called Rex.").await;
        assert!(fake.ask(1, "/memory").await.contains("Rex"));
        // The server is asked in database 0.
        let last = server.ask(&format!("EXISTS of-{number}:last")).unwrap();
        assert_eq!(last, in_the_first, "{number}");
    }
}
