//! Questions with buttons: over the socket, over HTTP, in the history; and ends that nobody remembers.

use serde_json::Value;
use weirgate_sdk::{Button, ButtonStyle, Choice, Via};
use weirgate_testkit::model::FakeModel;

use super::{plain::ask, *};
use crate::gateway::Gateway;

fn question(site: &Site, to: &ConversationKey, id: i64) -> Outgoing {
    let button = |label: &str, id: &str, style| Button {
        label: label.to_owned(),
        id: id.to_owned(),
        style,
    };
    let mut question = outgoing(&site.chat, to, id, "Really?", &["m1"]);
    question.buttons = vec![
        button("Yes", "p/abcd/01234567/yes", ButtonStyle::Negative),
        button("No", "p/abcd/01234567/no", ButtonStyle::Plain),
    ];
    question
}

/// The question as the store has it once it is answered.
fn answered(question: &Outgoing) -> TranscriptEntry {
    let mut entry = past(question.id, None, "Really?", false);
    entry.choice = Some(Choice {
        buttons: question.buttons.clone(),
        open: false,
        chosen: Some(question.buttons[0].id.clone()),
    });
    entry
}

#[tokio::test]
async fn a_press_is_handed_in_shown_everywhere_and_settled_with_what_the_store_says() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    client.say("m1", "/delete").await;
    let conversation = site.heard().await;
    let question = question(&site, &conversation, 7);
    let sent = site.chat.send(question.clone()).await.unwrap();
    let text = client.skip_to("text").await;
    assert_eq!(
        text["buttons"],
        json!([
            { "id": "p/abcd/01234567/yes", "label": "Yes", "style": "negative" },
            { "id": "p/abcd/01234567/no", "label": "No", "style": "plain" },
        ])
    );
    let mut other = WebChatClient::connect(site.address).await;
    other.enter(Some(&client.token)).await;
    let press =
        json!({ "type": "press", "messageId": "p1", "id": 7, "button": "p/abcd/01234567/yes" });
    client.send(press.clone()).await;
    assert_eq!(client.skip_to("ack").await["messageId"], "p1");
    for window in [&mut client, &mut other] {
        let shown = window.skip_to("user").await;
        assert_eq!(
            (&shown["messageId"], &shown["pressed"], &shown["html"]),
            (
                &json!("p1"),
                &json!({ "id": 7, "button": "p/abcd/01234567/yes" }),
                &json!("")
            )
        );
    }
    let heard = site.gateway.next_message(WAIT).await.unwrap();
    assert_eq!((heard.via, heard.id.as_str()), (Via::Button, "p1"));
    assert_eq!(heard.own_text(), "p/abcd/01234567/yes");
    let replied = heard.reply_to.expect("what it stands under");
    assert_eq!(Some(&replied.message), sent.message.as_ref());
    // The same press again is the same press.
    client.send(press).await;
    assert_eq!(client.skip_to("ack").await["duplicate"], true);
    site.gateway
        .set_transcript(vec![answered(&question)], Some("main".into()));
    let message = sent.message.unwrap();
    let buttons = site.chat.buttons().unwrap();
    buttons.retire(&conversation, &message).await.unwrap();
    for window in [&mut client, &mut other] {
        let settled = window.skip_to("settled").await;
        assert_eq!(
            (&settled["id"], &settled["chosen"]),
            (&json!(7), &json!("p/abcd/01234567/yes"))
        );
    }
    let mut late = WebChatClient::connect(site.address).await;
    let history = late.enter(Some(&client.token)).await;
    let shown = &history["messages"][0];
    assert_eq!(
        (&shown["open"], &shown["chosen"], &shown["buttons"]),
        (
            &json!(false),
            &json!("p/abcd/01234567/yes"),
            &text["buttons"]
        )
    );
}

#[tokio::test]
async fn what_is_no_press_is_refused_and_the_socket_stays() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    let long = "x".repeat(65);
    for (fields, code) in [
        (json!({ "id": 7, "button": "a" }), "missing_message_id"),
        (json!({ "messageId": "p1", "button": "a" }), "bad_frame"),
        (
            json!({ "messageId": "p1", "id": "7", "button": "a" }),
            "bad_frame",
        ),
        (json!({ "messageId": "p1", "id": 7 }), "bad_frame"),
        (
            json!({ "messageId": "p1", "id": 7, "button": "" }),
            "bad_frame",
        ),
        (
            json!({ "messageId": "p1", "id": 7, "button": long }),
            "bad_frame",
        ),
        (
            json!({ "messageId": "p1", "id": 7, "button": "是" }),
            "bad_frame",
        ),
    ] {
        let mut frame = fields;
        frame["type"] = "press".into();
        client.send(frame.clone()).await;
        assert_eq!(client.next_of("error").await["code"], code, "{frame}");
    }
    client.say("m1", "still here").await;
    assert_eq!(client.next_of("ack").await["messageId"], "m1");
}

