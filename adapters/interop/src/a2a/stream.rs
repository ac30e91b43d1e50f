//! A task as events.
//!
//! Owns what was told already, so that each event has only what is new. It opens nothing.

use std::collections::VecDeque;

use serde_json::{Value, json};
use tokio::sync::watch;

use super::wire::{self, TaskId};
use crate::call::{New, Progress, Stage, news};

/// What was told of a task.
pub(super) struct Told {
    task: TaskId,
    follow: watch::Receiver<Progress>,
    text: String,
    /// An artifact was begun.
    begun: bool,
    state: &'static str,
    events: VecDeque<Value>,
    over: bool,
}

impl Told {
    pub(super) fn new(task: TaskId, mut follow: watch::Receiver<Progress>) -> Self {
        let now = follow.borrow_and_update().clone();
        // What there is is told as news, so that nothing is told twice.
        let first = Progress {
            stage: Stage::HandedIn,
            text: "".into(),
            is_final: false,
        };
        let mut told = Self {
            events: VecDeque::from([json!({ "task": wire::task(&task, &first) })]),
            task,
            follow,
            text: String::new(),
            begun: false,
            state: wire::state(Stage::HandedIn),
            over: false,
        };
        told.take(&now);
        told
    }

    /// The next event; `None` behind the last.
    pub(super) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if self.over {
                return None;
            }
            self.follow.changed().await.ok()?;
            let now = self.follow.borrow_and_update().clone();
            self.take(&now);
        }
    }

    fn take(&mut self, now: &Progress) {
        let over = now.stage.is_over();
        let state = wire::state(now.stage);
        if state != self.state && !over {
            self.state = state;
            let status = wire::status_update(&self.task, now.stage);
            self.events.push_back(status);
        }
        let (piece, append) = match news(&self.text, &now.text) {
            New::Nothing => (None, false),
            New::Delta(piece) => (Some(piece), self.begun),
            New::Replace(whole) => (Some(whole), false),
        };
        if let Some(piece) = piece {
            self.begun = true;
            let update = wire::artifact_update(&self.task, piece, append, over);
            self.events.push_back(update);
            now.text.as_ref().clone_into(&mut self.text);
        }
        if over && !self.over {
            self.over = true;
            let status = wire::status_update(&self.task, now.stage);
            self.events.push_back(status);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Call;

    #[tokio::test]
    async fn each_event_has_what_is_new_and_the_last_says_how_it_ended() {
        let conversation = weirgate_sdk::ConversationKey {
            platform: "interop".into(),
            account: "a".into(),
            conversation: "c".into(),
            thread: Some("s".into()),
        };
        let call = Call::new(conversation, "m".into());
        let task = TaskId {
            context: "s".into(),
            message: "m".into(),
        };
        let mut told = Told::new(task, call.follow());
        let first = told.next().await.unwrap();
        assert_eq!(first["task"]["status"]["state"], "TASK_STATE_SUBMITTED");
        assert_eq!(first["task"]["id"], "s.m");
        call.accepted();
        let next = told.next().await.unwrap();
        assert_eq!(
            next["statusUpdate"]["status"]["state"],
            "TASK_STATE_WORKING"
        );
        let piece = |event: &Value| {
            let update = &event["artifactUpdate"];
            let text = &update["artifact"]["parts"][0]["text"];
            (text.as_str().map(str::to_owned), update["append"] == true)
        };
        call.draft("a".into());
        assert_eq!(
            piece(&told.next().await.unwrap()),
            (Some("a".into()), false)
        );
        call.draft("ab".into());
        assert_eq!(piece(&told.next().await.unwrap()), (Some("b".into()), true));
        call.part("xy", true);
        assert_eq!(
            piece(&told.next().await.unwrap()),
            (Some("xy".into()), false)
        );
        let last = told.next().await.unwrap();
        assert_eq!(
            last["statusUpdate"]["status"]["state"],
            "TASK_STATE_COMPLETED"
        );
        assert_eq!(told.next().await, None);
    }
}
