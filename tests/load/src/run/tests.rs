use std::collections::BTreeSet;

use super::{Plan, Shape, TAG, Turnstile, run};
use crate::address::socket_url;

fn plan(users: usize, messages: usize, shape: Shape) -> Plan {
    Plan {
        target: socket_url("ws://127.0.0.1:9").unwrap(),
        token: None,
        pid: None,
        users,
        messages,
        shape,
        text: TAG.to_owned(),
    }
}

/// Answers the oldest message until none is left: how many went first, and what was sent.
fn play(plan: &Plan) -> (usize, BTreeSet<usize>) {
    let mut turnstile = Turnstile::new(plan);
    let first = turnstile.first();
    let mut waiting: std::collections::VecDeque<usize> = (0..first).collect();
    let mut sent = BTreeSet::new();
    while let Some(number) = waiting.pop_front() {
        assert!(sent.insert(number), "{number} was sent twice");
        waiting.extend(turnstile.after(number));
    }
    (first, sent)
}

#[test]
fn every_message_is_sent_once_in_each_shape() {
    let shapes = [
        (Shape::Window(4), 4),
        (Shape::UserWindow(2), 6),
        (Shape::Burst, 20),
        (Shape::Window(100), 20),
    ];
    for (shape, at_once) in shapes {
        let (first, sent) = play(&plan(3, 20, shape));
        assert_eq!(first, at_once, "{shape:?}");
        assert_eq!(sent, (0..20).collect(), "{shape:?}");
    }
}

#[test]
fn an_answer_of_a_user_lets_his_own_next_message_go() {
    let mut turnstile = Turnstile::new(&plan(3, 20, Shape::UserWindow(2)));
    assert_eq!(turnstile.first(), 6);
    assert_eq!(turnstile.after(4), Some(7));
    assert_eq!(turnstile.after(1), Some(10));
    assert_eq!(turnstile.after(0), Some(6));
}

#[tokio::test]
async fn plans_out_of_bounds_are_refused() {
    let mut wrong = [
        plan(0, 1, Shape::Burst),
        plan(1, 0, Shape::Burst),
        plan(1, 200_001, Shape::Burst),
        plan(1, 1, Shape::Burst),
    ];
    wrong[3].text = "no tag".to_owned();
    for plan in wrong {
        assert!(run(&plan).await.is_err(), "{plan:?}");
    }
}
