//! Who may use a server: whoever may use tools, or the owners of the gateway alone.

use serde_json::json;
use weirgate_testkit::model::Script;

use super::{OWNER, called, offered, says, scripted, with};
use crate::gateway::Chat as _;

#[tokio::test]
async fn a_server_for_the_owners_is_there_for_nobody_else() {
    let (model, _gateway, fake) = with(json!([
        { "name": "all", "command": scripted("plain") },
        { "name": "own", "command": scripted("plain"), "scope": "global" },
    ]))
    .await;
    says(&fake, "all: up, tools: 3").await;
    says(&fake, "own: up, tools: 3").await;
    fake.ask(2, "hello").await;
    let names = offered(&model);
    let has = |names: &[String], name: &str| names.iter().any(|one| one == name);
    assert!(has(&names, "all__go"), "{names:?}");
    assert!(
        !names.iter().any(|name| name.starts_with("own__")),
        "{names:?}"
    );
    model.push(Script::calls(&[
        ("own__go", json!({})),
        ("all__go", json!({})),
    ]));
    assert_eq!(fake.ask(2, "go").await, "re: go");
    let told = model.requests().pop().unwrap().told();
    let refused = "Error: The person who asks may not use this tool here.";
    assert_eq!(told[0], refused);
    assert!(told[1].contains("go was called"), "{told:?}");

    fake.ask(OWNER, "hello").await;
    let names = offered(&model);
    assert!(
        has(&names, "all__go") && has(&names, "own__go"),
        "{names:?}"
    );
    let got = called(&model, &fake, &[("own__go", json!({}))]).await;
    assert!(got[0].contains("go was called"), "{got:?}");
}
