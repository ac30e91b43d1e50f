//! What waits for an answer: asked with the end of a turn, answered once, ended by time; and what deleting takes away.

use futures_util::future::join_all;
use weirgate::{
    permission::Capability,
    store::{
        self, Accept, Answerer, Effect, Erase, Forget, Pending, PendingFilter, PendingKind,
        PendingState, Place, ReceiptOutcome, Role, Settle, StoredPending, Write,
    },
};

use super::{Bed, DAY, Engine, NOW, finish, message, person, reply, row, sent};

const HASH: &str = "0123abcd";

fn asked(id: i64) -> Pending {
    Pending {
        id,
        conversation: 1,
        asker: 1,
        kind: PendingKind::Choice,
        answerer: Answerer::Person(person("b/o:b")),
        four_eyes: true,
        action: r#"{"do":"x"}"#.to_owned(),
        hash: HASH.to_owned(),
        created_at: NOW,
        expires_at: NOW + 1_000,
    }
}

fn yes(id: i64, turn: i64) -> Settle {
    Settle {
        id,
        conversation: 1,
        hash: HASH.to_owned(),
        state: PendingState::Approved,
        answer: Some("all".to_owned()),
        by: 7,
        turn,
        reason: None,
        at: NOW + 10,
        notices: Vec::new(),
    }
}

/// A turn that asks; gives its id.
async fn ask(bed: &Bed, event: &str) -> i64 {
    let id = bed.accept(vec![message(event)]).await[0].id;
    let mut turn = finish(&[id]);
    turn.replies = vec![reply(id, "shall I?")];
    turn.effects = vec![Effect::Ask(Box::new(asked(id)))];
    bed.finish(turn).await.unwrap();
    id
}

async fn settle(bed: &Bed, settle: Settle) -> Option<Vec<i64>> {
    store::commit(&bed.store(), |then| Write::Settle(Box::new(settle), then))
        .await
        .unwrap()
}

async fn read(bed: &Bed, which: PendingFilter) -> Vec<StoredPending> {
    bed.store().pendings(which, 10).await.unwrap()
}

async fn state(bed: &Bed, id: i64) -> (PendingState, i64, Option<String>) {
    let row = read(bed, PendingFilter::Id(id)).await.remove(0);
    (row.state, row.answered_by, row.answer)
}

async fn what_is_asked_is_answered_once_however_many_try(on: Engine) {
    let mut bed = Bed::new(on).await;
    let id = ask(&bed, "a").await;
    bed.receipt(id, 0, sent("m1", true)).await;
    bed.crash().await;
    let row = read(&bed, PendingFilter::Id(id)).await.remove(0);
    assert_eq!((&row.pending, row.state), (&asked(id), PendingState::Open));
    assert_eq!(row.shown_as.as_deref(), Some("m1"));
    let tries = (1..=20).map(|turn| {
        let mut one = yes(id, 100 + turn);
        one.by = turn;
        settle(&bed, one)
    });
    let settled: Vec<usize> = join_all(tries)
        .await
        .into_iter()
        .enumerate()
        .filter_map(|(place, ids)| ids.map(|_| place + 1))
        .collect();
    assert_eq!(settled.len(), 1, "{settled:?}");
    let winner = i64::try_from(settled[0]).unwrap();
    let (by, answer) = (winner, Some("all".to_owned()));
    assert_eq!(state(&bed, id).await, (PendingState::Approved, by, answer));
    let answered = read(&bed, PendingFilter::AnsweredIn(100 + winner)).await;
    assert_eq!(
        answered
            .iter()
            .map(|row| row.pending.id)
            .collect::<Vec<_>>(),
        [id]
    );
    let others = read(&bed, PendingFilter::AnsweredIn(0)).await;
    assert!(others.is_empty(), "what nobody answered is no turn's");
    // The turn that won is taken up after a crash and goes on; it cannot answer something else.
    let again = Settle {
        by: winner,
        ..yes(id, 100 + winner)
    };
    assert!(settle(&bed, again.clone()).await.is_some());
    for other in [
        Settle {
            answer: Some("history".to_owned()),
            ..again.clone()
        },
        Settle {
            state: PendingState::Denied,
            ..again
        },
        yes(id, 0),
    ] {
        assert_eq!(settle(&bed, other).await, None);
    }
}

async fn an_answer_from_elsewhere_or_about_something_else_is_none(on: Engine) {
    let bed = Bed::new(on).await;
    let id = ask(&bed, "a").await;
    for wrong in [
        Settle {
            conversation: 2,
            ..yes(id, 5)
        },
        Settle {
            hash: "0123abce".to_owned(),
            ..yes(id, 5)
        },
        yes(id + 1, 5),
    ] {
        assert_eq!(settle(&bed, wrong).await, None);
    }
    assert_eq!(state(&bed, id).await.0, PendingState::Open);
}

