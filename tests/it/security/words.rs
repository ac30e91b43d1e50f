//! The blocklist: what is taken out of what comes in and of what is answered.

use serde_json::json;
use weirgate_testkit::model::Script;

use super::start;
use crate::gateway::Chat as _;

#[tokio::test]
async fn words_of_the_list_reach_neither_the_model_nor_the_chat() {
    let list = json!({
        "context": { "system_prompt": "" },
        "security": { "content_filter": { "blocklist": ["cheese", "/sec[rt]et-\\d+/"], "replacement": "***" } },
    });
    let (model, gateway, fake) = start(list).await;
    model.push(Script::pieces(&[
        "No che",
        "ese, no Sec",
        "ret-12",
        "34, no cheesecake.",
    ]));
    assert_eq!(
        fake.ask(1, "Some CHEESE?").await,
        "No ***, no ***, no cheesecake."
    );
    assert_eq!(model.requests()[0].last_user_text(), "Some ***?");
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("content_filtered"), "{why}");
    assert_eq!(fake.ask(1, "/ping cheese").await, "***");
    gateway
        .logged("an entry of the blocklist was taken out")
        .await;
    let log = gateway.log();
    let line = log
        .lines()
        .find(|line| line.contains("an entry of the blocklist"))
        .unwrap();
    assert!(line.contains("cheese"), "{line}");
}

#[tokio::test]
async fn a_list_in_a_file_is_read_again_with_the_configuration() {
    let model = weirgate_testkit::model::FakeModel::start().await;
    let changes = json!({ "security": { "content_filter": { "blocklist": ["list.txt"] } } });
    let mut gateway = crate::gateway::Gateway::prepare(&model, changes);
    gateway.write("list.txt", "alpha\n");
    gateway.up().await;
    let fake = gateway.onebot().await;
    assert_eq!(
        fake.ask(1, "alpha beta").await,
        "re: [\u{5df2}\u{8fc7}\u{6ee4}] beta"
    );
    gateway.write("list.txt", "beta\n");
    gateway.signal("HUP");
    gateway.logged("the configuration was reloaded").await;
    assert_eq!(
        fake.ask(1, "alpha beta").await,
        "re: alpha [\u{5df2}\u{8fc7}\u{6ee4}]"
    );
}
