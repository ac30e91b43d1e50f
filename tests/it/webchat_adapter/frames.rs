//! The rest of the protocol's frames, over real sockets with a recording gateway behind them.

use serde_json::Value;

use super::*;

/// A binary frame of a head and its blobs.
fn binary(head: &Value, blobs: &[&[u8]]) -> Vec<u8> {
    let head = head.to_string();
    let length = u32::try_from(head.len()).unwrap();
    let mut frame = length.to_be_bytes().to_vec();
    frame.extend_from_slice(head.as_bytes());
    frame.extend(blobs.concat());
    frame
}

#[tokio::test]
async fn what_is_wrong_in_a_binary_frame_is_said_and_the_socket_stays() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    let place = json!({ "type": "image_url", "url": "__BINARY__" });
    let chat = |content: Value, sizes: Value| json!({ "type": "chat", "messageId": "m1", "content": content, "binary_sizes": sizes });
    let cut = binary(&chat(json!(["x"]), json!([])), &[])[..20].to_vec();
    for (frame, code) in [
        (vec![1, 2, 3], "bad_length"),
        (cut, "bad_length"),
        (vec![0, 0, 0, 2, b'[', b']'], "bad_frame"),
        (
            binary(&chat(json!([place]), json!([3])), &[b"ab"]),
            "bad_size",
        ),
        (
            binary(&chat(json!([place]), json!([1, 1])), &[b"ab"]),
            "bad_count",
        ),
        (
            binary(&chat(json!([{ "type": "hologram" }]), json!([])), &[]),
            "unknown_part",
        ),
        (binary(&json!({ "type": "dance" }), &[]), "unknown_type"),
        // The site takes no files.
        (
            binary(&chat(json!([place]), json!([2])), &[b"ab"]),
            "files_off",
        ),
    ] {
        client.send_binary(frame).await;
        let error = client.next_of("error").await;
        assert_eq!(error["code"], code, "{error}");
        assert!(!error["text"].as_str().unwrap().is_empty());
    }
    assert!(client.is_quiet().await, "it is still open");
    client
        .send_binary(binary(
            &chat(json!([{ "type": "text", "text": "hello" }]), json!([])),
            &[],
        ))
        .await;
    assert_eq!(client.next_of("ack").await["messageId"], "m1");
    assert_eq!(
        site.gateway.next_message(WAIT).await.unwrap().own_text(),
        "hello"
    );
}

#[tokio::test]
async fn several_messages_in_a_frame_end_together_also_when_one_is_refused() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    let lines = [
        json!({ "type": "chat", "messageId": "m1", "content": "one" }),
        json!({ "type": "chat", "messageId": "m2", "content": [{ "type": "image_url", "url": "data:image/png;base64,YQ==" }] }),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    client.send_text(&lines.join("\n")).await;
    let conversation = site.heard().await;
    client.skip_to("error").await;
    site.send(&conversation, 1, "yes", &["m1"]).await;
    let end = client.skip_to("end").await;
    assert_eq!(
        (&end["messageId"], &end["batch"]),
        (&json!("m1"), &json!(true)),
        "{end}"
    );
}

#[tokio::test]
async fn a_frame_is_as_large_as_the_site_says() {
    let site = Site::with(Settings {
        max_frame: 300 * 1024,
        ..Settings::default()
    })
    .await;
    let mut client = site.visitor().await;
    client.send_text(&" ".repeat(299 * 1024)).await;
    assert!(
        client.is_quiet().await,
        "a frame without lines does nothing"
    );
    client.send_text(&" ".repeat(301 * 1024)).await;
    assert!(matches!(client.close_code().await, 1009 | 1006));
}

