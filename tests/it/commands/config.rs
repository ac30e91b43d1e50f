//! /config: a person's settings, a conversation's, and the whole gateway's, over OneBot and a restart.

use serde_json::json;
use weirgate_testkit::model::FakeModel;

use crate::gateway::{Chat as _, Gateway, LIMIT, rows, until};

const GROUP: u64 = 50;
const OWNER: u64 = 100_001;

fn owned() -> serde_json::Value {
    json!({ "permissions": { "owners": { "qq": [OWNER.to_string()] } } })
}

#[tokio::test]
async fn keys_of_the_gateway_are_for_its_owners_and_checked_like_the_file() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, owned()).await;
    let fake = gateway.onebot().await;
    let told = fake
        .ask(100_003, "/config context.system_prompt be brief")
        .await;
    assert_eq!(told, "Only an owner of the gateway may do that.");
    for (text, says) in [
        (
            "/config output.buffer.max_size many",
            "the configuration would be wrong",
        ),
        ("/config output.bufer.max_size 3", "there is no such key"),
        ("/config http.listen 0.0.0.0:1", "it needs a restart"),
        (
            "/config providers.main.api_key sk-1",
            "secrets do not belong into a chat",
        ),
        ("/config nothing.of.this", "There is no key"),
        ("/config language klingon", "Possible: zh-CN, en, reset"),
    ] {
        let told = fake.ask(OWNER, text).await;
        assert!(told.contains(says), "{text}: {told}");
    }
    // A variable of the process cannot be read that way.
    let told = fake
        .ask(OWNER, "/config context.system_prompt ${HOME} is home")
        .await;
    assert!(told.ends_with("${HOME} is home"), "{told}");
    fake.ask(100_004, "hello").await;
    assert!(
        model.requests()[0]
            .body
            .to_string()
            .contains("${HOME} is home")
    );
    let shown = fake.ask(OWNER, "/config context").await;
    assert!(
        shown.contains("context.system_prompt: ${HOME} is home (set at run time)"),
        "{shown}"
    );
    assert!(shown.contains("context.scope: auto (default)"), "{shown}");
    let masked = fake.ask(OWNER, "/config providers").await;
    assert!(masked.contains("api_key: ***"), "{masked}");
}

#[tokio::test]
async fn a_key_of_the_gateway_stays_over_restart_and_reload_until_it_is_taken_back() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, owned()).await;
    let fake = gateway.onebot().await;
    let asked = |model: &FakeModel| {
        let last = model.requests().pop().expect("a request");
        last.body.to_string()
    };
    let told = fake
        .ask(OWNER, "/config context.system_prompt Speak like a pirate.")
        .await;
    assert_eq!(told, "context.system_prompt is now: Speak like a pirate.");
    gateway.term().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await, "it comes again");
    fake.ask(100_004, "hello").await;
    assert!(asked(&model).contains("like a pirate"));
    let diff = gateway.command(&["config", "diff"]).output().await.unwrap();
    let diff = String::from_utf8(diff.stdout).unwrap();
    assert_eq!(diff, "context.system_prompt: Speak like a pirate.\n");
    // A changed file keeps what was set on top of it.
    let mut changed = owned();
    changed["context"] = json!({ "system_prompt": "From the file.", "keep_recent_messages": 3 });
    gateway.configure(&model, changed);
    gateway.signal("HUP");
    gateway
        .logged("context.keep_recent_messages: not set -> 3")
        .await;
    fake.ask(100_005, "hello").await;
    assert!(asked(&model).contains("like a pirate"));
    let told = fake.ask(OWNER, "/config reset context.system_prompt").await;
    assert_eq!(told, "context.system_prompt is back to what it was.");
    fake.ask(100_006, "hello").await;
    assert!(asked(&model).contains("From the file."));
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    let changes = audit.iter().filter(|row| row.contains("config_changed"));
    assert_eq!(changes.count(), 2, "{audit:?}");
}

#[tokio::test]
async fn what_no_longer_fits_the_file_keeps_nothing_from_starting() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, owned()).await;
    let fake = gateway.onebot().await;
    gateway.term().await;
    // Stored by an older version that knew such a role.
    let database = rusqlite::Connection::open(gateway.database()).unwrap();
    database
        .execute("INSERT OR REPLACE INTO setting VALUES (0, 0, 'config:permissions.default_role', 'helper')", [])
        .unwrap();
    drop(database);
    gateway.up().await;
    gateway
        .logged("what was set at run time does not fit the file")
        .await;
    assert!(fake.connection_is(true, LIMIT).await, "it comes again");
    let told = fake.ask(OWNER, "/ping here").await;
    assert_eq!(told, "here");
}

#[tokio::test]
async fn a_conversation_and_a_person_have_settings_of_their_own() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let told = fake
        .ask_as("member", GROUP, 100_003, "/config language zh")
        .await;
    assert_eq!(told, "Only an admin may do that here.");
    let told = fake
        .ask_as("admin", GROUP, 100_002, "/config language zh")
        .await;
    assert_eq!(told, "language is now: zh-CN");
    let told = fake.ask_as("member", GROUP, 100_003, "/ping").await;
    assert_eq!(told, "pong");
    let told = fake.ask_as("member", GROUP, 100_003, "/nosuch").await;
    assert!(told.contains("没有 /nosuch 这个命令"), "{told}");
    // A person's own choice comes first, and holds elsewhere too.
    let told = fake
        .ask_as("member", GROUP, 100_003, "/config my.language en")
        .await;
    assert!(told.contains("my.language"), "{told}");
    let told = fake.ask_as("member", GROUP, 100_003, "/nosuch").await;
    assert!(told.starts_with("There is no command"), "{told}");
    let told = fake.ask_as("member", GROUP, 100_003, "/config").await;
    assert!(
        told.contains("my.language: en\n") && told.contains("\nlanguage: zh-CN"),
        "{told}"
    );
    let told = fake.ask(100_003, "/config language").await;
    assert_eq!(told, "language: -", "in private nothing was set");
    let told = fake
        .ask_as("admin", GROUP, 100_002, "/config reset language")
        .await;
    assert!(told.contains("language"), "{told}");
    assert!(until(|| model.count() == 0).await);
}

