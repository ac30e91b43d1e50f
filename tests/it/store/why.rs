//! What became of a message.

use weirgate::store::{EndState, Fate};

use super::{Bed, Engine, NOW, conversation, finish, message, person, reply, sent};

async fn fate(bed: &Bed, message: &str) -> Option<Fate> {
    bed.store()
        .fate(1, Some(message), 1, i64::MAX)
        .await
        .unwrap()
}

async fn a_message_waits_runs_and_is_done(on: Engine) {
    let bed = Bed::new(on).await;
    let ids: Vec<i64> = bed
        .accept(vec![message("a"), message("b")])
        .await
        .iter()
        .map(|row| row.id)
        .collect();
    let seen = fate(&bed, "a").await.unwrap();
    assert_eq!(
        (seen.state, seen.turn, seen.attempts, seen.answer),
        ("waiting", None, 0, None)
    );
    assert_eq!((seen.id, seen.person, seen.received_at), (ids[0], 1, NOW));

    bed.begin(ids[0]).await;
    let seen = fate(&bed, "a").await.unwrap();
    assert_eq!(
        (seen.state, seen.turn, seen.attempts),
        ("running", Some(ids[0]), 1)
    );

    let mut turn = finish(&ids);
    turn.begun = true;
    turn.replies = vec![reply(ids[0], "x")];
    bed.finish(turn).await.unwrap();
    for event in ["a", "b"] {
        let seen = fate(&bed, event).await.unwrap();
        assert_eq!(
            (seen.state, seen.turn, seen.answer),
            ("done", Some(ids[0]), Some("ready"))
        );
    }
    bed.intent(ids[0], 0).await;
    assert_eq!(fate(&bed, "b").await.unwrap().answer, Some("sending"));
    bed.receipt(ids[0], 0, sent("m1", true)).await;
    assert_eq!(fate(&bed, "a").await.unwrap().answer, Some("sent"));
}

async fn every_part_that_was_sent_leads_to_the_message_that_it_answers(on: Engine) {
    let bed = Bed::new(on).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    let mut turn = finish(&[id]);
    turn.replies = vec![reply(id, "x"), reply(id, "y")];
    let replies = bed.finish(turn).await.unwrap();
    bed.receipt(replies[0], 0, sent("m1", false)).await;
    bed.receipt(replies[0], 1, sent("m22", true)).await;
    bed.receipt(replies[1], 0, sent("m3", true)).await;
    for sent in ["m1", "m22", "m3"] {
        assert_eq!(fate(&bed, sent).await.unwrap().id, id, "{sent}");
    }
    for nothing in ["m2", "m", "1", ""] {
        assert_eq!(fate(&bed, nothing).await, None, "{nothing:?}");
    }
    assert_eq!(
        bed.store().fate(2, Some("m1"), 1, i64::MAX).await.unwrap(),
        None,
        "not from elsewhere"
    );
}

async fn without_an_id_it_is_the_persons_newest_before_the_question(on: Engine) {
    let bed = Bed::new(on).await;
    let mut other = message("other");
    other.person = person("other");
    let mut elsewhere = message("elsewhere");
    elsewhere.conversation = conversation("g2");
    let rows = bed
        .accept(vec![
            message("a"),
            message("b"),
            other,
            elsewhere,
            message("why"),
        ])
        .await;
    let (here, me) = (rows[0].conversation, rows[0].person);
    bed.end(&[rows[1].id], EndState::Expired, Vec::new()).await;
    let store = bed.store();
    let seen = store
        .fate(here, None, me, rows[4].id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (seen.id, seen.state, seen.turn),
        (rows[1].id, "expired", None)
    );
    assert_eq!(seen.reason.as_deref(), Some("why_not"));
    let nobody = store.fate(here, None, me + 100, rows[4].id).await.unwrap();
    assert_eq!(nobody, None);
    assert_eq!(store.fate(here, None, me, rows[0].id).await.unwrap(), None);
}

suite!(
    a_message_waits_runs_and_is_done,
    every_part_that_was_sent_leads_to_the_message_that_it_answers,
    without_an_id_it_is_the_persons_newest_before_the_question,
);
