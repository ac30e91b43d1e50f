//! The blocklist: what is taken out of what comes in and of what is answered.

use std::time::Duration;

use serde_json::json;
use weirgate_testkit::{model::Script, webchat::WebChatClient};

use super::start;
use crate::gateway::Chat as _;

#[tokio::test]
async fn words_of_the_list_reach_neither_the_model_nor_the_chat() {
    let list = json!({
        "context": { "system_prompt": "" },
        "security": { "content_filter": { "blocklist": ["cheese", "/sec[rt]et-\\d+/"], "replacement": "***" } },
    });
    let (model, gateway, fake) = start(list).await;
    model.push(Script::pieces(&[
        "No che",
        "ese, no Sec",
        "ret-12",
        "34, no cheesecake.",
    ]));
    assert_eq!(
        fake.ask(1, "Some CHEESE?").await,
        "No ***, no ***, no cheesecake."
    );
    assert_eq!(model.requests()[0].last_user_text(), "Some ***?");
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("content_filtered"), "{why}");
    assert_eq!(fake.ask(1, "/ping cheese").await, "***");
    gateway.logged("an entry of the blocklist was found").await;
    let log = gateway.log();
    let line = log
        .lines()
        .find(|line| line.contains("an entry of the blocklist"))
        .unwrap();
    assert!(line.contains("cheese"), "{line}");
}

#[tokio::test]
async fn a_list_in_a_file_is_read_again_with_the_configuration() {
    let model = weirgate_testkit::model::FakeModel::start().await;
    let changes = json!({ "security": { "content_filter": { "blocklist": ["list.txt"] } } });
    let mut gateway = crate::gateway::Gateway::prepare(&model, changes);
    gateway.write("list.txt", "alpha\n");
    gateway.up().await;
    let fake = gateway.onebot().await;
    assert_eq!(
        fake.ask(1, "alpha beta").await,
        "re: [\u{5df2}\u{8fc7}\u{6ee4}] beta"
    );
    gateway.write("list.txt", "beta\n");
    gateway.signal("HUP");
    gateway.logged("the configuration was reloaded").await;
    assert_eq!(
        fake.ask(1, "alpha beta").await,
        "re: alpha [\u{5df2}\u{8fc7}\u{6ee4}]"
    );
}

#[tokio::test]
async fn an_entry_says_what_follows_from_it() {
    let list = json!({
        "context": { "system_prompt": "" },
        "security": { "content_filter": { "replacement": "***", "blocklist": [
            { "entry": "gamble", "severity": "low" }, "cheese",
            { "entry": "file:worst.txt", "severity": "high" },
        ] } },
    });
    let model = weirgate_testkit::model::FakeModel::start().await;
    let mut gateway = crate::gateway::Gateway::prepare(&model, list);
    gateway.write("worst.txt", "poison\n");
    gateway.up().await;
    let fake = gateway.onebot().await;
    // Told to the operator alone.
    assert_eq!(fake.ask(1, "gamble for cheese").await, "re: gamble for ***");
    gateway.logged("entry=gamble severity=low").await;
    // Not answered, also from inside of a longer message, and the sender is not told which word it was.
    let told = fake.ask(1, "cheese and poison").await;
    assert!(
        told.contains("is not allowed here") && !told.contains("poison"),
        "{told}"
    );
    assert_eq!(model.count(), 1);
    assert_eq!(gateway.counted("content_blocked").await, 1);
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("content_blocked"), "{why}");
    let audit = "SELECT event || ' ' || target || ' ' || result FROM audit";
    assert_eq!(
        crate::gateway::rows(&gateway.database(), audit),
        ["content_blocked poison done"]
    );
    // What an answer says cannot be refused any more: it is taken out.
    model.push(Script::pieces(&["some poi", "son, a gam", "ble"]));
    assert_eq!(fake.ask(1, "tell me").await, "some ***, a gamble");
    // Whoever goes on is told now and then.
    for _ in 0..20 {
        fake.send_private(1, "poison").await;
    }
    let before = fake.reply_count();
    fake.send_private(2, "hello").await;
    while fake.next_reply(crate::gateway::LIMIT).await.unwrap().text() != "re: hello" {}
    assert!(fake.reply_count() - before < 10, "{}", fake.reply_count());
}

#[tokio::test]
async fn a_word_of_the_list_is_never_shown_however_a_stream_cuts_it() {
    let list = json!({
        "context": { "system_prompt": "" },
        "output": { "streaming": { "chunk_interval": 0.01 } },
        "security": { "content_filter": { "blocklist": ["cheese", "机密"], "replacement": "(gone)" } },
    });
    let (model, gateway, _fake) = start(list).await;
    let mut visitor = WebChatClient::connect(gateway.http()).await;
    visitor.enter(None).await;
    let text = "Take some cheese, 这是机密信息, and go.";
    let cuts = text.char_indices().map(|(at, _)| at).skip(1);
    for (number, cut) in cuts.enumerate() {
        let pieces = [&text[..cut], &text[cut..]];
        model.push(Script::pieces(&pieces).between(Duration::from_millis(30)));
        visitor.say(&format!("m{number}"), "tell").await;
        let (mut frames, mut last) = (String::new(), String::new());
        loop {
            let frame = visitor.next().await;
            assert!(frame.get("closed").is_none(), "{frame}");
            frames.push_str(&frame.to_string());
            if frame["final"] == true {
                frame["text"].as_str().unwrap().clone_into(&mut last);
            }
            if frame["type"] == "end" {
                break;
            }
        }
        assert_eq!(
            last, "Take some (gone), 这是(gone)信息, and go.",
            "cut at {cut}"
        );
        for part in ["che", "机"] {
            assert!(
                !frames.contains(part),
                "{part} is shown, cut at {cut}: {frames}"
            );
        }
    }
    assert!(gateway.counted("content_filtered").await > 0);
}
