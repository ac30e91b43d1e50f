//! Plans: what shares a statement, and that operations on one row stay in their order.

use proptest::prelude::*;

use super::*;
use crate::store::{Begin, EndState, HistoryScope, Receipt, ReceiptOutcome, TurnState};

fn begin(turn: i64) -> Write {
    Write::Begin(Begin { turn, at: 0 }, Box::new(|_| {}))
}

fn intent(id: i64) -> Write {
    Write::Intent {
        id,
        part: 0,
        then: Box::new(|_| {}),
    }
}

fn receipt(id: i64) -> Write {
    let receipt = Receipt {
        id,
        part: 0,
        outcome: ReceiptOutcome::Failed { reason: "blocked" },
        at: 0,
    };
    Write::Receipt(receipt, Box::new(|_| {}))
}

fn end(id: i64) -> Write {
    let end = End {
        id,
        state: EndState::Dropped,
        reason: "queue_full",
        at: 0,
    };
    Write::End {
        ends: vec![end],
        notices: Vec::new(),
        then: Box::new(|_| {}),
    }
}

fn amend(id: i64) -> Write {
    Write::Amend {
        id,
        body: "{}".into(),
        then: Box::new(|_| {}),
    }
}

/// A turn that took one more message and answers both.
fn finish(turn: i64) -> Write {
    let reply = NewReply {
        conversation: 1,
        turn: Some(turn),
        sending: false,
        shown: false,
        due_at: 0,
        body: "{}".into(),
    };
    let finish = Finish {
        turn,
        begun: true,
        members: vec![turn, turn + 100],
        state: TurnState::Done,
        reason: None,
        history: Vec::new(),
        scope: HistoryScope {
            conversation: 1,
            person: 0,
        },
        replies: vec![reply.clone(), reply],
        effects: Vec::new(),
        at: 0,
    };
    Write::Finish(finish.into(), Box::new(|_| {}))
}

fn plan(batch: &[Write]) -> Plan<'_> {
    let numbers = Numbers::default();
    Planner::new(&numbers, 1000, 0).plan(batch).unwrap()
}

/// Row and kind of every change, in the order of the statements.
fn steps(plan: &Plan<'_>) -> Vec<(i64, &'static str)> {
    let mut steps = Vec::new();
    for wave in &plan.waves {
        let kinds: [(&[i64], _); 6] = [
            (&wave.begins.turns, "begin"),
            (&wave.turns.ids, "finish"),
            (&wave.ends.ids, "end"),
            (&wave.amends.0, "amend"),
            (&wave.intents.ids, "intent"),
            (&wave.receipts.ids, "receipt"),
        ];
        for (ids, kind) in kinds {
            steps.extend(ids.iter().map(|id| (*id, kind)));
        }
    }
    steps
}

#[test]
fn what_touches_no_common_row_shares_its_statements() {
    let mut batch = Vec::new();
    for id in 1..=50 {
        batch.extend([begin(id), finish(id), intent(id), receipt(id)]);
    }
    let plan = plan(&batch);
    assert_eq!(
        plan.waves.len(),
        1,
        "a whole life of one row is in order too"
    );
    let wave = &plan.waves[0];
    assert_eq!(wave.begins.turns.len(), 50);
    assert_eq!(wave.replies.ids.len(), 100);
    assert_eq!(wave.members.ids.len(), 50, "the other has an outbox row");
    assert_eq!(plan.lowest_reply, Some(1));
}

#[test]
fn ids_are_given_out_in_the_order_of_the_batch() {
    let batch = [finish(1), end(7), finish(2)];
    let needed: usize = batch.iter().map(ids).sum();
    let plan = plan(&batch);
    let told: Vec<_> = plan
        .outcomes
        .iter()
        .map(|outcome| match outcome {
            Outcome::Ids(ids) => ids.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(told, [vec![1, 1001], vec![], vec![2, 1002]]);
    assert_eq!(needed, 2);
}

#[test]
fn the_last_value_of_a_setting_counts() {
    let set = |value: Option<&str>| Effect::Set {
        of: crate::store::Place {
            conversation: 1,
            person: 0,
        },
        key: "lang".into(),
        value: value.map(str::to_owned),
    };
    let effects = [set(Some("en")), set(None), set(Some("zh-CN"))];
    let numbers = Numbers::default();
    let plan = Planner::new(&numbers, 1000, 0).plan_effects(&effects, 0);
    let values: Vec<_> = plan.settings.into_values().collect();
    assert_eq!(values, [Some("zh-CN")]);
}

proptest! {
    #[test]
    fn operations_on_one_row_stay_in_order(choices in proptest::collection::vec((0..6_u8, 1..4_i64), 0..40)) {
        let mut batch = Vec::new();
        let mut expected = Vec::new();
        for (kind, id) in choices {
            let (write, kind) = match kind {
                0 => (begin(id), "begin"),
                1 => (finish(id), "finish"),
                2 => (end(id), "end"),
                3 => (amend(id), "amend"),
                4 => (intent(id), "intent"),
                _ => (receipt(id), "receipt"),
            };
            batch.push(write);
            expected.push((id, kind));
        }
        let plan = plan(&batch);
        let of = |steps: &[(i64, &'static str)], id: i64| {
            let own = steps.iter().filter(|step| step.0 == id);
            own.map(|step| step.1).collect::<Vec<_>>()
        };
        let done = steps(&plan);
        for id in 1..4 {
            prop_assert_eq!(of(&done, id), of(&expected, id));
        }
        for wave in &plan.waves {
            let mut seen = HashSet::new();
            prop_assert!(wave.replies.ids.iter().all(|id| seen.insert(*id)), "a row twice in a statement");
        }
    }
}
