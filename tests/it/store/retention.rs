//! What is removed, and above all what is not.

use weirgate::store::{EndState, Finish, HistoryScope, ReceiptOutcome, Role};

use super::{Bed, DAY, Engine, NOW, finish, message, reply, row, sent};

const OLD: i64 = NOW - 10 * DAY;

pub fn old(event: &str) -> weirgate::store::Accept {
    weirgate::store::Accept {
        at: OLD,
        event_until: OLD + 1000,
        ..message(event)
    }
}

pub fn old_turn(id: i64) -> Finish {
    let mut turn = finish(&[id]);
    turn.at = OLD;
    turn.replies = vec![reply(id, "x")];
    turn
}

async fn exists(bed: &Bed, id: i64) -> bool {
    bed.store().bodies(&[id]).await.unwrap()[0].is_some()
}

async fn what_has_not_ended_stays_however_old(on: Engine) {
    let bed = Bed::new(on).await;
    let rows = bed
        .accept(vec![
            old("waits"),
            old("answered"),
            old("doubt"),
            old("over"),
        ])
        .await;
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    for id in &ids[1..] {
        bed.finish(old_turn(*id)).await.unwrap();
    }
    bed.receipt(ids[2], 0, ReceiptOutcome::Unknown { reason: "timeout" })
        .await;
    bed.receipt(ids[3], 0, sent("m", true)).await;
    bed.sweep().await;
    assert_eq!(bed.waiting_ids().await, [ids[0]]);
    let pending: Vec<i64> = bed
        .store()
        .pending_replies(None, 0, 10)
        .await
        .unwrap()
        .iter()
        .map(|reply| reply.id)
        .collect();
    assert_eq!(pending, [ids[1], ids[2]]);
    assert!(!exists(&bed, ids[3]).await);
    assert!(exists(&bed, ids[0]).await);
}

async fn a_dedupe_key_outlives_retention_while_it_counts(on: Engine) {
    let bed = Bed::new(on).await;
    let mut long = old("a");
    long.event_until = NOW + 1;
    let rows = bed.accept(vec![long.clone(), old("b")]).await;
    for row in &rows {
        bed.finish(old_turn(row.id)).await.unwrap();
        bed.receipt(row.id, 0, sent("m", true)).await;
    }
    bed.sweep().await;
    bed.sweep().await;
    assert_eq!(
        bed.waiting_ids().await,
        [] as [i64; 0],
        "it has still ended, without its answer"
    );
    assert_eq!(
        bed.store()
            .fate(1, Some("a"), 1, i64::MAX)
            .await
            .unwrap()
            .unwrap()
            .state,
        "done"
    );
    assert!(bed.accept(vec![long]).await[0].duplicate);
    assert!(!exists(&bed, rows[1].id).await);
    assert!(!bed.accept(vec![old("b")]).await[0].duplicate);
}

async fn an_answer_made_late_to_an_old_message_is_found_after_a_crash(on: Engine) {
    let mut bed = Bed::new(on).await;
    let rows = bed
        .accept(vec![message("dropped"), message("slow"), message("fast")])
        .await;
    bed.finish(finish(&[rows[2].id])).await.unwrap();
    bed.sweep().await;
    let mut answer = finish(&[rows[1].id]);
    answer.replies = vec![reply(rows[1].id, "x")];
    bed.finish(answer).await.unwrap();
    bed.receipt(rows[1].id, 0, sent("m", true)).await;
    bed.end(&[rows[0].id], EndState::Dropped, Vec::new()).await;
    // Now everything is over, and the store may skip all of it in a recovery.
    bed.sweep().await;
    let mut late = finish(&[rows[0].id]);
    late.replies = vec![reply(rows[0].id, "x")];
    bed.finish(late).await.unwrap();
    bed.crash().await;
    let pending = bed.store().pending_replies(None, 0, 10).await.unwrap();
    assert_eq!(
        pending.iter().map(|reply| reply.id).collect::<Vec<_>>(),
        [rows[0].id]
    );
    assert_eq!(bed.waiting_ids().await, [] as [i64; 0]);
}

async fn history_is_kept_as_long_as_it_should_be(on: Engine) {
    let bed = Bed::new(on).await;
    let scope = HistoryScope {
        conversation: 1,
        person: 0,
    };
    let id = bed.accept(vec![message("a")]).await[0].id;
    let mut turn = finish(&[id]);
    turn.history = (0..600).map(|n| row(Role::User, &format!("{n}"))).collect();
    for (number, row) in turn.history.iter_mut().enumerate() {
        row.at = NOW - if number < 500 { 31 * DAY } else { 29 * DAY };
    }
    bed.finish(turn).await.unwrap();
    bed.sweep().await;
    let kept = bed
        .store()
        .history(scope, 1000, (0, std::time::Duration::ZERO))
        .await
        .unwrap();
    assert_eq!(kept.len(), 100);
    assert_eq!(kept[0].parts, "500");
}

suite!(
    what_has_not_ended_stays_however_old,
    a_dedupe_key_outlives_retention_while_it_counts,
    an_answer_made_late_to_an_old_message_is_found_after_a_crash,
    history_is_kept_as_long_as_it_should_be,
);
