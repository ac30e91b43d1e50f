//! The web chat adapter over real sockets, with a recording gateway behind it.

mod cards;
pub mod doors;
mod files;
mod frames;
mod managed;
mod many;
mod plain;
mod resume;
mod tester;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use serde_json::json;
use tokio::{net::TcpListener, task::JoinHandle};
use weirgate_sdk::{
    Adapter, AdapterError, ChatKind, Connection, ConversationKey, Event, Ingress, MessageId,
    Outgoing, Preview, PreviewStart, Segment, Setup, Stopper, TranscriptEntry,
    answer::{Block, Inline},
};
use weirgate_testkit::{ingress::RecordingIngress, webchat::WebChatClient};
use weirgate_webchat::{Settings, WebChat, build};

const WAIT: Duration = Duration::from_secs(10);

/// A running site on a port of its own.
struct Site {
    chat: Arc<WebChat>,
    gateway: Arc<RecordingIngress>,
    address: SocketAddr,
    stopper: Stopper,
    running: JoinHandle<Result<(), AdapterError>>,
}

impl Site {
    async fn new() -> Self {
        Self::with(Settings::default()).await
    }

    async fn with(settings: Settings) -> Self {
        let setup = Setup {
            account: "site".into(),
            secret: [5; 32],
            version: "1.2.3",
            public_origin: None,
            models: weirgate_sdk::ChatModels::new(vec!["demo/echo".into()]),
            menu: weirgate_sdk::Menu::default(),
        };
        let chat = build(setup, settings);
        let gateway = RecordingIngress::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = chat.router(true);
        tokio::spawn(async move { axum::serve(listener, router).await });
        let (stopper, stop) = Stopper::new();
        let (adapter, ingress) = (Arc::clone(&chat), Arc::clone(&gateway) as Arc<dyn Ingress>);
        let running = tokio::spawn(async move { adapter.run(ingress, stop).await });
        gateway
            .connection_is(WAIT, |state| *state == Connection::Up)
            .await
            .unwrap();
        Self {
            chat,
            gateway,
            address,
            stopper,
            running,
        }
    }

    async fn visitor(&self) -> WebChatClient {
        let mut client = WebChatClient::connect(self.address).await;
        client.enter(None).await;
        client
    }

    /// Waits for the next message and returns where it belongs.
    async fn heard(&self) -> ConversationKey {
        self.gateway.next_message(WAIT).await.unwrap().conversation
    }

    async fn send(&self, to: &ConversationKey, id: i64, text: &str, answers: &[&str]) {
        self.chat
            .send(outgoing(&self.chat, to, id, text, answers))
            .await
            .unwrap();
    }

    async fn preview(&self, to: &ConversationKey, turn: i64, attempt: u32) -> Box<dyn Preview> {
        let start = PreviewStart {
            conversation: to.clone(),
            turn: format!("t{turn}").into(),
            attempt,
            answers: ids(&["m1"]),
            reply_context: None,
        };
        self.chat.streams().unwrap().open(start).await.unwrap()
    }
}

fn outgoing(
    chat: &Arc<WebChat>,
    to: &ConversationKey,
    id: i64,
    text: &str,
    answers: &[&str],
) -> Outgoing {
    Outgoing {
        id,
        part: 0,
        parts: 1,
        conversation: to.clone(),
        turn: Some(format!("t{id}").into()),
        answers: ids(answers),
        rendered: chat.render().render(&paragraphs(&[text])),
        reply: None,
        reply_context: None,
        buttons: Vec::new(),
        files: Vec::new(),
        private: false,
    }
}

fn ids(ids: &[&str]) -> Vec<MessageId> {
    ids.iter().map(|id| MessageId::from(*id)).collect()
}

fn paragraphs(texts: &[&str]) -> Vec<Block> {
    texts
        .iter()
        .map(|text| Block::Paragraph(vec![Inline::Text((*text).into())]))
        .collect()
}

fn past(id: i64, message: Option<&str>, text: &str, pending: bool) -> TranscriptEntry {
    TranscriptEntry {
        id,
        message: message.map(Into::into),
        turn: None,
        answers: vec![],
        blocks: paragraphs(&[text]),
        files: Vec::new(),
        brought: Vec::new(),
        pressed: false,
        choice: None,
        at: 1,
        pending,
    }
}

