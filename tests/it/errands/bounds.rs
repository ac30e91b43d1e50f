//! The limits of errands: time, tokens, calls, and the rights of the one who asks.

use serde_json::{Value, json};
use weirgate_testkit::model::Script;

use super::{OWNER, begun, done, errand, prompt, started, told};
use crate::gateway::Chat as _;

fn subagents(changes: Value) -> Value {
    json!({ "agent_collaboration": { "subagents": changes } })
}

#[tokio::test]
async fn an_errand_that_takes_too_long_is_stopped_and_the_turn_goes_on() {
    let (model, _gateway, fake) = started(subagents(json!({ "timeout": 0.5 }))).await;
    model.push(Script::calls(&[errand("wait")]));
    model.push(Script::calls(&[(
        "calculate",
        json!({ "expression": "1" }),
    )]));
    model.push(Script::hang());
    assert_eq!(fake.ask(2, "go").await, "re: go");
    assert_eq!(
        told(&model),
        ["Error: It took too long and was stopped. What it had done by then stays done."]
    );
    let why = fake.ask(2, "/why").await;
    assert!(why.contains("tool_timeout"), "{why}");
    let log = fake.ask(2, "/log").await;
    assert!(log.contains("30 tokens in"), "what it used counts: {log}");
}

#[tokio::test]
async fn an_errand_has_a_quarter_of_the_tokens() {
    let changes = json!({ "context": { "max_context_tokens": 40_000 } });
    let (model, _gateway, fake) = started(changes).await;
    let large = "word ".repeat(3_600);
    model.push(Script::calls(&[errand(&large), errand("small")]));
    let last = "re: go";
    assert_eq!(fake.ask(2, "go").await, last);
    let back = told(&model);
    assert!(back[1].contains("> re: small"), "{back:?}");
    assert!(prompt(&begun(&model, "small")).contains("with 10000 tokens each time"));
    // The same words are no more than a quarter here, and more than that with less.
    assert!(back[0].contains("> re: word"), "{back:?}");
    let changes = json!({ "context": { "max_context_tokens": 16_000 } });
    let (model, _gateway, fake) = started(changes).await;
    model.push(Script::calls(&[errand(&large)]));
    assert_eq!(fake.ask(2, "go").await, last);
    let back = told(&model);
    assert!(
        back[0].starts_with("Error: It has ") && back[0].contains("Give it less to do."),
        "{back:?}"
    );
    assert_eq!(model.count(), 2, "nobody was asked what does not fit");
}

#[tokio::test]
async fn steps_and_calls_are_limited_in_an_errand_as_in_a_turn() {
    let calling = json!({ "tool_calling": { "max_steps": 3, "max_calls_per_request": 4 } });
    let (model, gateway, fake) = started(calling).await;
    let sum = |text: &str| ("calculate", json!({ "expression": text }));
    model.push(Script::calls(&[errand("reckon")]));
    model.push(Script::calls(&[sum("1")]));
    model.push(Script::calls(&[sum("2")]));
    model.push(Script::answer("three steps"));
    model.push(Script::calls(&[sum("3"), sum("4")]));
    assert_eq!(fake.ask(2, "go").await, "re: go");
    let requests = model.requests();
    assert!(
        requests[3].offered().is_empty(),
        "the last step of the errand offers no tools"
    );
    let got = requests[5].told();
    assert!(got[0].contains("> three steps"), "{got:?}");
    assert_eq!(got[1], "3");
    assert!(
        got[2].contains("No more calls"),
        "those of the errand count: {got:?}"
    );
    assert!(gateway.counted("tool_limit").await >= 2);
}

#[tokio::test]
async fn nobody_has_more_rights_through_an_errand() {
    let programs = tempfile::tempdir().unwrap();
    let folder = programs.path().join("vault");
    std::fs::create_dir(&folder).unwrap();
    let manifest = json!({ "name": "vault", "description": "Opens the vault.", "scope": "global",
        "access": "read", "repeatable": true, "command": ["/bin/sh", "-c", "echo gold"] });
    std::fs::write(folder.join("module.json"), manifest.to_string()).unwrap();
    let (model, _gateway, fake) = started(json!({ "tools": { "folder": programs.path() } })).await;
    let call = [("vault", json!({}))];
    let (inside, _) = done(&model, &fake, 2, errand("open it"), &call).await;
    assert_eq!(
        inside,
        ["Error: The person who asks may not use this tool here."]
    );
    assert!(
        !begun(&model, "open it")
            .offered()
            .contains(&"vault".to_owned())
    );
    let (inside, _) = done(&model, &fake, OWNER, errand("open the vault"), &call).await;
    assert!(inside[0].contains("> gold"), "{inside:?}");
    assert!(
        begun(&model, "open the vault")
            .offered()
            .contains(&"vault".to_owned())
    );
    // In a group members do not change what all share.
    model.push(Script::calls(&[errand("note it")]));
    model.push(Script::calls(&[(
        "write_file",
        json!({ "path": "a", "content": "x" }),
    )]));
    model.push(Script::answer("no"));
    assert_eq!(fake.ask_as("member", 50, 7, "go").await, "re: member 7: go");
    let requests = model.requests();
    let inside = requests[requests.len() - 2].told();
    assert_eq!(
        inside,
        ["Error: The person who asks may not use this tool here."]
    );
}

#[tokio::test]
async fn a_guest_gives_no_errands() {
    let changes = json!({ "permissions": { "default_role": "guest" } });
    let (model, _gateway, fake) = started(changes).await;
    model.push(Script::calls(&[errand("do it")]));
    assert_eq!(fake.ask(2, "go").await, "re: go");
    assert!(model.requests()[0].offered().is_empty());
    assert!(told(&model)[0].contains("may not use this tool"));
}

#[tokio::test]
async fn it_can_be_switched_off() {
    for changes in [
        subagents(json!({ "enabled": false })),
        json!({ "tools": { "internal": { "disabled": ["delegate"] } } }),
    ] {
        let (model, _gateway, fake) = started(changes).await;
        model.push(Script::calls(&[errand("do it")]));
        assert_eq!(fake.ask(2, "go").await, "re: go");
        assert!(
            !model.requests()[0]
                .offered()
                .contains(&"delegate".to_owned())
        );
        assert_eq!(told(&model), ["Error: There is no tool of this name."]);
    }
}
