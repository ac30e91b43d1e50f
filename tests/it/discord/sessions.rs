//! What reported bots did not survive: sessions that are refused again and again, ends that come at one moment, networks
//! that flap, and a limit of sessions that is nearly used up.

use super::*;

/// Ends the connection and waits until the bot is back.
async fn broken(rig: &Rig) {
    rig.fake.close(4_000);
    rig.is_down().await;
    rig.is_up().await;
}

async fn still_works(rig: &Rig, word: &str) {
    rig.say(word);
    assert_eq!(rig.heard().await.own_text(), word);
}

#[tokio::test]
async fn a_resume_that_is_closed_without_a_code_is_given_up_after_three() {
    let rig = Rig::start().await;
    rig.fake.refuse_resumes(1_005);
    broken(&rig).await;
    assert_eq!(rig.fake.sessions(), (2, 0));
    still_works(&rig, "one").await;
    rig.ended().await;
}

#[tokio::test]
async fn a_session_that_may_be_resumed_later_is_kept() {
    let rig = Rig::start().await;
    still_works(&rig, "one").await;
    rig.fake.invalidate(true);
    rig.say("meanwhile");
    broken(&rig).await;
    assert_eq!(rig.fake.sessions(), (1, 1), "the same session");
    assert_eq!(rig.heard().await.own_text(), "meanwhile");
    // Not for ever: three times, and another one is begun.
    for _ in 0..3 {
        rig.fake.invalidate(true);
    }
    broken(&rig).await;
    assert_eq!(rig.fake.sessions(), (2, 1));
    still_works(&rig, "two").await;
    rig.ended().await;
}

#[tokio::test]
async fn a_session_that_is_over_is_left_at_once_and_the_next_one_waits() {
    let fake = FakeDiscord::start(TOKEN).await;
    let settings = Settings {
        identify_pause: Duration::from_secs(2),
        ..settings(&fake)
    };
    let rig = Rig::run_with(fake, RecordingIngress::new(), settings);
    rig.is_up().await;
    rig.fake.invalidate(false);
    let begun = std::time::Instant::now();
    broken(&rig).await;
    assert_eq!(rig.fake.sessions(), (2, 0));
    assert!(
        begun.elapsed() >= Duration::from_millis(400),
        "at least a fifth"
    );
    rig.ended().await;
}

#[tokio::test]
async fn ends_that_come_at_one_moment_are_one_end() {
    let rig = Rig::start().await;
    for round in 1..=3 {
        // No heartbeat is answered, the platform asks for another connection, and this one is closed.
        rig.fake.silent(true);
        if round % 2 == 0 {
            rig.fake.close(4_000);
            rig.fake.raw(br#"{"op":7,"d":null}"#);
        } else {
            rig.fake.raw(br#"{"op":7,"d":null}"#);
            rig.fake.close(4_000);
        }
        rig.is_down().await;
        rig.fake.silent(false);
        rig.is_up().await;
        still_works(&rig, &format!("after {round}")).await;
    }
    let (begun, resumed) = rig.fake.sessions();
    assert_eq!(begun, 1);
    // One that was left while another one took its place would be a second one each time.
    assert!((3..=6).contains(&resumed), "{resumed}");
    rig.ended().await;
}

#[tokio::test]
async fn a_network_that_flaps_uses_up_no_sessions() {
    let rig = Rig::start().await;
    for _ in 0..20 {
        broken(&rig).await;
    }
    assert_eq!(rig.fake.sessions(), (1, 20), "resumed each time");
    rig.ended().await;
    // Sessions that are lost each time are begun at the pace that the platform wants.
    let fake = FakeDiscord::start(TOKEN).await;
    let pause = Duration::from_millis(300);
    let settings = Settings {
        identify_pause: pause,
        ..settings(&fake)
    };
    let rig = Rig::run_with(fake, RecordingIngress::new(), settings);
    rig.is_up().await;
    for _ in 0..4 {
        rig.fake.forget_session();
        broken(&rig).await;
    }
    assert_eq!(rig.fake.sessions(), (5, 0));
    assert!(rig.fake.least_pause() >= Some(pause));
    rig.ended().await;
}

#[tokio::test]
async fn the_last_sessions_of_a_day_are_not_spent_in_a_row() {
    let rig = Rig::start().await;
    rig.fake.sessions_left(Some(2));
    rig.fake.sessions_reset(Duration::from_secs(9));
    // What can be resumed costs nothing.
    broken(&rig).await;
    assert_eq!(rig.fake.sessions(), (1, 1));
    rig.fake.forget_session();
    rig.fake.close(4_000);
    let few = |state: &Connection| matches!(state, Connection::Down(why) if why.contains("only 2"));
    let told = rig.ingress.connection_is(LIMIT, few).await;
    assert!(told.is_some(), "{:?}", rig.ingress.connections());
    assert_eq!(rig.fake.sessions().0, 1);
    rig.is_up().await;
    assert_eq!(rig.fake.sessions().0, 2);
    rig.ended().await;
}

#[tokio::test]
async fn intents_that_do_not_exist_end_the_account() {
    let rig = Rig::start().await;
    rig.fake.close(4_013);
    let why = rig.failed().await;
    assert!(why.contains("intent") || why.contains("Intent"), "{why}");
}
