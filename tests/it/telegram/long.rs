//! An answer that is shown in a group while it is written and is longer than a message may be.

use serde_json::Value;
use weirgate_testkit::model::Script;

use super::{whole::gateway, *};
use crate::gateway::until;

/// Some 9,000 characters in paragraphs.
fn answer() -> String {
    let paragraph = |number: usize| {
        format!("第 {number} 段：堰门是水流中的一道墙，让水按照计量的速度通过。 Sentence {number} is here. ")
            .repeat(4)
    };
    let paragraphs: Vec<String> = (0..44)
        .map(|n| paragraph(n).trim_end().to_owned())
        .collect();
    paragraphs.join("\n\n")
}

fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

#[tokio::test]
async fn a_long_answer_that_grew_is_seen_once_and_begins_where_it_grew() {
    let answer = answer();
    let length = answer.chars().count();
    assert!((8_300..12_000).contains(&length), "{length}");
    let fake = FakeTelegram::start(TOKEN).await;
    let streaming = json!({ "output": {
        "segmented": { "add_ellipsis": false },
        "platform_adaptation": { "strategy_by_platform": { "telegram": "streaming" } } } });
    let (model, _gateway) = gateway(&fake, streaming).await;
    fake.say(GROUP, 7, "/ping", &Value::Null);
    let pong = fake
        .next_message(crate::gateway::LIMIT)
        .await
        .expect("pong")
        .id;
    let chars: Vec<char> = answer.chars().collect();
    let pieces: Vec<String> = chars
        .chunks(length.div_ceil(12))
        .map(|piece| piece.iter().collect())
        .collect();
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    model.push(Script::pieces(&pieces).between(Duration::from_millis(900)));
    let replied = json!({ "reply_to_message": {
        "message_id": pong, "from": { "id": weirgate_testkit::telegram::BOT, "is_bot": true } } });
    fake.say(GROUP, 7, "tell all of it", &replied);
    let preview = fake
        .next_message(crate::gateway::LIMIT)
        .await
        .expect("a preview");
    assert!(
        bare(&preview.text).len() < bare(&answer).len() / 2,
        "it grows: {preview:?}"
    );
    let shown = || {
        let parts = fake.messages().into_iter().skip(1);
        parts.map(|part| part.text).collect::<Vec<String>>()
    };
    let whole = || bare(&shown().concat()) == bare(&answer);
    assert!(until(whole).await, "{:?}", shown());
    // Whatever else is said comes behind it.
    fake.say(GROUP, 7, "/ping", &Value::Null);
    let all = || fake.messages().len() == 5;
    assert!(until(all).await, "{:?}", shown());
    let messages = fake.messages();
    assert_eq!(
        (messages[1].id, messages[4].text.as_str()),
        (preview.id, "pong")
    );
    assert!(messages[1].edits > 0, "{:?}", messages[1]);
    assert_eq!(bare(&shown()[..3].concat()), bare(&answer));
    assert_eq!(fake.calls("deleteMessage"), Vec::<Value>::new());
    assert_eq!(fake.violations(), Vec::<String>::new());
}