async fn time_ends_what_nobody_answered_and_nothing_before(on: Engine) {
    let bed = Bed::new(on).await;
    let (id, other) = (ask(&bed, "a").await, ask(&bed, "b").await);
    let over = |id, at| Settle {
        state: PendingState::Expired,
        answer: None,
        by: 0,
        turn: 0,
        reason: Some("pending_expired"),
        at,
        notices: vec![reply(id, "too late")],
        ..yes(id, 0)
    };
    assert!(read(&bed, PendingFilter::Due(NOW + 999)).await.is_empty());
    assert_eq!(settle(&bed, over(id, NOW + 999)).await, None);
    let due = read(&bed, PendingFilter::Due(NOW + 1_000)).await;
    assert_eq!(due.len(), 2);
    let late = Settle {
        at: NOW + 1_000,
        ..yes(id, 5)
    };
    assert_eq!(settle(&bed, late).await, None);
    let notices = settle(&bed, over(id, NOW + 1_000)).await.unwrap();
    assert_eq!(notices.len(), 1);
    assert_eq!(settle(&bed, over(id, NOW + 1_001)).await, None);
    let pending = bed.store().pending_replies(None, 0, 10).await.unwrap();
    assert!(pending.iter().any(|reply| reply.id == notices[0]));
    // What its subject took with it ends whenever it is.
    let gone = Settle {
        state: PendingState::Withdrawn,
        answer: None,
        reason: Some("pending_closed"),
        at: NOW + 2_000,
        ..yes(other, 6)
    };
    assert!(settle(&bed, gone).await.is_some());
    let open = PendingFilter::Open {
        conversation: 1,
        at: NOW,
    };
    assert!(read(&bed, open).await.is_empty());
}

async fn open_ones_are_listed_where_they_are(on: Engine) {
    let bed = Bed::new(on).await;
    let ids = [ask(&bed, "a").await, ask(&bed, "b").await];
    let open = async |conversation, at| {
        let found = read(&bed, PendingFilter::Open { conversation, at }).await;
        found.iter().map(|row| row.pending.id).collect::<Vec<_>>()
    };
    assert_eq!(open(1, NOW).await, ids);
    assert!(open(2, NOW).await.is_empty() && open(1, NOW + 1_000).await.is_empty());
    settle(&bed, yes(ids[0], 5)).await.unwrap();
    assert_eq!(open(1, NOW).await, ids[1..]);
}

async fn what_ended_goes_with_retention_and_what_waits_stays(on: Engine) {
    let bed = Bed::new(on).await;
    let mut ids = Vec::new();
    for event in ["a", "b"] {
        let id = bed.accept(vec![message(event)]).await[0].id;
        let mut old = asked(id);
        old.expires_at = NOW - 2 * DAY;
        bed.effects(vec![Effect::Ask(Box::new(old))]).await;
        ids.push(id);
    }
    let over = Settle {
        state: PendingState::Expired,
        ..yes(ids[0], 0)
    };
    settle(&bed, over).await.unwrap();
    bed.sweep().await;
    let left = bed.rows("SELECT id FROM pending").await;
    assert_eq!(left, [ids[1].to_string()]);
}

/// Settings that stay when everything else of a conversation goes.
const STAYS: [&str; 5] = [
    "policy:blacklist",
    "policy:default_role",
    "policy:whitelist",
    "role:7",
    "tokens",
];

/// A message in each of two conversations, answered, with something remembered and set; and one more. Gives their ids.
async fn two_conversations(bed: &Bed) -> Vec<i64> {
    let elsewhere = Accept {
        conversation: super::conversation("g2"),
        shown: true,
        ..message("x")
    };
    let shown = Accept {
        shown: true,
        ..message("a")
    };
    let ids: Vec<i64> = bed
        .accept(vec![shown, elsewhere, message("last")])
        .await
        .iter()
        .map(|row| row.id)
        .collect();
    for (id, conversation) in [(ids[0], 1), (ids[1], 2)] {
        let mut turn = finish(&[id]);
        turn.replies = vec![reply(id, "an answer")];
        turn.replies[0].conversation = conversation;
        turn.scope.conversation = conversation;
        turn.history = vec![row(Role::User, "said")];
        let set = |key: &'static str| Effect::Set {
            of: Place::of_conversation(conversation),
            key: key.into(),
            value: Some("1".to_owned()),
        };
        let keys = STAYS.into_iter().chain(["policy:x", "warn:7"]);
        turn.effects = keys.map(set).collect();
        bed.finish(turn).await.unwrap();
    }
    let reason = "why";
    bed.receipt(ids[0], 0, ReceiptOutcome::Unknown { reason })
        .await;
    bed.receipt(ids[1], 0, ReceiptOutcome::Unknown { reason })
        .await;
    ids
}

