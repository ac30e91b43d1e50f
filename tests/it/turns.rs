//! Turns: what the model is asked, what is made of its answers, and how they reach people.

mod approval;
mod bursts;
mod calling;
mod causes;
mod charged;
mod choice;
mod compact;
mod context;
mod enclosed;
mod failures;
mod formats;
mod history;
mod long_task;
mod members;
mod others;
mod pace;
pub mod page;
mod parts;
mod pieces;
mod prompt;
mod questions;
mod reasoning;
mod schedule;
mod search;
mod sources;
mod streams;
mod tools;
mod translate;

pub use streams::until_end;

use serde_json::Value;
use weirgate_testkit::model::RecordedRequest;

/// The messages of a request as `role: text`.
fn spoken(request: &RecordedRequest) -> Vec<String> {
    let messages = request.body["messages"].as_array().unwrap().iter();
    let text = |message: &Value, name: &str| message[name].as_str().unwrap_or_default().to_owned();
    messages
        .map(|message| format!("{}: {}", text(message, "role"), text(message, "content")))
        .collect()
}
