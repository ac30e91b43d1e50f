//! Stops and crashes in the middle of a reply.

use super::*;

impl Rig {
    /// The process ends without a word; the next one opens the same file and takes up what it finds.
    pub(super) async fn crash(mut self) -> Self {
        let path = self.path.with_extension("next");
        // What another process would find: the file and its log as they are now.
        for suffix in ["", "-wal"] {
            let from = format!("{}{suffix}", self.path.display());
            let to = format!("{}{suffix}", path.display());
            if std::path::Path::new(&from).exists() {
                std::fs::copy(from, to).unwrap();
            }
        }
        self.process.stopper.stop();
        self.stage().crash();
        let folder = tempfile::tempdir().unwrap();
        let moved = folder.path().join("weirgate.db");
        for suffix in ["", "-wal"] {
            let from = format!("{}{suffix}", path.display());
            if std::path::Path::new(&from).exists() {
                std::fs::rename(from, format!("{}{suffix}", moved.display())).unwrap();
            }
        }
        self.process = Process::start(&moved, &self.output, &self.accounts);
        self._folder = folder;
        self.path = moved;
        self.process.store.hold(&[]).await.unwrap();
        self
    }

    async fn recover(&self) -> usize {
        self.process.deliverer.recover(None, false).await.unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_between_two_parts_leaves_exactly_the_rest() {
    let rig = Rig::new();
    let id = rig
        .answer_of(0, "p1", &["1", "2", "3"], Format::Plain, &[50, 50])
        .await;
    let next = rig.answer("p1", &["next"]).await;
    tokio::time::sleep(seconds(7)).await;
    assert_eq!(rig.shown(), [(id, 0), (id, 1)]);
    let rig = rig.restart().await;
    let pending = rig.pending().await;
    let first = pending.first().expect("the rest is kept");
    assert_eq!((first.id, first.part, first.in_doubt), (id, 2, false));
    assert_eq!(rig.recover().await, 2);
    rig.settled().await;
    assert_eq!(rig.shown(), [(id, 0), (id, 1), (id, 2), (next, 0)]);
    assert!(rig.pending().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_stop_while_the_platform_is_away_leaves_no_doubt() {
    let rig = Rig::new();
    rig.stage()
        .mood(|_| refuse(SendError::Unavailable("not connected".into())));
    let id = rig.answer("p1", &["1"]).await;
    tokio::time::sleep(seconds(3)).await;
    let rig = rig.restart().await;
    rig.stage().mood(|_| Reaction::Show);
    assert_eq!(
        rig.pending().await.first().map(|row| row.in_doubt),
        Some(false)
    );
    assert_eq!(rig.recover().await, 1);
    rig.settled().await;
    assert_eq!(rig.shown(), [(id, 0)]);
    assert_eq!(rig.noted(id, Reason::Resent), 0);
}

#[tokio::test(start_paused = true)]
async fn a_part_under_way_at_a_crash_is_sent_again_and_counted() {
    let rig = Rig::new();
    rig.script("p1", [Reaction::Show, Reaction::Hang]);
    let id = rig.answer("p1", &["1", "2", "3"]).await;
    tokio::time::sleep(seconds(1)).await;
    let rig = rig.crash().await;
    assert_eq!(rig.recover().await, 1);
    rig.settled().await;
    assert_eq!(rig.stage().texts("p1"), ["1", "2", "2", "3"]);
    assert_eq!(rig.noted(id, Reason::Resent), 1);
    assert_eq!(rig.state(id).await.0, "sent");
}

#[tokio::test(start_paused = true)]
async fn a_reply_with_a_part_in_doubt_ends_as_unknown_whoever_sends_its_last_part() {
    for crash in [true, false] {
        let rig = Rig::new();
        let stuck = if crash {
            Reaction::Hang
        } else {
            refuse(SendError::Unavailable("away".into()))
        };
        rig.script("p1", [Reaction::LoseUnknown, Reaction::Show, stuck]);
        let id = rig.answer("p1", &["1", "2", "3"]).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(rig.tried(), [(id, 0), (id, 1), (id, 2)]);
        let rig = if crash {
            rig.crash().await
        } else {
            rig.restart().await
        };
        assert_eq!(rig.recover().await, 1);
        rig.settled().await;
        assert_eq!(
            rig.state(id).await,
            ("unknown", Some(Reason::SendUnknown.code().to_owned())),
            "part 1 is still in doubt"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_that_is_always_under_way_at_a_crash_is_given_up_after_three_sends() {
    let mut rig = Rig::new();
    rig.stage().mood(|_| Reaction::Hang);
    let id = rig.answer("p1", &["poison", "rest"]).await;
    let mut sends = Vec::new();
    for _ in 0..5 {
        tokio::time::sleep(seconds(1)).await;
        sends.push(rig.tried().len());
        rig = rig.crash().await;
        rig.recover().await;
    }
    assert_eq!(sends, [1, 2, 3, 3, 3]);
    assert_eq!(
        rig.state(id).await,
        ("failed", Some(Reason::SendFailed.code().to_owned()))
    );
}

#[tokio::test(start_paused = true)]
async fn a_frozen_reply_survives_a_crash_and_is_shown_once() {
    let rig = Rig::new();
    rig.script("p1", [Reaction::Show, limited(35, Freeze::Conversation)]);
    let id = rig.answer("p1", &["1", "2"]).await;
    tokio::time::sleep(seconds(5)).await;
    let rig = rig.crash().await;
    let start = Instant::now();
    assert_eq!(rig.recover().await, 1);
    rig.settled().await;
    assert_eq!(rig.shown(), [(id, 0), (id, 1)]);
    assert!(
        start.elapsed() >= seconds(29),
        "sent into the freeze after {:?}",
        start.elapsed()
    );
    assert_eq!(rig.noted(id, Reason::Resent), 0, "there was no doubt");
}

#[tokio::test(start_paused = true)]
async fn replies_of_an_account_that_is_gone_are_given_up_with_a_reason() {
    let mut rig = Rig::new();
    rig.script("p1", [refuse(SendError::Unavailable("away".into()))]);
    let id = rig.answer("p1", &["1"]).await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    let accounts = std::mem::take(&mut rig.accounts);
    let rig = rig.restart().await;
    rig.recover().await;
    rig.settled().await;
    assert_eq!(
        rig.state(id).await,
        ("failed", Some(Reason::SendGone.code().to_owned()))
    );
    assert!(accounts[0].shown().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_part_that_a_stop_kept_from_leaving_is_not_in_doubt_and_says_why() {
    let rig = Rig::with(
        Output::default(),
        vec![Options {
            rates: weirgate_sdk::Rates {
                conversation: 0.001,
                conversation_burst: 1,
                ..weirgate_sdk::Rates::UNLIMITED
            },
            ..Options::default()
        }],
    );
    rig.answer("p1", &["1"]).await;
    rig.settled().await;
    // Its intent is written with it, and then it waits for the pace.
    let id = rig.answer("p1", &["2"]).await;
    tokio::time::sleep(seconds(1)).await;
    let traces = Arc::clone(&rig.process.traces);
    let rig = rig.restart().await;
    let steps = traces.of(id);
    assert!(
        steps
            .iter()
            .any(|(_, reason)| *reason == Reason::ShuttingDown),
        "{steps:?}"
    );
    assert!(rig.pending().await.iter().all(|reply| !reply.in_doubt));
}
