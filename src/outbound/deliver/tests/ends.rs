//! What a platform that shows what is pending is told of messages without an answer.

use super::*;

fn shows_pending(transcript: bool) -> Rig {
    let account = Options {
        transcript,
        ..Options::default()
    };
    Rig::with(Output::default(), vec![account])
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_shows_nothing_ends_its_message() {
    let rig = shows_pending(true);
    let comment = "<!-- nothing to see -->";
    let id = rig.answer_of(0, "p1", &[comment], Format::Html, &[]).await;
    rig.settled().await;
    assert_eq!(rig.state(id).await.0, "sent");
    assert_eq!(rig.tried(), [], "there is nothing to send");
    assert_eq!(rig.stage().ended(), [format!("m{id}")]);
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_is_given_up_ends_its_message_and_a_sent_one_does_that_itself() {
    let rig = shows_pending(true);
    rig.script(
        "p1",
        [Reaction::Show, refuse(SendError::Gone("left".into()))],
    );
    rig.answer("p1", &["1"]).await;
    let lost = rig.answer("p1", &["2", "3"]).await;
    rig.settled().await;
    assert_eq!(rig.stage().ended(), [format!("m{lost}")]);
}

#[tokio::test(start_paused = true)]
async fn a_reply_over_which_the_adapter_panics_ends_its_message() {
    let rig = shows_pending(true);
    rig.stage().mood(|_| panic!("scripted"));
    let lost = rig.answer("p1", &["1"]).await;
    rig.settled().await;
    assert_eq!(rig.state(lost).await.0, "failed");
    assert_eq!(rig.stage().ended(), [format!("m{lost}")]);
}

#[tokio::test(start_paused = true)]
async fn other_platforms_are_not_asked() {
    let rig = shows_pending(false);
    rig.script("p1", [refuse(SendError::Gone("left".into()))]);
    rig.answer("p1", &["1"]).await;
    rig.settled().await;
    assert_eq!(rig.stage().ended(), [""; 0]);
}
