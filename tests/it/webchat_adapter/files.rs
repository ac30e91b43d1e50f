//! Files of visitors, in the real gateway.

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use weirgate_testkit::model::FakeModel;

use super::*;
use crate::gateway::Gateway;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR and more";

async fn gateway(files: bool) -> (FakeModel, Gateway) {
    let model = FakeModel::start().await;
    let changes = json!({
        "platforms": { "webchat": { "accounts": { "default": { "files": files } } } },
        "providers": { "main": { "models": { "test": { "images": true } } } },
        "media": { "max_size": { "image": 1_000, "file": 2_000 } },
    });
    let gateway = Gateway::start(&model, changes).await;
    (model, gateway)
}

/// Sends a file as a page does; the status and the answer.
async fn upload(gateway: &Gateway, headers: &str, content: &[u8]) -> (u16, Value) {
    let address = gateway.http();
    let head = format!(
        "POST /api/chat/default/files HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
        content.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server may have said no by then.
    let _ = stream.write_all(content).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    assert!(
        head.to_lowercase()
            .contains("x-content-type-options: nosniff"),
        "{head}"
    );
    (
        status.unwrap_or(0),
        serde_json::from_str(body).unwrap_or_default(),
    )
}

fn bearer(client: &WebChatClient) -> String {
    format!("Authorization: Bearer {}\r\n", client.token)
}

async fn answered(client: &mut WebChatClient) -> String {
    loop {
        let frame = client.skip_to("text").await;
        if frame["final"] == true {
            return frame["text"].as_str().unwrap_or_default().to_owned();
        }
    }
}

#[tokio::test]
async fn a_file_is_sent_named_in_a_message_and_seen_by_the_model() {
    let (model, gateway) = gateway(true).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    let named = format!("{}X-File-Name: my%20cat.png\r\n", bearer(&client));
    let (status, told) = upload(&gateway, &named, PNG).await;
    assert_eq!(
        (status, &told["kind"], &told["name"]),
        (200, &json!("image"), &json!("my cat.png"))
    );
    client
        .send(json!({ "type": "text", "messageId": "m1", "content": "what is it", "files": [told["file"]] }))
        .await;
    assert_eq!(
        answered(&mut client).await,
        "re: [image: my cat.png]what is it"
    );
    let asked = model.requests().pop().unwrap().body.to_string();
    assert!(
        asked.contains("data:image/png;base64,iVBORw0KGgo"),
        "{asked}"
    );
    // A text without words beside it.
    let (_, told) = upload(&gateway, &bearer(&client), "你好".as_bytes()).await;
    client
        .send(json!({ "type": "text", "messageId": "m2", "files": [told["file"]] }))
        .await;
    assert!(answered(&mut client).await.contains("你好"));
    // Nobody else has it, in another conversation neither.
    let mut other = WebChatClient::connect(gateway.http()).await;
    other.enter(None).await;
    other
        .send(json!({ "type": "text", "messageId": "m3", "content": "x", "files": [told["file"]] }))
        .await;
    assert_eq!(other.skip_to("error").await["code"], "unknown_file");
    client
        .send(json!({ "type": "text", "messageId": "m4", "content": "x", "files": ["00"] }))
        .await;
    assert_eq!(client.skip_to("error").await["code"], "unknown_file");
    // It lies where no route leads.
    let name = told["file"].as_str().unwrap();
    for path in ["/media/", "/api/chat/default/files/", "/"] {
        assert_ne!(gateway.get(&format!("{path}{name}")).await.status, 200);
    }
}

#[tokio::test]
async fn a_file_is_refused_with_the_reason() {
    let (_model, gateway) = gateway(true).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    let own = bearer(&client);
    let foreign = format!("{own}Origin: https://evil.example\r\n");
    let label = format!("{own}X-Session: ../x\r\n");
    for (headers, content, status, code) in [
        ("", PNG, 401, "unknown_visitor"),
        (
            "Authorization: Bearer made-up\r\n",
            PNG,
            401,
            "unknown_visitor",
        ),
        (&*foreign, PNG, 403, "forbidden"),
        (&*label, PNG, 400, "bad_session_id"),
        (&*own, &b""[..], 400, "file_broken"),
        (&*own, &[b'x'; 2_001][..], 413, "file_too_large"),
        (
            &*own,
            &[PNG, &[0; 1_000]].concat()[..],
            413,
            "file_too_large",
        ),
    ] {
        let (got, told) = upload(&gateway, headers, content).await;
        assert_eq!((got, &told["error"]), (status, &json!(code)), "{headers}");
    }
    for (name, kind, content, code) in [
        ("a.exe", "", PNG, "refused_file"),
        ("a.png", "", &b"no picture"[..], "bad_file"),
        ("a.txt", "", PNG, "bad_file"),
        (
            "a",
            "Content-Type: image/png\r\n",
            b"no picture",
            "bad_file",
        ),
    ] {
        let headers = format!("{own}X-File-Name: {name}\r\n{kind}");
        let (got, told) = upload(&gateway, &headers, content).await;
        assert_eq!((got, &told["error"]), (415, &json!(code)), "{headers}");
    }
    // So many in a while.
    let mut last = 0;
    for _ in 0..25 {
        last = upload(&gateway, &own, b"text").await.0;
    }
    assert_eq!(last, 429);
}

#[tokio::test]
async fn a_site_takes_no_files_unless_it_says_so() {
    let (_model, gateway) = gateway(false).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    let (status, told) = upload(&gateway, &bearer(&client), PNG).await;
    assert_eq!((status, &told["error"]), (403, &json!("files_off")));
}

/// A binary frame of a head and its blobs.
fn binary(head: &Value, blobs: &[&[u8]]) -> Vec<u8> {
    let head = head.to_string();
    let length = u32::try_from(head.len()).unwrap();
    [&length.to_be_bytes()[..], head.as_bytes(), &blobs.concat()].concat()
}

/// Files in the media folder.
fn kept(gateway: &Gateway) -> usize {
    let folder =
        std::fs::read_dir(gateway.database().with_file_name("media")).expect("the folder of media");
    folder.count()
}

#[tokio::test]
async fn files_come_along_with_a_message_in_one_frame() {
    let (model, gateway) = gateway(true).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    let chat = |message: &str, content: Value, sizes: Value| json!({ "type": "chat", "messageId": message, "content": content, "binary_sizes": sizes });
    let content = json!([
        { "type": "text", "text": "look" },
        { "type": "image_url", "image_url": { "url": "__BINARY__" } },
        { "type": "file", "file": { "filename": "list.csv", "mimeType": "text/csv", "content": "tea;3" } },
    ]);
    let head = chat("m1", content, json!([PNG.len()]));
    client.send_binary(binary(&head, &[PNG])).await;
    let said = answered(&mut client).await;
    client.skip_to("end").await;
    assert!(said.contains("look"), "{said}");
    let asked = model.requests().pop().unwrap().body.to_string();
    assert!(
        asked.contains("data:image/png;base64,iVBORw0KGgo"),
        "{asked}"
    );
    // The text stands between two lines that say what it is.
    assert!(
        asked.contains("tea;3") && asked.contains("[end of the file list.csv]"),
        "{asked}"
    );

    for (content, blob, code) in [
        (
            json!([{ "type": "image_url", "url": "__BINARY__" }]),
            &b"no picture"[..],
            "bad_file",
        ),
        (
            json!([{ "type": "file", "file": { "filename": "a.exe", "content": "__BINARY__" } }]),
            PNG,
            "refused_file",
        ),
        (
            json!([{ "type": "file", "file": { "filename": "a.txt", "content": "__BINARY__" } }]),
            PNG,
            "bad_file",
        ),
        (json!(["__BINARY__"]), &[b'x'; 2_001][..], "file_too_large"),
    ] {
        let bad = chat("m2", content, json!([blob.len()]));
        client.send_binary(binary(&bad, &[blob])).await;
        let error = client.skip_to("error").await;
        assert_eq!(
            (&error["code"], &error["messageId"]),
            (&json!(code), &json!("m2")),
            "{error}"
        );
    }
    // Sent again, it is known, and its files are neither kept nor counted once more.
    let before = kept(&gateway);
    for _ in 0..30 {
        client.send_binary(binary(&head, &[PNG])).await;
        let ack = client.next_of("ack").await;
        assert_eq!(
            (&ack["messageId"], &ack["duplicate"]),
            (&json!("m1"), &json!(true))
        );
        assert_eq!(client.next_of("end").await["messageId"], "m1");
    }
    assert_eq!(kept(&gateway), before);
    // Nothing of it was taken: the id is as good as new.
    client.send(chat("m2", json!("and words"), json!([]))).await;
    assert_eq!(answered(&mut client).await, "re: and words");
}

#[tokio::test]
async fn the_windows_see_the_files_and_the_site_says_how_large_they_may_be() {
    let (_model, gateway) = gateway(true).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    let (_, told) = upload(&gateway, &bearer(&client), PNG).await;
    client
        .send(json!({ "type": "text", "messageId": "m1", "files": [told["file"]] }))
        .await;
    let files = json!([{ "kind": "image", "name": null, "size": PNG.len() }]);
    let shown = client.skip_to("user").await;
    assert_eq!((&shown["html"], &shown["files"]), (&json!(""), &files));
    client.skip_to("end").await;
    let mut later = WebChatClient::connect(gateway.http()).await;
    let history = later.enter(Some(&client.token)).await;
    let first = &history["messages"][0];
    assert_eq!((&first["html"], &first["files"]), (&json!(""), &files));
    let about: Value = serde_json::from_str(&gateway.get("/api/chat/default").await.body).unwrap();
    assert_eq!(
        about["maxFile"],
        json!({ "image": 1_000, "audio": 2_000, "video": 2_000, "file": 2_000 })
    );
}
