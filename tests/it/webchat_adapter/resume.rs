//! What a window sees that was away, came again, or is not alone.

use serde_json::{Value, json};
use weirgate_testkit::webchat::WebChatClient;

use super::{Site, paragraphs, past};

/// Builds the page's view of one turn from draft frames.
fn apply(view: &mut Vec<String>, frame: &Value) {
    if frame["replace"] == true {
        view.clear();
    }
    view.truncate(usize::try_from(frame["block"].as_u64().unwrap()).unwrap());
    view.push(frame["html"].as_str().unwrap().to_owned());
}

#[tokio::test]
async fn a_message_that_is_sent_again_after_a_reconnect_is_one_message() {
    let site = Site::new().await;
    site.gateway.hold();
    let mut client = site.visitor().await;
    client.say("m1", "a").await;
    let mut again = WebChatClient::connect(site.address).await;
    assert_eq!(again.resume(&client).await["resumed"], true);
    drop(client);
    again.say("m1", "a").await;
    assert!(
        again.is_quiet().await,
        "no acknowledgement while the receipt is open"
    );
    while site.gateway.batches() < 2 {
        tokio::task::yield_now().await;
    }
    site.gateway.release();
    let (mut acks, mut shown) = (vec![], 0);
    while acks.is_empty() || shown == 0 {
        let frame = again.next().await;
        match frame["type"].as_str() {
            Some("ack") => acks.push(frame["duplicate"].clone()),
            Some("user") => shown += 1,
            _ => panic!("{frame}"),
        }
    }
    assert_eq!((acks, shown), (vec![json!(true)], 1));
    assert_eq!(site.gateway.accepted().len(), 1);
    assert!(again.is_quiet().await);
}

#[tokio::test]
async fn a_dropped_socket_resumes_in_the_middle_of_an_answer() {
    let site = Site::new().await;
    let mut client = site.visitor().await;
    client.say("m1", "go").await;
    let conversation = site.heard().await;
    client.skip_to("user").await;
    let mut preview = site.preview(&conversation, 1, 1).await;
    let (mut view, mut growing) = (vec![], vec!["one".to_owned()]);
    for step in 0..10 {
        if step == 5 {
            let mut again = WebChatClient::connect(site.address).await;
            growing.push("two".to_owned());
            let texts: Vec<&str> = growing.iter().map(String::as_str).collect();
            preview.push(&paragraphs(&texts)).await.unwrap();
            assert_eq!(again.resume(&client).await["resumed"], true);
            client = again;
        } else {
            growing.last_mut().unwrap().push('!');
            let texts: Vec<&str> = growing.iter().map(String::as_str).collect();
            preview.push(&paragraphs(&texts)).await.unwrap();
        }
        let frame = client.next_of("text").await;
        assert_eq!(
            (frame["replace"] == true, &frame["messageId"]),
            (step == 0, &json!("m1"))
        );
        apply(&mut view, &frame);
    }
    assert_eq!(view, ["<p>one!!!!!</p>", "<p>two!!!!</p>"]);
    preview.finish().await;
    let mut late = WebChatClient::connect(site.address).await;
    site.send(&conversation, 1, "final", &["m1"]).await;
    assert_eq!(late.resume(&client).await["resumed"], true);
    assert_eq!(late.next_of("text").await["final"], true);
    late.next_of("end").await;
    assert!(late.is_quiet().await);
}