#[tokio::test]
async fn without_a_gateway_that_manages_there_is_nothing_to_manage() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    client
        .send(json!({ "type": "setting", "content": { "act": "getConfig" } }))
        .await;
    let told = client.next_of("setting").await;
    assert_eq!(
        (&told["status"], &told["data"]["code"]),
        (&json!("error"), &json!("not_available"))
    );
    client
        .send(json!({ "type": "session", "content": { "act": "delete" } }))
        .await;
    assert_eq!(client.next_of("error").await["code"], "not_available");
    client
        .send(json!({ "type": "session", "content": { "act": "new" } }))
        .await;
    let label = client.next_of("session").await["sessionId"]
        .as_str()
        .unwrap()
        .to_owned();
    client
        .send(json!({ "type": "session", "content": { "act": "new" } }))
        .await;
    assert_ne!(client.next_of("session").await["sessionId"], json!(label));
    client.hello(json!({ "sessionId": label })).await;
    assert_eq!(client.next_of("history").await["sessionId"], json!(label));
}

#[tokio::test]
async fn the_conversation_and_what_waits_in_it_can_be_asked_for() {
    let site = Site::new().await;
    let entries = vec![
        past(3, Some("m0"), "x", false),
        past(4, Some("m1"), "y", true),
        past(5, Some("m2"), "z", true),
    ];
    site.gateway.set_transcript(entries, None);
    let mut client = site.visitor().await;
    client.send(json!({ "type": "context" })).await;
    let told = client.next_of("context").await;
    assert_eq!(
        told["waiting"],
        json!([
            { "messageId": "m1", "id": 4, "at": 1 }, { "messageId": "m2", "id": 5, "at": 1 },
        ])
    );
    client.send(json!({ "type": "sync" })).await;
    let told = client.next_of("sync").await;
    assert_eq!(told["messages"].as_array().unwrap().len(), 3);
    assert_eq!(
        (&told["epoch"], told["seq"].is_u64()),
        (&json!(client.epoch), true)
    );
    // An end that the store does not know of yet counts.
    client.say("m1", "y").await;
    let conversation = site.heard().await;
    site.send(&conversation, 9, "done", &["m1"]).await;
    client.skip_to("end").await;
    client.send(json!({ "type": "context" })).await;
    assert_eq!(
        client.next_of("context").await["waiting"][0]["messageId"],
        "m2"
    );
}

#[tokio::test]
async fn who_asks_for_it_is_told_what_the_conversation_remembers() {
    let site = Site::new().await;
    let mut plain = site.visitor().await;
    let mut client = WebChatClient::connect(site.address).await;
    client
        .hello(json!({ "token": plain.token, "sessionId": "main", "history": true }))
        .await;
    client.next_of("history").await;
    plain.say("m1", "hello").await;
    let conversation = site.heard().await;
    let told = client.skip_to("history/add").await["message"].clone();
    assert_eq!(
        told,
        json!({ "role": "user", "messageId": "m1", "id": 1, "html": "<p>hello</p>" })
    );
    site.send(&conversation, 7, "yes", &["m1"]).await;
    let told = client.skip_to("history/add").await["message"].clone();
    assert_eq!(
        (&told["role"], &told["id"], &told["html"]),
        (&json!("assistant"), &json!(7), &json!("<p>yes</p>"))
    );
    loop {
        let frame = plain.next().await;
        assert_ne!(frame["type"], "history/add", "nobody asked for it");
        if frame["type"] == "end" {
            break;
        }
    }
}

#[tokio::test]
async fn a_socket_that_sends_faster_than_it_is_read_loses_nothing() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    let begin = tokio::time::Instant::now();
    for _ in 0..6 {
        client
            .send_text(&vec![r#"{"type":"ping"}"#; 64].join("\n"))
            .await;
    }
    let mut pongs = 0;
    while pongs < 384 {
        pongs += usize::from(client.skip_to("pong").await["type"] == "pong");
    }
    // 256 at once; the last frame of 64 lines waits until they are paid for.
    assert!(
        begin.elapsed() >= Duration::from_millis(1_000),
        "{:?}",
        begin.elapsed()
    );
}