#[tokio::test]
async fn what_addresses_the_bot_is_for_the_admins_of_a_group() {
    let model = FakeModel::start().await;
    let words = json!({ "addressing": { "wake_words": ["weir"] } });
    let changes = json!({ "platforms": { "qq": { "accounts": { "main": words } } } });
    let mut gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    let config = async |role: &str, user: u64, text: &str| {
        fake.group_as(role, GROUP, user, &format!("/config {text}"))
            .await;
        fake.answer().await.text()
    };
    // Chatter before anything is known of the group.
    fake.send_group(GROUP, 7, "nobody is meant", false).await;
    let told = config("member", 100_003, "addressing all").await;
    assert_eq!(told, "Only an admin may do that here.");
    let told = config("admin", 100_002, "addressing always").await;
    assert!(told.contains("Possible: mention, all, reset"), "{told}");
    let told = config("admin", 100_002, "my.addressing reset").await;
    assert!(told.contains("There is no key"), "{told}");
    let told = config("admin", 100_002, "addressing all").await;
    assert_eq!(told, "addressing is now: all");
    fake.send_group(GROUP, 7, "everybody is heard", false).await;
    assert!(fake.answer().await.text().contains("everybody is heard"));
    gateway.term().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await, "it comes again");
    fake.send_group(GROUP, 7, "after a restart too", false)
        .await;
    assert!(fake.answer().await.text().contains("after a restart too"));
    // Another group has what the account says.
    fake.send_group(51, 7, "elsewhere nobody is meant", false)
        .await;
    fake.send_group(51, 7, "weir, are you there", false).await;
    assert!(fake.answer().await.text().contains("weir, are you there"));
    let told = config("admin", 100_002, "reset addressing").await;
    assert!(told.starts_with("addressing"), "{told}");
    let told = config("admin", 100_002, "wake_words Gate, 小门").await;
    assert_eq!(told, "wake_words is now: gate, 小门");
    for text in ["weir, not any more", "nobody again"] {
        fake.send_group(GROUP, 7, text, false).await;
    }
    for text in ["GATE are you there", "小门你好"] {
        fake.send_group(GROUP, 7, text, false).await;
        assert!(fake.answer().await.text().contains(text));
    }
    let told = config("admin", 100_002, "wake_words none").await;
    assert!(told.starts_with("wake_words is now"), "{told}");
    fake.send_group(GROUP, 7, "gate, weir, nobody", false).await;
    let shown = config("admin", 100_002, "").await;
    assert!(
        shown.contains("addressing: -") && shown.contains("wake_words: "),
        "{shown}"
    );
}

#[tokio::test]
async fn rules_are_set_by_config_too_and_all_that_is_set_is_shown_to_the_operator() {
    let model = FakeModel::start().await;
    let mut changes = owned();
    // The list of the design: /config is for admins, and yet an owner's rules are not theirs.
    changes["permissions"]["commands"] = json!({ "admin": ["/config"] });
    let mut gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    let config = async |role: &str, user: u64, text: &str| {
        let text = format!("/config {text}").trim_end().to_owned();
        fake.ask_as(role, GROUP, user, &text).await
    };
    let told = config("member", 100_003, "allow_media off").await;
    assert_eq!(told, "Only an admin may do that here.");
    let told = config("admin", 100_002, "allow_ai_responses off").await;
    assert!(told.contains("Only an owner may change that"), "{told}");
    let told = config("admin", 100_002, "allow_media perhaps").await;
    assert!(told.contains("Possible: on, off"), "{told}");
    let told = config("admin", 100_002, "allow_media off").await;
    assert_eq!(told, "allow_media is now: off");
    let shown = fake
        .ask_as("admin", GROUP, 100_002, "/policy allow_media")
        .await;
    assert!(shown.ends_with("allow_media: off"), "{shown}");
    assert_eq!(config("admin", 100_002, "allow_media").await, shown);
    config("admin", 100_002, "output full").await;
    // The conversation has a key of that name as well, and the gateway's is its owners'.
    let told = config("member", OWNER, "gateway.language zh-CN").await;
    assert_eq!(told, "language is now: zh-CN");
    let told = fake.ask_as("member", GROUP + 1, 100_004, "/nosuch").await;
    assert!(told.contains("没有 /nosuch 这个命令"), "{told}");
    let there = "language: zh-CN\nqq/main/g50/ allow_media: off\nqq/main/g50/ output: full\n";
    let diff = async |gateway: &Gateway| {
        crate::tools::tool(gateway, &["config", "diff"])
            .await
            .done()
    };
    assert_eq!(diff(&gateway).await, there);
    gateway.term().await;
    assert_eq!(diff(&gateway).await, there, "also without a gateway");
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await, "it comes again");
    for (user, key) in [
        (100_002, "allow_media"),
        (100_002, "output"),
        (OWNER, "gateway.language"),
    ] {
        config("admin", user, &format!("reset {key}")).await;
    }
    assert!(!diff(&gateway).await.contains(": "), "all is taken back");
}
