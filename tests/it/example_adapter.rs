//! The adapter that `docs/writing-an-adapter.md` explains, at work against a server of its platform.
//!
//! The platform is invented: a notice board that speaks lines over TCP. It sends `post ID ROOM WHO TEXT`
//! and repeats it on every new connection until it reads `seen ID`; it answers `say KEY ROOM TEXT` with
//! `said KEY` or `no KEY WHY`, and shows a text with a known key only once.

use std::{
    collections::HashMap,
    io,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    sync::{mpsc, oneshot},
    time::{sleep, timeout},
};
use weirgate_sdk::{
    AccountName, Adapter, AdapterError, Batch, Capabilities, ChatKind, Connection, ConversationKey,
    DedupeKey, Event, InboundMessage, Ingress, Length, LengthUnit, MediaLimits, Outgoing, Platform,
    PlatformRole, Rates, Receipt, Segment, SendError, Sender, SenderKind, Sent, Setup, Stop,
    Streaming, UserKey, Via,
    answer::{Block, Inline, Render, Rendered, plain_text},
    settings::Fields,
};

/// The platform's name in agent.yaml. Stored: never rename it.
const PLATFORM: &str = "board";
/// Lines and receipts that may wait.
const QUEUE: usize = 256;
/// First and longest pause before the next try to connect.
const PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(5));

/// Settings of one account.
#[derive(Debug, Clone, PartialEq)]
struct Settings {
    /// Where the board is.
    address: String,
    /// How long an answer of the board may take.
    call_timeout: Duration,
}

impl Settings {
    fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            address: fields.required_text("address").unwrap_or_default(),
            call_timeout: fields.seconds("call_timeout", Duration::from_secs(5), 0.1..=60.0),
        }
    }
}

/// How answers look on the board: plain lines.
struct Plain;

impl Render for Plain {
    fn render(&self, blocks: &[Block]) -> Rendered {
        let lines: Vec<String> = blocks.iter().map(line).collect();
        Rendered {
            text: lines.join("\n"),
            marks: Vec::new(),
        }
    }

    fn fits(&self, rendered: &Rendered) -> bool {
        rendered.text.chars().count() <= 400
    }
}

fn line(block: &Block) -> String {
    match block {
        Block::Paragraph(content) | Block::Heading { content, .. } => plain_text(content),
        Block::Code { text, .. } => text.clone(),
        Block::List { items, .. } => {
            let items = items.iter().map(|item| format!("- {}", lines(item)));
            items.collect::<Vec<_>>().join("\n")
        }
        Block::Quote(inner) => lines(inner),
        Block::Table { header, rows, .. } => {
            let rows = std::iter::once(header).chain(rows);
            let row = |cells: &Vec<Vec<Inline>>| {
                cells
                    .iter()
                    .map(|cell| plain_text(cell))
                    .collect::<Vec<_>>()
                    .join(" | ")
            };
            rows.map(row).collect::<Vec<_>>().join("\n")
        }
        Block::Rule => "---".to_owned(),
    }
}

