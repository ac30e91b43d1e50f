//! The audit log: a chain over restarts and processes, what retention and removal leave of it, and what is found.

use weirgate::store::{
    Audit, AuditFilter, AuditResult, Effect,
    audit::{Fault, Hash, StoredAudit, Verdict, Verifier},
};
use weirgate_sdk::UserKey;

use super::{Bed, DAY, Engine, NOW, finish, message, person};

fn record(target: &str, conversation: i64, at: i64) -> Effect {
    Effect::Audit(Audit {
        event: "user_banned",
        result: AuditResult::Done,
        operator: 1,
        target: target.to_owned(),
        conversation,
        turn: 9,
        details: r#"{"reason":"spam\u0000"}"#.to_owned(),
        at,
    })
}

async fn rows(bed: &Bed) -> Vec<StoredAudit> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let page = bed
            .store()
            .audit(AuditFilter::After(after), 3)
            .await
            .unwrap();
        assert!(page.rows.len() <= 3);
        let Some(last) = page.rows.last() else {
            return all;
        };
        after = last.id;
        all.extend(page.rows);
    }
}

async fn verified(bed: &Bed, wanted: Option<Hash>) -> Verdict {
    let mut verifier = Verifier::new(wanted);
    rows(bed).await.iter().for_each(|row| verifier.record(row));
    let page = bed.store().audit(AuditFilter::After(0), 1).await.unwrap();
    verifier.end(page.head)
}

async fn newest(bed: &Bed, conversation: Option<i64>, person: Option<UserKey>) -> Vec<String> {
    let filter = AuditFilter::Newest {
        conversation,
        person,
    };
    let page = bed.store().audit(filter, 10).await.unwrap();
    page.rows.into_iter().map(|row| row.target).collect()
}

async fn records_are_one_chain_over_batches_and_restarts(on: Engine) {
    let mut bed = Bed::new(on).await;
    assert_eq!(verified(&bed, None).await.faults, []);
    let several = (0..5).map(|n| record(&format!("a{n}\0"), 1, NOW)).collect();
    bed.effects(several).await;
    let together = (0..4).map(|n| bed.effects(vec![record(&n.to_string(), 2, NOW)]));
    futures_util::future::join_all(together).await;
    bed.crash().await;
    bed.effects(vec![record("later", 1, NOW)]).await;
    bed.restart().await;
    bed.effects(vec![record("last", 1, NOW)]).await;
    let found = verified(&bed, None).await;
    assert_eq!(
        (found.faults, found.records, found.head.seq),
        (vec![], 11, 11)
    );
    let rows = rows(&bed).await;
    assert_eq!(rows[0].target, "a0\u{FFFD}");
    let mut writers: Vec<i64> = rows.iter().map(|row| row.writer).collect();
    writers.dedup();
    assert_eq!(
        writers.len(),
        3,
        "each start writes under its own number: {writers:?}"
    );
    let before = rows[3].hash.parse().unwrap();
    assert_eq!(verified(&bed, Some(before)).await.faults, []);
}

async fn what_is_done_to_the_log_by_hand_is_found(on: Engine) {
    let bed = Bed::new(on).await;
    bed.effects((0..6).map(|n| record(&n.to_string(), 1, NOW)).collect())
        .await;
    let known = verified(&bed, None).await.head.hash;
    for (sql, fault) in [
        (
            "UPDATE audit SET result = 'denied' WHERE seq = 2",
            Fault::Changed { seq: 2 },
        ),
        (
            "UPDATE audit SET operator = 2 WHERE seq = 5",
            Fault::PersonalChanged { seq: 5 },
        ),
        (
            "DELETE FROM audit WHERE seq = 4",
            Fault::Gap {
                expected: 4,
                found: 5,
            },
        ),
        (
            "DELETE FROM audit WHERE seq < 3",
            Fault::StartCut { found: 3 },
        ),
        (
            "DELETE FROM audit WHERE seq > 5",
            Fault::EndCut {
                expected: 6,
                found: 5,
            },
        ),
    ] {
        bed.execute(sql).await;
        let faults = verified(&bed, None).await.faults;
        assert!(faults.contains(&fault), "{sql}: {faults:?}");
    }
    bed.execute("DELETE FROM audit").await;
    bed.execute("DELETE FROM audit_head").await;
    let faults = verified(&bed, Some(known)).await.faults;
    assert_eq!(faults, [Fault::HeadMissing]);
}

