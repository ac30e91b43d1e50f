//! The parts of a conversation that fill a context, each with a name by which it can be dropped.
//!
//! Owns what a part is, its name, and what stands in its place once it was dropped. A part is a message, an answer, a
//! summary, or a call with its result. Pure; it never reads or writes the store.

use std::collections::HashSet;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use weirgate_sdk::Timestamp;

use super::{PER_MESSAGE, clean_name, costs, estimate_tokens, from_row};
use crate::{
    agent::{
        enclosed::Known,
        history::{Content, Part as Stored, Step},
        model::ToolCall,
        tool::{context, execute::FAILED},
    },
    hex::hex,
    store::{History, Role},
};

/// Stands for what was dropped.
pub const MARK: &str = "[dropped from the context]";
/// Stands for the arguments of a call that was dropped: providers want an object.
const MARK_ARGUMENTS: &str = r#"{"dropped":"from the context"}"#;
/// Arguments of so many tokens stay: they say what the call was.
const SHORT: usize = 60;
/// Characters of a part's name.
const NAME: usize = 10;
/// What is told of how a part begins, in characters.
const BEGINS: usize = 60;

/// One part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name: the beginning of a hash of what it is, so that it stays when rows before it go.
    pub name: String,
    /// Tokens that it takes, about.
    pub tokens: usize,
    /// When it was said; `None` for what belongs to the turn under way.
    pub at: Option<Timestamp>,
    /// What it is and how it begins, on one line.
    pub what: String,
}

/// The parts of earlier rows, oldest first. What people said without being answered is none: it passes by itself.
#[must_use]
pub fn of_rows(rows: &[History], known: &Known) -> Vec<Part> {
    let rows = rows.iter().filter(|row| row.role != Role::Ambient);
    rows.flat_map(|row| of_row(row, known)).collect()
}

/// The parts of the turn under way: the calls that have a result.
#[must_use]
pub fn of_steps(steps: &[Step]) -> Vec<Part> {
    steps.iter().flat_map(|step| of_step(step, None)).collect()
}

fn of_row(row: &History, known: &Known) -> Vec<Part> {
    let Some(content) = Content::decode(&row.parts) else {
        return Vec::new();
    };
    let step = content.as_step();
    if !step.calls.is_empty() {
        return of_step(&step, Some(row.at));
    }
    let text = content.text();
    if text == MARK {
        return Vec::new();
    }
    let speaker = clean_name(&content.name);
    let kind = match row.role {
        Role::Summary => "summary".to_owned(),
        Role::Assistant => "answer".to_owned(),
        _ if speaker.is_empty() => "message".to_owned(),
        _ => format!("message of {speaker}"),
    };
    let tokens = from_row(row, known).map_or(0, |messages| costs(&messages));
    vec![Part {
        name: name_of_row(row),
        tokens,
        at: Some(row.at),
        what: format!("{kind}: {}", beginning(&text)),
    }]
}

fn of_step(step: &Step, at: Option<Timestamp>) -> Vec<Part> {
    let calls = step.calls.iter().zip(&step.results);
    let part = |(call, result): (&ToolCall, &Option<String>)| {
        let result = result.as_deref().filter(|result| *result != MARK)?;
        Some(Part {
            name: name_of_call(call, result),
            tokens: estimate_tokens(&call.arguments) + estimate_tokens(result) + 2 * PER_MESSAGE,
            at,
            what: format!("call of {} {}", call.name, beginning(&call.arguments)),
        })
    };
    calls.filter_map(part).collect()
}

/// The names of what a turn has had dropped so far, read from its own calls: so a turn that a crash cut off knows it too.
#[must_use]
pub fn dropped(steps: &[Step]) -> HashSet<String> {
    let calls = steps
        .iter()
        .flat_map(|step| step.calls.iter().zip(&step.results));
    let done = calls.filter(|(call, result)| {
        let told = result.as_deref();
        call.name == context::NAME && told.is_some_and(|told| !told.starts_with(FAILED))
    });
    let wanted = done.filter_map(|(call, _)| {
        let arguments: Map<String, Value> = serde_json::from_str(&call.arguments).ok()?;
        Some(context::wanted(&arguments))
    });
    wanted.flatten().collect()
}

