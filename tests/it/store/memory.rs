//! History, ambient messages, settings and what is shown.

use std::time::Duration;

use weirgate::store::{
    Ambient, Audit, AuditResult, Effect, EndState, History, HistoryScope, Meeting, Place, Role,
    Write, commit,
};
use weirgate_sdk::ConversationKey;

use super::{Bed, Engine, NOW, conversation, finish, message, person, reply, row};

const NO_AMBIENT: (usize, Duration) = (0, Duration::ZERO);
const HOUR: Duration = Duration::from_hours(1);

async fn texts(
    bed: &Bed,
    scope: HistoryScope,
    limit: usize,
    ambient: (usize, Duration),
) -> Vec<String> {
    let rows = bed.store().history(scope, limit, ambient).await.unwrap();
    rows.into_iter().map(|row| row.parts).collect()
}

async fn talk(bed: &Bed, event: &str, scope: HistoryScope, effects: Vec<Effect>) {
    let id = bed.accept(vec![message(event)]).await[0].id;
    let mut turn = finish(&[id]);
    (turn.scope, turn.effects) = (scope, effects);
    turn.history = vec![
        row(Role::User, &format!("{event}?")),
        History {
            turn: id,
            ..row(Role::Assistant, &format!("{event}!"))
        },
    ];
    bed.finish(turn).await.unwrap();
}

async fn overhear(bed: &Bed, text: &str, at: i64) {
    let row = History {
        at,
        ..row(Role::Ambient, text)
    };
    let ambient = Box::new(Ambient {
        conversation: conversation("g1"),
        row,
    });
    commit(&bed.store(), |then| Write::Ambient(ambient, then))
        .await
        .unwrap();
}

async fn who_is_met_has_the_numbers_that_his_messages_have(on: Engine) {
    let bed = Bed::new(on).await;
    let meet = async |place: &str, who: &str| {
        let meeting = Box::new(Meeting {
            conversation: conversation(place),
            person: person(who),
        });
        commit(&bed.store(), |then| Write::Meet(meeting, then))
            .await
            .unwrap()
    };
    let met = meet("g1", "someone").await;
    let accepted = bed.accept(vec![message("a")]).await[0];
    assert_eq!(met, (accepted.conversation, accepted.person));
    assert!(!accepted.new_person, "he was met");
    assert_eq!(meet("g1", "someone").await, met);
    let (here, another) = meet("g1", "another").await;
    assert!(here == met.0 && another != met.1);
    let store = bed.store();
    let key = Some(conversation("g1"));
    assert_eq!(store.conversation(here).await.unwrap(), key);
    assert_eq!(
        store.person_number(&person("another")).await.unwrap(),
        Some(another)
    );
    assert_eq!(
        bed.waiting().await.len(),
        1,
        "nothing waits of who was only met"
    );
}

async fn history_is_the_newest_rows_oldest_first(on: Engine) {
    let bed = Bed::new(on).await;
    let scope = HistoryScope {
        conversation: 1,
        person: 0,
    };
    for event in ["a", "b", "c"] {
        talk(&bed, event, scope, Vec::new()).await;
    }
    assert_eq!(
        texts(&bed, scope, 4, NO_AMBIENT).await,
        ["b?", "b!", "c?", "c!"]
    );
    let rows = bed.store().history(scope, 1, NO_AMBIENT).await.unwrap();
    assert_eq!((rows[0].role, rows[0].at), (Role::Assistant, NOW));
    assert_ne!(rows[0].turn, 0);
}

async fn a_reset_hides_what_was_before_in_its_scope_only(on: Engine) {
    let mut bed = Bed::new(on).await;
    let one = HistoryScope {
        conversation: 1,
        person: 7,
    };
    let other = HistoryScope {
        conversation: 1,
        person: 8,
    };
    talk(&bed, "a", one, Vec::new()).await;
    talk(&bed, "b", other, Vec::new()).await;
    talk(&bed, "c", one, vec![Effect::Reset(one)]).await;
    assert_eq!(
        texts(&bed, one, 100, NO_AMBIENT).await,
        [] as [&str; 0],
        "the turn itself too"
    );
    assert_eq!(texts(&bed, other, 100, NO_AMBIENT).await, ["b?", "b!"]);
    talk(&bed, "d", one, Vec::new()).await;
    bed.crash().await;
    assert_eq!(texts(&bed, one, 100, NO_AMBIENT).await, ["d?", "d!"]);
}