#[tokio::test]
async fn after_a_restart_a_snapshot_and_the_new_attempt_replace_the_view() {
    let before = Site::new().await;
    let mut client = before.visitor().await;
    client.say("m1", "go").await;
    let conversation = before.heard().await;
    let mut preview = before.preview(&conversation, 1, 1).await;
    preview.push(&paragraphs(&["Good mor"])).await.unwrap();
    client.skip_to("text").await;
    drop(preview);

    let after = Site::new().await;
    after
        .gateway
        .set_transcript(vec![past(4, Some("m1"), "go", true)], Some("main".into()));
    let mut preview = after.preview(&conversation, 1, 2).await;
    preview
        .push(&paragraphs(&["Good", "morning"]))
        .await
        .unwrap();
    let mut again = WebChatClient::connect(after.address).await;
    let welcome = again.resume(&client).await;
    assert_eq!(
        (&welcome["resumed"], welcome.get("token")),
        (&json!(false), None)
    );
    let history = again.next_of("history").await;
    assert_eq!(history["replace"], true);
    assert_eq!(history["messages"][0]["pending"], true);
    let first = again.next_of("text").await;
    assert_eq!(
        (&first["attempt"], &first["replace"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(again.next_of("text").await["block"], 1);
    after.send(&conversation, 1, "Good morning!", &["m1"]).await;
    after.send(&conversation, 1, "Good morning!", &["m1"]).await;
    assert_eq!(again.next_of("text").await["final"], true);
    again.next_of("end").await;
    assert!(again.is_quiet().await, "the same part once");
    let mut reload = WebChatClient::connect(after.address).await;
    let history = reload.enter(Some(&client.token)).await;
    assert_eq!(
        history["messages"][0]["pending"], false,
        "not busy for ever"
    );
}

#[tokio::test]
async fn both_windows_of_a_visitor_see_everything_and_a_slow_one_is_cut_off() {
    let site = Site::new().await;
    let mut one = site.visitor().await;
    let mut two = WebChatClient::connect(site.address).await;
    two.enter(Some(&one.token)).await;
    let mut stranger = site.visitor().await;
    one.say("m1", "typed in one").await;
    let conversation = site.heard().await;
    assert_eq!(two.next_of("user").await["html"], "<p>typed in one</p>");
    one.skip_to("user").await;
    site.send(&conversation, 1, "for both", &["m1"]).await;
    for window in [&mut one, &mut two] {
        assert_eq!(window.next_of("text").await["html"], "<p>for both</p>");
        window.next_of("end").await;
    }
    assert!(stranger.is_quiet().await);
    // Window two does not read any more.
    let long = "x".repeat(15_000);
    for id in 2..1_000 {
        site.send(&conversation, id, &long, &[]).await;
        assert_eq!(one.next_of("text").await["id"], id);
    }
    let mut seen = 0;
    while two.next().await["type"] == "text" {
        seen += 1;
    }
    assert!(seen < 998, "it was cut off");
}

#[tokio::test]
async fn earlier_messages_come_page_by_page() {
    let site = Site::new().await;
    let token = site.visitor().await.token;
    site.gateway.set_transcript(
        (1..=70)
            .map(|id| past(id, None, &format!("n{id}"), false))
            .collect(),
        Some("main".into()),
    );
    let mut client = WebChatClient::connect(site.address).await;
    let newest = client.enter(Some(&token)).await;
    assert_eq!(
        (&newest["messages"][0]["id"], &newest["more"]),
        (&json!(21), &json!(true))
    );
    client
        .send(json!({ "type": "history", "before": 21, "limit": 50 }))
        .await;
    let page = client.next_of("history").await;
    assert_eq!(page["messages"].as_array().unwrap().len(), 20);
    assert_eq!(
        (&page["before"], &page["more"]),
        (&json!(21), &json!(false))
    );
    assert!(page.get("replace").is_none());
}

#[tokio::test]
async fn many_pages_asked_for_at_once_all_come() {
    let site = Site::new().await;
    let token = site.visitor().await.token;
    let long = "x".repeat(10_000);
    let entries = (1..=50).map(|id| past(id, None, &long, false)).collect();
    site.gateway.set_transcript(entries, Some("main".into()));
    let mut client = WebChatClient::connect(site.address).await;
    client.enter(Some(&token)).await;
    let ask = json!({ "type": "history" }).to_string();
    for _ in 0..4 {
        client.send_text(&[ask.as_str(); 4].join("\n")).await;
    }
    for page in 0..16 {
        let history = client.next_of("history").await;
        assert_eq!(history["messages"].as_array().unwrap().len(), 50, "{page}");
        if page % 4 == 3 {
            assert_eq!(client.next_of("end").await["batch"], true);
        }
    }
}
