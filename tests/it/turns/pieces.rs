//! How answers are cut into pieces, where a platform shows them while they are written and where it does not.

use std::time::Duration;

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    webchat::WebChatClient,
};

use super::streams::{drafts, finals, until_end};
use crate::gateway::{Chat as _, Gateway};

#[tokio::test]
async fn a_piece_is_as_large_and_comes_as_late_as_it_shall() {
    let words: Vec<String> = (10..40).map(|number| format!("{number} ")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for (size, interval, least, most) in [(1, 0, 5, 40), (1_000, 0, 0, 1), (1, 30, 1, 2)] {
        let model = FakeModel::start().await;
        let streaming = json!({ "chunk_size": size, "chunk_interval": interval });
        let changes = json!({ "output": { "streaming": streaming } });
        let gateway = Gateway::start(&model, changes).await;
        let mut client = WebChatClient::connect(gateway.http()).await;
        client.enter(None).await;
        model.push(Script::pieces(&words).between(Duration::from_millis(40)));
        client.say("m1", "count").await;
        let frames = until_end(&mut client).await;
        let shown = drafts(&frames).len();
        assert!(
            (least..=most).contains(&shown),
            "{size}, {interval}: {shown} pieces"
        );
        assert_eq!(finals(&frames), [words.concat().trim_end()]);
    }
}

/// The messages that an answer becomes.
async fn messages(segmented: Value, answer: &str, count: usize) -> Vec<String> {
    let model = FakeModel::start().await;
    let mut changes = json!({ "output": { "segmented": {
        "min_segment_length": 1, "add_ellipsis": false, "random_interval": "0,0",
    } } });
    crate::gateway::merge(&mut changes["output"]["segmented"], segmented);
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    model.push(Script::answer(answer));
    fake.send_private(1, "go").await;
    let texts = fake.answers(count).await;
    assert_eq!(fake.ask(1, "/ping").await, "pong", "nothing follows");
    texts
}

#[tokio::test]
async fn an_answer_is_cut_from_the_threshold_on_in_the_way_that_is_named() {
    let sentences = "One is here. Two is here. Three is here.";
    let all = ["One is here.", "Two is here.", "Three is here."];
    let sentence = |threshold: usize| json!({ "mode": "sentence", "threshold": threshold });
    assert_eq!(messages(sentence(500), sentences, 1).await, [sentences]);
    assert_eq!(messages(sentence(15), sentences, 3).await, all);
    // Words are counted, not characters.
    let words = |threshold: usize| json!({ "mode": "word_count", "threshold": threshold });
    assert_eq!(messages(words(15), sentences, 1).await, [sentences]);
    assert_eq!(
        messages(words(4), "one two three four five six seven eight nine", 3).await,
        ["one two three four", "five six seven eight", "nine"]
    );
    let regex =
        |expression: &str| json!({ "mode": "regex", "threshold": 14, "split_regex": expression });
    let bars = "first part|second part|third; part";
    assert_eq!(
        messages(regex(r"\|"), bars, 3).await,
        ["first part|", "second part|", "third; part"]
    );
    let semicolons = "first| part;second part;third| part";
    assert_eq!(
        messages(regex(";"), semicolons, 3).await,
        ["first| part;", "second part;", "third| part"]
    );
}