async fn ambient_messages_are_bounded_in_number_and_age_and_mixed_in_order(on: Engine) {
    let bed = Bed::new(on).await;
    let scope = HistoryScope {
        conversation: 1,
        person: 0,
    };
    talk(&bed, "a", scope, Vec::new()).await;
    overhear(&bed, "old", NOW - 7_200_000).await;
    for text in ["x", "y", "z"] {
        overhear(&bed, text, NOW - 1000).await;
    }
    talk(&bed, "b", scope, Vec::new()).await;
    assert_eq!(
        texts(&bed, scope, 100, (10, HOUR)).await,
        ["a?", "a!", "x", "y", "z", "b?", "b!"]
    );
    assert_eq!(
        texts(&bed, scope, 2, (2, HOUR)).await,
        ["y", "z", "b?", "b!"]
    );
    assert_eq!(
        texts(&bed, scope, 100, NO_AMBIENT).await,
        ["a?", "a!", "b?", "b!"]
    );
    let person = HistoryScope {
        conversation: 1,
        person: 7,
    };
    assert_eq!(
        texts(&bed, person, 100, (10, HOUR)).await,
        ["x", "y", "z"],
        "it is everybody's"
    );
    bed.effects(vec![Effect::Reset(person)]).await;
    assert_eq!(texts(&bed, person, 100, (10, HOUR)).await, [] as [&str; 0]);
    assert_eq!(texts(&bed, scope, 0, (10, HOUR)).await, ["x", "y", "z"]);
}

async fn a_chatty_group_keeps_about_a_thousand_ambient_messages(on: Engine) {
    let bed = Bed::new(on).await;
    for number in 0..1500 {
        overhear(&bed, &format!("{number}"), NOW).await;
    }
    let scope = HistoryScope {
        conversation: 1,
        person: 0,
    };
    let kept = texts(&bed, scope, 0, (10_000, HOUR)).await;
    assert!((1000..1100).contains(&kept.len()), "{}", kept.len());
    assert_eq!(kept.last().map(String::as_str), Some("1499"));
}

async fn settings_are_set_replaced_and_removed(on: Engine) {
    let mut bed = Bed::new(on).await;
    let of = Place {
        conversation: 0,
        person: 3,
    };
    let set = |key: &'static str, value: Option<&str>| Effect::Set {
        of,
        key: key.into(),
        value: value.map(str::to_owned),
    };
    bed.effects(vec![set("lang", Some("en")), set("output", Some("full"))])
        .await;
    bed.effects(vec![
        set("lang", Some("zh-CN")),
        set("output", None),
        set("none", None),
    ])
    .await;
    bed.crash().await;
    let found = bed.store().settings(of).await.unwrap();
    assert_eq!(found, [("lang".to_owned(), "zh-CN".to_owned())]);
    let other = Place {
        conversation: 3,
        person: 0,
    };
    assert_eq!(bed.store().settings(other).await.unwrap(), []);
}

async fn effects_of_a_failed_turn_do_not_happen(on: Engine) {
    let bed = Bed::new(on).await;
    let of = Place {
        conversation: 1,
        person: 0,
    };
    let scope = HistoryScope {
        conversation: 1,
        person: 0,
    };
    let id = bed.accept(vec![message("a")]).await[0].id;
    let mut turn = finish(&[id]);
    turn.replies = vec![reply(id, "x")];
    bed.finish(turn.clone()).await.unwrap();
    turn.effects = vec![
        Effect::Set {
            of,
            key: "lang".into(),
            value: Some("en".to_owned()),
        },
        Effect::Audit(Audit {
            event: "config",
            result: AuditResult::Done,
            operator: 1,
            target: "g1".to_owned(),
            conversation: 1,
            turn: id,
            details: "{}".to_owned(),
            at: NOW,
        }),
    ];
    turn.history = vec![row(Role::User, "a?")];
    bed.finish(turn).await.unwrap_err();
    assert_eq!(bed.store().settings(of).await.unwrap(), []);
    assert_eq!(texts(&bed, scope, 10, NO_AMBIENT).await, [] as [&str; 0]);
}

fn shown(event: &str, at: i64) -> weirgate::store::Accept {
    weirgate::store::Accept {
        shown: true,
        at,
        ..message(event)
    }
}

async fn a_conversation_is_shown_in_pages_that_part_no_message_from_its_answer(on: Engine) {
    let bed = Bed::new(on).await;
    let mut ids = Vec::new();
    for number in 0..6 {
        let at = NOW + 10 * number;
        let id = bed.accept(vec![shown(&format!("e{number}"), at)]).await[0].id;
        if number != 5 {
            let mut turn = finish(&[id]);
            turn.at = at + 1;
            turn.replies = vec![reply(id, "x")];
            turn.replies[0].shown = true;
            bed.finish(turn).await.unwrap();
        }
        ids.push(id);
    }
    bed.accept(vec![message("hidden")]).await;
    let (store, here) = (bed.store(), conversation("g1"));
    for limit in [2, 3] {
        let page = store.shown(&here, None, limit).await.unwrap();
        let seen: Vec<_> = page
            .iter()
            .map(|row| (row.id, row.answer, row.pending))
            .collect();
        let pair_and_one = [
            (ids[4], false, false),
            (ids[4], true, false),
            (ids[5], false, true),
        ];
        assert_eq!(seen, pair_and_one, "{limit}");
    }

    let mut all = Vec::new();
    let mut before = None;
    loop {
        let page = store.shown(&here, before, 2).await.unwrap();
        let Some(first) = page.iter().map(|row| row.id).min() else {
            break;
        };
        before = Some(first);
        all.splice(0..0, page.into_iter().map(|row| (row.id, row.answer)));
    }
    let expected: Vec<_> = ids
        .iter()
        .flat_map(|id| [(*id, false), (*id, true)])
        .filter(|row| *row != (ids[5], true))
        .collect();
    assert_eq!(all, expected);
    assert_eq!(
        store.shown(&conversation("g2"), None, 10).await.unwrap(),
        []
    );
}