async fn deleting_takes_words_context_and_settings_of_one_conversation(on: Engine) {
    let bed = Bed::new(on).await;
    let ids = two_conversations(&bed).await;
    let open = ask(&bed, "q").await;
    let slice = Erase {
        conversation: 1,
        after: 0,
        before: ids[2],
    };
    let next = store::commit(&bed.store(), |then| Write::Erase(slice, then))
        .await
        .unwrap();
    assert_eq!(next, None);
    let forget = Forget {
        conversation: 1,
        all: true,
    };
    bed.effects(vec![Effect::Forget(forget)]).await;
    let words = bed.rows("SELECT body FROM inbox ORDER BY id").await;
    assert!(!words[0].contains("hello"), "{words:?}");
    assert!(
        words[1].contains("hello") && words[2].contains("hello"),
        "{words:?}"
    );
    let answers = bed
        .rows("SELECT id, state, body FROM outbox ORDER BY id")
        .await;
    assert!(
        answers[0].contains("|4|") && !answers[0].contains("an answer"),
        "{answers:?}"
    );
    assert!(
        answers[1].contains("|3|") && answers[1].contains("an answer"),
        "{answers:?}"
    );
    let history = bed.rows("SELECT conversation FROM history").await;
    assert_eq!(history, ["2"]);
    let mut settings = bed
        .rows("SELECT conversation, key FROM setting ORDER BY conversation, key")
        .await;
    settings.sort();
    let here = |place: i32| STAYS.map(|key| format!("{place}|{key}"));
    let mut left = [here(1), here(2)].concat();
    left.extend(["2|policy:x", "2|warn:7"].map(str::to_owned));
    left.sort();
    assert_eq!(settings, left);
    assert_eq!(state(&bed, open).await.0, PendingState::Withdrawn);
    let kept = read(&bed, PendingFilter::Id(open)).await.remove(0);
    assert_eq!(kept.pending.action, "");
    let page = bed
        .store()
        .shown(&super::conversation("g1"), None, 10)
        .await;
    assert!(page.unwrap().is_empty());
}

async fn what_was_said_goes_alone_where_that_is_chosen(on: Engine) {
    let bed = Bed::new(on).await;
    let mut turn = finish(&[]);
    turn.history = vec![row(Role::User, "said"), row(Role::Ambient, "beside")];
    turn.effects = vec![Effect::Set {
        of: Place::of_conversation(1),
        key: "policy:x".into(),
        value: Some("1".to_owned()),
    }];
    bed.finish(turn).await.unwrap();
    let open = ask(&bed, "q").await;
    let forget = Forget {
        conversation: 1,
        all: false,
    };
    bed.effects(vec![Effect::Forget(forget)]).await;
    assert!(bed.rows("SELECT id FROM history").await.is_empty());
    assert_eq!(bed.rows("SELECT key FROM setting").await, ["policy:x"]);
    assert_eq!(state(&bed, open).await.0, PendingState::Open);
}

async fn every_form_of_a_row_comes_back(on: Engine) {
    let bed = Bed::new(on).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    let capability = Capability::SEND_COMMAND | Capability::MANAGE_PERMISSION;
    let rows = [
        (PendingKind::Confirmation, Answerer::Capability(capability)),
        (PendingKind::Approval, Answerer::GlobalOwner),
        (PendingKind::Question, Answerer::Person(person("b/o:b"))),
    ];
    for (place, (kind, answerer)) in (1..).zip(rows) {
        let row = Pending {
            kind,
            answerer,
            four_eyes: false,
            ..asked(id + place)
        };
        bed.effects(vec![Effect::Ask(Box::new(row.clone()))]).await;
        let found = read(&bed, PendingFilter::Id(row.id)).await.remove(0);
        assert_eq!(found.pending, row);
    }
}

suite!(
    what_is_asked_is_answered_once_however_many_try,
    an_answer_from_elsewhere_or_about_something_else_is_none,
    time_ends_what_nobody_answered_and_nothing_before,
    open_ones_are_listed_where_they_are,
    what_ended_goes_with_retention_and_what_waits_stays,
    deleting_takes_words_context_and_settings_of_one_conversation,
    what_was_said_goes_alone_where_that_is_chosen,
    every_form_of_a_row_comes_back,
);
