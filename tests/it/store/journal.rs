//! The five transactions, duplicates and ends.

use weirgate::store::{
    Begin, Effect, EndState, Finish, LastStop, ReceiptOutcome, StoreError, TurnState,
    WaitingFilter, Write, commit,
};

use super::{Bed, DAY, Engine, NOW, conversation, finish, message, person, reply, sent};

async fn accepted_messages_wait_in_order_with_all_that_was_said_of_them(on: Engine) {
    let bed = Bed::new(on).await;
    let accepted = bed
        .accept((0..300).map(|n| message(&format!("e{n}"))).collect())
        .await;
    let waiting = bed.waiting().await;
    assert_eq!(waiting.len(), 300);
    assert!(accepted.is_sorted_by(|a, b| a.id < b.id));
    for (number, (accepted, waiting)) in accepted.iter().zip(&waiting).enumerate() {
        assert_eq!((accepted.id, accepted.duplicate), (waiting.id, false));
        assert_eq!(
            (accepted.account, accepted.conversation, accepted.person),
            (waiting.account, waiting.conversation, waiting.person)
        );
        assert_eq!((waiting.route, waiting.priority, waiting.at), (3, -2, NOW));
        assert_eq!(waiting.body, message(&format!("e{number}")).body);
        assert_eq!(waiting.attempts, 0);
    }
    let store = bed.store();
    assert_eq!(
        store.conversation(waiting[0].conversation).await.unwrap(),
        Some(conversation("g1"))
    );
    assert_eq!(
        store.person(waiting[0].person).await.unwrap(),
        Some(person("someone"))
    );
    assert_eq!(store.person(12_345).await.unwrap(), None);
}

async fn waiting_messages_come_in_pages_and_by_filter(on: Engine) {
    let bed = Bed::new(on).await;
    let mut messages: Vec<_> = (0..20).map(|n| message(&format!("e{n}"))).collect();
    for (number, message) in messages.iter_mut().enumerate() {
        message.conversation = conversation(if number % 2 == 0 { "even" } else { "odd" });
        message.person = person(if number % 5 == 0 { "five" } else { "else" });
    }
    let accepted = bed.accept(messages).await;
    let store = bed.store();
    let page = store
        .waiting(accepted[4].id, WaitingFilter::default(), 3)
        .await
        .unwrap();
    let ids: Vec<i64> = page.iter().map(|waiting| waiting.id).collect();
    assert_eq!(ids, [accepted[5].id, accepted[6].id, accepted[7].id]);

    let filter = WaitingFilter {
        conversation: Some(accepted[1].conversation),
        person: Some(accepted[0].person),
        account: Some(accepted[0].account),
        ..WaitingFilter::default()
    };
    let ids: Vec<i64> = store
        .waiting(0, filter.clone(), 100)
        .await
        .unwrap()
        .iter()
        .map(|waiting| waiting.id)
        .collect();
    assert_eq!(ids, [accepted[5].id, accepted[15].id]);
    let other = WaitingFilter {
        account: Some(accepted[0].account + 1),
        ..filter
    };
    assert_eq!(store.waiting(0, other, 100).await.unwrap(), []);
}

async fn an_equal_event_is_a_duplicate_in_the_same_batch_and_later(on: Engine) {
    let mut bed = Bed::new(on).await;
    let first = bed
        .accept(vec![message("a"), message("b"), message("a")])
        .await;
    assert!(!first[0].duplicate && !first[1].duplicate && first[2].duplicate);
    assert_eq!(first[2].id, first[0].id);
    bed.finish(finish(&[first[0].id])).await.unwrap();
    bed.crash().await;
    let again = bed.accept(vec![message("a"), message("c")]).await;
    assert_eq!(
        (again[0].id, again[0].duplicate),
        (first[0].id, true),
        "ended ones count too"
    );
    assert!(!again[1].duplicate);
    assert_eq!(bed.waiting_ids().await, [first[1].id, again[1].id]);
}

async fn an_event_whose_time_is_over_is_a_new_one(on: Engine) {
    let bed = Bed::new(on).await;
    let mut old = message("a");
    old.event_until = NOW + 1000;
    let first = bed.accept(vec![old]).await[0];
    let mut inside = message("a");
    inside.at = NOW + 999;
    assert!(bed.accept(vec![inside]).await[0].duplicate);
    let mut after = message("a");
    (after.at, after.event_until) = (NOW + 1000, NOW + DAY);
    let second = bed.accept(vec![after.clone()]).await[0];
    assert!(!second.duplicate && second.id > first.id);
    assert_eq!(bed.waiting_ids().await, [first.id, second.id]);
    assert_eq!(bed.accept(vec![after]).await[0].id, second.id);
}

