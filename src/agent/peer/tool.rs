//! An agent by others as a tool.
//!
//! Owns one call: the task, its bounds, and the words for what goes wrong. What it gives is somebody else's words, always.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::{
    config::Endpoint,
    keep::Line,
    remote::{self, Failed, Task},
    trail,
};
use crate::{
    agent::tool::{Call, Fault, Given, Spec, Tool},
    hex::hex,
    security::fence::Origin,
};

/// How long the call itself may take longer than the agent, so that the agent's own end is told.
const GRACE: Duration = Duration::from_secs(2);

/// An agent.
pub(super) struct Remote {
    spec: Spec,
    /// Its own name.
    agent: String,
    endpoint: Arc<Endpoint>,
    line: Arc<Line>,
}

impl Remote {
    pub(super) fn new(
        spec: Spec,
        agent: String,
        endpoint: &Arc<Endpoint>,
        line: &Arc<Line>,
    ) -> Self {
        Self {
            spec,
            agent,
            endpoint: Arc::clone(endpoint),
            line: Arc::clone(line),
        }
    }
}

#[async_trait]
impl Tool for Remote {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Calls of one agent belong to one session, and so run in order.
    fn resource(&self, _: &Map<String, Value>) -> Option<String> {
        Some(self.spec.name.clone())
    }

    fn longest(&self) -> Option<Duration> {
        Some(self.endpoint.timeout.saturating_add(GRACE))
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let session = session(&call);
        let passed = call
            .counter
            .map(|(asker, desk)| trail::onward(&asker.body.passed, &desk.mark));
        let passed = passed.unwrap_or_default();
        let task = Task {
            agent: &self.agent,
            action: call.text("action"),
            text: call.text("task"),
            more: call.arguments.get("args").and_then(Value::as_object),
            session: &session,
            passed: &passed,
        };
        let called = remote::call(&self.endpoint, task);
        match tokio::time::timeout(self.endpoint.timeout, called).await {
            Ok(Ok(text)) if text.trim().is_empty() => Ok(Given::own("It answered nothing.")),
            Ok(Ok(text)) => Ok(data(text)),
            Ok(Err(Failed::Said(why))) => Err(said(why)),
            Ok(Err(Failed::Broken(why))) => {
                self.line.wake.notify_one();
                let name = &self.endpoint.name;
                Err(said(format!(
                    "The connection to the agents of {name} failed: {why}"
                )))
            }
            Err(_) => Err(Fault::lasting(
                "The agent took too long and was given up; what it has done until then stays.",
            )),
        }
    }
}

/// What tells the other side which calls belong together, and nothing else.
fn session(call: &Call<'_>) -> String {
    let mut digest = Sha256::new();
    digest.update(call.conversation.encode());
    digest.update([0]);
    if let Some((asker, _)) = &call.counter {
        digest.update(asker.person.encode());
    }
    hex(digest.finalize().get(..16).unwrap_or_default())
}

fn data(text: String) -> Given {
    Given {
        text,
        origin: Some(Origin::ToolResult),
    }
}

/// Why it gave nothing, in words that may be its own.
fn said(text: String) -> Fault {
    Fault::told(data(text), false)
}
