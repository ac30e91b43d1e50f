//! The adapter against a fake board: a real TCP server on a port of its own.

use std::{sync::Arc, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::{
        TcpListener,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::JoinHandle,
    time::timeout,
};
use weirgate_sdk::{
    Adapter, AdapterError, Connection, Outgoing, SendError, Sent, Setup, Stopper,
    answer::{Block, Inline},
    settings::{Fields, Node, Problems},
};
use weirgate_testkit::ingress::RecordingIngress;

use super::{Board, Settings, build};

const WAIT: Duration = Duration::from_secs(10);

/// A board with one visitor: the adapter.
struct FakeBoard {
    listener: TcpListener,
    board: Arc<Board>,
    gateway: Arc<RecordingIngress>,
    stopper: Stopper,
    running: JoinHandle<Result<(), AdapterError>>,
}

impl FakeBoard {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let settings = Settings {
            address: listener.local_addr().unwrap().to_string(),
            call_timeout: WAIT,
        };
        let setup = Setup {
            account: "main".into(),
            secret: [7; 32],
            version: "0",
            public_origin: None,
            models: weirgate_sdk::ChatModels::default(),
            menu: weirgate_sdk::Menu::default(),
        };
        let board = build(setup, settings);
        let gateway = RecordingIngress::new();
        let (stopper, stop) = Stopper::new();
        let running = tokio::spawn({
            let (board, gateway) = (Arc::clone(&board), Arc::clone(&gateway));
            async move { board.run(gateway, stop).await }
        });
        Self {
            listener,
            board,
            gateway,
            stopper,
            running,
        }
    }

    /// The next connection of the adapter.
    async fn visit(&self) -> Visit {
        let (stream, _) = timeout(WAIT, self.listener.accept())
            .await
            .unwrap()
            .unwrap();
        let (read, write) = stream.into_split();
        Visit {
            lines: BufReader::new(read).lines(),
            write,
        }
    }

    /// Sends a text from a task of its own.
    fn send(&self, text: &str) -> JoinHandle<Result<Sent, SendError>> {
        let blocks = [Block::Paragraph(vec![Inline::Text(text.to_owned())])];
        let outgoing = Outgoing {
            id: 7,
            part: 0,
            parts: 1,
            conversation: self.board.message("1", "hall", "ada", "").conversation,
            turn: None,
            answers: Vec::new(),
            rendered: self.board.render().render(&blocks),
            reply: None,
            reply_context: None,
            buttons: Vec::new(),
            files: Vec::new(),
            private: false,
        };
        let board = Arc::clone(&self.board);
        tokio::spawn(async move { board.send(outgoing).await })
    }

    async fn stop(self) {
        self.stopper.stop();
        timeout(WAIT, self.running).await.unwrap().unwrap().unwrap();
    }
}

/// The board's end of a connection.
struct Visit {
    lines: Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
}

impl Visit {
    async fn say(&mut self, line: &str) {
        self.write
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    async fn hear(&mut self) -> String {
        timeout(WAIT, self.lines.next_line())
            .await
            .unwrap()
            .unwrap()
            .unwrap()
    }
}

#[tokio::test]
async fn a_post_is_acknowledged_after_its_receipt_and_in_order() {
    let fake = FakeBoard::new().await;
    let mut visit = fake.visit().await;
    fake.gateway.hold();
    visit.say("post 1 hall ada @bot good morning").await;
    visit.say("weather is fine").await;
    visit.say("post 2 hall bob hello").await;
    // Both are handed in before the first receipt resolves.
    assert!(fake.gateway.handed_in(2, WAIT).await);
    fake.gateway.release();
    assert_eq!(
        (visit.hear().await, visit.hear().await),
        ("seen 1".into(), "seen 2".into())
    );
    let first = fake.gateway.next_message(WAIT).await.unwrap();
    assert_eq!(
        (first.own_text().as_str(), first.mentions_bot),
        ("good morning", true)
    );
    let second = fake.gateway.next_message(WAIT).await.unwrap();
    assert_eq!(
        (second.sender.key.id.as_str(), second.mentions_bot),
        ("bob", false)
    );
    fake.stop().await;
}

#[tokio::test]
async fn a_post_that_was_not_accepted_comes_again() {
    let fake = FakeBoard::new().await;
    fake.gateway.fail_store(1);
    let mut visit = fake.visit().await;
    visit.say("post 1 hall ada hello").await;
    // The adapter hangs up instead of acknowledging.
    assert_eq!(
        timeout(WAIT, visit.lines.next_line())
            .await
            .unwrap()
            .unwrap(),
        None
    );
    let mut visit = fake.visit().await;
    visit.say("post 1 hall ada hello").await;
    assert_eq!(visit.hear().await, "seen 1");
    assert_eq!(fake.gateway.accepted().len(), 1);
    fake.stop().await;
}

#[tokio::test]
async fn sends_end_with_the_class_of_what_went_wrong() {
    let fake = FakeBoard::new().await;
    let early = fake.send("hi").await.unwrap();
    let mut visit = fake.visit().await;
    fake.gateway
        .connection_is(WAIT, |state| *state == Connection::Up)
        .await
        .unwrap();
    assert!(matches!(early, Err(SendError::Unavailable(_))), "{early:?}");

    let sent = fake.send("two\nlines");
    assert_eq!(visit.hear().await, "say 7.0 hall two\\nlines");
    visit.say("said 7.0").await;
    assert_eq!(sent.await.unwrap().unwrap().message, Some("7.0".into()));

    let refused = fake.send("spam");
    visit.hear().await;
    visit.say("no 7.0 full").await;
    assert_eq!(
        refused.await.unwrap(),
        Err(SendError::Rejected("full".into()))
    );

    let lost = fake.send("lost");
    visit.hear().await;
    drop(visit);
    let lost = lost.await.unwrap();
    assert!(matches!(lost, Err(SendError::Ambiguous(_))), "{lost:?}");
    fake.stop().await;
}

#[test]
fn settings_report_every_fault() {
    let node = Node::map([
        ("adress", Node::text("board:1")),
        ("call_timeout", Node::text("0")),
    ]);
    let problems = Problems::new();
    let mut fields = Fields::new(&node, "platforms.board.accounts.main", &problems);
    let settings = Settings::read(&mut fields);
    fields.finish();
    assert_eq!(settings.call_timeout, Duration::from_secs(5));
    assert_eq!(problems.take().len(), 3);
}
