//! How connections end: what was sent is read, in order, and the other side is told.

use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::net::TcpStream;
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Message, client::IntoClientRequest, http::HeaderValue},
};
use weirgate_sdk::settings::Secret;

use super::*;

/// A client that reads only when it is told to, so that it can go on sending after a close.
struct Deaf(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Deaf {
    async fn connect(rig: &Rig) -> Self {
        let mut request = rig.url.as_str().into_client_request().expect("an address");
        request
            .headers_mut()
            .insert("x-self-id", HeaderValue::from(BOT));
        Self(connect_async(request).await.expect("connects").0)
    }

    async fn say(&mut self, id: i64, text: &str) {
        let event = json!({
            "time": 1, "self_id": BOT, "post_type": "message", "message_type": "private",
            "sub_type": "friend", "message_id": id, "user_id": 20_001,
            "message": [{ "type": "text", "data": { "text": text } }],
        });
        let event = Message::text(event.to_string());
        self.0.send(event).await.expect("sent");
    }

    /// The code of the close frame, after which the connection must end without an error.
    async fn close_code(&mut self) -> Option<u16> {
        let mut code = None;
        while let Some(item) = self.0.next().await {
            match item {
                Ok(Message::Close(frame)) => code = frame.map(|frame| frame.code.into()),
                Ok(_) => {}
                Err(error) => panic!("no clean end: {error}"),
            }
        }
        code
    }
}

#[tokio::test]
async fn what_was_sent_before_the_client_learns_of_the_stop_is_taken() {
    let rig = Rig::start(settings()).await;
    let mut client = Deaf::connect(&rig).await;
    rig.is(&Connection::Up).await;
    client.say(1, "before").await;
    assert!(rig.ingress.next_message(LIMIT).await.is_some());
    rig.stopper.stop();
    rig.is(&Connection::Down("stopped".into())).await;
    for (id, text) in [(2, "one"), (3, "two"), (4, "three")] {
        client.say(id, text).await;
    }
    assert_eq!(client.close_code().await, Some(1001));
    let ingress = Arc::clone(&rig.ingress);
    rig.stop().await;
    assert_eq!(
        texts(&ingress.accepted()),
        ["before", "one", "two", "three"]
    );
}

#[tokio::test]
async fn an_answer_that_is_held_back_until_something_else_is_written_comes_soon() {
    let rig = Rig::start(settings()).await;
    let mut client = Deaf::connect(&rig).await;
    let holding = async {
        let mut held = None;
        loop {
            match client.0.next().await.expect("open").expect("a frame") {
                Message::Text(text) => {
                    let call: serde_json::Value = serde_json::from_str(&text).expect("a call");
                    let answer = json!({
                        "status": "ok", "retcode": 0, "data": { "message_id": 7 }, "echo": call["echo"],
                    });
                    let answer = Message::text(answer.to_string());
                    if call["action"]
                        .as_str()
                        .is_some_and(|action| action.starts_with("send_"))
                    {
                        held = Some(answer);
                    } else {
                        client.0.send(answer).await.expect("open");
                    }
                }
                Message::Ping(_) => {
                    if let Some(answer) = held.take() {
                        client.0.send(answer).await.expect("open");
                    }
                }
                _ => {}
            }
        }
    };
    rig.is(&Connection::Up).await;
    let said = tokio::select! {
        said = rig.say("g30001", "hello") => said,
        () = holding => unreachable!("it holds for ever"),
    };
    assert!(said.expect("sent").message.is_some());
    rig.stop().await;
}

#[tokio::test]
async fn the_close_of_a_client_is_answered() {
    let rig = Rig::start(settings()).await;
    let mut client = Deaf::connect(&rig).await;
    rig.is(&Connection::Up).await;
    client.say(1, "last").await;
    client.0.send(Message::Close(None)).await.expect("sent");
    client.close_code().await;
    assert_eq!(rig.is_down().await, "closed by the other side");
    assert!(rig.ingress.next_message(LIMIT).await.is_some());
    rig.stop().await;
}

#[tokio::test]
async fn what_came_over_the_replaced_connection_comes_first() {
    let rig = Rig::start(settings()).await;
    let mut old = Deaf::connect(&rig).await;
    rig.is(&Connection::Up).await;
    old.say(1, "old 1").await;
    assert!(rig.ingress.next_message(LIMIT).await.is_some());
    let mut new = Deaf::connect(&rig).await;
    new.say(3, "new").await;
    old.say(2, "old 2").await;
    assert_eq!(old.close_code().await, Some(1001));
    assert!(rig.ingress.handed_in(3, LIMIT).await);
    assert_eq!(texts(&rig.ingress.accepted()), ["old 1", "old 2", "new"]);
    rig.stop().await;
}

#[tokio::test]
async fn a_client_that_never_goes_holds_up_neither_its_successor_nor_the_stop() {
    let rig = Rig::start(settings()).await;
    let mut old = Deaf::connect(&rig).await;
    rig.is(&Connection::Up).await;
    old.say(1, "old").await;
    let mut new = Deaf::connect(&rig).await;
    new.say(2, "new").await;
    assert!(rig.ingress.handed_in(2, LIMIT).await);
    assert_eq!(texts(&rig.ingress.accepted()), ["old", "new"]);
    rig.stopper.stop();
    let ended = tokio::time::timeout(Duration::from_secs(7), rig.run).await;
    ended
        .expect("in time")
        .expect("no panic")
        .expect("no error");
    assert_eq!(new.close_code().await, Some(1001));
    drop(old);
}

#[tokio::test]
async fn strangers_who_say_nothing_keep_nobody_out() {
    let rig = Rig::start(settings()).await;
    let address = rig.qq.local_addr().expect("bound");
    let mut silent = Vec::new();
    for _ in 0..40 {
        silent.push(TcpStream::connect(address).await.expect("connects"));
    }
    let client = tokio::time::timeout(Duration::from_secs(2), Deaf::connect(&rig)).await;
    let _client = client.expect("at once");
    rig.is(&Connection::Up).await;
    rig.stop().await;
}

#[tokio::test]
async fn without_a_token_nobody_listens_beyond_this_machine() {
    let open = listening(SocketAddr::from(([0, 0, 0, 0], 0)));
    let qq = adapter(open.clone());
    assert!(matches!(qq.bind().await, Err(AdapterError::Config(_))));
    let (_stopper, stop) = Stopper::new();
    let ended = qq.run(RecordingIngress::new(), stop).await;
    assert!(matches!(ended, Err(AdapterError::Config(_))), "{ended:?}");
    let guarded = adapter(Settings {
        token: Some(Secret::new("long-enough-token")),
        ..open
    });
    assert!(guarded.bind().await.is_ok());
}