async fn equal_events_of_two_accounts_are_two(on: Engine) {
    let bed = Bed::new(on).await;
    bed.accept(vec![message("a")]).await;
    let other = commit(&bed.store(), |then| Write::Accept {
        platform: "telegram".into(),
        account: "second".into(),
        messages: vec![message("a")],
        cursor: None,
        then,
    })
    .await;
    assert!(!other.unwrap()[0].duplicate);
}

async fn a_turn_is_counted_at_each_begin(on: Engine) {
    let bed = Bed::new(on).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    assert_eq!(bed.begin(id).await, 1);
    assert_eq!(bed.begin(id).await, 2);
    assert_eq!(bed.waiting().await[0].attempts, 2);
}

async fn a_finished_turn_ends_all_its_messages(on: Engine) {
    let bed = Bed::new(on).await;
    let ids: Vec<i64> = bed
        .accept(vec![message("a"), message("b"), message("c"), message("d")])
        .await
        .iter()
        .map(|accepted| accepted.id)
        .collect();
    let mut merged = finish(&ids[..3]);
    merged.replies = vec![reply(ids[0], "one"), reply(ids[0], "two")];
    let replies = bed.finish(merged).await.unwrap();
    assert_eq!(replies[0], ids[0], "the first answer has the turn's id");
    assert!(replies[1] > ids[3], "the others have new ones");
    assert_eq!(bed.waiting_ids().await, [ids[3]]);
    bed.finish(finish(&ids[3..])).await.unwrap();
    assert_eq!(bed.waiting_ids().await, [] as [i64; 0]);

    let pending = bed.store().pending_replies(None, 0, 10).await.unwrap();
    let seen: Vec<_> = pending
        .iter()
        .map(|reply| (reply.id, reply.turn, &*reply.body))
        .collect();
    assert_eq!(
        seen,
        [
            (replies[0], Some(ids[0]), r#"{"t":"one","f":"plain"}"#),
            (replies[1], Some(ids[0]), r#"{"t":"two","f":"plain"}"#)
        ]
    );
}

async fn a_turn_ends_once(on: Engine) {
    let bed = Bed::new(on).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    let mut turn = finish(&[id]);
    turn.replies = vec![reply(id, "one")];
    bed.finish(turn.clone()).await.unwrap();
    bed.finish(turn).await.unwrap_err();
    assert_eq!(
        bed.store()
            .pending_replies(None, 0, 10)
            .await
            .unwrap()
            .len(),
        1
    );
}

async fn an_answer_goes_from_part_to_part_until_it_is_sent(on: Engine) {
    let bed = Bed::new(on).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    let mut turn = finish(&[id]);
    turn.replies = vec![reply(id, "long")];
    turn.replies[0].due_at = NOW + 5;
    bed.finish(turn).await.unwrap();
    let store = bed.store();
    let pending = store.pending_replies(None, 0, 10).await.unwrap().remove(0);
    assert_eq!(
        (pending.part, pending.due_at, pending.created_at),
        (0, NOW + 5, NOW)
    );

    bed.intent(id, 0).await;
    bed.receipt(id, 0, sent("m1", false)).await;
    let pending = store.pending_replies(None, 0, 10).await.unwrap().remove(0);
    assert_eq!(
        (pending.part, pending.in_doubt, pending.unknown),
        (1, false, false)
    );

    bed.intent(id, 1).await;
    let retry = ReceiptOutcome::Retry {
        due_at: NOW + 700,
        reason: "flood",
    };
    bed.receipt(id, 1, retry).await;
    let pending = store.pending_replies(None, 0, 10).await.unwrap().remove(0);
    assert_eq!(
        (pending.part, pending.due_at, pending.attempts),
        (1, NOW + 700, 0)
    );

    bed.intent(id, 1).await;
    bed.receipt(id, 1, sent("m2", true)).await;
    assert_eq!(store.pending_replies(None, 0, 10).await.unwrap(), []);
}

async fn an_unknown_answer_is_held_and_a_lost_one_is_over(on: Engine) {
    let bed = Bed::new(on).await;
    let ids: Vec<i64> = bed
        .accept(vec![message("a"), message("b"), message("c")])
        .await
        .iter()
        .map(|accepted| accepted.id)
        .collect();
    for id in &ids {
        let mut turn = finish(&[*id]);
        turn.replies = vec![reply(*id, "x")];
        bed.finish(turn).await.unwrap();
    }
    bed.receipt(ids[0], 0, ReceiptOutcome::Unknown { reason: "timeout" })
        .await;
    bed.receipt(ids[1], 0, ReceiptOutcome::Failed { reason: "blocked" })
        .await;
    bed.receipt(ids[2], 0, ReceiptOutcome::Expired { reason: "too_old" })
        .await;
    let pending = bed.store().pending_replies(None, 0, 10).await.unwrap();
    assert_eq!(pending.len(), 1);
    assert!(pending[0].id == ids[0] && pending[0].unknown && !pending[0].in_doubt);
}

async fn messages_end_without_a_turn_and_with_a_notice(on: Engine) {
    let bed = Bed::new(on).await;
    let ids: Vec<i64> = bed
        .accept(vec![message("a"), message("b"), message("c")])
        .await
        .iter()
        .map(|accepted| accepted.id)
        .collect();
    let mut notice = reply(0, "two were dropped");
    notice.turn = None;
    let notices = bed.end(&ids[..2], EndState::Dropped, vec![notice]).await;
    assert_eq!(bed.waiting_ids().await, [ids[2]]);
    let pending = bed.store().pending_replies(None, 0, 10).await.unwrap();
    assert_eq!((pending[0].id, pending[0].turn), (notices[0], None));

    bed.end(&[ids[0], 999_999], EndState::Recalled, Vec::new())
        .await;
    let fate = bed
        .store()
        .fate(1, Some("a"), 1, i64::MAX)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (fate.state, fate.reason.as_deref()),
        ("dropped", Some("why_not")),
        "the first end"
    );
}

async fn an_edited_message_waits_with_its_new_body(on: Engine) {
    let bed = Bed::new(on).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    let body: Box<str> = r#"{"i":"a","t":"better"}"#.into();
    commit(&bed.store(), |then| Write::Amend {
        id,
        body: body.clone(),
        then,
    })
    .await
    .unwrap();
    assert_eq!(bed.waiting().await[0].body, body);
    assert_eq!(
        bed.store().bodies(&[777, id]).await.unwrap(),
        [None, Some(body)]
    );
}

async fn steps_are_kept_replaced_and_gone_with_the_turn(on: Engine) {
    let bed = Bed::new(on).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    let keep = async |turn: i64, step: u32, content: &str| {
        let content: Box<str> = content.into();
        commit(&bed.store(), |then| Write::Step {
            turn,
            step,
            content,
            then,
        })
        .await
        .unwrap();
    };
    keep(id, 1, "later").await;
    keep(id, 0, "first").await;
    keep(id, 1, "second \u{0}").await;
    keep(id + 1, 0, "another's").await;
    let kept = bed.store().steps(id).await.unwrap();
    assert_eq!(kept[0], "first");
    assert!(kept[1].starts_with("second ") && kept.len() == 2);
    let turn = Finish {
        effects: vec![Effect::StepsDone { turn: id }],
        ..finish(&[id])
    };
    bed.finish(turn).await.unwrap();
    assert_eq!(bed.store().steps(id).await.unwrap(), [""; 0]);
    assert_eq!(bed.store().steps(id + 1).await.unwrap().len(), 1);
}

async fn a_waiting_message_is_found_by_its_platform_id(on: Engine) {
    let bed = Bed::new(on).await;
    let mut elsewhere = message("x");
    elsewhere.conversation = conversation("g2");
    let mut same_id = message("y");
    same_id.body = message("x").body;
    let accepted = bed.accept(vec![message("x"), same_id, elsewhere]).await;
    let store = bed.store();
    let find = || async { store.find_waiting(&conversation("g1"), "x").await.unwrap() };
    assert_eq!(find().await.unwrap().id, accepted[1].id, "the newest");
    bed.finish(finish(&[accepted[1].id])).await.unwrap();
    assert_eq!(find().await.unwrap().id, accepted[0].id);
    bed.finish(finish(&[accepted[0].id])).await.unwrap();
    assert_eq!(find().await, None);
    assert_eq!(
        store
            .find_waiting(&conversation("nowhere"), "x")
            .await
            .unwrap(),
        None
    );
}

async fn many_accepts_under_way_all_land_in_the_order_of_each_caller(on: Engine) {
    let bed = Bed::new(on).await;
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..64 {
        let store = bed.store();
        callers.spawn(async move {
            for number in 0..20 {
                let write = commit(&store, |then| Write::Accept {
                    platform: "telegram".into(),
                    account: "main".into(),
                    messages: vec![message(&format!("{caller}.{number}"))],
                    cursor: None,
                    then,
                });
                write.await.unwrap();
            }
        });
    }
    callers.join_all().await;
    let waiting = bed.waiting().await;
    assert_eq!(waiting.len(), 64 * 20);
    for caller in 0..64 {
        let bodies: Vec<_> = waiting
            .iter()
            .filter(|waiting| waiting.body.contains(&format!("\"i\":\"{caller}.")))
            .map(|waiting| &waiting.body)
            .collect();
        let expected: Vec<_> = (0..20)
            .map(|n| message(&format!("{caller}.{n}")).body)
            .collect();
        assert_eq!(bodies, expected.iter().collect::<Vec<_>>());
    }
}

async fn a_failed_turn_says_why(on: Engine) {
    let bed = Bed::new(on).await;
    let ids: Vec<i64> = bed
        .accept(vec![message("a"), message("b")])
        .await
        .iter()
        .map(|row| row.id)
        .collect();
    let mut turn = finish(&ids);
    (turn.state, turn.reason) = (TurnState::Failed, Some("model_down"));
    turn.replies = vec![reply(ids[0], "sorry")];
    bed.finish(turn).await.unwrap();
    for event in ["a", "b"] {
        let fate = bed
            .store()
            .fate(1, Some(event), 1, i64::MAX)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            (fate.state, fate.reason.as_deref()),
            ("failed", Some("model_down")),
            "{event}"
        );
        assert_eq!(
            (fate.turn, fate.answer, fate.attempts),
            (Some(ids[0]), Some("ready"), 1)
        );
    }
}

