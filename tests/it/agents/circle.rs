//! Two gateways that are agents of each other: the circle ends where it would begin anew.

use serde_json::json;
use weirgate_testkit::model::{FakeModel, Script};

use super::{changes, says};
use crate::gateway::{Chat as _, Gateway};

/// The token of the caller in A2A.
const TOKEN: &str = "token-of-a-caller-0123456789";

#[tokio::test]
async fn a_task_that_comes_back_to_where_it_began_is_refused_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.sock");
    // The first asks the second over lines, the second the first in A2A.
    let first = FakeModel::start().await;
    let collaboration = json!({
        "acp": { "endpoints": [{ "name": "second", "path": path }] },
        "a2a": { "listen": { "token": TOKEN } },
        "discovery": { "refresh_interval": 1 },
    });
    let here = Gateway::start(&first, changes(collaboration)).await;
    let second = FakeModel::start().await;
    let url = format!("http://{}", here.http());
    let back = json!({ "name": "first", "url": url, "token": TOKEN });
    let collaboration = json!({
        "acp": { "listen": { "path": path } },
        "a2a": { "endpoints": [back] },
        "discovery": { "refresh_interval": 1 },
    });
    let there = Gateway::start(&second, changes(collaboration)).await;
    let (fake, other) = (here.onebot().await, there.onebot().await);
    says(&fake, "agents/second: up, agents: 1").await;
    says(&other, "agents/first: up, agents: 1").await;

    let call = |tool: &str| Script::calls(&[(tool, json!({ "task": "you do it" }))]);
    first.push(call("agent__second__weirgate"));
    second.push(call("agent__first__weirgate"));
    assert_eq!(fake.ask(2, "do it").await, "re: do it");
    // The second was told, and told it on; the first was not asked again in between.
    let told = second.requests().pop().unwrap().results();
    assert!(
        told[0].contains("agents give it to each other in a circle"),
        "{told:?}"
    );
    assert_eq!((first.count(), second.count()), (2, 2));
    assert_eq!(here.counted("agent_loop").await, 1);
    // What comes from somebody else is done, also by the way that was no good before.
    second.push(call("agent__first__weirgate"));
    assert_eq!(other.ask(2, "ask them").await, "re: ask them");
    let told = second.requests().pop().unwrap().results();
    assert!(told[0].contains("re: you do it"), "{told:?}");
}
