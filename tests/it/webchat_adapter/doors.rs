//! Who gets in, how many, and how sockets are closed.

use std::{net::SocketAddr, time::Duration};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use weirgate_sdk::{Adapter, SendError};
use weirgate_testkit::webchat::WebChatClient;
use weirgate_webchat::Settings;

use super::{Site, WAIT, outgoing, past};

/// The status line and the headers of a plain request.
async fn get(address: SocketAddr, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.to_lowercase()
}

#[tokio::test]
async fn the_page_comes_with_strict_headers_and_without_anything_inline() {
    let site = Site::new().await;
    for path in [
        "/",
        "/site/site",
        "/widget.js",
        "/widget/element.js",
        "/page.css",
        "/icon.svg",
    ] {
        let answer = get(site.address, path, "localhost").await;
        assert!(answer.starts_with("http/1.1 200"), "{path}: {answer}");
        for header in ["default-src 'none'", "frame-ancestors 'none'", "nosniff"] {
            assert!(answer.contains(header), "{path} lacks {header}");
        }
        assert!(!answer.contains("unsafe-"));
    }
    let page = get(site.address, "/", "localhost").await;
    assert!(!page.contains("<style") && !page.contains("style=") && !page.contains(" onload="));
    assert!(!page.contains("<script>"), "no inline script");
    assert!(page.contains("site=\"site\""), "{page}");
    for path in ["/", "/api/chat/site", "/ws/site"] {
        let rebound = get(site.address, path, "evil.example").await;
        assert!(rebound.starts_with("http/1.1 403"), "{rebound}");
    }
}

#[tokio::test]
async fn only_pages_of_the_site_read_what_belongs_to_it() {
    let settings = Settings {
        origins: vec!["https://www.example.com".into()],
        greeting: "Hi".into(),
        ..Settings::default()
    };
    let site = Site::with(settings).await;
    for (origin, allowed) in [
        ("https://www.example.com", true),
        ("https://evil.example", false),
        ("null", false),
        ("https://www.example.com.evil.example", false),
    ] {
        let host = format!("localhost\r\nOrigin: {origin}");
        let answer = get(site.address, "/api/chat/site", &host).await;
        let given = answer.contains(&format!("access-control-allow-origin: {origin}\r\n"));
        assert_eq!(given, allowed, "{origin}: {answer}");
        assert!(answer.contains("vary: origin"), "{answer}");
        assert!(!answer.contains("allow-credentials"), "{answer}");
    }
    let about = get(site.address, "/api/chat/site", "localhost").await;
    assert!(
        about.ends_with(
            r#"{"files":false,"greeting":"hi","maxmessage":8000,"suggestions":[],"title":"weirgate"}"#
        ),
        "{about}"
    );
    // The widget itself is the same for everybody.
    let widget = get(site.address, "/widget.js", "localhost").await;
    assert!(
        widget.contains("access-control-allow-origin: *"),
        "{widget}"
    );
}

