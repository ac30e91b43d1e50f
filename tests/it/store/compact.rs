//! A summary takes the place of rows, all of them or none.

use std::time::Duration;

use weirgate::store::{
    Compact, Effect, Forget, History, HistoryScope, NumberedRow, Role, Write, commit,
};

use super::{Bed, Engine, NOW, finish, row};

const SCOPE: HistoryScope = HistoryScope {
    conversation: 1,
    person: 0,
};

/// A history of these texts; gives the numbered rows.
async fn said(bed: &Bed, texts: &[&str]) -> Vec<NumberedRow> {
    let mut turn = finish(&[]);
    turn.history = texts.iter().map(|text| row(Role::User, text)).collect();
    bed.finish(turn).await.unwrap();
    bed.store().numbered_history(SCOPE, 100).await.unwrap()
}

/// What takes the place of these rows.
fn of(rows: &[NumberedRow], older: bool) -> Compact {
    Compact {
        scope: SCOPE,
        first: rows[0].0,
        last: rows[rows.len() - 1].0,
        rows: rows.len(),
        older,
        summary: History {
            role: Role::Summary,
            turn: 7,
            at: NOW,
            parts: "in short".to_owned(),
        },
    }
}

async fn compact(bed: &Bed, compact: Compact) -> bool {
    let compact = Box::new(compact);
    commit(&bed.store(), |then| Write::Compact(compact, then))
        .await
        .unwrap()
}

async fn texts(bed: &Bed) -> Vec<String> {
    let store = bed.store();
    let history = store.history(SCOPE, 100, (0, Duration::ZERO));
    let rows = history.await.unwrap();
    rows.into_iter().map(|row| row.parts).collect()
}

async fn a_summary_stands_where_the_rows_stood(on: Engine) {
    let mut bed = Bed::new(on).await;
    let rows = said(&bed, &["a", "b", "c", "d", "e"]).await;
    assert!(compact(&bed, of(&rows[1..4], false)).await);
    assert_eq!(texts(&bed).await, ["a", "in short", "e"]);
    bed.crash().await;
    let rows = said(&bed, &["f"]).await;
    let roles: Vec<Role> = rows.iter().map(|(_, row)| row.role).collect();
    assert_eq!(roles, [Role::User, Role::Summary, Role::User, Role::User]);
    // The next one takes the one before in.
    assert!(compact(&bed, of(&rows[1..3], false)).await);
    assert_eq!(texts(&bed).await, ["a", "in short", "f"]);
    let rows = bed.store().numbered_history(SCOPE, 100).await.unwrap();
    assert!(compact(&bed, of(&rows[1..2], true)).await);
    assert_eq!(
        texts(&bed).await,
        ["in short", "f"],
        "what is older goes too"
    );
}

async fn what_was_deleted_meanwhile_does_not_come_back(on: Engine) {
    let bed = Bed::new(on).await;
    let rows = said(&bed, &["a", "b", "c"]).await;
    let forget = Forget {
        conversation: 1,
        all: false,
    };
    bed.effects(vec![Effect::Forget(forget)]).await;
    assert!(!compact(&bed, of(&rows, false)).await);
    assert_eq!(texts(&bed).await, [""; 0]);
    let rows = said(&bed, &["d", "e"]).await;
    bed.effects(vec![Effect::Reset(SCOPE)]).await;
    assert!(compact(&bed, of(&rows, false)).await);
    assert_eq!(texts(&bed).await, [""; 0], "a reset hides it");
}

suite!(
    a_summary_stands_where_the_rows_stood,
    what_was_deleted_meanwhile_does_not_come_back,
);
