//! Events that the platform posts.

use std::net::SocketAddr;

use tokio::net::TcpListener;
use weirgate_qq::official::settings::Way;
use weirgate_testkit::qq::sign;

use super::*;

pub(super) async fn webhook() -> (Rig, SocketAddr) {
    let fake = FakeQq::start().await;
    let settings = Settings {
        way: Way::Webhook,
        ..settings(&fake)
    };
    let rig = Rig::with(fake, settings).await;
    let router = rig.bot.router().expect("a route");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    (rig, address)
}

pub(super) const PATH: &str = "/qq/bot";

#[tokio::test]
async fn posts_are_answered_when_they_are_durable_and_only_if_they_are_signed() {
    let (rig, address) = webhook().await;
    let (kind, message) = rig.fake.message(Where::Group, 7, "hi", &Value::Null);
    let done = json!({ "op": 12, "d": 0 });
    rig.ingress.fail_store(2);
    assert_eq!(
        rig.fake.post(address, PATH, kind, &message).await,
        (200, done.clone())
    );
    assert_eq!(rig.ingress.failures_left(), 0);
    let heard = rig.ingress.next_message(LIMIT).await.expect("heard");
    assert_eq!(
        (heard.own_text(), heard.mentions_bot),
        ("hi".to_owned(), true)
    );
    // Again, as the platform does when an answer was lost: the gateway knows it by its key.
    assert_eq!(
        rig.fake.post(address, PATH, kind, &message).await,
        (200, done)
    );
    assert_eq!(rig.ingress.duplicates(), 1);
    let body = json!({ "op": 0, "t": kind, "d": message }).to_string();
    let now = weirgate_testkit::qq::seconds();
    let (time, old) = (now.to_string(), (now - 50_000).to_string());
    for (time, signature, status) in [
        (&time, "0".repeat(128), 403),
        (&time, "x".into(), 403),
        (&time, sign(&time, "{}"), 403),
        (&old, sign(&time, &body), 403),
        (&old, sign(&old, &body), 400),
    ] {
        let answer = rig
            .fake
            .post_raw(address, PATH, &body, time, &signature)
            .await;
        assert_eq!(answer.0, status, "{signature}");
    }
    for odd in [
        "",
        "[]",
        "{\"op\":0}",
        "{\"op\":0,\"t\":\"NEW\",\"d\":5}",
        "{\"op\":99}",
    ] {
        let answer = rig
            .fake
            .post_raw(address, PATH, odd, &time, &sign(&time, odd))
            .await;
        assert_eq!(answer.0, 200, "{odd}");
    }
    let accepted = rig.ingress.accepted().into_iter();
    let messages = accepted.filter(|event| matches!(event, Event::Message(_)));
    assert_eq!(messages.count(), 1);
    rig.ended().await;
}

#[tokio::test]
async fn the_platforms_question_is_answered_and_forges_nothing() {
    let (rig, address) = webhook().await;
    let time = weirgate_testkit::qq::seconds().to_string();
    let ask = |word: &str| {
        json!({ "op": 13, "d": { "plain_token": word, "event_ts": "1725442341" } }).to_string()
    };
    let question = ask("Arq0D5A61EgUu4OxUvOp");
    let (status, answer) = rig
        .fake
        .post_raw(address, PATH, &question, &time, &sign(&time, &question))
        .await;
    assert_eq!(status, 200);
    assert_eq!(answer["plain_token"], "Arq0D5A61EgUu4OxUvOp");
    // The signature that the platform's documentation gives for this secret.
    let published = "87befc99c42c651b3aac0278e71ada338433ae26fcb24307bdc5ad38c1adc2d01bcfcadc0842edac85e85205028a1132afe09280305f13aa6909ffc2d652c706";
    assert_eq!(answer["signature"], published);
    let forged = ask(&json!({ "op": 0, "t": "C2C_MESSAGE_CREATE" }).to_string());
    let refused = rig
        .fake
        .post_raw(address, PATH, &forged, &time, &sign(&time, &forged))
        .await;
    assert_eq!(refused.0, 400);
    let unsigned = rig.fake.post_raw(address, PATH, &question, &time, "").await;
    assert_eq!(unsigned.0, 403);
    rig.ended().await;
}