/// A row without the parts of these names; `None` if it has none of them.
#[must_use]
pub fn row_without(row: &History, names: &HashSet<String>) -> Option<History> {
    let mut content = Content::decode(&row.parts)?;
    let step = content.as_step();
    if step.calls.is_empty() {
        if !names.contains(&name_of_row(row)) || content.text() == MARK {
            return None;
        }
        // What a turn cost is told of it all the same.
        content.parts.retain(|part| matches!(part, Stored::Cost(_)));
        let text = MARK.to_owned();
        content.parts.insert(0, Stored::Text { text });
    } else {
        let gone = calls_of(&step, names);
        let lists = lists_of(&step);
        let mut changed = false;
        for part in &mut content.parts {
            match part {
                Stored::Call { id, arguments, .. } if gone.contains(id) => shorten(arguments),
                Stored::Result { id, text } if gone.contains(id) => {
                    MARK.clone_into(text);
                    changed = true;
                }
                Stored::Result { id, text } if lists.contains(id) => changed |= unlist(text, names),
                _ => {}
            }
        }
        if !changed {
            return None;
        }
    }
    Some(History {
        parts: content.encode(),
        ..row.clone()
    })
}

/// Takes the parts of these names out of a step.
pub fn drop_from(step: &mut Step, names: &HashSet<String>) {
    let gone = calls_of(step, names);
    for (call, result) in step.calls.iter_mut().zip(&mut step.results) {
        if gone.contains(&call.id) {
            shorten(&mut call.arguments);
            *result = Some(MARK.to_owned());
        } else if call.name == context::NAME
            && let Some(result) = result
        {
            unlist(result, names);
        }
    }
}

/// The ids of the calls whose results list parts.
fn lists_of(step: &Step) -> HashSet<String> {
    let lists = step.calls.iter().filter(|call| call.name == context::NAME);
    lists.map(|call| call.id.clone()).collect()
}

/// Takes the lines about parts of these names out of a list, because they tell how they begin; says whether there were any.
fn unlist(list: &mut String, names: &HashSet<String>) -> bool {
    let about = |line: &&str| !names.iter().any(|name| line.contains(name.as_str()));
    let kept: Vec<&str> = list.lines().filter(about).collect();
    let changed = kept.len() < list.lines().count();
    if changed {
        *list = kept.join("\n");
    }
    changed
}

/// The ids of the calls that have these names.
fn calls_of(step: &Step, names: &HashSet<String>) -> HashSet<String> {
    let calls = step.calls.iter().zip(&step.results);
    let gone = calls.filter(|(call, result)| {
        let result = result.as_deref();
        result.is_some_and(|result| names.contains(&name_of_call(call, result)))
    });
    gone.map(|(call, _)| call.id.clone()).collect()
}

fn shorten(arguments: &mut String) {
    if estimate_tokens(arguments) > SHORT {
        MARK_ARGUMENTS.clone_into(arguments);
    }
}

fn name_of_row(row: &History) -> String {
    name(&[&format!("{:?} {}", row.role, row.turn), &row.parts])
}

/// The id of a call is not in it: another one is given where a turn goes on after a wait.
fn name_of_call(call: &ToolCall, result: &str) -> String {
    name(&[&call.name, &call.arguments, result])
}

fn name(of: &[&str]) -> String {
    let mut digest = Sha256::new();
    for piece in of {
        digest.update((piece.len() as u64).to_be_bytes());
        digest.update(piece);
    }
    hex(&digest.finalize()).chars().take(NAME).collect()
}

