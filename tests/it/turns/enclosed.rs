//! Files that people send, in requests to models that take them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::gateway::{Chat as _, Gateway, execute, merge};

const KINDS: [&str; 3] = ["openai", "anthropic", "openai-responses"];
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR and more";
const PDF: &[u8] = b"%PDF-1.4 and more";
const MP3: &[u8] = b"ID3\x04\0\0\0\0\0\0 and more";
const WAV: &[u8] = b"RIFF\x24\0\0\0WAVEfmt and more";

/// A gateway whose model is spoken to in a format and takes these files.
async fn gateway(kind: &str, takes: Value, changes: Value) -> (FakeModel, Gateway) {
    let model = FakeModel::start().await;
    let mut all = json!({ "providers": { "main": { "kind": kind, "models": { "test": takes } } } });
    merge(&mut all, changes);
    let gateway = Gateway::start(&model, all).await;
    (model, gateway)
}

/// Says something with files, each a kind of segment, a name and what is in it; the answer.
async fn send(fake: &FakeOneBot, text: &str, files: &[(&str, &str, &[u8])]) -> String {
    let mut segments = vec![json!({ "type": "text", "data": { "text": text } })];
    for (kind, name, content) in files {
        fake.file(
            name,
            json!({ "file": name, "base64": STANDARD.encode(content) }),
        );
        segments.push(json!({ "type": kind, "data": { "file": name, "file_id": name } }));
    }
    fake.send_segments(None, 1, &segments).await;
    fake.answer().await.text()
}

/// What the newest request carries.
fn carried(model: &FakeModel) -> Vec<(String, Vec<u8>)> {
    model.requests().pop().expect("a request").files()
}

fn png(more: &str) -> Vec<u8> {
    [PNG, more.as_bytes()].concat()
}

#[tokio::test]
async fn a_picture_reaches_the_model_in_every_format_now_and_in_the_next_turn() {
    for kind in KINDS {
        let (model, gateway) = gateway(kind, json!({ "images": true }), json!({})).await;
        let fake = gateway.onebot().await;
        let told = send(&fake, "what is this? ", &[("image", "cat.png", PNG)]).await;
        assert_eq!(told, "re: what is this? [image: cat.png]", "{kind}");
        let expected = [("image/png".to_owned(), PNG.to_vec())];
        assert_eq!(carried(&model), expected, "{kind}");
        assert_eq!(fake.ask(1, "and its colour?").await, "re: and its colour?");
        assert_eq!(carried(&model), expected, "{kind}");
    }
}

#[tokio::test]
async fn a_model_that_takes_nothing_is_told_what_was_sent() {
    let (model, gateway) = gateway("openai", json!({}), json!({})).await;
    let fake = gateway.onebot().await;
    let files = [("image", "cat.png", PNG), ("file", "paper.pdf", PDF)];
    let told = send(&fake, "look ", &files).await;
    assert!(
        told.contains("[image: cat.png]") && told.contains("[file"),
        "{told}"
    );
    assert!(carried(&model).is_empty());
}

#[tokio::test]
async fn the_newest_go_along_within_number_and_bytes_and_what_expired_does_not() {
    let (one, two, three) = (png("one"), png("two"), png("three"));
    let limits = json!({ "media": { "images_per_request": 2, "bytes_per_request": 100 } });
    let (model, gateway) = gateway("openai", json!({ "images": true }), limits).await;
    let fake = gateway.onebot().await;
    send(&fake, "first ", &[("image", "one", &one)]).await;
    let files: [(&str, &str, &[u8]); 2] = [("image", "two", &two), ("image", "three", &three)];
    send(&fake, "then ", &files).await;
    let bytes = |model: &FakeModel| -> Vec<Vec<u8>> {
        let files = carried(model).into_iter();
        files.map(|(_, bytes)| bytes).collect()
    };
    assert_eq!(bytes(&model), [two.clone(), three.clone()]);
    let said = model.requests().pop().unwrap().body.to_string();
    // The answer to the first one says it once more.
    assert_eq!(said.matches("[image: ").count(), 4, "all are described");
    // The next one fills the bytes of a request by itself.
    let large = png(&"x".repeat(70));
    send(&fake, "large ", &[("image", "large", &large)]).await;
    assert_eq!(bytes(&model), [large]);
    execute(&gateway.database(), "UPDATE media SET expires_at = 1");
    assert_eq!(fake.ask(1, "still there?").await, "re: still there?");
    assert!(bytes(&model).is_empty());
    let said = model.requests().pop().unwrap().body.to_string();
    assert_eq!(
        said.matches("[image: ").count(),
        8,
        "what is gone is described"
    );
}

