//! Rows about files in the media store.

use weirgate::store::{MediaChange, MediaQuestion, MediaRow, Write, commit};
use weirgate_sdk::AttachmentKind;

use super::{Bed, Engine, NOW};

fn file(id: &str, source: &str, after: i64) -> MediaRow {
    MediaRow {
        id: id.to_owned(),
        conversation: 1,
        source: source.to_owned(),
        kind: AttachmentKind::Image,
        mime: "image/png".to_owned(),
        name: Some("cat \u{1f408}.png".to_owned()),
        size: 5_000_000_000,
        created_at: NOW + after,
        expires_at: NOW + after + 10,
    }
}

async fn change(bed: &Bed, change: MediaChange) {
    let change = Box::new(change);
    let done = commit(&bed.store(), |then| Write::Media(change, then)).await;
    done.unwrap();
}

async fn ids(bed: &Bed, question: MediaQuestion) -> Vec<String> {
    let rows = bed.store().media(question).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

async fn files_are_found_by_name_by_source_and_by_age(on: Engine) {
    let mut bed = Bed::new(on).await;
    let rows = [
        file("b", "s1", 0),
        file("a", "s1", 5),
        file("c", "", 1),
        MediaRow {
            kind: AttachmentKind::File,
            name: None,
            ..file("d", "s2", 2)
        },
    ];
    for row in &rows {
        change(&bed, MediaChange::Keep(row.clone())).await;
    }
    // As after a commit whose answer was lost.
    change(&bed, MediaChange::Keep(rows[0].clone())).await;
    bed.restart().await;
    let all = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
    let mut found = bed.store().media(MediaQuestion::Files(all)).await.unwrap();
    found.sort_by(|one, other| one.id.cmp(&other.id));
    let mut expected = rows.to_vec();
    expected.sort_by(|one, other| one.id.cmp(&other.id));
    assert_eq!(found, expected);
    let source = |source: &str| MediaQuestion::Source(source.to_owned());
    assert_eq!(ids(&bed, source("s1")).await, ["a"], "the newest");
    assert!(ids(&bed, source("")).await.is_empty());
    let expiring = |until, limit| MediaQuestion::Expiring {
        until: NOW + until,
        limit,
    };
    assert_eq!(ids(&bed, expiring(11, 9)).await, ["b", "c"]);
    assert_eq!(ids(&bed, expiring(99, 3)).await, ["b", "c", "d"]);
    change(
        &bed,
        MediaChange::Forget(vec!["a".into(), "x".into(), "b".into()]),
    )
    .await;
    assert_eq!(ids(&bed, expiring(99, 9)).await, ["c", "d"]);
    assert!(ids(&bed, source("s1")).await.is_empty());
}

suite!(files_are_found_by_name_by_source_and_by_age,);
