//! What a start finds after a clean stop and after a crash between any two transactions.

use weirgate::store::{LastStop, PendingReply, ReceiptOutcome};
use weirgate_sdk::Cursor;

use super::{Bed, Engine, finish, message, reply, sent};

async fn pending(bed: &Bed) -> Vec<PendingReply> {
    bed.store().pending_replies(None, 0, 100).await.unwrap()
}

async fn the_last_stop_is_first_then_unclean_or_clean(on: Engine) {
    let mut bed = Bed::new(on).await;
    assert_eq!(bed.before, LastStop::First);
    bed.crash().await;
    assert_eq!(bed.before, LastStop::Unclean);
    bed.restart().await;
    assert_eq!(bed.before, LastStop::Clean);
    bed.crash_and_look().await;
    bed.restart().await;
    assert_eq!(
        bed.before,
        LastStop::Unclean,
        "a tool that only looked does not hide the crash"
    );
}

async fn a_crash_between_any_two_transactions_loses_nothing(on: Engine) {
    let mut bed = Bed::new(on).await;
    let ids: Vec<i64> = bed
        .accept(vec![message("a"), message("b")])
        .await
        .iter()
        .map(|row| row.id)
        .collect();
    bed.crash().await;
    assert_eq!(bed.waiting_ids().await, ids);

    bed.begin(ids[0]).await;
    bed.crash().await;
    assert_eq!(bed.waiting().await[0].attempts, 1);
    assert_eq!(bed.begin(ids[0]).await, 2);

    let mut turn = finish(&ids);
    turn.begun = true;
    turn.replies = vec![reply(ids[0], "x")];
    bed.finish(turn).await.unwrap();
    bed.crash().await;
    assert_eq!(bed.waiting_ids().await, [] as [i64; 0]);
    let found = pending(&bed).await;
    assert_eq!(
        (found.len(), found[0].in_doubt, found[0].attempts),
        (1, false, 0)
    );

    bed.intent(ids[0], 0).await;
    assert!(
        !pending(&bed).await[0].in_doubt,
        "not while this process sends it"
    );
    bed.crash().await;
    assert!(pending(&bed).await[0].in_doubt);

    bed.intent(ids[0], 0).await;
    bed.receipt(ids[0], 0, sent("m", true)).await;
    bed.crash().await;
    assert_eq!(pending(&bed).await, []);
    assert_eq!(bed.waiting_ids().await, [] as [i64; 0]);
}

async fn each_crash_while_a_part_is_sent_is_counted_until_it_is_over(on: Engine) {
    let mut bed = Bed::new(on).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    let mut turn = finish(&[id]);
    turn.replies = vec![reply(id, "x")];
    turn.replies[0].sending = true;
    bed.finish(turn).await.unwrap();
    for crashes in 1..=3 {
        bed.crash().await;
        let found = pending(&bed).await;
        assert_eq!(
            (found[0].part, found[0].in_doubt, found[0].attempts),
            (0, true, crashes)
        );
        bed.crash().await;
        assert_eq!(
            pending(&bed).await[0].attempts,
            crashes,
            "nothing was sent meanwhile"
        );
        bed.intent(id, 0).await;
    }
    bed.receipt(id, 0, sent("m1", false)).await;
    bed.intent(id, 1).await;
    bed.crash().await;
    let found = pending(&bed).await;
    assert_eq!(
        (found[0].part, found[0].in_doubt, found[0].attempts),
        (1, true, 1),
        "a new part"
    );
}

async fn a_retry_is_no_doubt(on: Engine) {
    let mut bed = Bed::new(on).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    let mut turn = finish(&[id]);
    turn.replies = vec![reply(id, "x")];
    bed.finish(turn).await.unwrap();
    bed.intent(id, 0).await;
    bed.receipt(
        id,
        0,
        ReceiptOutcome::Retry {
            due_at: 9,
            reason: "flood",
        },
    )
    .await;
    bed.crash().await;
    let found = pending(&bed).await;
    assert_eq!(
        (found[0].in_doubt, found[0].attempts, found[0].due_at),
        (false, 0, 9)
    );
}

async fn that_an_earlier_part_is_in_doubt_is_not_forgotten(on: Engine) {
    let mut bed = Bed::new(on).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    let mut turn = finish(&[id]);
    turn.replies = vec![reply(id, "x")];
    bed.finish(turn).await.unwrap();
    bed.intent(id, 0).await;
    assert!(!pending(&bed).await[0].doubtful);
    bed.receipt(id, 0, ReceiptOutcome::Doubtful).await;
    bed.intent(id, 1).await;
    bed.receipt(id, 1, sent("m2", false)).await;
    bed.crash().await;
    let found = pending(&bed).await;
    assert_eq!((found[0].part, found[0].doubtful), (2, true));
    assert!(
        !found[0].in_doubt && !found[0].unknown,
        "the next part is not"
    );
}

async fn ids_never_come_back(on: Engine) {
    let mut bed = Bed::new(on).await;
    let mut last = 0;
    for round in 0..4 {
        let mut old = message(&format!("old{round}"));
        (old.at, old.event_until) = (0, 0);
        let id = bed.accept(vec![old]).await[0].id;
        assert!(id > last);
        last = id;
        bed.finish(finish(&[id])).await.unwrap();
        bed.sweep().await;
        if round % 2 == 0 {
            bed.crash().await
        } else {
            bed.restart().await
        }
    }
    bed.restart().await;
    let next = bed.accept(vec![message("next")]).await[0].id;
    assert_eq!(next, last + 1, "a clean stop wastes none");
}

async fn the_cursor_is_that_of_the_last_accept_and_names_its_bot(on: Engine) {
    let mut bed = Bed::new(on).await;
    let store = bed.store();
    let cursor = || async {
        bed.store()
            .cursor(&"telegram".into(), &"main".into())
            .await
            .unwrap()
    };
    assert_eq!(cursor().await, None);
    let one = Cursor {
        bot: "111".into(),
        value: "600000000".into(),
    };
    bed.accept_with(vec![message("a")], Some(one.clone()))
        .await
        .unwrap();
    bed.accept(vec![message("b")]).await;
    assert_eq!(cursor().await, Some(one));
    let other = Cursor {
        bot: "222".into(),
        value: "1042".into(),
    };
    bed.accept_with(Vec::new(), Some(other.clone()))
        .await
        .unwrap();
    assert_eq!(
        store.cursor(&"qq".into(), &"main".into()).await.unwrap(),
        None
    );
    drop(store);
    bed.crash().await;
    let found = bed
        .store()
        .cursor(&"telegram".into(), &"main".into())
        .await
        .unwrap();
    assert_eq!(found, Some(other), "the adapter sees whose it is");
}

async fn the_secret_is_the_same_after_a_restart_and_another_in_another_store(on: Engine) {
    let mut bed = Bed::new(on).await;
    let secret = bed.store().secret().await.unwrap();
    bed.crash().await;
    assert_eq!(bed.store().secret().await.unwrap(), secret);
    assert_ne!(Bed::new(on).await.store().secret().await.unwrap(), secret);
}

suite!(
    the_last_stop_is_first_then_unclean_or_clean,
    a_crash_between_any_two_transactions_loses_nothing,
    each_crash_while_a_part_is_sent_is_counted_until_it_is_over,
    a_retry_is_no_doubt,
    that_an_earlier_part_is_in_doubt_is_not_forgotten,
    ids_never_come_back,
    the_cursor_is_that_of_the_last_accept_and_names_its_bot,
    the_secret_is_the_same_after_a_restart_and_another_in_another_store,
);
