//! What is put off, and how it is found again.

use weirgate::store::{Deferred, Effect, Forget};

use super::{Bed, Engine, NOW, conversation, message};

fn later(conversation: i64, turn: i64, subject: &str, after: i64) -> Effect {
    Effect::Defer(Deferred {
        conversation,
        turn,
        subject: subject.to_owned(),
        due_at: NOW + after,
        body: "{}".to_owned(),
    })
}

async fn what_a_subject_begins_with_finds_it_until_it_is_withdrawn(on: Engine) {
    let mut bed = Bed::new(on).await;
    let mut elsewhere = message("b");
    elsewhere.conversation = conversation("g2");
    let rows = bed.accept(vec![message("a"), elsewhere]).await;
    let (here, there, turn) = (rows[0].conversation, rows[1].conversation, rows[0].id);
    bed.effects(vec![
        later(here, turn, "remind:1:8", 2_000),
        later(here, turn, "remind:1:7", 1_000),
        later(here, turn, "remind:11:9", 1_000),
        later(here, turn, "ban:1", 1_000),
        later(there, turn, "remind:1:6", 1_000),
    ])
    .await;
    bed.crash().await;
    let store = bed.store();
    let of_one = async |most: usize| {
        let found = store.put_off(here, "remind:1:", most).await.unwrap();
        found
            .into_iter()
            .map(|due| due.subject)
            .collect::<Vec<String>>()
    };
    assert_eq!(of_one(9).await, ["remind:1:7", "remind:1:8"]);
    assert_eq!(of_one(1).await, ["remind:1:7"]);
    bed.effects(vec![Effect::Withdraw {
        conversation: here,
        subject: "remind:1:7".into(),
    }])
    .await;
    assert_eq!(of_one(9).await, ["remind:1:8"]);
    // A sign that a pattern would mean means itself.
    assert_eq!(store.put_off(here, "remind:%", 9).await.unwrap(), []);
}

async fn who_deletes_everything_is_reminded_of_nothing_and_a_ban_still_ends(on: Engine) {
    let mut bed = Bed::new(on).await;
    let mut elsewhere = message("b");
    elsewhere.conversation = conversation("g2");
    let rows = bed.accept(vec![message("a"), elsewhere]).await;
    let (here, there, turn) = (rows[0].conversation, rows[1].conversation, rows[0].id);
    bed.effects(vec![
        later(here, turn, "remind:1:7", 1_000),
        later(here, turn, "ban:1", 1_000),
        later(there, turn, "remind:1:6", 1_000),
    ])
    .await;
    let forget = async |bed: &Bed, all: bool| {
        let conversation = here;
        bed.effects(vec![Effect::Forget(Forget { conversation, all })])
            .await;
    };
    let kept = async |bed: &Bed, conversation: i64, of: &str| {
        bed.store()
            .put_off(conversation, of, 9)
            .await
            .unwrap()
            .len()
    };
    forget(&bed, false).await;
    assert_eq!(kept(&bed, here, "remind:").await, 1, "words alone go");
    forget(&bed, true).await;
    bed.crash().await;
    assert_eq!(kept(&bed, here, "remind:").await, 0);
    assert_eq!(kept(&bed, here, "ban:").await, 1);
    assert_eq!(kept(&bed, there, "remind:").await, 1);
}

suite!(
    what_a_subject_begins_with_finds_it_until_it_is_withdrawn,
    who_deletes_everything_is_reminded_of_nothing_and_a_ban_still_ends,
);
