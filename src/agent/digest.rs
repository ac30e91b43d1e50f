//! A long task in short: the steps of a turn, or of an errand, that a model has behind it, summarised so that it can go on.
//!
//! Owns when that is due, and what stands for the steps. What is stored of a turn stays whole: only its requests become
//! shorter. A summary that does not come changes nothing.

use std::time::Duration;

use super::{
    Agent,
    compact::{request, usable},
    context::{record::task, row_cost},
    history::{Content, Step},
    model::Silent,
    request::Question,
    turn::Input,
    work::Work,
};
use crate::{
    reason::Reason,
    store::{History, Role},
    trace::turn_id,
};

/// Messages of a task that are told word for word, at most: calls and results.
const MOST: usize = 20;
/// The newest of them that stay so, unless the last step alone has more.
const KEPT: usize = 5;
/// Steps that must be added after a failure before it is tried again.
const AFTER_FAILURE: usize = 4;
/// Longest time for a summary.
const LONGEST: Duration = Duration::from_secs(60);

/// What stands for the first steps of a task.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Digest {
    /// How many they are.
    pub(super) steps: usize,
    /// What came of them; empty as long as there is none.
    pub(super) text: String,
    /// How many steps there were when no summary came.
    failed: Option<usize>,
}

impl Agent {
    /// Puts a summary in the place of the steps that are behind, if there are many.
    pub(super) async fn digest(&self, input: &Input, question: &Question, work: &mut Work) {
        let rules = &input.rules;
        if !rules.settings.memory.context_window.summarize_beyond {
            return;
        }
        let Some(until) = due(&work.steps, &work.digest) else {
            return;
        };
        let rows = rows(question.said(), &work.digest, work.steps.get(..until));
        let (text, taken) = task(&rows, rules.settings.record_budget());
        // The question and what stood for the steps before are the first of them.
        let before = rows.len() - (until - work.digest.steps);
        let until = work.digest.steps + taken.saturating_sub(before);
        if until <= work.digest.steps {
            return;
        }
        let request = request(rules, &text, input.turn);
        let mut unseen = Silent;
        let run = rules
            .summaries
            .run(&request, &*rules.permits, None, &mut unseen, &self.random);
        let told = tokio::time::timeout(LONGEST, run).await;
        let note = |reason| self.traces.note(input.turn, reason, self.clock.now());
        let completion = match told {
            Ok(Ok(completion)) => completion,
            Ok(Err(error)) => return self.undigested(input, work, &error.to_string()),
            Err(_) => return self.undigested(input, work, "it took too long"),
        };
        let chain = &rules.summaries;
        self.charge(input, chain, (&request, &completion), &mut work.cost.lock());
        let most = rows.iter().map(row_cost).sum();
        match usable(&completion, most) {
            Ok(summary) => {
                let text = rules.composer.redactor().clean(summary).text.into_owned();
                work.digest = Digest {
                    steps: until,
                    text,
                    failed: None,
                };
                note(Reason::ContextSummarised);
            }
            Err(failed) => self.undigested(input, work, &failed.0),
        }
    }

    fn undigested(&self, input: &Input, work: &mut Work, what: &str) {
        let turn = turn_id(input.turn);
        tracing::warn!(%turn, what, "the steps of a task were not summarised and stay as they are");
        let now = self.clock.now();
        self.traces.note(input.turn, Reason::SummaryFailed, now);
        work.digest.failed = Some(work.steps.len());
    }
}

/// Messages that a step takes.
fn messages(step: &Step) -> usize {
    1 + step.calls.len()
}

/// Up to which step a summary is due.
fn due(steps: &[Step], digest: &Digest) -> Option<usize> {
    let soon = |failed: usize| steps.len() < failed + AFTER_FAILURE;
    if digest.failed.is_some_and(soon) {
        return None;
    }
    let open = steps.get(digest.steps..)?;
    if open.iter().map(messages).sum::<usize>() <= MOST {
        return None;
    }
    let mut stay = 0;
    let kept = open.iter().rev().take_while(|step| {
        let first = stay == 0;
        stay += messages(step);
        first || stay <= KEPT
    });
    let until = steps.len() - kept.count();
    (until > digest.steps).then_some(until)
}

/// What the summary is made of: what the task is, what is known of the steps before, and the steps; each as a turn of its own,
/// so that as many are taken as there is room for.
fn rows(task: &str, digest: &Digest, steps: Option<&[Step]>) -> Vec<History> {
    let row = |role, content: &Content| History {
        role,
        turn: 0,
        at: 0,
        parts: content.encode(),
    };
    let mut rows = vec![row(Role::User, &Content::person("", task.to_owned()))];
    if !digest.text.is_empty() {
        let known = Content::model(digest.text.clone(), None);
        rows.push(row(Role::Summary, &known));
    }
    let steps = steps.unwrap_or_default().iter().skip(digest.steps);
    rows.extend(steps.map(|step| row(Role::Assistant, &Content::step(step))));
    for (place, row) in (0_i64..).zip(&mut rows) {
        row.turn = place;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::model::ToolCall;

    fn step(calls: usize) -> Step {
        let call = ToolCall {
            id: "a".into(),
            name: "f".into(),
            arguments: "{}".into(),
        };
        Step {
            calls: vec![call; calls],
            results: vec![Some("x".into()); calls],
            ..Step::default()
        }
    }

    #[test]
    fn a_summary_is_due_when_there_are_many_messages_and_the_newest_stay() {
        let none = Digest::default();
        let ten = vec![step(1); 10];
        assert_eq!(due(&ten, &none), None);
        let eleven = vec![step(1); 11];
        assert_eq!(
            due(&eleven, &none),
            Some(9),
            "two steps of two messages stay"
        );
        let before = Digest {
            steps: 9,
            text: "known".into(),
            failed: None,
        };
        assert_eq!(due(&eleven, &before), None);
        assert_eq!(due(&vec![step(1); 20], &before), Some(18));
        // The last step always stays, however many calls it has.
        assert_eq!(due(&[step(1), step(30)], &none), Some(1));
        assert_eq!(due(&[step(30)], &none), None);
        let failed = Digest {
            failed: Some(11),
            ..Digest::default()
        };
        assert_eq!(due(&eleven, &failed), None);
        assert_eq!(due(&vec![step(1); 14], &failed), None);
        assert_eq!(due(&vec![step(1); 15], &failed), Some(13));
    }

    #[test]
    fn the_rows_are_the_task_what_is_known_and_the_steps_since() {
        let before = Digest {
            steps: 2,
            text: "known".into(),
            failed: None,
        };
        let rows = rows("look", &before, Some(&vec![step(1); 5]));
        let roles: Vec<Role> = rows.iter().map(|row| row.role).collect();
        let mut expected = vec![Role::User, Role::Summary];
        expected.extend([Role::Assistant; 3]);
        assert_eq!(roles, expected);
        let turns: Vec<i64> = rows.iter().map(|row| row.turn).collect();
        assert_eq!(turns, [0, 1, 2, 3, 4]);
    }
}
