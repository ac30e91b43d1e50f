//! Updates that the service posts to the gateway's web server.

use serde_json::{Value, json};
use weirgate_testkit::{model::FakeModel, telegram::FakeTelegram};

use super::TOKEN;
use crate::gateway::{Gateway, LIMIT, free_port, until};

fn hooked(fake: &FakeTelegram) -> Value {
    let account = json!({
        "token": TOKEN, "api_url": fake.url(), "mode": "webhook", "reconnect": 0.1,
    });
    // The service itself would ask for https, which stands in front of the gateway.
    let address = format!("127.0.0.1:{}", free_port());
    json!({
        "http": { "listen": address, "public_url": format!("http://{address}") },
        "platforms": { "telegram": { "accounts": { "ma in": account } } },
    })
}

async fn announced(fake: &FakeTelegram) -> (String, String) {
    assert!(
        until(|| fake.webhook().is_some()).await,
        "no webhook is set"
    );
    fake.webhook().expect("just seen")
}

async fn ask(fake: &FakeTelegram, text: &str) -> String {
    fake.say(7, 7, text, &Value::Null);
    fake.next_message(LIMIT)
        .await
        .expect("an answer in time")
        .text
}

#[tokio::test]
async fn posted_updates_are_answered_and_confirmed_once_they_are_stored() {
    let fake = FakeTelegram::start(TOKEN).await;
    fake.say(7, 7, "/ping", &Value::Null);
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, hooked(&fake)).await;
    let (url, secret) = announced(&fake).await;
    assert_eq!(url, format!("http://{}/telegram/ma%20in", gateway.http()));
    fake.post_to(gateway.http());
    let first = fake
        .next_message(LIMIT)
        .await
        .expect("what waited is answered");
    assert_eq!(first.text, "pong");
    assert_eq!(ask(&fake, "hello").await, "re: hello");
    assert_eq!(fake.confirmed(7, 2, LIMIT).await, 2);
    assert_eq!(fake.calls("getUpdates").len(), 0);
    // Strangers are not heard, whatever they post.
    let update = json!({ "update_id": 1, "message": { "message_id": 1, "date": 1, "text": "/ping",
        "chat": { "id": 7, "type": "private" }, "from": { "id": 7, "first_name": "A" } } });
    for guess in ["", "guess", &secret[1..]] {
        let path = "/telegram/ma%20in";
        let status =
            FakeTelegram::post_once(gateway.http(), path, guess, &update.to_string()).await;
        assert_eq!(status, 401, "{guess}");
    }
    // While it is dead nothing is confirmed; afterwards it comes.
    gateway.kill().await;
    fake.say(7, 7, "late", &Value::Null);
    gateway.up().await;
    fake.post_to(gateway.http());
    while fake
        .next_message(LIMIT)
        .await
        .expect("an answer in time")
        .text
        != "re: late"
    {}
    let log = gateway.log();
    assert!(
        !log.contains(&secret) && !log.contains("TEST-secret"),
        "{log}"
    );
}

#[tokio::test]
async fn a_webhook_without_an_address_is_refused_with_the_reason() {
    let fake = FakeTelegram::start(TOKEN).await;
    let model = FakeModel::start().await;
    let mut changes = hooked(&fake);
    changes.as_object_mut().expect("a map").remove("http");
    let gateway = Gateway::start(&model, changes).await;
    gateway.logged("http.public_url").await;
    assert_eq!(fake.webhook(), None);
}

#[tokio::test]
async fn what_cannot_be_read_is_not_posted_for_ever() {
    let fake = FakeTelegram::start(TOKEN).await;
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, hooked(&fake)).await;
    let (_, secret) = announced(&fake).await;
    for body in ["", "nonsense", "{}", "[]", "{\"update_id\":1}"] {
        let path = "/telegram/ma%20in";
        let status = FakeTelegram::post_once(gateway.http(), path, &secret, body).await;
        assert_eq!(status, 200, "{body}");
    }
    fake.post_to(gateway.http());
    assert_eq!(ask(&fake, "/ping").await, "pong");
    assert_eq!(fake.refused_posts(), Vec::<u16>::new());
}
