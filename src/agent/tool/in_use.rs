//! The calls of a step, as people may see them.
//!
//! Owns what of a call is shown: its tool, the beginning of its arguments without secrets, and how far it is. What a
//! tool gave is for the model alone. Pure.

use weirgate_sdk::{ToolUse, ToolUseState};

use super::execute::FAILED;
use crate::{agent::history::Step, security::redact::Redactor};

/// Longest name of a tool that is shown, in characters: a model may have made it up.
const NAME: usize = 64;

/// The calls of a step.
pub(in crate::agent) fn in_use(step: &Step, redactor: &Redactor) -> Vec<ToolUse> {
    let calls = step.calls.iter().zip(&step.results);
    let shown = calls.map(|(call, result)| ToolUse {
        id: call.id.clone(),
        name: short(&redactor.clean(&call.name).text, NAME),
        arguments: short(&redactor.clean(&call.arguments).text, ToolUse::ARGUMENTS),
        state: match result {
            None => ToolUseState::Running,
            Some(text) if text.starts_with(FAILED) => ToolUseState::Failed,
            Some(_) => ToolUseState::Done,
        },
    });
    shown.collect()
}

/// The beginning of a text, in characters.
fn short(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::model::ToolCall;

    #[test]
    fn calls_are_shown_without_secrets_and_bounded() {
        let secret = "sk-TEST_abcdefghijklmnop";
        let (redactor, _) = Redactor::new([secret]);
        let call = |id: &str, arguments: String| ToolCall {
            id: id.to_owned(),
            name: "fetch_page".to_owned(),
            arguments,
        };
        let step = Step {
            calls: vec![
                call("a", format!(r#"{{"url":"https://h/{secret}"}}"#)),
                call("b", "x".repeat(1_000)),
                call("c", String::new()),
            ],
            results: vec![None, Some("a page".into()), Some(format!("{FAILED}gone"))],
            ..Step::default()
        };
        let shown = in_use(&step, &redactor);
        let states: Vec<ToolUseState> = shown.iter().map(|it| it.state).collect();
        let expected = [
            ToolUseState::Running,
            ToolUseState::Done,
            ToolUseState::Failed,
        ];
        assert_eq!(states, expected);
        assert_eq!(shown[0].arguments, r#"{"url":"https://h/[REDACTED]"}"#);
        assert_eq!(shown[1].arguments.len(), ToolUse::ARGUMENTS);
        assert!(
            !format!("{shown:?}").contains("a page"),
            "results are not shown"
        );
    }
}
