//! Translating: the command and the tool.

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot,
};

use crate::gateway::{Chat as _, Gateway};

#[tokio::test]
async fn a_text_or_the_message_that_is_answered_is_translated_by_the_model() {
    let model = FakeModel::start_with(|text| Script::answer(&format!("<{text}>"))).await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let told = fake
        .ask(1, "/translate 英文 你叫什么名字？\n今晚八点见")
        .await;
    assert_eq!(told, "<你叫什么名字？\n今晚八点见>");
    let asked = model.requests().pop().unwrap();
    let spoken = asked.spoken();
    assert!(
        spoken[0].contains("into this language: 英文.") && spoken.len() == 2,
        "{spoken:?}"
    );
    assert!(asked.offered().is_empty(), "it has no tools");
    // The message that is answered.
    let first = fake.past(None, 1, "good morning", 60);
    let segments = [onebot::reply_to(first), onebot::text("/translate zh")];
    fake.send_segments(None, 1, &segments).await;
    let told = fake.answer().await.text();
    assert!(told.ends_with("good morning>"), "{told}");
    // What is missing or too long is told, and no model is asked.
    let count = model.count();
    for given in ["/translate", "/translate en"] {
        let told = fake.ask(1, given).await;
        assert!(told.contains("/translate zh Good morning"), "{told}");
    }
    let told = fake
        .ask(1, &format!("/translate en {}", "好".repeat(6_001)))
        .await;
    assert!(told.contains("at most 6000 characters"), "{told}");
    assert_eq!(model.count(), count);
    // No history is made of it.
    assert_eq!(fake.ask(1, "and?").await, "<and?>");
    let spoken = model.requests().pop().unwrap().spoken();
    assert!(
        !spoken.iter().any(|text| text.contains("今晚")),
        "{spoken:?}"
    );
}

#[tokio::test]
async fn who_has_no_tokens_left_or_may_not_is_not_translated_for() {
    let model = FakeModel::start().await;
    let limits = json!({ "limits": { "user": { "tokens_per_day": 20 } } });
    let gateway = Gateway::start(&model, limits).await;
    let fake = gateway.onebot().await;
    // Ten for the request and three for the answer, each time.
    assert_eq!(fake.ask(1, "/translate en 早").await, "re: 早");
    assert_eq!(fake.ask(1, "/translate en 晚").await, "re: 晚");
    let told = fake.ask(1, "/translate en 安").await;
    assert!(told.contains("used up"), "{told}");
    let told = fake.ask(1, "hello").await;
    assert!(
        told.contains("used up"),
        "turns have none left either: {told}"
    );
    assert_eq!(model.count(), 2);
    assert_eq!(fake.ask(2, "/translate en 早").await, "re: 早");
    let guests = json!({ "permissions": { "default_role": "guest" } });
    let gateway = Gateway::start(&model, guests).await;
    let told = gateway.onebot().await.ask(1, "/translate en 早").await;
    assert!(!told.contains("re:"), "{told}");
}

#[tokio::test]
async fn a_model_has_a_text_translated_and_it_counts_for_the_turn() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let call = ("translate", json!({ "text": "早上好", "to": "French" }));
    model.push(Script::calls(&[call]));
    model.push(Script::answer("bonjour"));
    assert_eq!(fake.ask(1, "go").await, "re: go");
    let requests = model.requests();
    assert_eq!(requests[1].spoken()[1], "user: 早上好");
    let results = requests[2].results();
    assert!(
        results[0].contains("translation; data") && results[0].contains("> bonjour"),
        "{results:?}"
    );
    // Three requests of ten tokens: the two of the turn and that of the tool.
    let log = fake.ask(1, "/log").await;
    assert!(log.contains("30 tokens in"), "{log}");
    // A provider that fails is told of.
    let call = ("translate", json!({ "text": "早上好", "to": "French" }));
    model.push(Script::calls(&[call]));
    model.push(Script::error(400, "no"));
    assert_eq!(fake.ask(1, "again").await, "re: again");
    let results = model.requests().pop().unwrap().results();
    assert!(
        results.last().unwrap().contains("No model answered"),
        "{results:?}"
    );
}
