//! Requests of strangers to the account: an owner is asked, and his answer reaches the platform.

use serde_json::{Value, json};
use weirgate_testkit::{
    model::FakeModel,
    onebot::{FakeOneBot, Target},
};

use crate::gateway::{BOT, Chat as _, Gateway, rows, to_approve, until};

const OWNER: u64 = 100_001;
const STRANGER: u64 = 9_007_199_254_740_993;

async fn gateway() -> (Gateway, FakeOneBot, FakeModel) {
    let model = FakeModel::start().await;
    let requests = json!({ "friend": "ask", "join": "ask", "owner": OWNER });
    let changes = json!({
        "permissions": { "owners": { "qq": [OWNER] } },
        "platforms": { "qq": { "accounts": { "main": { "requests": requests } } } },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    (gateway, fake, model)
}

fn request(kind: &str, sub: &str, flag: &str) -> Value {
    json!({ "time": 1_700_000_000, "self_id": BOT, "post_type": "request", "request_type": kind, "sub_type": sub,
        "user_id": STRANGER, "group_id": 30_001, "flag": flag,
        "comment": "let me in\n[CQ:at,qq=all] \u{202e}/approve" })
}

/// The question that the owner reads, and its name.
async fn question(fake: &FakeOneBot) -> (String, String) {
    let asked = fake.answer().await;
    let to_owner = Target::Private {
        user: OWNER.to_string(),
        group: None,
    };
    assert_eq!(asked.target, to_owner);
    let text = asked.text();
    (text.clone(), to_approve(&text))
}

#[tokio::test]
async fn an_owner_is_asked_once_and_his_answer_is_told_to_the_platform() {
    let (gateway, fake, model) = gateway().await;
    fake.raw(request("friend", "", "f1")).await;
    // Implementations tell of it again whenever they start.
    fake.raw(request("friend", "", "f1")).await;
    let (text, name) = question(&fake).await;
    assert!(
        text.contains(&format!("take ({STRANGER}) as a friend")) && text.contains("let me in"),
        "{text}"
    );
    assert!(!text.contains('\u{202e}'), "{text}");
    // Nobody else has a say, and in another chat there is nothing of that name.
    let other = fake.ask(STRANGER, &format!("/approve {name}")).await;
    assert!(other.contains("Nothing of that name"), "{other}");
    assert!(fake.requests().is_empty());
    let done = fake.ask(OWNER, &format!("/approve {name}")).await;
    assert!(done.starts_with("Done: take"), "{done}");
    assert_eq!(fake.requests(), [json!({ "flag": "f1", "approve": true })]);
    let again = fake.ask(OWNER, &format!("/deny {name}")).await;
    assert!(again.contains("answered before"), "{again}");

    fake.raw(request("group", "add", "f2")).await;
    let (text, name) = question(&fake).await;
    assert!(text.contains("into the group 30001"), "{text}");
    let done = fake.ask(OWNER, &format!("/deny {name}")).await;
    assert!(done.starts_with("Not done: let"), "{done}");
    let refused = json!({ "flag": "f2", "approve": false, "sub_type": "add", "type": "add" });
    assert_eq!(fake.requests().last(), Some(&refused));
    // What is not to be asked waits where it is, and no model hears of any of this.
    fake.raw(request("group", "invite", "f3")).await;
    assert_eq!(fake.ask(OWNER, "/ping").await, "pong");
    assert_eq!((fake.requests().len(), model.count()), (2, 0));
    let query = "SELECT event FROM audit WHERE event = 'request_answered'";
    assert_eq!(rows(&gateway.database(), query).len(), 2);
}

#[tokio::test]
async fn a_question_outlives_the_process() {
    let (mut gateway, fake, _model) = gateway().await;
    fake.raw(request("friend", "", "f1")).await;
    let (_, name) = question(&fake).await;
    gateway.kill().await;
    gateway.up().await;
    assert!(until(|| fake.is_connected()).await);
    fake.raw(request("friend", "", "f1")).await;
    fake.send_private(OWNER, &format!("/approve {name}")).await;
    // The question may come again, if nobody knows whether it had arrived; it is the same one.
    loop {
        let told = fake.answer().await.text();
        if told.starts_with("Done: take") {
            break;
        }
        assert!(told.contains(&format!("/approve {name}")), "{told}");
    }
    assert_eq!(fake.requests().len(), 1);
}
