//! Every message that the web chat accepted gets exactly one `end`, whatever becomes of it.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    webchat::WebChatClient,
};

use crate::gateway::{Gateway, LIMIT};

/// What a client saw of its messages.
#[derive(Debug, Default)]
struct Seen {
    acks: BTreeMap<String, usize>,
    ends: BTreeMap<String, usize>,
    texts: Vec<String>,
}

impl Seen {
    fn take(&mut self, frame: &Value) {
        let message = frame["messageId"].as_str().unwrap_or_default().to_owned();
        match frame["type"].as_str() {
            Some("ack") => *self.acks.entry(message).or_default() += 1,
            Some("end") => *self.ends.entry(message).or_default() += 1,
            Some("text") if frame["final"] == true => {
                self.texts.push(frame["text"].as_str().unwrap().to_owned());
            }
            Some("error") => panic!("{frame}"),
            _ => {}
        }
    }

    /// Reads until this is so.
    async fn until(&mut self, client: &mut WebChatClient, done: impl Fn(&Self) -> bool) {
        while !done(self) {
            match client.next_within(LIMIT).await {
                Some(frame) => self.take(&frame),
                None => panic!("{} acks, {} ends", self.acks.len(), self.ends.len()),
            }
        }
    }

    /// Nothing more comes, and each of these messages has ended once.
    async fn settled(&mut self, client: &mut WebChatClient, messages: &[String]) {
        // Something that is answered at once, behind everything else.
        client.say("last", "/ping last").await;
        self.until(client, |seen| seen.ends.contains_key("last"))
            .await;
        let twice: Vec<_> = self.ends.iter().filter(|(_, count)| **count > 1).collect();
        assert!(twice.is_empty(), "{twice:?}");
        let missing: Vec<_> = messages
            .iter()
            .filter(|message| !self.ends.contains_key(*message))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

async fn start(changes: Value) -> (FakeModel, Gateway, WebChatClient) {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, changes).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    (model, gateway, client)
}

fn names(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("m{number}")).collect()
}

#[tokio::test]
async fn in_a_burst_of_thousands_of_dropped_messages_each_ends_once() {
    let (model, gateway, mut client) = start(json!({
        "input_buffer": { "max_queue_size": 4 },
        "flow_control": { "auto": { "messages_per_request": 1 } },
    }))
    .await;
    model.push(Script::hang());
    client.say("first", "first").await;
    model.wait_for(1).await;
    let messages = names(2_500);
    let mut seen = Seen::default();
    for chunk in messages.chunks(50) {
        for message in chunk {
            client.say(message, "again").await;
        }
        let last = &chunk[chunk.len() - 1];
        seen.until(&mut client, |seen| seen.acks.contains_key(last))
            .await;
    }
    // All but those that still wait, and not one of them before its notice or its burst is over.
    seen.until(&mut client, |seen| seen.ends.len() >= messages.len() - 4)
        .await;
    client.send(json!({ "type": "stop" })).await;
    let mut all = messages.clone();
    all.push("first".to_owned());
    seen.until(&mut client, |seen| seen.ends.len() == all.len())
        .await;
    seen.settled(&mut client, &all).await;
    assert_eq!(
        gateway.counted("queue_full_dropped_oldest").await,
        2_496,
        "all but four"
    );
}

#[tokio::test]
async fn stops_that_are_not_answered_any_more_end_all_the_same() {
    let (_model, _gateway, mut client) = start(json!({})).await;
    let messages = names(12);
    for message in &messages {
        client.say(message, "/stop").await;
    }
    let mut seen = Seen::default();
    seen.until(&mut client, |seen| seen.ends.len() == messages.len())
        .await;
    assert!(
        (5..9).contains(&seen.texts.len()),
        "five at once and one a second are answered: {:?}",
        seen.texts
    );
    seen.settled(&mut client, &messages).await;
}

#[tokio::test]
async fn an_answer_that_was_given_up_ends_its_question() {
    let slow = json!({ "conversation": 0.2, "conversation_burst": 1 });
    let (_model, gateway, mut client) = start(json!({
        "output": { "buffer": { "max_age": 1 } },
        "platforms": { "webchat": { "accounts": { "default": { "limits": slow } } } },
    }))
    .await;
    let messages = names(3);
    for message in &messages {
        client.say(message, "/ping").await;
    }
    let mut seen = Seen::default();
    seen.until(&mut client, |seen| seen.ends.len() == messages.len())
        .await;
    assert!(gateway.counted("reply_expired").await > 0);
    tokio::time::timeout(
        Duration::from_secs(60),
        seen.settled(&mut client, &messages),
    )
    .await
    .unwrap();
}
