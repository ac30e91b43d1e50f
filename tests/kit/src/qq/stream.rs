//! Messages that grow in private chats.
//!
//! Owns what each shows, and the rules of the platform: a text begins with the one before, states are numbered without a
//! gap, and a message of which the end is not told vanishes.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{FakeQq, Message, State, rest::Refusal};

/// Messages that grow, by name.
#[derive(Debug, Default)]
pub(super) struct Streams(HashMap<String, Growing>);

#[derive(Debug)]
struct Growing {
    to: String,
    text: String,
    next: u64,
    whole: bool,
}

impl FakeQq {
    /// What growing messages show that have not ended.
    #[must_use]
    pub fn growing(&self) -> Vec<String> {
        let state = self.shared.state.lock();
        let open = state.streams.0.values().filter(|one| !one.whole);
        open.map(|one| one.text.clone()).collect()
    }

    /// Waits until a growing message shows a text that is `wanted`.
    pub async fn grows(&self, limit: std::time::Duration, wanted: &str) -> bool {
        let shows = |state: &mut State| {
            let mut all = state.streams.0.values();
            all.any(|one| one.text.contains(wanted)).then_some(())
        };
        self.wait(limit, shows).await.is_some()
    }
}

impl State {
    /// A state of a growing message.
    pub(super) fn grow(&mut self, to: &str, said: &Value) -> Result<Value, Refusal> {
        let known = [
            "input_mode",
            "input_state",
            "content_type",
            "content_raw",
            "msg_id",
            "event_id",
            "stream_msg_id",
            "msg_seq",
            "index",
        ];
        self.only(said, &known);
        let text = said["content_raw"].as_str().unwrap_or_default();
        let is_whole = said["input_state"] == 10;
        let fits = said["input_mode"] == "replace" && (is_whole || said["input_state"] == 1);
        if !fits || text.trim().is_empty() {
            return Err((400, 50_059, "bad stream parameters"));
        }
        if said["content_type"] == "markdown" && !self.policy.markdown {
            return Err((400, 50_056, "no native markdown"));
        }
        let name = match said["stream_msg_id"].as_str() {
            Some(name) => name.to_owned(),
            None => {
                self.count(to, said, false)?;
                self.said += 1;
                let name = format!("STREAM1.0_{:06}", self.said);
                let growing = Growing {
                    to: to.to_owned(),
                    text: String::new(),
                    next: 0,
                    whole: false,
                };
                self.streams.0.insert(name.clone(), growing);
                name
            }
        };
        let growing = self.streams.0.get_mut(&name);
        let growing = growing.filter(|one| one.to == to && !one.whole);
        let growing = growing.ok_or((400, 50_060, "no such stream"))?;
        if !text.starts_with(&growing.text) {
            let wrong = format!("{text:?} behind {:?}", growing.text);
            self.violations.push(wrong);
            return Err((400, 50_061, "the text does not go on"));
        }
        if said["index"] != growing.next {
            self.violations.push(format!("index {}", said["index"]));
        }
        growing.next += 1;
        text.clone_into(&mut growing.text);
        growing.whole = is_whole;
        if is_whole {
            self.sent.push(Message {
                to: to.to_owned(),
                text: text.to_owned(),
                said: said.clone(),
            });
        }
        Ok(json!({ "id": name, "timestamp": "2026-12-01T00:00:00+08:00" }))
    }
}
