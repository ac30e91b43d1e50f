//! What the platform takes from an admin is gone for what he asked before.

use weirgate_testkit::{
    model::Script,
    telegram::{BOT, BOT_NAME, Standing},
};

use super::*;
use crate::gateway::LIMIT as SOON;

#[tokio::test]
async fn what_an_admin_asked_while_he_was_one_is_refused_once_he_is_not() {
    let fake = FakeTelegram::start(TOKEN).await;
    for (user, standing) in [
        (BOT, Standing::Administrator),
        (1, Standing::Creator),
        (2, Standing::Administrator),
    ] {
        fake.member(GROUP, user, standing);
    }
    let (model, _gateway) = whole::gateway(&fake, json!({})).await;
    model.push(Script::answer("done").first(Duration::from_secs(3)));
    let mention = json!({ "entities": [
        { "type": "mention", "offset": 0, "length": 1 + BOT_NAME.len() }] });
    fake.say(GROUP, 2, &format!("@{BOT_NAME} a question"), &mention);
    model.wait_for(1).await;
    let policy = format!("/policy@{BOT_NAME} allow_media");
    fake.say(GROUP, 2, &policy, &serde_json::Value::Null);
    fake.member(GROUP, 2, Standing::Member);
    let user = json!({ "id": 2, "is_bot": false, "first_name": "user 2" });
    fake.update(json!({ "chat_member": {
        "chat": { "id": GROUP, "type": "supergroup", "title": "g" }, "from": user, "date": 1_790_000_000,
        "old_chat_member": { "user": user, "status": "administrator" },
        "new_chat_member": { "user": user, "status": "member" },
    }}));
    let answer = async || {
        fake.next_message(SOON)
            .await
            .expect("an answer in time")
            .text
    };
    assert_eq!(answer().await, "done");
    let told = answer().await;
    assert!(told.contains("Only an admin"), "{told}");
    // The creator still may, and the platform names the admins that there are.
    fake.say(GROUP, 1, &policy, &serde_json::Value::Null);
    let told = answer().await;
    assert!(!told.contains("Only an admin"), "{told}");
}
