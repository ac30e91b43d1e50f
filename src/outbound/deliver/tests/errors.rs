//! What each class of send error leads to.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_refused_markup_is_sent_once_more_as_plain_text_and_only_that_part() {
    let rig = Rig::new();
    let bad = || refuse(SendError::BadFormat("unbalanced".into()));
    rig.script("p1", [Reaction::Show, bad()]);
    let id = rig.answer("p1", &["**one**", "**two**", "**three**"]).await;
    rig.settled().await;
    assert_eq!(
        rig.stage().texts("p1"),
        ["<b>one</b>", "**two**", "<b>three</b>"]
    );
    assert_eq!(rig.noted(id, Reason::FormattedPlain), 1);
    assert_eq!(rig.state(id).await.0, "sent");

    rig.script("p1", [bad(), bad()]);
    let id = rig.answer("p1", &["**four**"]).await;
    rig.settled().await;
    assert_eq!(
        rig.tried().iter().filter(|(tried, _)| *tried == id).count(),
        2,
        "not only once"
    );
    assert_eq!(
        rig.state(id).await,
        ("failed", Some(Reason::SendFailed.code().to_owned()))
    );
}

#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_is_held_and_the_other_parts_follow() {
    for unknown in [Reaction::ShowUnknown, Reaction::LoseUnknown] {
        let rig = Rig::with(on_unknown(OnUnknown::Hold), vec![Options::default()]);
        rig.script("p1", [Reaction::Show, unknown]);
        let id = rig.answer("p1", &["1", "2", "3"]).await;
        let next = rig.answer("p1", &["next"]).await;
        rig.settled().await;
        assert_eq!(
            rig.tried(),
            [(id, 0), (id, 1), (id, 2), (next, 0)],
            "a blind repetition"
        );
        assert_eq!(
            rig.state(id).await,
            ("unknown", Some(Reason::SendUnknown.code().to_owned()))
        );
        assert_eq!(rig.noted(id, Reason::SendUnknown), 1);
        let rig = rig.restart().await;
        assert_eq!(
            rig.process.deliverer.recover(None, false).await.unwrap(),
            0,
            "held means held"
        );
        rig.settled().await;
        assert_eq!(rig.tried().len(), 4);
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_of_the_last_part_is_held_as_well() {
    let rig = Rig::with(on_unknown(OnUnknown::Hold), vec![Options::default()]);
    rig.script("p1", [Reaction::Show, Reaction::ShowUnknown]);
    let id = rig.answer("p1", &["1", "2"]).await;
    rig.settled().await;
    assert_eq!(rig.tried(), [(id, 0), (id, 1)]);
    assert_eq!(rig.state(id).await.0, "unknown");
}

#[tokio::test(start_paused = true)]
async fn the_operator_may_prefer_a_double_to_a_gap() {
    let rig = Rig::with(on_unknown(OnUnknown::Resend), vec![Options::default()]);
    rig.script("p1", [Reaction::ShowUnknown, Reaction::LoseUnknown]);
    let id = rig.answer("p1", &["1", "2"]).await;
    rig.settled().await;
    assert_eq!(rig.tried(), [(id, 0), (id, 0), (id, 0), (id, 1)]);
    assert_eq!(rig.stage().texts("p1"), ["1", "1", "2"]);
    assert_eq!(rig.noted(id, Reason::Resent), 2);
    assert_eq!(rig.state(id).await.0, "sent");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_is_tried_three_times_at_most_with_the_same_key() {
    let idempotent = Options {
        idempotent: true,
        ..Options::default()
    };
    for (output, options) in [
        (on_unknown(OnUnknown::Hold), idempotent),
        (on_unknown(OnUnknown::Resend), Options::default()),
    ] {
        let rig = Rig::with(output, vec![options]);
        rig.script("p1", std::iter::repeat_n(Reaction::LoseUnknown, 3));
        let id = rig.answer("p1", &["1", "2"]).await;
        rig.settled().await;
        assert_eq!(rig.tried(), [(id, 0), (id, 0), (id, 0), (id, 1)]);
        assert_eq!(rig.state(id).await.0, "unknown");
    }
}

#[tokio::test(start_paused = true)]
async fn a_repetition_on_an_idempotent_platform_is_seen_once() {
    let options = Options {
        idempotent: true,
        ..Options::default()
    };
    let rig = Rig::with(on_unknown(OnUnknown::Hold), vec![options]);
    rig.script("p1", [Reaction::ShowUnknown, Reaction::ShowUnknown]);
    let id = rig.answer("p1", &["once"]).await;
    rig.settled().await;
    assert_eq!(rig.tried().len(), 3);
    assert_eq!(rig.stage().texts("p1"), ["once"]);
    assert_eq!(rig.state(id).await.0, "sent");
}

#[tokio::test(start_paused = true)]
async fn a_platform_that_is_away_is_asked_again_until_it_is_back() {
    let rig = Rig::new();
    let away = || refuse(SendError::Unavailable("not connected".into()));
    let back = Instant::now() + seconds(120);
    rig.stage().mood(move |_| {
        if Instant::now() < back {
            away()
        } else {
            Reaction::Show
        }
    });
    let start = Instant::now();
    let id = rig.answer("p1", &["1", "2"]).await;
    rig.settled().await;
    assert_eq!(rig.shown(), [(id, 0), (id, 1)]);
    assert!(
        start.elapsed() <= seconds(126),
        "found out {:?} after the start",
        start.elapsed()
    );
    assert!(
        rig.tried().len() < 40,
        "{} calls in two minutes",
        rig.tried().len()
    );
    assert!(rig.noted(id, Reason::SendRetried) > 1);
    assert_eq!(rig.state(id).await.0, "sent");
}

#[tokio::test(start_paused = true)]
async fn a_platform_that_stays_away_ends_what_has_not_begun() {
    let mut output = Output::default();
    output.buffer.max_age = seconds(60);
    let rig = Rig::with(output, vec![Options::default()]);
    rig.stage()
        .mood(|_| refuse(SendError::Unavailable("not connected".into())));
    let id = rig.answer("p1", &["1"]).await;
    rig.settled().await;
    assert_eq!(
        rig.state(id).await,
        ("expired", Some(Reason::ReplyExpired.code().to_owned()))
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_for_good_ends_the_reply_and_not_the_next() {
    for (error, reason) in [
        (SendError::Forbidden("muted".into()), Reason::SendForbidden),
        (SendError::Gone("left".into()), Reason::SendGone),
        (SendError::TooLong, Reason::SendFailed),
        (SendError::Rejected("no".into()), Reason::SendFailed),
        (SendError::Expired, Reason::ReplyExpired),
    ] {
        let rig = Rig::new();
        rig.script("p1", [Reaction::Show, refuse(error)]);
        let id = rig.answer("p1", &["1", "2", "3"]).await;
        let next = rig.answer("p1", &["next"]).await;
        rig.settled().await;
        assert_eq!(rig.tried(), [(id, 0), (id, 1), (next, 0)]);
        assert_eq!(
            rig.state(id).await,
            ("failed", Some(reason.code().to_owned()))
        );
        assert_eq!(rig.noted(id, reason), 1);
        assert_eq!(rig.state(next).await.0, "sent");
    }
}

#[tokio::test(start_paused = true)]
async fn not_modified_is_a_success() {
    let rig = Rig::new();
    rig.script("p1", [refuse(SendError::NotModified)]);
    let id = rig.answer("p1", &["1", "2"]).await;
    rig.settled().await;
    assert_eq!(rig.tried(), [(id, 0), (id, 1)]);
    assert_eq!(rig.state(id).await.0, "sent");
}

#[tokio::test(start_paused = true)]
async fn a_hanging_send_holds_up_its_own_conversation_only() {
    let rig = Rig::new();
    rig.script("p1", [Reaction::Hang]);
    rig.answer("p1", &["1"]).await;
    rig.answer("p1", &["2"]).await;
    rig.answer("p2", &["3"]).await;
    tokio::time::sleep(seconds(60)).await;
    assert_eq!(rig.stage().texts("p2"), ["3"]);
    assert_eq!(rig.stage().texts("p1"), ["1"]);
}
