//! How calls of tools run: in which order, how many at once, how often again, and that a turn's time ends them.

use serde_json::{Value, json};
use weirgate_testkit::model::{FakeModel, Script};

use super::page::Page;
use crate::gateway::{Chat as _, Gateway, until};

/// Calls of one answer.
const CALLS: usize = 6;

/// Has a tool called so often in one answer, on pages that are held back; gives how many were at once.
async fn at_once(calling: Value, tool: &str, expected: usize) {
    let model = FakeModel::start().await;
    let page = Page::start().await;
    let changes = json!({
        "tools": { "fetch": { "allow": [page.address()] } },
        "tool_calling": calling,
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    let call = |number: usize| {
        let mut arguments = json!({ "url": page.url(&format!("/held/{number}")) });
        if tool == "save_page" {
            arguments["path"] = json!(format!("{number}.md"));
        }
        (tool, arguments)
    };
    let calls: Vec<(&str, Value)> = (0..CALLS).map(call).collect();
    model.push(Script::calls(&calls));
    fake.send_private(1, "go").await;
    for answered in 0..CALLS {
        // Each that is answered makes room for one more.
        let waiting = expected.min(CALLS - answered);
        let come = until(|| page.asked() == answered + waiting).await;
        assert!(come, "{calling}, {tool}: {} come", page.asked());
        page.release();
    }
    assert_eq!(fake.answer().await.text(), "re: go");
    assert_eq!(page.most_held(), expected, "{calling}, {tool}");
    let told = model.requests()[1].told();
    let whole = told.iter().all(|told| told.contains("held back"));
    assert!(told.len() == CALLS && whole, "{told:?}");
}

#[tokio::test]
async fn as_many_calls_run_at_once_as_may() {
    at_once(json!({}), "fetch_page", 5).await;
    at_once(json!({ "max_parallel_calls": 2 }), "fetch_page", 2).await;
    at_once(json!({ "parallel_calls": false }), "fetch_page", 1).await;
}

#[tokio::test]
async fn the_strategy_says_which_calls_run_at_once() {
    at_once(json!({ "strategy": "sequential" }), "fetch_page", 1).await;
    // What changes something runs in order, unless everything runs at once.
    at_once(json!({ "strategy": "smart" }), "save_page", 1).await;
    at_once(json!({ "strategy": "eager" }), "save_page", 5).await;
    let none = json!({ "strategy": "eager", "parallel_calls": false });
    at_once(none, "save_page", 1).await;
}

#[tokio::test]
async fn a_call_is_made_again_as_often_as_the_call_and_the_turn_may() {
    for (of_call, of_turn, made) in [(0, 9, 1), (2, 9, 3), (9, 1, 2)] {
        let model = FakeModel::start().await;
        let page = Page::start().await;
        let changes = json!({
            "tools": { "fetch": { "allow": [page.address()] } },
            "tool_calling": { "max_retries": of_call },
            "error_recovery": { "max_retries": { "tool": of_turn } },
        });
        let gateway = Gateway::start(&model, changes).await;
        let fake = gateway.onebot().await;
        model.push(Script::calls(&[(
            "fetch_page",
            json!({ "url": page.url("/busy") }),
        )]));
        assert_eq!(fake.ask(1, "go").await, "re: go");
        assert_eq!(page.asked(), made, "{of_call}, {of_turn}");
        let again = u64::try_from(made - 1).unwrap();
        assert_eq!(gateway.counted("tool_retried").await, again);
        let told = model.requests()[1].told();
        assert!(told[0].starts_with("Error: "), "{told:?}");
    }
}

#[tokio::test]
async fn a_turn_whose_time_is_over_ends_the_call_that_runs() {
    let model = FakeModel::start().await;
    let page = Page::start().await;
    let changes = json!({
        "tools": { "fetch": { "allow": [page.address()] } },
        "flow_control": { "turn_timeout": 1.5 },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    let hold = ("fetch_page", json!({ "url": page.url("/held/for-ever") }));
    model.push(Script::pieces(&["I look it up."]).and_calls(&[hold]));
    let told = fake.ask(1, "go").await;
    assert!(told.contains("I look it up."), "{told}");
    assert_eq!(page.asked(), 1);
    assert!(until(|| page.held() == 0).await, "the call goes on");
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("turn_timeout"), "{why}");
    assert_eq!(model.count(), 1, "nothing goes on behind it");
    assert_eq!(fake.ask(1, "and?").await, "re: and?");
    let told = model.requests()[1].told();
    assert!(told[0].contains("not known"), "{told:?}");
}
