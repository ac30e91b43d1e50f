//! Order, pace, freezes and what gives way.

use weirgate_sdk::Rates;

use super::*;
use crate::inbound::config::OverflowStrategy;

#[tokio::test(start_paused = true)]
async fn parts_are_contiguous_and_replies_in_order_while_conversations_run_side_by_side() {
    let rig = Rig::new();
    let slow = |_: &_| Reaction::Slow(Duration::from_millis(30), Duration::from_millis(70));
    rig.stage().mood(slow);
    let start = Instant::now();
    let mut wanted = Vec::new();
    for _ in 0..5 {
        for conversation in ["p1", "p2", "p3"] {
            let id = rig.answer(conversation, &["a", "b", "c"]).await;
            wanted.extend((0..3).map(|part| (conversation, id, part)));
        }
    }
    rig.settled().await;
    for conversation in ["p1", "p2", "p3"] {
        let there = |shown: &&weirgate_testkit::scripted::Shown| shown.conversation == conversation;
        let shown = rig.stage().shown();
        let seen: Vec<_> = shown
            .iter()
            .filter(there)
            .map(|shown| (shown.id, shown.part))
            .collect();
        let right: Vec<_> = wanted
            .iter()
            .filter(|(place, ..)| *place == conversation)
            .map(|(_, id, part)| (*id, *part))
            .collect();
        assert_eq!(seen, right);
    }
    assert_eq!(
        rig.stage().overlaps(),
        0,
        "two sends at once in one conversation"
    );
    // Fifteen sends of 100 ms in each conversation, all three at once.
    assert_eq!(start.elapsed(), Duration::from_millis(1_500));
    assert!(rig.pending().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_pauses_of_a_reply_pass_before_each_further_part() {
    let rig = Rig::new();
    let start = Instant::now();
    let parts = ["a", "b", "c"];
    rig.answer_of(0, "p1", &parts, Format::Plain, &[20, 50])
        .await;
    rig.settled().await;
    assert_eq!(times(rig.stage(), start), [0, 2, 7]);
}

#[tokio::test(start_paused = true)]
async fn a_refused_rate_in_the_middle_keeps_the_rest() {
    let rig = Rig::new();
    let limit = || {
        Reaction::Refuse(SendError::RateLimited {
            after: Duration::from_millis(1_500),
            scope: Freeze::Conversation,
        })
    };
    rig.script("p1", [Reaction::Show, Reaction::Show, limit(), limit()]);
    let start = Instant::now();
    let id = rig.answer("p1", &["1", "2", "3", "4", "5"]).await;
    rig.settled().await;
    assert_eq!(rig.stage().texts("p1"), ["1", "2", "3", "4", "5"]);
    assert_eq!(
        times(rig.stage(), start),
        [0, 0, 3, 3, 3],
        "the pauses were not honoured"
    );
    assert_eq!(rig.tried().len(), 7, "sent during the freeze");
    assert_eq!(rig.noted(id, Reason::SendRateLimited), 2);
    assert_eq!(rig.state(id).await.0, "sent");
}

#[tokio::test(start_paused = true)]
async fn a_freeze_reaches_as_far_as_the_platform_says_and_no_further() {
    let other = Options {
        account: "second",
        ..Options::default()
    };
    for (scope, neighbour) in [
        (Freeze::Conversation, 0),
        (Freeze::Route, 0),
        (Freeze::Account, 9),
    ] {
        let rig = Rig::with(Output::default(), vec![Options::default(), other.clone()]);
        rig.script("p1", [limited(9, scope)]);
        let start = Instant::now();
        rig.answer("p1", &["frozen"]).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
        rig.answer("p2", &["neighbour"]).await;
        rig.answer_of(1, "p1", &["elsewhere"], Format::Plain, &[])
            .await;
        rig.settled().await;
        let when = |stage: &ScriptedAdapter, place: &str| {
            let shown = stage.shown();
            let found = shown
                .iter()
                .find(|shown| shown.conversation == place)
                .unwrap();
            found.at.duration_since(start).as_secs()
        };
        assert_eq!(when(rig.stage(), "p1"), 9, "{scope:?}");
        assert_eq!(when(rig.stage(), "p2"), neighbour, "{scope:?}");
        assert_eq!(
            when(&rig.accounts[1], "p1"),
            0,
            "another account was frozen: {scope:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_freeze_costs_no_age_but_waiting_for_the_pace_does() {
    let mut output = Output::default();
    output.buffer.max_age = seconds(10);
    let rig = Rig::with(output.clone(), vec![Options::default()]);
    rig.script(
        "p1",
        [
            limited(35, Freeze::Conversation),
            limited(149, Freeze::Conversation),
        ],
    );
    let start = Instant::now();
    let id = rig.answer("p1", &["the whole answer"]).await;
    rig.settled().await;
    assert_eq!(times(rig.stage(), start), [184]);
    assert_eq!(rig.state(id).await.0, "sent");

    let rates = Rates {
        conversation: 0.05,
        conversation_burst: 1,
        ..Rates::UNLIMITED
    };
    let rig = Rig::with(
        output,
        vec![Options {
            rates,
            ..Options::default()
        }],
    );
    let first = rig.answer("p1", &["a", "b", "c"]).await;
    let second = rig.answer("p1", &["late"]).await;
    rig.settled().await;
    assert_eq!(
        rig.stage().texts("p1"),
        ["a", "b", "c"],
        "a reply that has begun does not expire"
    );
    assert_eq!(rig.state(first).await.0, "sent");
    let code = Reason::ReplyExpired.code().to_owned();
    assert_eq!(rig.state(second).await, ("expired", Some(code)));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_to_a_frozen_place_and_a_stop_does_not_wait_for_it() {
    let rig = Rig::new();
    rig.script("p1", [limited(900, Freeze::Conversation)]);
    let start = Instant::now();
    let id = rig.answer("p1", &["parked"]).await;
    rig.answer("p1", &["behind it"]).await;
    tokio::time::sleep(seconds(100)).await;
    let stage = Arc::clone(rig.stage());
    let rig = rig.restart().await;
    assert_eq!(start.elapsed(), seconds(100), "the stop waited");
    assert_eq!(stage.calls().len(), 1, "called into the freeze");
    let pending = rig.pending().await;
    assert_eq!(
        pending.iter().map(|row| row.in_doubt).collect::<Vec<_>>(),
        [false, true]
    );
    assert_eq!(
        pending[0].due_at,
        1_000 + 900_000,
        "the due time was not kept"
    );
    assert_eq!(rig.process.deliverer.recover(None, false).await.unwrap(), 2);
    rig.settled().await;
    assert_eq!(stage.texts("p1"), ["parked", "behind it"]);
    assert_eq!(rig.state(id).await.0, "sent");
}

#[tokio::test(start_paused = true)]
async fn whole_replies_give_way_when_too_many_wait() {
    for (strategy, lost) in [
        (OverflowStrategy::DropOldest, 1),
        (OverflowStrategy::DropNewest, 3),
    ] {
        let mut output = Output::default();
        output.buffer.max_size = 2;
        output.buffer.overflow_strategy = strategy;
        let rig = Rig::with(output, vec![Options::default()]);
        rig.script("p1", [Reaction::Slow(seconds(1), seconds(1))]);
        let mut ids = Vec::new();
        for _ in 0..4 {
            ids.push(rig.answer("p1", &["a", "b"]).await);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        rig.settled().await;
        let kept: Vec<i64> = ids.iter().copied().filter(|id| *id != ids[lost]).collect();
        let wanted: Vec<_> = kept.iter().flat_map(|id| [(*id, 0), (*id, 1)]).collect();
        assert_eq!(rig.shown(), wanted, "{strategy:?}");
        let code = Reason::ReplyDropped.code().to_owned();
        assert_eq!(rig.state(ids[lost]).await, ("failed", Some(code)));
    }
}

#[tokio::test(start_paused = true)]
async fn the_pace_of_the_account_is_kept_over_all_conversations() {
    let rates = Rates {
        account: 2.0,
        account_burst: 4,
        ..Rates::UNLIMITED
    };
    let rig = Rig::with(
        Output::default(),
        vec![Options {
            rates,
            ..Options::default()
        }],
    );
    let start = Instant::now();
    for conversation in ["p1", "p2", "p3", "p4", "p5", "p6"] {
        rig.answer(conversation, &["a", "b"]).await;
    }
    rig.settled().await;
    let shown = rig.stage().shown();
    for (index, shown) in shown.iter().enumerate() {
        let earliest = Duration::from_millis(500 * (index as u64).saturating_sub(3));
        assert!(
            shown.at.duration_since(start) >= earliest,
            "{index} came too early"
        );
    }
    assert_eq!(shown.len(), 12);
    assert!(
        start.elapsed() <= seconds(5),
        "slower than the pace: {:?}",
        start.elapsed()
    );
}
