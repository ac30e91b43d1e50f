//! `weirgate audit`: a log that is whole, one that is not, and the way out of it.

use serde_json::{Value, json};
use weirgate_testkit::model::FakeModel;

use super::tool;
use crate::gateway::{Chat as _, Gateway, to_approve};

#[tokio::test]
async fn the_log_is_verified_and_written_out_while_the_gateway_runs_and_while_not() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    fake.ask_as("owner", 50, 100_001, "/policy max_message_length 100")
        .await;
    fake.ask_as("member", 50, 100_002, "/policy max_message_length 9")
        .await;
    let whole = tool(&gateway, &["audit", "verify"]).await.done();
    assert!(
        whole.starts_with("2 records, whole and in order. The newest is 2: "),
        "{whole}"
    );
    let export = tool(&gateway, &["audit", "export"]).await.done();
    let lines: Vec<Value> = export
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [set, refused, head] = lines.as_slice() else {
        panic!("{export}");
    };
    assert_eq!(set["record"]["event"], "policy_changed");
    assert_eq!(set["record"]["result"], "done");
    assert_eq!(set["operator"], "qq//100001");
    assert_eq!(refused["record"]["event"], "command_blocked");
    assert_eq!(refused["record"]["result"], "denied");
    assert_eq!(refused["conversation"], set["conversation"]);
    let hash = head["head"].as_str().unwrap();
    assert!(whole.trim_end().ends_with(hash));
    gateway.term().await;
    let log = gateway.log();
    assert!(
        log.contains("the newest record of the audit log") && log.contains(hash),
        "{log}"
    );
    tool(&gateway, &["audit", "verify", "--head", hash])
        .await
        .done();
    crate::gateway::execute(
        &gateway.database(),
        "DELETE FROM audit WHERE seq = 2; UPDATE audit_head SET seq = 1, hash = (SELECT hash FROM audit)",
    );
    tool(&gateway, &["audit", "verify"]).await.done();
    let cut = tool(&gateway, &["audit", "verify", "--head", hash]).await;
    assert_eq!(cut.code, 1);
    assert!(
        cut.err.contains("no record has the hash of --head"),
        "{}",
        cut.err
    );
}

#[tokio::test]
async fn what_was_done_to_the_log_by_hand_is_found_and_what_delete_removes_is_not() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    for number in 1..=3 {
        let text = format!("/policy max_message_length {number}00");
        fake.ask_as("owner", 50, 100_001, &text).await;
    }
    let question = fake.ask_as("owner", 50, 100_001, "/delete").await;
    let code = to_approve(&question);
    fake.ask_as("owner", 50, 100_001, &format!("/approve {code} all"))
        .await;
    gateway.term().await;
    let whole = tool(&gateway, &["audit", "verify"]).await.done();
    assert!(whole.contains("whole and in order"), "{whole}");
    let head = whole.trim_end().rsplit(' ').next().unwrap().to_owned();
    let export = tool(&gateway, &["audit", "export"]).await.done();
    let first: Value = serde_json::from_str(export.lines().next().unwrap()).unwrap();
    assert_eq!(first["record"]["event"], "policy_changed", "{export}");
    assert!(
        !export.lines().next().unwrap().contains("100001"),
        "who it was is gone: {export}"
    );
    let database = gateway.database();
    let copy = std::fs::read(&database).expect("the database");
    for (what, sql, says) in [
        (
            "changed",
            "UPDATE audit SET result = 'denied' WHERE seq = 2",
            "record 2",
        ),
        (
            "moved",
            "UPDATE audit SET at = at - 1 WHERE seq = 3",
            "record 3",
        ),
        ("missing", "DELETE FROM audit WHERE seq = 2", "record"),
        (
            "cut",
            "DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)",
            "record",
        ),
        (
            "cut, with the head put right",
            "DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit);
             UPDATE audit_head SET seq = (SELECT max(seq) FROM audit),
                 hash = (SELECT hash FROM audit ORDER BY seq DESC LIMIT 1)",
            "no record has the hash of --head",
        ),
    ] {
        crate::gateway::execute(&database, sql);
        let told = tool(&gateway, &["audit", "verify", "--head", &head]).await;
        assert_eq!(told.code, 1, "{what}: {}", told.out);
        assert!(told.err.contains(says), "{what}: {}", told.err);
        std::fs::write(&database, &copy).expect("as it was");
    }
    tool(&gateway, &["audit", "verify", "--head", &head])
        .await
        .done();
}

#[tokio::test]
async fn the_log_is_shown_to_who_watches_over_it() {
    let model = FakeModel::start().await;
    let owners = json!({ "permissions": { "owners": { "qq": ["9"] } } });
    let gateway = Gateway::start(&model, owners).await;
    let fake = gateway.onebot().await;
    fake.ask_as("owner", 50, 100_001, "/warn @100002 too loud")
        .await;
    fake.ask_as("owner", 51, 100_001, "/warn @100003").await;
    let here = fake.ask_as("admin", 50, 100_004, "/audit").await;
    assert!(
        here.contains("user_warned  done  100001  → 100002  reason=too loud"),
        "{here}"
    );
    assert!(!here.contains("100003"), "{here}");
    let none = fake.ask_as("admin", 50, 100_004, "/audit @100005").await;
    assert_eq!(none, "Nothing is recorded.");
    let of_him = fake.ask_as("admin", 50, 100_004, "/audit @100002 5").await;
    assert_eq!(of_him.lines().count(), 1, "{of_him}");
    let refused = fake.ask_as("member", 50, 100_005, "/audit").await;
    assert_eq!(refused, "Only an admin may do that here.");
    let not_his = fake.ask(100_001, "/audit").await;
    assert!(
        not_his.starts_with("Only an owner of the gateway"),
        "{not_his}"
    );
    let everywhere = fake.ask(9, "/audit 50").await;
    assert!(
        everywhere.contains("100003") && everywhere.contains("qq/main/"),
        "{everywhere}"
    );
    assert!(
        everywhere.contains("command_blocked  denied  100005"),
        "{everywhere}"
    );
    let odd = fake.ask(9, "/audit soon").await;
    assert_eq!(odd, "\"soon\" is not understood here.");
}