/// How a text begins, on one line.
fn beginning(text: &str) -> String {
    let words = text.split_whitespace();
    let mut begins = String::new();
    for word in words {
        if begins.chars().count() >= BEGINS {
            break;
        }
        if !begins.is_empty() {
            begins.push(' ');
        }
        begins.push_str(word);
    }
    match begins.char_indices().nth(BEGINS) {
        Some((end, _)) => format!("{}…", begins.get(..end).unwrap_or_default()),
        None => begins,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{context::row_cost, history::Cost};

    fn row(role: Role, turn: i64, content: &Content) -> History {
        History {
            role,
            turn,
            at: 7,
            parts: content.encode(),
        }
    }

    fn step() -> Step {
        let call = |id: &str, arguments: &str| ToolCall {
            id: id.into(),
            name: "read_file".into(),
            arguments: arguments.into(),
        };
        Step {
            text: "I look".into(),
            calls: vec![call("a", r#"{"path":"x"}"#), call("b", r#"{"path":"y"}"#)],
            results: vec![Some("long ".repeat(400)), Some("short".into())],
            ..Step::default()
        }
    }

    fn names(parts: &[Part]) -> HashSet<String> {
        parts.iter().map(|part| part.name.clone()).collect()
    }

    #[test]
    fn each_part_is_told_once_and_is_dropped_by_its_name_alone() {
        let mut answer = Content::model("done".into(), Some("because".into()));
        let cost = Cost {
            model: "p/m".into(),
            ..Cost::default()
        };
        answer.parts.push(Stored::Cost(cost.clone()));
        let rows = [
            row(Role::Summary, 1, &Content::model("F1 holds".into(), None)),
            row(
                Role::User,
                2,
                &Content::person("Ann", "what\nis  in x?".into()),
            ),
            row(Role::Assistant, 2, &Content::step(&step())),
            row(Role::Assistant, 2, &answer),
            row(Role::Ambient, 0, &Content::person("Bob", "lunch?".into())),
        ];
        let parts = of_rows(&rows, &Known::new());
        let told: Vec<&str> = parts.iter().map(|part| part.what.as_str()).collect();
        assert_eq!(
            told,
            [
                "summary: F1 holds",
                "message of Ann: what is in x?",
                r#"call of read_file {"path":"x"}"#,
                r#"call of read_file {"path":"y"}"#,
                "answer: done"
            ]
        );
        assert_eq!(names(&parts).len(), parts.len());
        for part in &parts {
            let only = HashSet::from([part.name.clone()]);
            let changed: Vec<History> = rows
                .iter()
                .map(|row| row_without(row, &only).unwrap_or_else(|| row.clone()))
                .collect();
            let others = rows.iter().zip(&changed).filter(|(old, new)| old != new);
            assert_eq!(others.count(), 1, "{part:?}");
            let left = names(&of_rows(&changed, &Known::new()));
            let mut expected = names(&parts);
            expected.remove(&part.name);
            assert_eq!(left, expected);
        }
        let all = names(&parts);
        let answer = rows.get(3).and_then(|row| row_without(row, &all)).unwrap();
        let content = Content::decode(&answer.parts).unwrap();
        assert_eq!(
            (content.text().as_str(), content.reasoning(), content.cost()),
            (MARK, None, Some(&cost))
        );
        let calls = rows.get(2).and_then(|row| row_without(row, &all)).unwrap();
        assert!(row_cost(&calls) < 60, "{}", row_cost(&calls));
        assert_eq!(row_without(&calls, &all), None, "dropped is dropped");
    }

    #[test]
    fn a_call_has_the_same_name_while_its_turn_goes_on_and_later_whatever_its_id_is() {
        let running = of_steps(&[step()]);
        let mut renamed = step();
        for call in &mut renamed.calls {
            call.id.push('2');
        }
        let stored = row(Role::Assistant, 2, &Content::step(&renamed));
        assert_eq!(names(&running), names(&of_rows(&[stored], &Known::new())));
    }

    #[test]
    fn what_a_turn_dropped_is_what_its_calls_say_that_did_not_fail() {
        let mut steps = vec![step()];
        let part = of_steps(&steps).remove(0);
        let drop = |id: &str, name: &str, result: &str| Step {
            calls: vec![ToolCall {
                id: id.into(),
                name: context::NAME.into(),
                arguments: serde_json::json!({ "action": "drop", "parts": [name] }).to_string(),
            }],
            results: vec![Some(result.into())],
            ..Step::default()
        };
        steps.push(drop("c", &part.name, "Dropped."));
        steps.push(drop("d", "ffffffffff", "Error: there is none"));
        let gone = dropped(&steps);
        assert_eq!(gone, HashSet::from([part.name]));
        let mut first = step();
        drop_from(&mut first, &gone);
        assert_eq!(
            first.results,
            [Some(MARK.to_owned()), Some("short".to_owned())]
        );
        assert_eq!(
            first.calls[0].arguments, r#"{"path":"x"}"#,
            "it says what it was"
        );
    }

    #[test]
    fn large_arguments_go_too_and_what_stays_is_an_object() {
        let mut large = step();
        large.calls[0].arguments = format!(r#"{{"content":"{}"}}"#, "x".repeat(4_000));
        let names = names(&of_steps(std::slice::from_ref(&large)));
        drop_from(&mut large, &names);
        let arguments: Value = serde_json::from_str(&large.calls[0].arguments).unwrap();
        assert!(arguments.is_object() && large.calls[0].arguments.len() < 60);
    }

    #[test]
    fn a_beginning_is_one_short_line() {
        assert_eq!(beginning(" a\n b\t"), "a b");
        let long = beginning(&"字".repeat(500));
        assert_eq!(long.chars().count(), BEGINS + 1);
    }
}