#[tokio::test]
async fn a_message_is_acknowledged_shown_answered_and_ended() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    client.say("m1", "hello <b>").await;
    let message = site.gateway.next_message(WAIT).await.unwrap();
    assert_eq!(message.segments, [Segment::Text("hello <b>".into())]);
    assert_eq!(message.chat, ChatKind::Private);
    assert_eq!(message.sender.key.realm.as_str(), "site");
    assert_eq!(
        message.sender.key.id.as_str(),
        message.conversation.conversation.as_str()
    );
    assert_eq!(
        message.conversation.thread.as_ref().unwrap().as_str(),
        "main"
    );
    let ack = client.next_of("ack").await;
    assert_eq!((&ack["messageId"], &ack["id"]), (&json!("m1"), &json!(1)));
    assert_eq!(
        client.next_of("user").await["html"],
        "<p>hello &lt;b&gt;</p>"
    );
    site.send(&message.conversation, 7, "yes <i>", &["m1"])
        .await;
    let text = client.next_of("text").await;
    assert_eq!(text["html"], "<p>yes &lt;i&gt;</p>");
    assert_eq!(text["text"], "yes <i>");
    assert_eq!(
        (&text["id"], &text["final"], &text["turn"]),
        (&json!(7), &json!(true), &json!("t7"))
    );
    assert_eq!(client.next_of("end").await["messageId"], "m1");
}

#[tokio::test]
async fn a_notice_ends_the_messages_that_will_get_no_answer() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    client.say("m1", "dropped").await;
    let conversation = site.heard().await;
    client.skip_to("user").await;
    let mut notice = outgoing(&site.chat, &conversation, 7, "too many", &["m1"]);
    notice.turn = None;
    site.chat.send(notice).await.unwrap();
    let text = client.next_of("text").await;
    assert_eq!((text.get("turn"), &text["answers"]), (None, &json!(["m1"])));
    assert_eq!(client.next_of("end").await["messageId"], "m1");
}

#[tokio::test]
async fn a_token_is_the_visitor_and_nothing_else_is() {
    let site = Site::new().await;
    let mut first = site.visitor().await;
    first.say("m1", "a").await;
    let conversation = site.heard().await;
    let mut again = WebChatClient::connect(site.address).await;
    again.enter(Some(&first.token)).await;
    again.say("m2", "b").await;
    assert_eq!(site.heard().await, conversation);

    let mut forged = first.token.clone();
    forged.replace_range(0..1, if forged.starts_with('A') { "B" } else { "A" });
    let mut thief = WebChatClient::connect(site.address).await;
    let claim = json!({
        "token": forged, "user_id": "discord:123", "visitor": conversation.conversation.as_str(),
        "sessionId": "main", "resume": { "epoch": first.epoch, "seq": first.seq },
    });
    let welcome = thief.hello(claim).await;
    assert_eq!(welcome["resumed"], false);
    assert_ne!(welcome["token"], json!(first.token));
    thief.say("m3", "c").await;
    assert_ne!(site.heard().await.conversation, conversation.conversation);
}

#[tokio::test]
async fn what_is_wrong_in_a_frame_harms_nothing_else() {
    let site = Site::new().await;
    let mut client = WebChatClient::connect(site.address).await;
    client.hello(json!({ "language": "zh-CN" })).await;
    client.next_of("history").await;
    let long = "x".repeat(8_001);
    for (frame, code) in [
        ("nonsense".to_owned(), "bad_frame"),
        (r#"{"type":"dance"}"#.to_owned(), "unknown_type"),
        (
            r#"{"type":"text","content":"x"}"#.to_owned(),
            "missing_message_id",
        ),
        (
            r#"{"type":"setting","content":{"act":"rm"}}"#.to_owned(),
            "unknown_act",
        ),
        (
            r#"{"type":"chat","messageId":"m1","content":[]}"#.to_owned(),
            "empty",
        ),
        (
            json!({"type": "text", "messageId": "m1", "content": long}).to_string(),
            "too_long",
        ),
        (
            r#"{"type":"stop","sessionId":"../../x"}"#.to_owned(),
            "bad_session_id",
        ),
    ] {
        client.send_text(&frame).await;
        let error = client.next_of("error").await;
        assert_eq!(error["code"], code);
        assert!(error["text"].as_str().unwrap().ends_with('。'), "{error}");
    }
    client.send_binary(vec![0, 0, 0, 2, b'{', b'}']).await;
    assert_eq!(client.next_of("error").await["code"], "bad_frame");
    client.say("m1", "still here").await;
    assert_eq!(client.next_of("ack").await["messageId"], "m1");
}

#[tokio::test]
async fn several_lines_are_routed_each_and_the_last_end_closes_the_batch() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    let lines = [
        r#"{"type":"text","messageId":"m1","content":{"text":"one"}}"#,
        r#"{"type":"system","content":{"act":"getVersion"}}"#,
        r#"{"type":"dance","messageId":"m9"}"#,
        r#"{"type":"text","messageId":"m2","content":"two"}"#,
    ];
    client.send_text(&lines.join("\n")).await;
    assert_eq!(client.next_of("system").await["data"]["version"], "1.2.3");
    assert_eq!(client.next_of("error").await["messageId"], "m9");
    let conversation = site.heard().await;
    site.heard().await;
    site.send(&conversation, 1, "both", &["m1", "m2"]).await;
    let first = client.skip_to("end").await;
    assert_eq!(
        (&first["messageId"], first.get("batch")),
        (&json!("m1"), None)
    );
    let last = client.next_of("end").await;
    assert_eq!(
        (&last["messageId"], &last["batch"]),
        (&json!("m2"), &json!(true))
    );
    client
        .send_text("{\"type\":\"ping\"}\n{\"type\":\"system\",\"content\":{\"act\":\"getModels\"}}")
        .await;
    client.next_of("pong").await;
    assert_eq!(
        client.next_of("system").await["data"]["models"],
        json!(["demo/echo"])
    );
    assert_eq!(client.next_of("end").await["batch"], true);
}