async fn retention_leaves_a_checkpoint_in_the_chain(on: Engine) {
    let bed = Bed::new(on).await;
    let (old, young) = (NOW - 91 * DAY, NOW - 89 * DAY);
    let mut all: Vec<Effect> = (0..300).map(|n| record(&n.to_string(), 1, old)).collect();
    all.push(record("young", 1, young));
    bed.effects(all).await;
    let before = verified(&bed, None).await.head.hash;
    bed.sweep().await;
    let left: Vec<String> = rows(&bed).await.into_iter().map(|row| row.event).collect();
    assert_eq!(
        left,
        ["user_banned", "audit_checkpoint", "audit_checkpoint"]
    );
    bed.sweep().await;
    let found = verified(&bed, Some(before)).await;
    assert_eq!((found.faults, found.head.seq), (vec![], 303));
    bed.execute("DELETE FROM audit WHERE seq = 301").await;
    let faults = verified(&bed, None).await.faults;
    assert_eq!(faults, [Fault::StartCut { found: 302 }]);
}

async fn what_is_personal_can_be_removed_and_the_chain_stays_whole(on: Engine) {
    let bed = Bed::new(on).await;
    bed.effects(vec![
        record("ann", 1, NOW),
        record("bob", 2, NOW),
        Effect::EraseAudit { conversation: 1 },
        record("cid", 1, NOW),
    ])
    .await;
    assert_eq!(verified(&bed, None).await.faults, []);
    let rows = rows(&bed).await;
    let targets: Vec<&str> = rows.iter().map(|row| &*row.target).collect();
    assert_eq!(targets, ["", "bob", "", "cid"]);
    assert_eq!((rows[0].operator, &*rows[0].details), (0, ""));
    assert_eq!(
        (&*rows[0].event, rows[0].turn),
        ("user_banned", 9),
        "what is not personal stays"
    );
    assert_eq!(rows[2].event, "audit_erased");
    bed.execute(
        "UPDATE audit SET operator = 0, target = '', details = '', salt = NULL WHERE seq = 2",
    )
    .await;
    assert_eq!(
        verified(&bed, None).await.faults,
        [Fault::Erased { seq: 2 }]
    );
}

async fn the_newest_records_of_a_place_or_person_are_found(on: Engine) {
    let bed = Bed::new(on).await;
    let someone = bed.accept(vec![message("a")]).await[0].person;
    assert_eq!(someone, 1);
    bed.effects(vec![
        record("ann", 1, NOW),
        record("bob", 2, NOW),
        record("ann", 2, NOW),
    ])
    .await;
    assert_eq!(newest(&bed, None, None).await, ["ann", "bob", "ann"]);
    assert_eq!(newest(&bed, Some(2), None).await, ["ann", "bob"]);
    assert_eq!(newest(&bed, Some(2), Some(person("bob"))).await, ["bob"]);
    let by_him = newest(&bed, Some(1), Some(person("someone"))).await;
    assert_eq!(by_him, ["ann"], "what he did himself");
    assert_eq!(newest(&bed, None, Some(person("nobody"))).await, [""; 0]);
}

async fn records_of_before_the_chain_are_chained_once(on: Engine) {
    let mut bed = Bed::new(on).await;
    bed.effects((0..3).map(|n| record(&n.to_string(), 1, NOW)).collect())
        .await;
    bed.execute(
        "UPDATE audit SET writer = 0, seq = 0, result = '', salt = NULL, personal = '', hash = ''",
    )
    .await;
    bed.execute("DELETE FROM audit_head").await;
    bed.restart().await;
    bed.effects(vec![record("new", 1, NOW)]).await;
    let found = verified(&bed, None).await;
    assert_eq!((found.faults, found.head.seq), (vec![], 4));
    bed.execute("UPDATE audit SET target = 'x' WHERE seq = 1")
        .await;
    bed.restart().await;
    let faults = verified(&bed, None).await.faults;
    assert_eq!(faults, [Fault::PersonalChanged { seq: 1 }]);
}

async fn a_turn_and_its_record_are_written_together(on: Engine) {
    let mut bed = Bed::new(on).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    let mut turn = finish(&[id]);
    turn.effects = vec![record("x", 1, NOW)];
    bed.finish(turn).await.unwrap();
    bed.crash().await;
    assert_eq!(bed.waiting_ids().await, [0_i64; 0]);
    assert_eq!(verified(&bed, None).await.records, 1);
}

suite!(
    records_are_one_chain_over_batches_and_restarts,
    what_is_done_to_the_log_by_hand_is_found,
    retention_leaves_a_checkpoint_in_the_chain,
    what_is_personal_can_be_removed_and_the_chain_stays_whole,
    the_newest_records_of_a_place_or_person_are_found,
    records_of_before_the_chain_are_chained_once,
    a_turn_and_its_record_are_written_together,
);
