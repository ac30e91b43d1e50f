//! From what was read to what is accepted.
//!
//! Owns the batches, their receipts and the position that is stored with them. One task hands everything in, so the
//! order of events is that of the platform; what the store refuses is kept and handed in again, in order, and nothing
//! more is read meanwhile.

use std::{
    collections::{BTreeMap, VecDeque},
    future::Future,
    sync::Arc,
    time::Duration,
};

use tokio::{sync::mpsc, time::sleep};
use weirgate_net::session::{Frame, Session};
use weirgate_sdk::{Batch, BotId, Event, Ingress, NotAccepted, Receipt};

use crate::{
    channels::Channels,
    discord::{Shared, unix_time},
    missed::Gap,
    places::Snowflake,
    position::Position,
    receive::{self, Receiver},
};

/// The most events of a batch.
const MAX_BATCH: usize = 256;
/// Frames that go into one batch, if they wait already.
const GATHER: usize = 64;
/// Events whose receipts may be open.
const MAX_OPEN: usize = 2_048;
/// First and longest pause before what the store refused is handed in again.
const REFUSED: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// Hands in what was read.
pub struct Intake<'a> {
    pub(crate) shared: &'a Shared,
    ingress: Arc<dyn Ingress>,
    bot: Snowflake,
    bot_id: BotId,
    pub(crate) channels: Channels,
    pub(crate) position: Position,
    pub(crate) gaps: BTreeMap<u16, Gap>,
    /// The connection whose event is read.
    pub(crate) shard: u16,
    /// Events that are in no batch yet.
    events: Vec<Event>,
    open: VecDeque<Open>,
    open_events: usize,
}

/// What was handed in, in case that it has to be handed in again.
struct Load {
    batch: Batch,
    /// The sessions after it.
    sessions: Option<Vec<Option<Session>>>,
}

struct Open {
    load: Load,
    receipt: Receipt,
}

/// The gateway takes nothing more.
struct Stopping;

impl<'a> Intake<'a> {
    /// Hands in to `ingress` from `position` on, for this bot.
    pub fn new(
        shared: &'a Shared,
        ingress: Arc<dyn Ingress>,
        (bot, bot_id): (Snowflake, BotId),
        position: Position,
    ) -> Self {
        Self {
            shared,
            ingress,
            bot,
            bot_id,
            channels: Channels::default(),
            position,
            gaps: BTreeMap::new(),
            shard: 0,
            events: Vec::new(),
            open: VecDeque::new(),
            open_events: 0,
        }
    }

    /// Runs until nothing more comes and everything is accepted, or until the gateway takes nothing more.
    pub async fn run(mut self, mut frames: mpsc::Receiver<Frame>) {
        let mut ended = false;
        while !ended || !self.open.is_empty() {
            tokio::select! {
                biased;
                result = first(&mut self.open), if !self.open.is_empty() => {
                    if self.settled(result.map(|_| ())).await.is_err() {
                        return;
                    }
                }
                frame = frames.recv(), if !ended && self.open_events < MAX_OPEN => match frame {
                    Some(frame) => self.hand_in(frame, &mut frames).await,
                    None => ended = true,
                },
            }
        }
    }

    /// Hands in this frame and those that wait behind it.
    async fn hand_in(&mut self, frame: Frame, frames: &mut mpsc::Receiver<Frame>) {
        self.take(frame).await;
        for _ in 1..GATHER {
            let Ok(frame) = frames.try_recv() else { break };
            self.take(frame).await;
        }
        self.flush().await;
    }

    async fn take(&mut self, frame: Frame) {
        let Frame {
            shard,
            kind,
            data,
            session,
            ..
        } = frame;
        self.shard = shard;
        self.learn(&kind, &data).await;
        if let Some(channel) = receive::channel_of(&kind, &data) {
            if data["guild_id"].is_null() {
                self.channels.is_direct(channel);
                self.position.heard_in_direct(channel);
            } else if self.channels.get(channel).is_none() {
                // An interaction describes its channel; a message does not.
                self.channels.learn(&data["channel"]);
            }
            self.know(channel).await;
            if let Some(server) = crate::channels::id(&data["guild_id"]) {
                self.know_server(server).await;
            }
        }
        self.read(&kind, &data);
        self.position.read(shard, session);
        if self.events.is_empty() && self.open.is_empty() {
            // Nothing of it, and nothing before it, has to be stored.
            self.shared.accepted.set(self.position.sessions());
        }
    }

