//! What becomes of a message while it waits: changed, taken back, or its author demoted.

use weirgate_testkit::{
    discord::{BOT, guild::ADMIN_ROLE},
    model::{Ending, FakeModel, Script},
};

use super::*;
use crate::gateway::{Gateway, LIMIT, until};

async fn answer(fake: &FakeDiscord) -> String {
    let message = fake.next_message(LIMIT).await;
    message.expect("an answer in time").text
}

async fn busy() -> (FakeDiscord, FakeModel, Gateway) {
    let fake = FakeDiscord::start(TOKEN).await;
    let (model, gateway) = whole::gateway(&fake, json!({})).await;
    model.push(Script::hang());
    fake.say(direct(7), 7, "first", &Value::Null);
    model.wait_for(1).await;
    (fake, model, gateway)
}

#[tokio::test]
async fn an_edit_takes_the_place_of_the_message_that_waits() {
    let (fake, model, gateway) = busy().await;
    let id = fake.say(direct(7), 7, "wrong", &Value::Null);
    fake.event(
        "MESSAGE_UPDATE",
        json!({
            "id": id.to_string(), "channel_id": direct(7).to_string(), "type": 0, "content": "right",
            "edited_timestamp": "2026-12-01T00:00:01+00:00", "author": { "id": "7", "username": "ann" },
        }),
    );
    while gateway.counted("edited").await == 0 {
        fake.say(direct(8), 8, "/ping", &Value::Null);
        assert_eq!(answer(&fake).await, "pong");
    }
    fake.say(direct(7), 7, "/stop", &Value::Null);
    while answer(&fake).await != "re: right" {}
    let said = model.requests().pop().expect("a request").body.to_string();
    assert!(!said.contains("wrong"), "{said}");
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_message_that_is_taken_back_while_it_waits_is_not_answered() {
    let (fake, model, gateway) = busy().await;
    let id = fake.say(direct(7), 7, "never mind", &Value::Null);
    fake.event(
        "MESSAGE_DELETE",
        json!({ "id": id.to_string(), "channel_id": direct(7).to_string() }),
    );
    while gateway.counted("recalled").await == 0 {
        fake.say(direct(8), 8, "/ping", &Value::Null);
        assert_eq!(answer(&fake).await, "pong");
    }
    fake.say(direct(7), 7, "/stop", &Value::Null);
    fake.say(direct(7), 7, "and now", &Value::Null);
    while answer(&fake).await != "re: and now" {}
    let all = model.requests();
    let never = |request: &weirgate_testkit::model::RecordedRequest| {
        !request.body.to_string().contains("never mind")
    };
    assert!(all.iter().all(never));
}

#[tokio::test]
async fn what_an_admin_asked_while_he_was_one_is_refused_once_he_is_not() {
    let fake = FakeDiscord::start(TOKEN).await;
    let members =
        json!({ "platforms": { "discord": { "accounts": { "main": { "members": true } } } } });
    let (model, _gateway) = whole::gateway(&fake, members).await;
    fake.join(7, &[ADMIN_ROLE]);
    let as_admin = |text: &str| {
        let changes = json!({
            "mentions": [{ "id": BOT.to_string(), "username": "weir" }],
            "member": { "roles": [ADMIN_ROLE.to_string()] },
        });
        fake.say(CHANNEL, 7, &format!("<@{BOT}> {text}"), &changes)
    };
    model.push(Script::answer("done").first(Duration::from_secs(2)));
    as_admin("a question");
    model.wait_for(1).await;
    as_admin("/policy allow_media");
    // What changes in the server is told of it, not of its channels.
    fake.join(7, &[]);
    assert_eq!(answer(&fake).await, "done");
    let told = answer(&fake).await;
    assert!(told.contains("Only an admin"), "{told}");
    assert!(
        until(|| !fake.calls("member").is_empty()).await,
        "it was asked"
    );
}

#[tokio::test]
async fn an_answer_that_grows_to_a_question_that_is_taken_back_grows_no_more() {
    let fake = FakeDiscord::start(TOKEN).await;
    let streaming = json!({ "output": {
        "platform_adaptation": { "strategy_by_platform": { "discord": "streaming" } },
        "streaming": { "chunk_size": 1 },
    } });
    let (model, gateway) = whole::gateway(&fake, streaming).await;
    // The last word is held back, as it might become another by what follows.
    let words = "Lock gates are raised by hand, one after another.";
    model.push(Script::pieces(&[words]).ending(Ending::Hang));
    let id = fake.say(direct(7), 7, "how?", &Value::Null);
    let growing = fake
        .next_message(LIMIT)
        .await
        .expect("a message that grows");
    assert!(words.starts_with(&growing.text) && growing.text.len() < words.len());
    fake.event(
        "MESSAGE_DELETE",
        json!({ "id": id.to_string(), "channel_id": direct(7).to_string() }),
    );
    let is_there = || fake.messages().iter().any(|one| one.id == growing.id);
    assert!(until(|| !is_there()).await, "it is taken away");
    fake.say(direct(7), 7, "and now", &Value::Null);
    while answer(&fake).await != "re: and now" {}
    assert!(gateway.counted("recalled").await > 0);
    assert_eq!(fake.edits(growing.id), 0);
    assert_eq!(fake.violations(), Vec::<String>::new());
}
