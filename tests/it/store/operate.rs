//! What an operator sees of the journal and does in it.

use weirgate::store::{
    self, Accept, Action, Audit, AuditResult, Effect, EndState, Operate, Operated, Page,
    ReceiptOutcome, ReplyFilter, StoredReply, TurnState, Write,
};

use super::{Bed, DAY, Engine, NOW, finish, message, reply, sent};

const GIVEN_UP: ReplyFilter = ReplyFilter {
    waiting: false,
    given_up: true,
};
const ALL: ReplyFilter = ReplyFilter {
    waiting: true,
    given_up: true,
};

async fn operate(bed: &Bed, action: Action) -> Operated {
    let audit = Audit {
        event: "reply_retried",
        result: AuditResult::Done,
        operator: 0,
        target: format!("{action:?}"),
        conversation: 0,
        turn: 0,
        details: "{}".to_owned(),
        at: NOW,
    };
    let operate = Operate {
        action,
        at: NOW + 5,
        effects: vec![Effect::Audit(audit)],
    };
    store::commit(&bed.store(), |then| Write::Operate(Box::new(operate), then))
        .await
        .unwrap()
}

async fn replies(bed: &Bed, filter: ReplyFilter) -> Vec<StoredReply> {
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let page = bed.store().replies(after, filter, 2).await.unwrap();
        assert!(page.rows.len() <= 2);
        found.extend(page.rows);
        match page.next {
            Some(next) => after = next,
            None => return found,
        }
    }
}

async fn states(bed: &Bed, filter: ReplyFilter) -> Vec<(i64, &'static str)> {
    let found = replies(bed, filter).await;
    found.iter().map(|reply| (reply.id, reply.state)).collect()
}

async fn failed(bed: &Bed) -> Vec<i64> {
    let Page { rows, next } = bed.store().failed_messages(0, 100).await.unwrap();
    if let Some(next) = next {
        let rest = bed.store().failed_messages(next, 100).await.unwrap();
        assert_eq!((rest.rows, rest.next), (Vec::new(), None));
    }
    rows.iter().map(|row| row.id).collect()
}

async fn pending(bed: &Bed) -> Vec<(i64, u32)> {
    let pending = bed.store().pending_replies(None, 0, 100).await.unwrap();
    let ready = pending.iter().filter(|reply| !reply.unknown);
    ready.map(|reply| (reply.id, reply.part)).collect()
}

/// Six replies: ready, sending, sent, unknown in the third part, failed in the third, expired.
async fn six(bed: &Bed) -> Vec<i64> {
    let events = ["a", "b", "c", "d", "e", "f"].map(message).to_vec();
    let rows = bed.accept(events).await;
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    for id in &ids {
        let mut turn = finish(&[*id]);
        turn.replies = vec![reply(*id, "x")];
        bed.finish(turn).await.unwrap();
    }
    bed.intent(ids[1], 0).await;
    bed.receipt(ids[2], 0, sent("m", true)).await;
    let reason = "why";
    bed.receipt(ids[3], 2, ReceiptOutcome::Unknown { reason })
        .await;
    bed.receipt(ids[4], 2, ReceiptOutcome::Failed { reason })
        .await;
    bed.receipt(ids[5], 0, ReceiptOutcome::Expired { reason })
        .await;
    ids
}

async fn replies_are_listed_by_state_in_pages(on: Engine) {
    let bed = Bed::new(on).await;
    let ids = six(&bed).await;
    let given_up = [(ids[3], "unknown"), (ids[4], "failed"), (ids[5], "expired")];
    assert_eq!(states(&bed, GIVEN_UP).await, given_up);
    let waiting = [(ids[0], "ready"), (ids[1], "sending")];
    assert_eq!(
        states(&bed, ALL).await,
        [waiting.as_slice(), given_up.as_slice()].concat()
    );
    let failed = &replies(&bed, GIVEN_UP).await[1];
    assert_eq!(
        (failed.part, failed.turn, failed.reason.as_deref()),
        (2, Some(ids[4]), Some("why"))
    );
    assert_eq!((failed.created_at, failed.conversation), (NOW, 1));
    assert!(failed.body.contains("\"x\""));
}

