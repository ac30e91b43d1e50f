//! A piece of history as one text, for a model that is to work on it.
//!
//! Owns what of a row is written and how much of it. Pure; the text is data and has to be fenced.

use super::{clean_name, cut, estimate_tokens};
use crate::{
    agent::history::Content,
    store::{History, Role},
};

/// Most tokens of a message.
const MESSAGE: usize = 2_000;
/// Most tokens of a call's arguments, and of its result.
const RESULT: usize = 200;
/// A message takes at most this part of the room, a result half of that.
const SHARE: usize = 8;

/// Most tokens of a call's arguments, and of its result, in the record of a task: what came of it is what matters there.
const TASK_RESULT: usize = 2_000;

/// The rows as a text of at most so many tokens: those that fit from the first on, whole turns. Gives their number too.
#[must_use]
pub fn record(rows: &[History], tokens: usize) -> (String, usize) {
    told(rows, tokens, RESULT)
}

/// The same for the steps of a task, with more of each result.
#[must_use]
pub fn task(rows: &[History], tokens: usize) -> (String, usize) {
    told(rows, tokens, TASK_RESULT)
}

fn told(rows: &[History], tokens: usize, result: usize) -> (String, usize) {
    let mut text = String::new();
    let mut taken = 0;
    let mut used = 0;
    for turn in rows.chunk_by(|one, other| one.turn == other.turn) {
        let said = turn.iter().map(|row| line(row, tokens, result));
        let said: String = said.collect();
        used += estimate_tokens(&said);
        if used > tokens && taken > 0 {
            break;
        }
        text.push_str(&said);
        taken += turn.len();
    }
    // One turn alone may be too much.
    (cut(text, tokens).0, taken)
}

fn line(row: &History, tokens: usize, result: usize) -> String {
    let Some(content) = Content::decode(&row.parts) else {
        return String::new();
    };
    let share = tokens / SHARE;
    let short = |text: String, most: usize| cut(text, most).0;
    let words = short(content.text(), MESSAGE.min(share));
    let mut line = match row.role {
        Role::User | Role::Ambient => {
            let name = clean_name(&content.name);
            format!(
                "{}: {words}\n",
                if name.is_empty() { "Person" } else { &name }
            )
        }
        Role::Summary => format!("Earlier summary:\n{words}\n"),
        Role::Assistant if words.trim().is_empty() => String::new(),
        Role::Assistant => format!("Assistant: {words}\n"),
    };
    let step = content.as_step();
    let most = result.min(share / 2);
    for (call, result) in step.calls.into_iter().zip(step.results) {
        let arguments = short(call.arguments, most);
        let result = short(result.unwrap_or_default(), most);
        line.push_str(&format!(
            "Assistant called {} {arguments}: {result}\n",
            call.name
        ));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{history::Step, model::ToolCall};

    fn row(role: Role, turn: i64, content: &Content) -> History {
        History {
            role,
            turn,
            at: 0,
            parts: content.encode(),
        }
    }

    #[test]
    fn rows_are_told_in_order_with_speakers_calls_and_what_was_summarised_before() {
        let step = Step {
            reasoning: Some("hidden".into()),
            calls: vec![ToolCall {
                id: "a".into(),
                name: "read_file".into(),
                arguments: r#"{"path":"x"}"#.into(),
            }],
            results: vec![Some("one line".into())],
            ..Step::default()
        };
        let rows = [
            row(Role::Summary, 1, &Content::model("F1 holds".into(), None)),
            row(
                Role::User,
                2,
                &Content::person("Ann", "what is in x?".into()),
            ),
            row(Role::Assistant, 2, &Content::step(&step)),
            row(Role::Assistant, 2, &Content::model("one line".into(), None)),
            row(Role::User, 3, &Content::person("", "thanks".into())),
        ];
        let (text, taken) = record(&rows, 1_000);
        assert_eq!(
            (text.as_str(), taken),
            (
                "Earlier summary:\nF1 holds\nAnn: what is in x?\n\
                 Assistant called read_file {\"path\":\"x\"}: one line\nAssistant: one line\nPerson: thanks\n",
                5
            )
        );
    }

    #[test]
    fn what_does_not_fit_is_left_for_the_next_time_turn_by_turn() {
        let long = "word ".repeat(100);
        let of = |turn| row(Role::User, turn, &Content::person("", long.clone()));
        let rows: Vec<History> = (0..12).map(|number| of(number / 2)).collect();
        let (text, taken) = record(&rows, 300);
        assert!(
            (4..12).contains(&taken) && taken.is_multiple_of(2),
            "{taken}"
        );
        assert_eq!(
            text.lines()
                .filter(|line| line.starts_with("Person: "))
                .count(),
            taken
        );
        assert!(estimate_tokens(&text) <= 300);
        let (text, taken) = record(&[of(1)], 20);
        assert!(taken == 1 && estimate_tokens(&text) <= 20);
    }
}