#[tokio::test]
async fn a_foreign_page_cannot_open_the_socket() {
    let settings = Settings {
        origins: vec!["https://www.example.com".into()],
        ..Settings::default()
    };
    let site = Site::with(settings).await;
    let own = format!("http://{}", site.address);
    let other_port = format!("http://127.0.0.1:{}", site.address.port() ^ 1);
    let refused: [&[(&'static str, &str)]; 6] = [
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
        &[("origin", "http://localhost.evil.example")],
        &[("origin", &other_port)],
        &[("host", "evil.example")],
        &[("host", "evil.example"), ("origin", "http://evil.example")],
    ];
    for headers in refused {
        let status = WebChatClient::open(site.address, headers).await.err();
        assert_eq!(status, Some(403), "{headers:?}");
    }
    for origin in [own.as_str(), "https://www.example.com"] {
        WebChatClient::open(site.address, &[("origin", origin)])
            .await
            .unwrap();
    }
    let url = format!("ws://{}/chat?token=x", site.address);
    assert_eq!(
        WebChatClient::open_at(&url, &[]).await.err(),
        Some(403),
        "no token in addresses"
    );
}

#[tokio::test]
async fn sockets_are_bounded_and_must_say_hello() {
    let mut settings = Settings {
        max_sockets: 3,
        max_sockets_per_visitor: 1,
        ..Settings::default()
    };
    settings.timing.hello = Duration::from_millis(50);
    let site = Site::with(settings).await;
    let mut first = site.visitor().await;
    let mut second = WebChatClient::connect(site.address).await;
    second.enter(Some(&first.token)).await;
    assert_eq!(first.next_of("error").await["code"], "too_many_sockets");
    assert_eq!(first.close_code().await, 4001);
    let mut silent = WebChatClient::connect(site.address).await;
    assert_eq!(silent.close_code().await, 1008);
    let mut rude = WebChatClient::connect(site.address).await;
    rude.say("m1", "x").await;
    assert_eq!(rude.next_of("error").await["code"], "hello_first");
    assert_eq!(rude.close_code().await, 1008);
    let mut big = WebChatClient::connect(site.address).await;
    big.send_text(&"x".repeat(140_000)).await;
    assert!(matches!(big.close_code().await, 1009 | 1006));
    drop((first, silent, rude, big));
    let mut open = vec![];
    loop {
        match WebChatClient::open(site.address, &[]).await {
            Ok(mut client) => {
                client.enter(None).await;
                open.push(client);
            }
            Err(status) => break assert_eq!(status, 503),
        }
    }
    assert!(open.len() <= 2);
}

/// Opens a socket by hand, sends these bytes as they are, and gives the code of the close frame.
async fn close_code_after(address: SocketAddr, bytes: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "GET /chat HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = vec![];
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    stream.write_all(bytes).await.unwrap();
    loop {
        let (kind, length) = (
            stream.read_u8().await.unwrap(),
            stream.read_u8().await.unwrap(),
        );
        let mut payload = vec![0; length.into()];
        stream.read_exact(&mut payload).await.unwrap();
        if kind == 0x88 {
            return u16::from_be_bytes([payload[0], payload[1]]);
        }
    }
}

#[tokio::test]
async fn the_close_code_says_what_was_wrong_with_a_frame() {
    let site = Site::new().await;
    // Masked with zeros: two bytes that are not UTF-8; an operation that is not; a length over all limits.
    for (bytes, code) in [
        (&[0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28][..], 1007),
        (&[0x83, 0x80, 0, 0, 0, 0], 1002),
        (&[0x81, 0xff, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0], 1009),
    ] {
        assert_eq!(close_code_after(site.address, bytes).await, code);
    }
}

#[tokio::test]
async fn the_longest_message_fits_into_a_frame_however_it_is_escaped() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    let text = r"\ud83d\ude00".repeat(8_000);
    let frame = format!(r#"{{"type":"text","messageId":"m1","content":{{"text":"{text}"}}}}"#);
    client.send_text(&frame).await;
    assert_eq!(client.next_of("ack").await["messageId"], "m1");
    let message = site.gateway.next_message(WAIT).await.unwrap();
    assert_eq!(message.own_text(), "😀".repeat(8_000));
}

#[tokio::test]
async fn a_socket_that_answers_no_ping_is_closed() {
    let mut settings = Settings::default();
    settings.timing.ping = Duration::from_millis(40);
    let site = Site::with(settings).await;
    let mut quick = site.visitor().await;
    let mut asleep = site.visitor().await;
    let quiet = quick.next_within(Duration::from_millis(300)).await;
    assert_eq!(quiet, None, "a socket that answers stays open");
    // The reason is lost if the client answers an old ping on the closed connection first.
    assert!(matches!(asleep.close_code().await, 4000 | 1006));
}

#[tokio::test]
async fn a_stop_closes_the_sockets_and_sends_fail_afterwards() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    client.say("m1", "x").await;
    let conversation = site.heard().await;
    site.stopper.stop();
    assert_eq!(client.close_code().await, 1001);
    site.running.await.unwrap().unwrap();
    let sent = site
        .chat
        .send(outgoing(&site.chat, &conversation, 1, "x", &[]))
        .await;
    assert!(matches!(sent, Err(SendError::Unavailable(_))), "{sent:?}");
    assert_eq!(
        WebChatClient::open(site.address, &[]).await.err(),
        Some(503)
    );
}

#[tokio::test]
async fn a_visitor_lists_his_conversations() {
    let site = Site::new().await;
    site.gateway
        .set_transcript(vec![past(3, Some("m1"), "x", false)], Some("c-1".into()));
    let mut client = site.visitor().await;
    client.send(json!({ "type": "sessions" })).await;
    assert_eq!(
        client.next_of("sessions").await["sessions"],
        json!([{ "sessionId": "c-1", "title": "about c-1", "at": 1 }])
    );
}

/// A signed identity, made by hand: `{"sub":"…","exp":4000000000}` under the secret `0123456789abcdef0123456789abcdef`.
pub const ANN: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbm4iLCJleHAiOjQwMDAwMDAwMDB9.bPnc-RCrAR9daE6OZrsawrvVyD6iokweJYmVeZ6LGZE";
pub const BOB: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJib2IiLCJleHAiOjQwMDAwMDAwMDB9.-Ey9K9WhzujdCxnjxNU6z1omDis0GvJM3cHia959RwY";
pub const SECRET: &str = "0123456789abcdef0123456789abcdef";

#[tokio::test]
async fn a_signed_visitor_is_the_same_everywhere_and_nobody_else() {
    let settings = Settings {
        identity_secret: Some(weirgate_sdk::settings::Secret::new(SECRET)),
        ..Settings::default()
    };
    let site = Site::with(settings).await;
    let mut seen = Vec::new();
    for identity in [ANN, BOB, ANN] {
        let mut client = WebChatClient::connect(site.address).await;
        let welcome = client
            .hello(json!({ "identity": identity, "token": "x" }))
            .await;
        assert!(welcome.get("token").is_none(), "{welcome}");
        client.next_of("history").await;
        client.say(&format!("m{}", seen.len()), "hello").await;
        seen.push(site.heard().await.conversation);
    }
    assert_eq!(seen[0], seen[2]);
    assert_ne!(seen[0], seen[1]);
    let forged = format!("{}x", &ANN[..ANN.len() - 1]);
    for identity in [json!(forged), json!(""), json!({ "sub": "ann" })] {
        let mut client = WebChatClient::connect(site.address).await;
        client
            .send(json!({ "type": "hello", "identity": identity }))
            .await;
        assert_eq!(client.next_of("error").await["code"], "bad_identity");
        assert_eq!(client.close_code().await, 4003);
    }
    // Without a secret no identity is good, and nobody is taken for a stranger by mistake.
    let open = Site::new().await;
    let mut client = WebChatClient::connect(open.address).await;
    client
        .send(json!({ "type": "hello", "identity": ANN }))
        .await;
    assert_eq!(client.next_of("error").await["code"], "bad_identity");
}

#[tokio::test]
async fn a_site_may_let_in_only_who_is_signed_in() {
    let settings = Settings {
        identity_secret: Some(weirgate_sdk::settings::Secret::new(SECRET)),
        identity_required: true,
        ..Settings::default()
    };
    let site = Site::with(settings).await;
    let mut client = WebChatClient::connect(site.address).await;
    client.send(json!({ "type": "hello" })).await;
    assert_eq!(client.next_of("error").await["code"], "identity_required");
    assert_eq!(client.close_code().await, 4003);
}