    /// Reads one event into the next batch.
    pub(crate) fn read(&mut self, kind: &str, data: &serde_json::Value) {
        let receiver = Receiver {
            platform: &self.shared.platform,
            account: &self.shared.account,
            bot: self.bot,
            ignored: &self.shared.settings.ignore,
            servers: &self.shared.servers,
            menu: &self.shared.menu,
        };
        let events = receiver.read(kind, data, &mut self.channels, unix_time());
        if kind == "MESSAGE_CREATE"
            && let Some(message) = crate::channels::id(&data["id"])
        {
            self.position.heard(self.shard, message);
        }
        self.events.extend(events);
    }

    /// Hands in what was gathered.
    pub(crate) async fn flush(&mut self) {
        let cursor = self.stored().cursor(&self.bot_id);
        let mut events = std::mem::take(&mut self.events);
        while !events.is_empty() {
            let rest = events.split_off(events.len().min(MAX_BATCH));
            let is_last = rest.is_empty();
            let batch = Batch {
                platform: self.shared.platform.clone(),
                account: self.shared.account.clone(),
                events: std::mem::replace(&mut events, rest),
                cursor: cursor.clone().filter(|_| is_last),
            };
            let sessions = is_last.then(|| self.position.sessions());
            self.accept(Load { batch, sessions }).await;
        }
    }

    async fn accept(&mut self, load: Load) {
        let receipt = self.ingress.accept(load.batch.clone()).await;
        self.open_events += load.batch.events.len();
        self.open.push_back(Open { load, receipt });
    }

    /// The oldest receipt resolved.
    async fn settled(&mut self, result: Result<(), NotAccepted>) -> Result<(), Stopping> {
        let Some(load) = self.closed() else {
            return Ok(());
        };
        match result {
            Ok(()) => {
                self.accepted(load);
                Ok(())
            }
            Err(NotAccepted::Stopping) => Err(Stopping),
            Err(NotAccepted::Store(why)) => self.hand_in_again(load, &why).await,
        }
    }

    fn closed(&mut self) -> Option<Load> {
        let open = self.open.pop_front()?;
        self.open_events -= open.load.batch.events.len();
        Some(open.load)
    }

    fn accepted(&self, load: Load) {
        if let Some(sessions) = load.sessions {
            self.shared.accepted.set(sessions);
        }
    }

    /// The store refused: waits until it takes the oldest batch, then hands in the rest in order.
    async fn hand_in_again(&mut self, refused: Load, why: &str) -> Result<(), Stopping> {
        tracing::warn!(account = %self.shared.account, why, "the store takes no messages: reading pauses");
        let mut refused = VecDeque::from([refused]);
        // What is under way ends first, so that what was accepted is not handed in again.
        while !self.open.is_empty() {
            let result = first(&mut self.open).await;
            let Some(load) = self.closed() else { break };
            match result {
                // The position is not told: what lies before it is still refused.
                Ok(_) => {}
                Err(NotAccepted::Store(_)) => refused.push_back(load),
                Err(NotAccepted::Stopping) => return Err(Stopping),
            }
        }
        let mut pause = REFUSED.0;
        while let Some(load) = refused.pop_front() {
            sleep(pause).await;
            match self.ingress.accept(load.batch.clone()).await.await {
                Ok(_) => {
                    self.accepted(load);
                    break;
                }
                Err(NotAccepted::Store(_)) => refused.push_front(load),
                Err(NotAccepted::Stopping) => return Err(Stopping),
            }
            pause = (pause * 2).min(REFUSED.1);
        }
        for load in refused {
            self.accept(load).await;
        }
        tracing::info!(account = %self.shared.account, "the store takes messages again");
        Ok(())
    }
}

/// Resolves with the oldest receipt.
async fn first(open: &mut VecDeque<Open>) -> <Receipt as Future>::Output {
    match open.front_mut() {
        Some(open) => (&mut open.receipt).await,
        None => std::future::pending().await,
    }
}