#[tokio::test]
async fn recordings_and_documents_go_where_they_are_taken() {
    let takes = json!({ "images": true, "audio": true, "files": true });
    let (model, gateway) = gateway("openai", takes, json!({})).await;
    let fake = gateway.onebot().await;
    send(&fake, "listen ", &[("record", "a.mp3", MP3)]).await;
    assert_eq!(carried(&model), [("mp3".to_owned(), MP3.to_vec())]);
    let files = [("record", "b.wav", WAV), ("file", "c.pdf", PDF)];
    send(&fake, "and ", &files).await;
    let expected = [
        ("wav".to_owned(), WAV.to_vec()),
        ("application/pdf".to_owned(), PDF.to_vec()),
    ];
    assert_eq!(carried(&model), expected, "the newest two");
    for kind in ["anthropic", "openai-responses"] {
        let (model, gateway) = self::gateway(kind, json!({ "files": true }), json!({})).await;
        let fake = gateway.onebot().await;
        let files = [("record", "a.mp3", MP3), ("file", "c.pdf", PDF)];
        let told = send(&fake, "read ", &files).await;
        assert!(told.contains("[audio"), "{kind} {told}");
        let expected = [("application/pdf".to_owned(), PDF.to_vec())];
        assert_eq!(carried(&model), expected, "{kind}");
    }
}

#[tokio::test]
async fn a_model_to_fall_back_on_that_sees_nothing_gets_the_words() {
    let other = FakeModel::start().await;
    let changes = json!({
        "providers": { "other": { "kind": "openai-responses", "base_url": other.url() } },
        "models": { "chat": ["main/test", "other/blind"] },
        "error_recovery": { "max_retries": { "api": 0 } },
    });
    let (model, gateway) = gateway("openai", json!({ "images": true }), changes).await;
    let fake = gateway.onebot().await;
    model.push(Script::error(500, "the image service is down"));
    let told = send(&fake, "look ", &[("image", "cat.png", PNG)]).await;
    assert_eq!(told, "re: look [image: cat.png]");
    assert_eq!(carried(&model).len(), 1);
    assert!(carried(&other).is_empty());
    assert_eq!((model.count(), other.count()), (1, 1));
}

#[tokio::test]
async fn a_model_that_refuses_a_file_is_asked_once_more_without() {
    let images = json!({ "images": true });
    let (model, gateway) = gateway("openai", images, json!({})).await;
    let fake = gateway.onebot().await;
    model.push(Script::error(
        400,
        "unknown variant `image_url`, expected `text`",
    ));
    let told = send(&fake, "look ", &[("image", "cat.png", PNG)]).await;
    assert_eq!(told, "re: look [image: cat.png]");
    assert_eq!(model.requests()[0].files().len(), 1);
    assert!(carried(&model).is_empty());
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("media_refused"), "{why}");
    // Once, and only when the refusal speaks of it.
    model.push(Script::error(400, "this image is broken"));
    model.push(Script::error(400, "the image is still broken"));
    let told = fake.ask(1, "again").await;
    assert!(told.contains("reference"), "{told}");
    model.push(Script::error(400, "unknown parameter"));
    let told = fake.ask(1, "and again").await;
    assert!(told.contains("reference"), "{told}");
    assert_eq!(model.count(), 5);
}