#[tokio::test]
async fn nothing_is_acknowledged_before_the_store_has_it() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    site.gateway.hold();
    site.gateway.fail_store(2);
    for message in ["m1", "m2"] {
        client.say(message, message).await;
    }
    assert!(client.is_quiet().await, "receipts are open");
    site.gateway.release();
    for message in ["m1", "m2"] {
        assert_eq!(client.next_of("ack").await["messageId"], message);
        assert_eq!(client.next_of("user").await["messageId"], message);
        assert_eq!(
            site.gateway.next_message(WAIT).await.unwrap().id.as_str(),
            message
        );
    }
    assert_eq!(site.gateway.batches(), 4, "both were handed in twice");
}

#[tokio::test]
async fn a_store_that_stays_away_is_said_and_sending_again_works() {
    let mut settings = Settings::default();
    settings.timing.retry = Duration::from_millis(1);
    let site = Site::with(settings).await;
    let mut client = site.visitor().await;
    site.gateway.fail_store(5);
    client.say("m1", "a").await;
    let error = client.next_of("error").await;
    assert_eq!(
        (&error["code"], &error["messageId"]),
        (&json!("store_unavailable"), &json!("m1"))
    );
    assert!(site.gateway.accepted().is_empty());
    client.say("m1", "a").await;
    assert_eq!(client.next_of("ack").await["messageId"], "m1");
}

#[tokio::test]
async fn the_same_label_is_another_conversation_for_another_visitor() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    client.hello(json!({ "sessionId": "plans" })).await;
    client.next_of("history").await;
    client.say("m1", "secret").await;
    let conversation = site.heard().await;
    assert_eq!(conversation.thread.as_ref().unwrap().as_str(), "plans");
    site.send(&conversation, 1, "answer", &["m1"]).await;
    let mut other = site.visitor().await;
    let resume = json!({ "epoch": client.epoch, "seq": 1 });
    let welcome = other
        .hello(json!({ "sessionId": "plans", "resume": resume }))
        .await;
    assert_eq!(welcome["resumed"], false);
    assert_eq!(other.next_of("history").await["sessionId"], "plans");
    assert!(other.is_quiet().await);
}

#[tokio::test]
async fn without_a_label_the_newest_conversation_is_meant_and_others_can_be_named() {
    let site = Site::new().await;
    let token = site.visitor().await.token;
    site.gateway.set_transcript(vec![], Some("newest".into()));
    let mut client = WebChatClient::connect(site.address).await;
    assert_eq!(client.enter(Some(&token)).await["sessionId"], "newest");
    client
        .send(json!({"type":"text","messageId":"m1","sessionId":"side","content":"x"}))
        .await;
    let conversation = site.heard().await;
    assert_eq!(conversation.thread.as_ref().unwrap().as_str(), "side");
    assert_eq!(client.next_of("ack").await["sessionId"], "side");
    assert_eq!(client.next_of("user").await["sessionId"], "side");
    client.send(json!({"type":"stop"})).await;
    let pressed = site.gateway.next_event(WAIT).await.unwrap();
    let Event::StopPressed {
        conversation,
        sender,
    } = pressed
    else {
        panic!("{pressed:?}")
    };
    assert_eq!(conversation.thread.as_ref().unwrap().as_str(), "newest");
    assert_eq!(sender.key.id.as_str(), conversation.conversation.as_str());
}
