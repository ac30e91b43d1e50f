//! A stored history that no provider would take, mended while it is read.
//!
//! Owns what is wrong with rows and what becomes of them: an older version, a cut-off model or a damaged database may have
//! left calls that are no JSON, ids that stand twice, or messages that say nothing. It changes nothing in the store. Pure.

use std::collections::{HashSet, VecDeque};

use super::Row;
use crate::{
    agent::model::{Message, Role, calls::object},
    store,
};

/// Makes rows that can be sent of those that were stored; `None` is a row that could not be read. Tells how many were
/// left out or changed.
pub(super) fn repair(
    stored: impl Iterator<Item = (store::Role, Option<Vec<Message>>)>,
) -> (Vec<Row>, usize) {
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    let mut repaired = 0;
    for (role, messages) in stored {
        let Some(mut messages) = messages else {
            repaired += 1;
            continue;
        };
        let mended = mend(&mut messages, &mut seen);
        repaired += usize::from(mended || messages.is_empty());
        if !messages.is_empty() {
            rows.push(Row {
                summary: role == store::Role::Summary,
                messages,
            });
        }
    }
    (rows, repaired)
}

/// Gives the calls of a turn's own messages ids that no call before them has: another model may have taken the same.
pub(super) fn distinct(messages: &mut [Message], before: &[Row]) {
    let before = before.iter().flat_map(|row| &row.messages);
    let before = before.flat_map(|message| &message.calls);
    let mut seen: HashSet<String> = before.map(|call| call.id.clone()).collect();
    let mut ids = VecDeque::new();
    for message in messages {
        for call in &mut message.calls {
            call.id = free_id(&call.id, &mut seen);
            ids.push_back(call.id.clone());
        }
        // The results of a step follow its calls, one for each, in order.
        if let Some(answers) = &mut message.answers
            && let Some(id) = ids.pop_front()
        {
            *answers = id;
        }
    }
}

/// Mends the messages of a row; says whether it had to.
fn mend(messages: &mut Vec<Message>, seen: &mut HashSet<String>) -> bool {
    let mut mended = false;
    let mut ids = Vec::new();
    for message in messages.iter_mut() {
        for call in &mut message.calls {
            if object(&call.arguments).is_none() {
                "{}".clone_into(&mut call.arguments);
                mended = true;
            }
            let free = free_id(&call.id, seen);
            mended |= free != call.id;
            call.id.clone_from(&free);
            ids.push(free);
        }
    }
    // The results of a row follow its calls, one for each, in order.
    let answers = messages
        .iter_mut()
        .filter_map(|message| message.answers.as_mut());
    for (answers, id) in answers.zip(ids) {
        *answers = id;
    }
    let before = messages.len();
    messages.retain(|message| message.role == Role::Tool || says_something(message));
    mended || messages.len() < before
}

/// An id that no call before it has, this one if possible.
fn free_id(id: &str, seen: &mut HashSet<String>) -> String {
    let mut free = if id.is_empty() { "call" } else { id }.to_owned();
    let mut number = 1;
    while !seen.insert(free.clone()) {
        number += 1;
        free = format!("{id}-{number}");
    }
    free
}

fn says_something(message: &Message) -> bool {
    !(message.text.trim().is_empty() && message.calls.is_empty() && message.enclosed.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::model::ToolCall;

    fn call(id: &str, arguments: &str) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: "f".into(),
            arguments: arguments.into(),
        }
    }

    fn step(calls: &[ToolCall]) -> Vec<Message> {
        let called = Message {
            calls: calls.to_vec(),
            ..Message::words(Role::Assistant, String::new())
        };
        let results = calls.iter().map(|call| Message {
            answers: Some(call.id.clone()),
            ..Message::words(Role::Tool, String::new())
        });
        std::iter::once(called).chain(results).collect()
    }

    fn repaired(rows: Vec<Option<Vec<Message>>>) -> (Vec<Message>, usize) {
        let rows = rows.into_iter().map(|row| (store::Role::Assistant, row));
        let (rows, count) = repair(rows);
        (
            rows.into_iter().flat_map(|row| row.messages).collect(),
            count,
        )
    }

    #[test]
    fn a_call_that_was_cut_off_is_sent_as_a_whole_object() {
        for cut in [
            "",
            "{\"path\":\"notes/a\",\"content\":\"line1",
            "[1]",
            "\"x\"",
        ] {
            let (messages, count) = repaired(vec![Some(step(&[call("a", cut)]))]);
            assert_eq!((messages[0].calls[0].arguments.as_str(), count), ("{}", 1));
        }
        let sound = step(&[call("a", r#"{"x":1}"#)]);
        assert_eq!(repaired(vec![Some(sound.clone())]), (sound, 0));
    }

    #[test]
    fn every_id_is_there_once_and_its_result_with_it() {
        let twice = [call("a", "{}"), call("a", "{}"), call("", "{}")];
        let (messages, _) = repaired(vec![Some(step(&twice)), Some(step(&twice))]);
        let calls = messages.iter().flat_map(|message| &message.calls);
        let ids: Vec<&str> = calls.map(|call| call.id.as_str()).collect();
        let answers: Vec<&str> = messages
            .iter()
            .filter_map(|message| message.answers.as_deref())
            .collect();
        assert_eq!(ids, answers);
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 6, "{ids:?}");
    }

    #[test]
    fn calls_of_the_turn_do_not_take_ids_of_earlier_ones() {
        let (rows, _) =
            repair([(store::Role::Assistant, Some(step(&[call("a", "{}")])))].into_iter());
        let mut work = step(&[call("a", "{}"), call("b", "{}")]);
        work.extend(step(&[call("b", "{}")]));
        distinct(&mut work, &rows);
        let calls = work.iter().flat_map(|message| &message.calls);
        let ids: Vec<&str> = calls.map(|call| call.id.as_str()).collect();
        let answers: Vec<&str> = work
            .iter()
            .filter_map(|message| message.answers.as_deref())
            .collect();
        assert_eq!(ids, ["a-2", "b", "b-2"]);
        assert_eq!(answers, ids);
    }

    #[test]
    fn what_cannot_be_read_or_says_nothing_is_left_out() {
        let silent = vec![Message::words(Role::Assistant, " \n".into())];
        let words = vec![Message::words(Role::User, "words".into())];
        let (messages, count) = repaired(vec![None, Some(silent), Some(words.clone())]);
        assert_eq!((messages, count), (words, 2));
    }
}