async fn a_reply_that_begins_anew_has_no_part_in_doubt_and_one_that_goes_on_has(on: Engine) {
    let bed = Bed::new(on).await;
    let rows = bed.accept(["a", "b"].map(message).to_vec()).await;
    let reason = "why";
    for (row, end, doubtful) in [
        (&rows[0], ReceiptOutcome::Unknown { reason }, false),
        (&rows[1], ReceiptOutcome::Failed { reason }, true),
    ] {
        let mut turn = finish(&[row.id]);
        turn.replies = vec![reply(row.id, "x")];
        bed.finish(turn).await.unwrap();
        bed.receipt(row.id, 0, ReceiptOutcome::Doubtful).await;
        bed.receipt(row.id, 1, end).await;
        match operate(&bed, Action::RetryReply(row.id)).await {
            Operated::Ready(reply) => assert_eq!(reply.doubtful, doubtful),
            other => panic!("{other:?}"),
        }
    }
}

async fn a_reply_is_taken_up_again_once_and_stays_so(on: Engine) {
    let mut bed = Bed::new(on).await;
    let ids = six(&bed).await;
    bed.sweep().await;
    for (id, part) in [(ids[3], 0), (ids[4], 2), (ids[5], 0)] {
        match operate(&bed, Action::RetryReply(id)).await {
            Operated::Ready(reply) => {
                assert_eq!((reply.id, reply.part, reply.due_at), (id, part, NOW + 5));
                assert!(!reply.in_doubt && !reply.unknown && reply.body.contains("\"x\""));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(
            operate(&bed, Action::RetryReply(id)).await,
            Operated::Refused(Some("ready"))
        );
    }
    assert_eq!(
        operate(&bed, Action::RetryReply(ids[2])).await,
        Operated::Refused(Some("sent"))
    );
    assert_eq!(
        operate(&bed, Action::RetryReply(999_999)).await,
        Operated::Refused(None)
    );
    // Also below what a start would look at otherwise.
    bed.restart().await;
    let all = [
        (ids[0], 0),
        (ids[1], 0),
        (ids[3], 0),
        (ids[4], 2),
        (ids[5], 0),
    ];
    assert_eq!(pending(&bed).await, all);
    assert_eq!(
        bed.rows("SELECT event FROM audit").await.len(),
        3,
        "one for each that was done"
    );
}

async fn a_retried_reply_below_the_floor_is_found_by_the_next_start(on: Engine) {
    let mut bed = Bed::new(on).await;
    let rows = bed.accept(vec![message("a"), message("b")]).await;
    for row in &rows {
        let mut turn = finish(&[row.id]);
        turn.replies = vec![reply(row.id, "x")];
        bed.finish(turn).await.unwrap();
    }
    let reason = "why";
    bed.receipt(rows[0].id, 0, ReceiptOutcome::Failed { reason })
        .await;
    bed.receipt(rows[1].id, 0, sent("m", true)).await;
    bed.sweep().await;
    bed.restart().await;
    assert_eq!(pending(&bed).await, []);
    operate(&bed, Action::RetryReply(rows[0].id)).await;
    assert_eq!(pending(&bed).await, [(rows[0].id, 0)]);
    bed.crash().await;
    assert_eq!(pending(&bed).await, [(rows[0].id, 0)]);
}

async fn a_dropped_reply_is_gone_and_one_that_waits_is_dropped_on_request_only(on: Engine) {
    let mut bed = Bed::new(on).await;
    let ids = six(&bed).await;
    let drop = |id, waiting| Action::DropReply { id, waiting };
    assert_eq!(
        operate(&bed, drop(ids[0], false)).await,
        Operated::Refused(Some("ready"))
    );
    for (id, waiting) in [(ids[0], true), (ids[1], true), (ids[3], false)] {
        assert_eq!(operate(&bed, drop(id, waiting)).await, Operated::Dropped);
        assert_eq!(
            operate(&bed, drop(id, waiting)).await,
            Operated::Refused(Some("dropped"))
        );
        assert_eq!(
            operate(&bed, Action::RetryReply(id)).await,
            Operated::Refused(Some("dropped"))
        );
    }
    bed.crash().await;
    assert_eq!(
        states(&bed, ALL).await,
        [(ids[4], "failed"), (ids[5], "expired")]
    );
    assert_eq!(pending(&bed).await, []);
    let fate = bed.store().fate(1, Some("a"), 1, i64::MAX).await.unwrap();
    assert_eq!(fate.unwrap().answer, Some("dropped"));
}

async fn a_failed_turn_is_accepted_anew_with_all_its_messages(on: Engine) {
    let mut bed = Bed::new(on).await;
    let rows = bed.accept(["a", "b", "c", "d"].map(message).to_vec()).await;
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let mut turn = finish(&[ids[0], ids[1], ids[3]]);
    turn.state = TurnState::Failed;
    turn.reason = Some("model_failed");
    turn.replies = vec![reply(ids[0], "sorry")];
    bed.finish(turn).await.unwrap();
    bed.finish(finish(&[ids[2]])).await.unwrap();
    assert_eq!(failed(&bed).await, [ids[0]]);
    let row = bed
        .store()
        .failed_messages(0, 1)
        .await
        .unwrap()
        .rows
        .remove(0);
    assert_eq!(
        (row.reason.as_deref(), row.person, row.at),
        (Some("model_failed"), 1, NOW)
    );

    let retried = match operate(&bed, Action::RetryMessage(ids[0])).await {
        Operated::Accepted(waiting) => waiting,
        other => panic!("{other:?}"),
    };
    assert_eq!(bed.waiting().await, retried);
    let seen = |text: &str| format!(r#"{{"i":"{text}","t":"hello {text}"}}"#);
    let bodies: Vec<&str> = retried.iter().map(|row| &*row.body).collect();
    assert_eq!(bodies, [seen("a"), seen("b"), seen("d")]);
    assert!(retried.iter().all(|row| row.id > ids[3]
        && (row.route, row.priority, row.attempts, row.at) == (3, -2, 0, NOW + 5)));

    // Neither the list nor a second try knows the first ones any more, and their events stay known.
    assert_eq!(failed(&bed).await, [] as [i64; 0]);
    for action in [Action::RetryMessage(ids[0]), Action::DropMessage(ids[0])] {
        assert_eq!(
            operate(&bed, action).await,
            Operated::Refused(Some("settled"))
        );
    }
    bed.crash().await;
    assert_eq!(bed.waiting().await, retried);
    assert!(bed.accept(vec![message("a")]).await[0].duplicate);
    assert_eq!(
        operate(&bed, Action::RetryMessage(ids[2])).await,
        Operated::Refused(Some("done"))
    );
    assert_eq!(
        operate(&bed, Action::RetryMessage(retried[0].id)).await,
        Operated::Refused(Some("waiting"))
    );
}

async fn unreadable_and_dropped_messages_leave_the_list(on: Engine) {
    let bed = Bed::new(on).await;
    let rows = bed.accept(["a", "b"].map(message).to_vec()).await;
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    bed.end(&ids[..1], EndState::Failed, Vec::new()).await;
    let mut turn = finish(&ids[1..]);
    turn.state = TurnState::Failed;
    bed.finish(turn).await.unwrap();
    assert_eq!(failed(&bed).await, ids);
    for id in &ids {
        assert_eq!(
            operate(&bed, Action::DropMessage(*id)).await,
            Operated::Dropped
        );
    }
    assert_eq!(failed(&bed).await, [] as [i64; 0]);
    assert_eq!(bed.waiting().await, []);
    for event in ["a", "b"] {
        let fate = bed.store().fate(1, Some(event), 1, i64::MAX).await;
        assert_eq!(fate.unwrap().unwrap().state, "failed", "{event}");
    }
    assert_eq!(
        operate(&bed, Action::DropMessage(999_999)).await,
        Operated::Refused(None)
    );
}

async fn what_an_operator_settled_is_removed_like_everything_else(on: Engine) {
    let bed = Bed::new(on).await;
    let old = NOW - 10 * DAY;
    let accept = |event: &str| Accept {
        at: old,
        event_until: old + 1,
        ..message(event)
    };
    let rows = bed.accept(vec![accept("a"), accept("b")]).await;
    for row in &rows {
        let mut turn = finish(&[row.id]);
        (turn.at, turn.state) = (old, TurnState::Failed);
        turn.replies = vec![reply(row.id, "x")];
        bed.finish(turn).await.unwrap();
    }
    let drop = |row: usize| Action::DropReply {
        id: rows[row].id,
        waiting: true,
    };
    assert_eq!(operate(&bed, drop(0)).await, Operated::Dropped);
    bed.sweep().await;
    let left = bed.rows("SELECT id FROM outbox").await;
    assert_eq!(left, [rows[1].id.to_string()], "the other one is ready");
}

suite!(
    replies_are_listed_by_state_in_pages,
    a_reply_that_begins_anew_has_no_part_in_doubt_and_one_that_goes_on_has,
    a_reply_is_taken_up_again_once_and_stays_so,
    a_retried_reply_below_the_floor_is_found_by_the_next_start,
    a_dropped_reply_is_gone_and_one_that_waits_is_dropped_on_request_only,
    a_failed_turn_is_accepted_anew_with_all_its_messages,
    unreadable_and_dropped_messages_leave_the_list,
    what_an_operator_settled_is_removed_like_everything_else,
);
