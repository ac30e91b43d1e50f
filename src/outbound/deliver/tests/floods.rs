//! Long waits that a platform demands: nothing is lost, and the log names them.

use tracing::subscriber::DefaultGuard;

use super::*;

/// What is logged on this thread, as JSON.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn listen() -> (Self, DefaultGuard) {
        let log = Self::default();
        let sink = log.clone();
        let lines = tracing_subscriber::fmt().json();
        let lines = lines.with_writer(move || sink.clone()).finish();
        (log, tracing::subscriber::set_default(lines))
    }

    /// The waits that were named, as (seconds, how far they reach, where).
    fn waits(&self) -> Vec<(u64, String, String)> {
        let bytes = self.0.lock().unwrap().clone();
        let text = String::from_utf8(bytes).unwrap();
        let events = text
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        events
            .filter(|event| {
                event["fields"]["message"]
                    .as_str()
                    .unwrap()
                    .contains("demands a pause")
            })
            .map(|event| {
                assert_eq!(event["level"], "INFO", "{event}");
                let word = |name: &str| event["fields"][name].as_str().unwrap().to_owned();
                let seconds = event["fields"]["seconds"].as_u64().unwrap();
                (seconds, word("scope"), word("conversation"))
            })
            .collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_longer_wait_and_a_crash_in_it_lose_and_repeat_nothing_and_are_named() {
    let (log, _listening) = Log::listen();
    let rig = Rig::new();
    let waits = [35, 149].map(|after| limited(after, Freeze::Conversation));
    rig.script("p1", std::iter::once(Reaction::Show).chain(waits));
    let id = rig.answer("p1", &["the first part", "and the rest"]).await;
    tokio::time::sleep(seconds(40)).await;
    let place = rig.stage().key("p1").encode();
    let named = |seconds| (seconds, "conversation".to_owned(), place.clone());
    assert_eq!(log.waits(), [named(35), named(149)]);
    assert_eq!(rig.shown(), [(id, 0)]);
    let rig = rig.crash().await;
    let start = Instant::now();
    assert_eq!(rig.process.deliverer.recover(None, false).await.unwrap(), 1);
    rig.settled().await;
    assert_eq!(rig.stage().texts("p1"), ["the first part", "and the rest"]);
    assert!(
        start.elapsed() >= seconds(35 + 149 - 40),
        "sent into the wait after {:?}",
        start.elapsed()
    );
    assert_eq!(rig.tried().len(), 4, "called into the wait");
    assert_eq!(rig.state(id).await.0, "sent");
}

#[tokio::test(start_paused = true)]
async fn a_wait_of_the_whole_account_is_named_once_and_a_short_one_not_at_all() {
    let (log, _listening) = Log::listen();
    let rig = Rig::new();
    let waits = [
        limited(3, Freeze::Conversation),
        limited(60, Freeze::Account),
    ];
    rig.script("p1", waits);
    rig.answer("p1", &["1"]).await;
    tokio::time::sleep(seconds(4)).await;
    for conversation in ["p2", "p3"] {
        rig.answer(conversation, &["1"]).await;
    }
    rig.settled().await;
    assert_eq!(rig.tried().len(), 5, "called into the wait");
    let waits = log.waits();
    let [(seconds, scope, _)] = &waits[..] else {
        panic!("{waits:?}");
    };
    assert_eq!((*seconds, &**scope), (60, "account"));
    assert_eq!(rig.shown().len(), 3);
}