async fn a_continuation_that_panics_does_not_stop_the_writer(on: Engine) {
    let bed = Bed::new(on).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    let begin = Begin { turn: id, at: NOW };
    bed.store()
        .write(Write::Begin(begin, Box::new(|_| panic!("a mistake"))))
        .await;
    assert_eq!(bed.begin(id).await, 2);
}

async fn what_is_handed_in_before_the_close_is_written_and_the_rest_refused(on: Engine) {
    let mut bed = Bed::new(on).await;
    let store = bed.store();
    for number in 0..100 {
        let write = Write::Accept {
            platform: "telegram".into(),
            account: "main".into(),
            messages: vec![message(&format!("e{number}"))],
            cursor: None,
            then: Box::new(|_| {}),
        };
        store.write(write).await;
    }
    store.close().await;
    let begin = Begin { turn: 1, at: NOW };
    let late = commit(&store, |then| Write::Begin(begin, then)).await;
    assert!(matches!(late, Err(StoreError::Closed)));
    assert!(
        store
            .try_write(Write::Begin(begin, Box::new(|_| {})))
            .is_err()
    );
    assert!(matches!(store.healthy().await, Err(StoreError::Closed)));
    let read = store.waiting(0, WaitingFilter::default(), 1).await;
    assert!(matches!(read, Err(StoreError::Closed)));
    store.close().await;
    drop(store);
    bed.restart().await;
    assert_eq!(bed.before, LastStop::Clean);
    assert_eq!(bed.waiting().await.len(), 100);
}

suite!(
    accepted_messages_wait_in_order_with_all_that_was_said_of_them,
    waiting_messages_come_in_pages_and_by_filter,
    an_equal_event_is_a_duplicate_in_the_same_batch_and_later,
    an_event_whose_time_is_over_is_a_new_one,
    equal_events_of_two_accounts_are_two,
    a_turn_is_counted_at_each_begin,
    a_finished_turn_ends_all_its_messages,
    a_turn_ends_once,
    an_answer_goes_from_part_to_part_until_it_is_sent,
    an_unknown_answer_is_held_and_a_lost_one_is_over,
    messages_end_without_a_turn_and_with_a_notice,
    an_edited_message_waits_with_its_new_body,
    steps_are_kept_replaced_and_gone_with_the_turn,
    a_waiting_message_is_found_by_its_platform_id,
    many_accepts_under_way_all_land_in_the_order_of_each_caller,
    a_failed_turn_says_why,
    a_continuation_that_panics_does_not_stop_the_writer,
    what_is_handed_in_before_the_close_is_written_and_the_rest_refused,
);