/// The next final text of the gateway.
async fn said(client: &mut WebChatClient) -> Value {
    loop {
        let frame = client.skip_to("text").await;
        if frame["final"] == true {
            return frame;
        }
    }
}

#[tokio::test]
async fn a_question_is_answered_once_and_stays_answered() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    client.say("m1", "/delete").await;
    let question = said(&mut client).await;
    let labels: Vec<&str> = question["buttons"]
        .as_array()
        .expect("buttons")
        .iter()
        .map(|button| button["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["What was said", "Everything", "No"]);
    let text = question["text"].as_str().unwrap();
    assert!(!text.contains("/approve"), "buttons are enough: {text}");
    let (id, first) = (&question["id"], &question["buttons"][0]["id"]);
    client
        .send(json!({ "type": "press", "messageId": "p1", "id": id, "button": first }))
        .await;
    assert_eq!(client.skip_to("settled").await["chosen"], *first);
    let told = said(&mut client).await;
    assert_eq!(
        (&told["answers"], &told["text"]),
        (
            &json!(["p1"]),
            &json!("I have forgotten what was said here.")
        )
    );
    // The other window, a moment later, and over HTTP.
    let who = format!("Authorization: Bearer {}\r\n", client.token);
    let body = json!({ "messageId": "p2", "id": id, "button": question["buttons"][2]["id"] });
    let path = "/api/chat/default/press";
    let (status, _, answer) = ask(gateway.http(), ("POST", path), &who, &body.to_string()).await;
    assert_eq!(status, 202, "{answer}");
    assert_eq!(said(&mut client).await["text"], "That was answered before.");
    // A made-up button is nothing.
    client
        .send(json!({ "type": "press", "messageId": "p3", "id": id, "button": "p/zzzz/01234567/yes" }))
        .await;
    let told = said(&mut client).await;
    assert!(
        told["text"]
            .as_str()
            .unwrap()
            .starts_with("Nothing of that name"),
        "{told}"
    );
    let path = "/api/chat/default/messages?sessionId=main";
    let (_, _, page) = ask(gateway.http(), ("GET", path), &who, "").await;
    let page: Value = serde_json::from_str(&page).unwrap();
    let messages = page["messages"].as_array().unwrap();
    let asked = messages.iter().find(|it| it["buttons"].is_array());
    let asked = asked.expect("the question is in the history");
    assert_eq!(
        (&asked["open"], &asked["chosen"]),
        (&json!(false), first),
        "{asked}"
    );
    let presses = messages.iter().filter(|it| it["pressed"] == true);
    assert!(presses.clone().all(|it| it["html"] == ""));
    assert_eq!(presses.count(), 3);
}

#[tokio::test]
async fn a_message_that_comes_again_after_its_end_was_forgotten_ends_again() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    client.say("m1", "first").await;
    let conversation = site.heard().await;
    client.skip_to("user").await;
    site.send(&conversation, 1, "yes", &["m1"]).await;
    client.skip_to("end").await;
    // More ends than a room remembers.
    for id in 2..300 {
        let other = format!("o{id}");
        site.send(&conversation, id, "other", &[&other]).await;
        client.skip_to("end").await;
    }
    let ended = past(1, Some("m1"), "first", false);
    site.gateway
        .set_transcript(vec![ended], Some("main".into()));
    client.say("m1", "first").await;
    assert_eq!(client.next_of("ack").await["duplicate"], true);
    assert_eq!(client.next_of("end").await["messageId"], "m1");
    // What is still awaited has not ended.
    client.say("m2", "second").await;
    client.skip_to("user").await;
    client.say("m2", "second").await;
    assert_eq!(client.next_of("ack").await["duplicate"], true);
    assert!(client.is_quiet().await);
}

#[tokio::test]
async fn the_store_knows_what_ended_before_the_gateway_started() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    client.say("m1", "hello").await;
    client.skip_to("end").await;
    gateway.term().await;
    gateway.up().await;
    let mut again = WebChatClient::connect(gateway.http()).await;
    again.enter(Some(&client.token)).await;
    again.say("m1", "hello").await;
    assert_eq!(again.next_of("ack").await["duplicate"], true);
    assert_eq!(again.next_of("end").await["messageId"], "m1");
    assert_eq!(model.count(), 1);
}
