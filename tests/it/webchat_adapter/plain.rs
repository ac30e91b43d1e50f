//! The web chat without a WebSocket: requests and a stream of events.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::TcpStream,
    time::timeout,
};
use weirgate_sdk::Segment;
use weirgate_webchat::Settings;

use super::{Site, WAIT, past};

/// Asks the site and gives status, head and body.
async fn ask_site(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> (u16, String, String) {
    let path = format!("/api/chat/site{path}");
    ask(address, (method, &path), headers, body).await
}

/// Asks and gives status, head and body.
pub(super) async fn ask(
    address: SocketAddr,
    (method, path): (&str, &str),
    headers: &str,
    body: &str,
) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_lowercase(), body.to_owned())
}

fn json_of(body: &str) -> Value {
    serde_json::from_str(body).unwrap()
}

async fn visitor(site: &Site) -> String {
    let (status, _, body) = ask_site(site.address, "POST", "/visitors", "", "").await;
    assert_eq!(status, 201);
    let token = json_of(&body)["token"].as_str().unwrap().to_owned();
    format!("Authorization: Bearer {token}\r\n")
}

/// The lines of an open stream of events.
async fn listen(site: &Site, headers: &str) -> Lines<BufReader<TcpStream>> {
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    let request = format!(
        "GET /api/chat/site/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    BufReader::new(stream).lines()
}

/// The id and the frame of the next event of a kind.
async fn event(lines: &mut Lines<BufReader<TcpStream>>, kind: &str) -> (String, Value) {
    let found = timeout(WAIT, async {
        let (mut found, mut id) = (false, String::new());
        loop {
            let line = lines
                .next_line()
                .await
                .unwrap()
                .expect("the stream goes on");
            if let Some(told) = line.strip_prefix("event: ") {
                found = told == kind;
            }
            if let Some(told) = line.strip_prefix("id: ") {
                told.clone_into(&mut id);
            }
            if let (true, Some(data)) = (found, line.strip_prefix("data: ")) {
                return (id, json_of(data));
            }
        }
    });
    found.await.expect("an event in time")
}

#[tokio::test]
async fn a_client_without_a_socket_speaks_and_listens() {
    let site = Site::new().await;
    let who = visitor(&site).await;
    let mut lines = listen(&site, &who).await;
    event(&mut lines, "history").await;
    let body = json!({ "messageId": "m1", "text": "hello" }).to_string();
    let (status, _, answer) = ask_site(site.address, "POST", "/messages", &who, &body).await;
    assert_eq!(
        (status, json_of(&answer)),
        (
            202,
            json!({ "id": 1, "messageId": "m1", "sessionId": "main" })
        )
    );
    let message = site.gateway.next_message(WAIT).await.unwrap();
    assert_eq!(message.segments, [Segment::Text("hello".into())]);
    event(&mut lines, "user").await;
    let again = ask_site(site.address, "POST", "/messages", &who, &body).await;
    assert_eq!(json_of(&again.2)["duplicate"], true);
    site.send(&message.conversation, 7, "yes", &["m1"]).await;
    let (id, text) = event(&mut lines, "text").await;
    assert_eq!(
        (&text["text"], &text["final"]),
        (&json!("yes"), &json!(true))
    );
    drop(lines);
    // Who comes again with the id of an event gets what came after it, and only that.
    let headers = format!("{who}Last-Event-ID: {id}\r\n");
    let mut lines = listen(&site, &headers).await;
    assert_eq!(event(&mut lines, "welcome").await.1["resumed"], true);
    assert_eq!(event(&mut lines, "end").await.1["messageId"], "m1");
    let stopped = ask_site(site.address, "POST", "/stop", &who, "{}").await;
    assert_eq!(stopped.0, 204);
    site.stopper.stop();
    let rest = timeout(WAIT, async {
        while lines.next_line().await.unwrap().is_some() {}
    });
    rest.await.expect("the stream ends with the site");
}

#[tokio::test]
async fn past_messages_and_conversations_are_asked_for() {
    let site = Site::new().await;
    let entries = vec![past(3, Some("m1"), "x", false), past(4, None, "y", false)];
    site.gateway.set_transcript(entries, Some("c-1".into()));
    let who = visitor(&site).await;
    let (status, head, body) = ask_site(site.address, "GET", "/messages?limit=1", &who, "").await;
    let page = json_of(&body);
    assert_eq!((status, &page["sessionId"]), (200, &json!("c-1")));
    assert_eq!(
        (&page["messages"][0]["id"], &page["more"]),
        (&json!(4), &json!(true))
    );
    assert!(
        head.contains("application/json") && head.contains("nosniff"),
        "{head}"
    );
    let (_, _, body) = ask_site(
        site.address,
        "GET",
        "/messages?before=4&sessionId=x",
        &who,
        "",
    )
    .await;
    assert_eq!(json_of(&body)["messages"][0]["id"], 3);
    let (_, _, body) = ask_site(site.address, "GET", "/sessions", &who, "").await;
    assert_eq!(json_of(&body)["sessions"][0]["sessionId"], "c-1");
}

#[tokio::test]
async fn conversations_are_begun_named_and_ended_over_http() {
    let site = Site::new().await;
    let who = visitor(&site).await;
    let (status, _, body) = ask_site(site.address, "POST", "/sessions", &who, "").await;
    let label = json_of(&body)["sessionId"].as_str().unwrap().to_owned();
    assert_eq!((status, label.len()), (201, 18));
    // This gateway manages nothing; what it does is tested with the real one.
    for (method, path) in [
        ("DELETE", format!("/sessions/{label}")),
        ("POST", format!("/sessions/{label}/clear")),
    ] {
        let (status, _, body) = ask_site(site.address, method, &path, &who, "").await;
        assert_eq!(
            (status, &json_of(&body)["code"]),
            (400, &json!("not_available"))
        );
        let (status, ..) = ask_site(site.address, method, &path, "", "").await;
        assert_eq!(status, 401);
    }
    let (status, _, body) = ask_site(site.address, "DELETE", "/sessions/a%20b", &who, "").await;
    assert_eq!(
        (status, &json_of(&body)["code"]),
        (400, &json!("bad_session_id"))
    );
    // Files alone are a message too, if they are there.
    let message = json!({ "messageId": "m1", "files": ["ab"] }).to_string();
    let (status, _, body) = ask_site(site.address, "POST", "/messages", &who, &message).await;
    assert_eq!(
        (status, &json_of(&body)["code"]),
        (404, &json!("unknown_file"))
    );
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_said() {
    let settings = Settings {
        visitor_limits: weirgate_webchat::Limits { minute: 1, day: 0 },
        origins: vec!["https://www.example.com".into()],
        ..Settings::default()
    };
    let site = Site::with(settings).await;
    let who = visitor(&site).await;
    let good = r#"{"messageId":"m1","text":"x"}"#;
    let forged = "Authorization: Bearer abc\r\n";
    let signed = "Authorization: Bearer a.b.c\r\n";
    let evil = format!("{who}Origin: https://evil.example\r\n");
    let own = format!("{who}Origin: https://www.example.com\r\n");
    for (method, path, headers, body, status, code) in [
        ("POST", "/messages", "", good, 401, "no_visitor"),
        ("POST", "/messages", forged, good, 401, "no_visitor"),
        ("POST", "/messages", signed, good, 401, "bad_identity"),
        ("POST", "/messages", &who, "", 400, "bad_frame"),
        ("POST", "/messages", &who, "[]", 400, "bad_frame"),
        (
            "POST",
            "/messages",
            &who,
            r#"{"messageId":"m1"}"#,
            400,
            "bad_frame",
        ),
        (
            "POST",
            "/messages",
            &who,
            r#"{"text":"x"}"#,
            400,
            "missing_message_id",
        ),
        (
            "POST",
            "/messages",
            &who,
            r#"{"messageId":"../x","text":"x"}"#,
            400,
            "bad_message_id",
        ),
        (
            "POST",
            "/messages",
            &who,
            r#"{"messageId":"m","text":" "}"#,
            400,
            "empty",
        ),
        ("GET", "/messages?limit=many", &who, "", 400, "bad_frame"),
        (
            "GET",
            "/events?sessionId=..%2Fx",
            &who,
            "",
            400,
            "bad_session_id",
        ),
        ("GET", "/events", "", "", 401, "no_visitor"),
        ("POST", "/messages", &evil, good, 403, ""),
        ("POST", "/messages", &own, good, 202, ""),
        (
            "POST",
            "/messages",
            &who,
            r#"{"messageId":"m2","text":"x"}"#,
            429,
            "too_fast",
        ),
    ] {
        let (found, head, told) = ask_site(site.address, method, path, headers, body).await;
        assert_eq!(found, status, "{method} {path} {body}: {told}");
        assert!(code.is_empty() || json_of(&told)["code"] == code, "{told}");
        let named = head.contains("access-control-allow-origin: https://www.example.com");
        assert_eq!(named, headers == own);
    }
}

#[tokio::test]
async fn what_is_too_long_is_refused_and_a_page_of_the_site_may_ask_before() {
    let settings = Settings {
        origins: vec!["https://www.example.com".into()],
        ..Settings::default()
    };
    let site = Site::with(settings).await;
    let who = visitor(&site).await;
    let own = format!("{who}Origin: https://www.example.com\r\n");
    let long = json!({ "messageId": "m3", "text": "x".repeat(8_001) }).to_string();
    assert_eq!(
        ask_site(site.address, "POST", "/messages", &who, &long)
            .await
            .0,
        413
    );
    let preflight = ask_site(site.address, "OPTIONS", "/messages", &own, "").await;
    assert_eq!(preflight.0, 204);
    assert!(
        preflight
            .1
            .contains("access-control-allow-headers: authorization"),
        "{}",
        preflight.1
    );
}
