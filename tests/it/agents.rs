//! Agents by others through the real gateway: called, refused, gone and back.
//!
//! Owns what the tests of this folder share. The other side is a server of the tests' own that speaks lines, or another
//! gateway.

mod a2a;
mod a2a_served;
mod circle;
pub mod fake;
mod reached;
mod served;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::gateway::{Chat as _, Gateway, LIMIT};

/// The owner of the gateway.
const OWNER: u64 = 1;

/// A gateway with this section, and somebody who owns it.
async fn with(collaboration: Value) -> (FakeModel, Gateway, FakeOneBot) {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, changes(collaboration)).await;
    let fake = gateway.onebot().await;
    (model, gateway, fake)
}

/// The configuration of a gateway with this section.
fn changes(collaboration: Value) -> Value {
    json!({
        "agent_collaboration": collaboration,
        "permissions": { "owners": { "qq": [OWNER] } },
    })
}

/// Endpoints that are asked every second.
pub fn endpoints(endpoints: Value) -> Value {
    json!({ "acp": { "endpoints": endpoints }, "discovery": { "refresh_interval": 1 } })
}

/// Waits until /mcp says so; gives what it says.
async fn says(fake: &FakeOneBot, wanted: &str) -> String {
    let started = Instant::now();
    loop {
        let said = fake.ask(OWNER, "/mcp").await;
        if said.contains(wanted) {
            return said;
        }
        assert!(started.elapsed() < LIMIT * 2, "not {wanted}: {said}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Has the model call something for somebody; gives what the calls gave.
async fn called_by(
    (model, fake): (&FakeModel, &FakeOneBot),
    user: u64,
    calls: &[(&str, Value)],
) -> Vec<String> {
    model.push(Script::calls(calls));
    assert_eq!(fake.ask(user, "go").await, "re: go");
    let got = model.requests().pop().unwrap().results();
    let own = got[got.len() - calls.len()..].iter();
    own.map(|result| result.split_once(": ").unwrap().1.to_owned())
        .collect()
}

/// Has the model give a task to an agent; gives what came of it.
async fn task(both: (&FakeModel, &FakeOneBot), tool: &str, task: &str) -> String {
    let calls = [(tool, json!({ "task": task }))];
    called_by(both, OWNER, &calls).await.remove(0)
}
