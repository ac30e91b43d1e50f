//! Which messages share a queue: the keyings that no other test sets, and how many turns they let one person have.

use std::time::Duration;

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::gateway::{Chat as _, Gateway, until};

/// A gateway with a model that takes its time, and one message a turn.
async fn slow(queues: Value, together: usize) -> (FakeModel, Gateway, FakeOneBot) {
    let model = FakeModel::start_with(|text| {
        Script::answer(&format!("re: {text}")).before_headers(Duration::from_millis(300))
    })
    .await;
    let changes = json!({
        "input_buffer": queues,
        "flow_control": {
            "auto": { "messages_per_request": 1 }, "max_turns_per_user": together,
        },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    (model, gateway, fake)
}

#[tokio::test]
async fn without_any_key_an_account_has_one_queue() {
    let queues = json!({ "per_user_queue": false, "per_conversation_queue": false });
    let (model, _gateway, fake) = slow(queues, 2).await;
    let mut said = Vec::new();
    for number in 0..9_u64 {
        let (group, user) = (50 + number % 2, 1 + number % 3);
        fake.send_group(group, user, &format!("n{number}"), true)
            .await;
        said.push(format!("user {user}: n{number}"));
    }
    fake.answers(9).await;
    let requests = model.requests();
    let asked: Vec<&str> = requests
        .iter()
        .map(|request| request.last_user_text())
        .collect();
    assert_eq!(asked, said, "in the order in which it was said");
    assert_eq!(model.max_concurrency(), 1);
}

#[tokio::test]
async fn a_person_with_one_queue_for_everywhere_has_one_turn_at_a_time() {
    for (everywhere, most) in [(true, 1), (false, 2)] {
        let queues = json!({ "per_conversation_queue": !everywhere });
        let (model, _gateway, fake) = slow(queues, 2).await;
        for number in 0..6_u64 {
            fake.send_group(50 + number % 2, 1, &format!("n{number}"), true)
                .await;
        }
        fake.answers(6).await;
        assert_eq!(model.max_concurrency(), most, "one queue: {everywhere}");
        let requests = model.requests();
        let asked = requests.iter().map(|request| request.last_user_text());
        let in_order = asked.eq((0..6).map(|number| format!("user 1: n{number}")));
        assert!(in_order || !everywhere, "{requests:?}");
    }
}

#[tokio::test]
async fn a_second_turn_of_a_person_waits_where_one_is_all_he_may_have() {
    let (model, _gateway, fake) = slow(json!({}), 1).await;
    model.push(Script::hang());
    fake.send_group(50, 1, "here", true).await;
    model.wait_for(1).await;
    fake.send_group(51, 1, "there", true).await;
    fake.send_group(51, 2, "another", true).await;
    assert_eq!(fake.answer().await.text(), "re: user 2: another");
    assert_eq!(model.count(), 2, "his second turn waits");
    fake.send_group(50, 1, "/stop", true).await;
    assert!(until(|| model.count() == 3).await);
    assert_eq!(model.max_concurrency(), 2);
}