async fn an_answer_to_merged_messages_comes_after_them(on: Engine) {
    let bed = Bed::new(on).await;
    let ids: Vec<i64> = bed
        .accept(vec![shown("a", NOW), shown("b", NOW + 5)])
        .await
        .iter()
        .map(|a| a.id)
        .collect();
    let mut turn = finish(&ids);
    turn.at = NOW + 9;
    turn.replies = vec![reply(ids[0], "x")];
    turn.replies[0].shown = true;
    bed.finish(turn).await.unwrap();
    let page = bed
        .store()
        .shown(&conversation("g1"), None, 10)
        .await
        .unwrap();
    let seen: Vec<_> = page
        .iter()
        .map(|row| (row.id, row.answer, row.turn))
        .collect();
    assert_eq!(
        seen,
        [
            (ids[0], false, None),
            (ids[1], false, None),
            (ids[0], true, Some(ids[0]))
        ]
    );
}

async fn the_newest_thread_is_the_one_that_was_written_to_last(on: Engine) {
    let bed = Bed::new(on).await;
    let in_thread = |name: &str, thread: Option<&str>| ConversationKey {
        thread: thread.map(Into::into),
        ..conversation(name)
    };
    for (number, (name, thread)) in [("c", "one"), ("c", "two"), ("c", "one"), ("c/2", "three")]
        .iter()
        .enumerate()
    {
        let mut message = shown(&format!("e{number}"), NOW);
        message.conversation = in_thread(name, Some(thread));
        bed.accept(vec![message]).await;
    }
    let mut outside = shown("outside", NOW);
    outside.conversation = in_thread("c", None);
    let outside = bed.accept(vec![outside]).await[0].id;
    bed.end(&[outside], EndState::Dropped, Vec::new()).await;
    let store = bed.store();
    let newest = |name: &'static str| {
        let (store, key) = (store.clone(), in_thread(name, None));
        async move { store.newest_thread(&key).await.unwrap() }
    };
    assert_eq!(newest("c").await, Some("one".into()));
    assert_eq!(newest("c/2").await, Some("three".into()));
    assert_eq!(newest("d").await, None);
}

async fn threads_are_listed_with_their_first_words_the_last_written_first(on: Engine) {
    let bed = Bed::new(on).await;
    let in_thread = |name: &str, thread: &str| ConversationKey {
        thread: Some(thread.into()),
        ..conversation(name)
    };
    let said = [("c", "one"), ("c", "two"), ("c", "one"), ("c/2", "three")];
    for (number, (name, thread)) in said.iter().enumerate() {
        let at = NOW + i64::try_from(number).unwrap();
        let mut message = shown(&format!("e{number}"), at);
        message.conversation = in_thread(name, thread);
        message.body = format!("body {number}").into();
        bed.accept(vec![message]).await;
    }
    let store = bed.store();
    let threads = |name: &'static str, limit| {
        let (store, key) = (store.clone(), in_thread(name, "any"));
        async move {
            let found = store.threads(&key, limit).await.unwrap();
            let told = found.into_iter();
            told.map(|it| (it.thread.as_str().to_owned(), it.first.to_string(), it.at))
                .collect::<Vec<_>>()
        }
    };
    let (one, two) = (
        ("one".to_owned(), "body 0".to_owned(), NOW + 2),
        ("two".to_owned(), "body 1".to_owned(), NOW + 1),
    );
    assert_eq!(threads("c", 10).await, [one.clone(), two]);
    assert_eq!(threads("c", 1).await, [one]);
    assert_eq!(threads("c/2", 10).await.len(), 1);
    assert_eq!(threads("d", 10).await, []);
}

suite!(
    who_is_met_has_the_numbers_that_his_messages_have,
    history_is_the_newest_rows_oldest_first,
    a_reset_hides_what_was_before_in_its_scope_only,
    ambient_messages_are_bounded_in_number_and_age_and_mixed_in_order,
    a_chatty_group_keeps_about_a_thousand_ambient_messages,
    settings_are_set_replaced_and_removed,
    effects_of_a_failed_turn_do_not_happen,
    a_conversation_is_shown_in_pages_that_part_no_message_from_its_answer,
    an_answer_to_merged_messages_comes_after_them,
    the_newest_thread_is_the_one_that_was_written_to_last,
    threads_are_listed_with_their_first_words_the_last_written_first,
);