fn lines(blocks: &[Block]) -> String {
    blocks.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// One account on the board.
struct Board {
    account: AccountName,
    settings: Settings,
    /// The connection, while there is one.
    link: Mutex<Option<Link>>,
}

/// What `send` needs of a connection.
struct Link {
    lines: mpsc::Sender<String>,
    calls: HashMap<String, oneshot::Sender<Result<(), SendError>>>,
}

/// What the registry of adapters calls.
fn build(setup: Setup, settings: Settings) -> Arc<Board> {
    let account = setup.account;
    Arc::new(Board {
        account,
        settings,
        link: Mutex::default(),
    })
}

#[async_trait]
impl Adapter for Board {
    fn platform(&self) -> Platform {
        PLATFORM.into()
    }

    fn account(&self) -> AccountName {
        self.account.clone()
    }

    fn capabilities(&self, _: &ConversationKey) -> Capabilities {
        Capabilities {
            max_length: Length {
                limit: 400,
                unit: LengthUnit::Characters,
            },
            streaming: Streaming::None,
            reply: false,
            // The board shows a text with a known key only once.
            idempotent: true,
            transcript: false,
            buttons: None,
            pending: false,
            media: MediaLimits::NONE,
            rates: Rates::UNLIMITED,
        }
    }

    fn render(&self) -> &dyn Render {
        &Plain
    }

    async fn run(&self, ingress: Arc<dyn Ingress>, stop: Stop) -> Result<(), AdapterError> {
        ingress.connection(&self.platform(), &self.account, Connection::Waiting);
        let mut pause = PAUSE.0;
        while !stop.is_stopped() {
            let ended = tokio::select! {
                ended = self.connection(&*ingress) => ended,
                () = stop.stopped() => break,
            };
            // Dropping the link drops its calls: who waits for an answer learns that none will come.
            if self.link.lock().take().is_some() {
                pause = PAUSE.0;
            }
            let why = ended.map_or_else(|error| error.to_string(), |()| "closed".to_owned());
            ingress.connection(&self.platform(), &self.account, Connection::Down(why));
            tokio::select! {
                () = sleep(pause) => pause = (pause * 2).min(PAUSE.1),
                () = stop.stopped() => {}
            }
        }
        self.link.lock().take();
        Ok(())
    }

    async fn send(&self, outgoing: Outgoing) -> Result<Sent, SendError> {
        // The same part always has the same key, also after a crash.
        let key = format!("{}.{}", outgoing.id, outgoing.part);
        let text = outgoing.rendered.text.replace('\n', "\\n");
        let line = format!("say {key} {} {text}", outgoing.conversation.conversation);
        let (call, answer) = oneshot::channel();
        {
            let mut link = self.link.lock();
            let unavailable = || SendError::Unavailable("not connected".to_owned());
            let link = link.as_mut().ok_or_else(unavailable)?;
            // Nothing has left yet, so it certainly was not delivered.
            link.lines.try_send(line).map_err(|_| unavailable())?;
            link.calls.insert(key.clone(), call);
        }
        let answer = timeout(self.settings.call_timeout, answer).await;
        if let Some(link) = self.link.lock().as_mut() {
            link.calls.remove(&key);
        }
        match answer {
            Ok(Ok(result)) => result.map(|()| Sent {
                message: Some(key.into()),
            }),
            // It left, and nobody knows whether it arrived.
            _ => Err(SendError::Ambiguous("no answer".to_owned())),
        }
    }
}

impl Board {
    /// One connection, until it ends. The three loops run side by side; the first that ends, ends all.
    async fn connection(&self, ingress: &dyn Ingress) -> io::Result<()> {
        let stream = TcpStream::connect(&self.settings.address).await?;
        let (read, mut write) = stream.into_split();
        let mut posts = BufReader::new(read).lines();
        let (lines, mut outgoing) = mpsc::channel::<String>(QUEUE);
        let (receipts, mut open) = mpsc::channel::<(String, Receipt)>(QUEUE);
        *self.link.lock() = Some(Link {
            lines: lines.clone(),
            calls: HashMap::new(),
        });
        ingress.connection(&self.platform(), &self.account, Connection::Up);
        let reading = async {
            while let Some(line) = posts.next_line().await? {
                if let Some((id, batch)) = self.take(&line) {
                    let receipt = ingress.accept(batch).await;
                    // Reads on; only a full list of open receipts makes it wait.
                    let _ = receipts.send((id, receipt)).await;
                }
            }
            Ok(())
        };
        let acknowledging = async {
            while let Some((id, receipt)) = open.recv().await {
                // Not accepted: the connection ends, and the board posts it again on the next one.
                receipt.await.map_err(io::Error::other)?;
                let _ = lines.send(format!("seen {id}")).await;
            }
            Ok(())
        };
        let writing = async {
            while let Some(line) = outgoing.recv().await {
                write.write_all(format!("{line}\n").as_bytes()).await?;
            }
            Ok(())
        };
        tokio::select! {
            ended = reading => ended,
            ended = acknowledging => ended,
            ended = writing => ended,
        }
    }

    /// Answers go to whoever waits for them, posts become a batch, anything else is passed over.
    fn take(&self, line: &str) -> Option<(String, Batch)> {
        let mut words = line.splitn(5, ' ');
        match (
            words.next()?,
            words.next()?,
            words.next(),
            words.next(),
            words.next(),
        ) {
            ("post", id, Some(room), Some(who), Some(text)) => {
                let events = vec![Event::Message(Box::new(self.message(id, room, who, text)))];
                let batch = Batch {
                    platform: self.platform(),
                    account: self.account.clone(),
                    events,
                    cursor: None,
                };
                Some((id.to_owned(), batch))
            }
            ("said", key, ..) => self.answered(key, Ok(())),
            ("no", key, why, ..) => {
                let why = why.unwrap_or_default().to_owned();
                self.answered(key, Err(SendError::Rejected(why)))
            }
            _ => None,
        }
    }

    fn answered(&self, key: &str, result: Result<(), SendError>) -> Option<(String, Batch)> {
        let call = self.link.lock().as_mut()?.calls.remove(key)?;
        let _ = call.send(result);
        None
    }

    fn message(&self, id: &str, room: &str, who: &str, text: &str) -> InboundMessage {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        let addressed = text.strip_prefix("@bot ");
        InboundMessage {
            conversation: ConversationKey {
                platform: self.platform(),
                account: self.account.clone(),
                conversation: room.into(),
                thread: None,
            },
            chat: ChatKind::Group,
            sender: Sender {
                key: UserKey {
                    platform: self.platform(),
                    realm: "".into(),
                    id: who.into(),
                },
                name: who.chars().take(200).collect(),
                is_bot: false,
                role: PlatformRole::Unknown,
                kind: SenderKind::Person,
            },
            id: id.into(),
            segments: vec![Segment::Text(addressed.unwrap_or(text).to_owned())],
            via: Via::Text,
            mentions_bot: addressed.is_some(),
            reply_to: None,
            group_key: None,
            sent_at: now,
            received_at: now,
            reply_context: None,
            passed: Vec::new(),
            // Unique within the account for as long as the board repeats a post.
            dedupe: DedupeKey {
                key: format!("{room}/{id}").into(),
                lifetime: Duration::from_hours(24),
            },
        }
    }
}

#[cfg(test)]
mod tests;
