//! Looking something up: by the command and by the model, whoever may read it, and no more than is his to see.

use serde_json::{Value, json};
use weirgate_testkit::{model::Script, onebot::FakeOneBot};

use super::{agreeing, in_group, last, number, started};
use crate::gateway::{Chat as _, rows};

/// What the model was told that looked something up.
fn told(model: &weirgate_testkit::model::FakeModel) -> String {
    last(model).told().pop().unwrap()
}

fn memory(arguments: Value) -> Script {
    Script::calls(&[("memory", arguments)])
}

#[tokio::test]
async fn a_member_of_a_group_has_things_found_and_his_own_forgotten() {
    let model = agreeing().await;
    let gateway = started(&model, json!({ "extract": "off" })).await;
    let fake = gateway.onebot().await;
    let kept = in_group(&fake, "admin", 2, "/memory add We meet on Mondays.").await;
    let find = json!({ "action": "find", "text": "when do we meet?" });
    model.push(memory(find.clone()));
    in_group(&fake, "member", 1, "when?").await;
    let requests = model.requests();
    let first = &requests[requests.len() - 2];
    assert!(first.offered().contains(&"memory".to_owned()));
    assert!(
        told(&model).contains("We meet on Mondays."),
        "{}",
        told(&model)
    );
    assert!(
        first.body["tools"]
            .to_string()
            .contains("and nothing remembered"),
        "the model is told what he may not"
    );
    // He changes nothing that all share.
    let refused = "Error: The person who asks may not use this tool here.";
    model.push(memory(
        json!({ "action": "remember", "text": "We meet on Fridays." }),
    ));
    in_group(&fake, "member", 1, "remember that").await;
    assert_eq!(told(&model), refused);
    let theirs = json!({ "action": "forget", "id": number(&kept) });
    model.push(memory(theirs.clone()));
    in_group(&fake, "member", 1, "forget it").await;
    assert!(
        told(&model).starts_with("There is no such entry"),
        "{}",
        told(&model)
    );
    // What he said himself while he might, he may have forgotten.
    model.push(memory(
        json!({ "action": "remember", "text": "Rex is my dog." }),
    ));
    in_group(&fake, "admin", 1, "remember Rex").await;
    let own = told(&model);
    let own: i64 = own
        .trim_start_matches("Remembered as number ")
        .trim_end_matches('.')
        .parse()
        .unwrap_or_else(|_| panic!("{own}"));
    model.push(memory(json!({ "action": "forget", "id": own })));
    in_group(&fake, "member", 1, "forget Rex").await;
    assert_eq!(told(&model), format!("Number {own} is forgotten."));
    let left = rows(&gateway.database(), "SELECT content FROM memory");
    assert_eq!(left, ["We meet on Mondays."]);
}

#[tokio::test]
async fn in_private_what_one_said_in_groups_is_found_and_what_others_said_is_not() {
    let model = agreeing().await;
    let gateway = started(&model, json!({ "extract": "off" })).await;
    let fake = gateway.onebot().await;
    in_group(&fake, "admin", 1, "/memory add The tent is green.").await;
    in_group(&fake, "admin", 2, "/memory add The tent of user 2 is blue.").await;
    fake.ask(1, "/memory add My tent is old.").await;
    let by_tool = async |user: u64| {
        model.push(memory(json!({ "action": "find", "text": "tent" })));
        fake.ask(user, "which tent?").await;
        told(&model)
    };
    for found in [fake.ask(1, "/memory find tent").await, by_tool(1).await] {
        assert!(found.contains("The tent is green."), "{found}");
        assert!(found.contains("My tent is old."), "{found}");
        assert!(!found.contains("blue"), "{found}");
    }
    let others = by_tool(3).await;
    assert_eq!(others, "Nothing is remembered of that.");
    // In the group it is what the group has.
    let here = in_group(&fake, "member", 1, "/memory find tent").await;
    assert!(here.contains("green") && here.contains("blue"), "{here}");
    assert!(!here.contains("My tent"), "{here}");
    // He may have forgotten there what he said elsewhere.
    let number = |found: &str, text: &str| -> i64 {
        let line = found.lines().find(|line| line.contains(text)).unwrap();
        let digits = line.trim_start_matches(|sign: char| !sign.is_ascii_digit());
        let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap()
    };
    let found = by_tool(1).await;
    let id = number(&found, "green");
    model.push(memory(json!({ "action": "forget", "id": id })));
    fake.ask(1, "forget it").await;
    assert_eq!(told(&model), format!("Number {id} is forgotten."));
}

#[tokio::test]
async fn who_may_not_read_has_nothing_found() {
    let model = agreeing().await;
    let changes = json!({
        "memory": { "extract": "off" },
        "language": "en",
        "permissions": {
            // He may use tools, and may not see what was said.
            "roles": { "blind": { "capabilities": ["EXECUTE", "SEND_MESSAGE"] } },
            "default_role": "blind",
            "owners": { "qq": [9] },
        },
    });
    let gateway = crate::gateway::Gateway::start(&model, changes).await;
    let fake: FakeOneBot = gateway.onebot().await;
    fake.ask(9, "/memory global The office is closed on Friday.")
        .await;
    model.push(memory(json!({ "action": "find", "text": "office" })));
    fake.ask(1, "open?").await;
    assert!(
        told(&model).contains("may not use this tool"),
        "{}",
        told(&model)
    );
    model.push(memory(json!({ "action": "find", "text": "office" })));
    fake.ask(9, "open?").await;
    assert!(
        told(&model).contains("closed on Friday"),
        "{}",
        told(&model)
    );
}
