//! Long polling: asks for updates, hands them in, and lets the platform forget them once they are accepted.
//!
//! Owns the loop, its pauses and the state that the gateway is told. An update that is not accepted is never
//! confirmed; while the store is slow, what the platform keeps is read on, up to a hundred updates.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use serde_json::Value;
use teloxide_core::payloads::DeleteWebhook;
use tokio::time::{Instant, sleep, timeout};
use weirgate_sdk::{
    AdapterError, Batch, BotId, Connection, Event, Ingress, NotAccepted, Receipt, Stop,
    backoff::Backoff,
};

use crate::{
    albums::{self, Albums},
    api::{
        CallError, Trouble,
        method::{GetUpdates, UPDATES},
    },
    connect,
    receive::{Bot, Receiver, update_id},
    telegram::{Shared, unix_time},
    window::Window,
};

/// The most updates of one answer; the platform gives no more.
const LIMIT: u8 = 100;
/// The most events of a batch.
const MAX_BATCH: usize = 256;
/// While a receipt is open, what comes meanwhile is read so often. The platform punishes two such calls in half a
/// second.
const READ_ON: Duration = Duration::from_millis(600);
/// First and longest pause before what the store refused is handed in again.
const REFUSED: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// At the end: how long what was handed in may take to be accepted.
const ACCEPT_LIMIT: Duration = Duration::from_secs(3);
/// A request that this program left behind ends by itself; a conflict that lasts longer is another program.
const CONFLICT_LIMIT: Duration = Duration::from_secs(120);

/// A batch on its way into the gateway.
struct Open {
    /// The last update of those it completes.
    last: Option<i64>,
    /// The moves that are stored with it.
    moves: Option<u64>,
    receipt: Receipt,
}

struct Poller<'a> {
    shared: &'a Shared,
    ingress: Arc<dyn Ingress>,
    bot: Arc<Bot>,
    id: BotId,
    window: Window,
    albums: Albums,
    open: VecDeque<Open>,
    backoff: Backoff,
    refused: Duration,
    conflict: Option<Instant>,
    /// Nothing is known of the connection, so that the next answer has to come at once.
    unsure: bool,
    /// Updates of an album wait for others.
    held: bool,
}

/// Why the loop ends.
enum End {
    /// The gateway takes nothing more.
    Stopping,
    Failed(AdapterError),
}

/// Receives until `stop`.
///
/// # Errors
/// [`AdapterError::Config`] if the platform does not take the token.
pub async fn run(
    shared: &Shared,
    ingress: Arc<dyn Ingress>,
    stop: &Stop,
) -> Result<(), AdapterError> {
    let bot = tokio::select! {
        biased;
        () = stop.stopped() => return Ok(()),
        bot = connect::introduce(shared) => bot?,
    };
    let id = BotId::from(bot.id.to_string());
    let cursor = ingress.cursor(&shared.platform, &shared.account).await;
    if cursor.as_ref().is_some_and(|cursor| cursor.bot != id) {
        tracing::warn!(account = %shared.account, bot = bot.id, "another bot than before: reading from its beginning");
    }
    Window::read_moves(cursor.as_ref(), &id, &shared.moves);
    let mut poller = Poller {
        shared,
        ingress,
        window: Window::from_cursor(cursor.as_ref(), &id),
        bot,
        id,
        albums: Albums::default(),
        open: VecDeque::new(),
        backoff: Backoff::new(shared.settings.reconnect),
        refused: REFUSED.0,
        conflict: None,
        unsure: true,
        held: false,
    };
    tokio::select! {
        biased;
        () = stop.stopped() => {}
        end = poller.work() => {
            if let End::Failed(error) = end {
                return Err(error);
            }
        }
    }
    poller.settle().await;
    Ok(())
}

impl Poller<'_> {
    async fn work(&mut self) -> End {
        loop {
            if let Err(end) = self.step().await {
                return end;
            }
        }
    }

    /// Waits for what is under way, or asks for more.
    async fn step(&mut self) -> Result<(), End> {
        if let Some(open) = self.open.front_mut() {
            match timeout(READ_ON, &mut open.receipt).await {
                Ok(result) => {
                    let open = self.open.pop_front();
                    return self.settled(result.map(|_| ()), open).await;
                }
                Err(_) => return self.poll(Duration::ZERO).await,
            }
        }
        if std::mem::take(&mut self.held) {
            sleep(albums::SETTLE).await;
            return self.poll(Duration::ZERO).await;
        }
        let wait = if self.unsure {
            Duration::ZERO
        } else {
            self.shared.settings.poll_timeout
        };
        self.poll(wait).await
    }

    /// A receipt resolved.
    async fn settled(
        &mut self,
        result: Result<(), NotAccepted>,
        open: Option<Open>,
    ) -> Result<(), End> {
        match result {
            Ok(()) => {
                self.refused = REFUSED.0;
                if let Some(moves) = open.as_ref().and_then(|open| open.moves) {
                    self.shared.moves.keep(moves);
                }
                if let Some(last) = open.and_then(|open| open.last) {
                    self.window.accept(last, unix_time() / 1_000);
                }
                Ok(())
            }
            Err(NotAccepted::Stopping) => Err(End::Stopping),
            Err(NotAccepted::Store(why)) => {
                tracing::warn!(account = %self.shared.account, why, "updates are not accepted; the platform keeps them");
                // What was handed in behind it comes again too; what of it is accepted is known then.
                self.open.clear();
                self.window.again();
                sleep(self.refused).await;
                self.refused = (self.refused * 2).min(REFUSED.1);
                Ok(())
            }
        }
    }

    async fn poll(&mut self, wait: Duration) -> Result<(), End> {
        let call = GetUpdates {
            offset: self.window.offset(unix_time() / 1_000),
            limit: LIMIT,
            // Whole seconds, rounded up: less than one would not wait at all.
            timeout: wait.as_millis().div_ceil(1_000).try_into().unwrap_or(0),
            allowed_updates: UPDATES,
        };
        let limit = wait + self.shared.settings.call_timeout;
        let answer = match self.shared.calls() {
            Ok(api) => api.ask(&call, limit).await,
            Err(error) => return Err(End::Failed(error)),
        };
        match answer {
            Ok(Value::Array(updates)) => {
                self.backoff.reset();
                self.conflict = None;
                self.unsure = false;
                self.shared.reporter.report(Connection::Up);
                self.hand_in(updates).await;
                Ok(())
            }
            Ok(_) => {
                self.failed(CallError::Lost("no list of updates came".into()))
                    .await
            }
            Err(error) => self.failed(error).await,
        }
    }

    async fn hand_in(&mut self, updates: Vec<Value>) {
        let clock = unix_time();
        let mut fresh = self.window.fresh(updates);
        let whole = self.albums.whole(&fresh, Instant::now(), clock / 1_000);
        self.held = whole < fresh.len();
        fresh.truncate(whole);
        let Some(last) = fresh.iter().rev().find_map(update_id) else {
            return self.keep_moves().await;
        };
        let receiver = Receiver::new(self.shared, &self.bot);
        let events: Vec<Event> = fresh
            .iter()
            .flat_map(|update| receiver.read(update, clock))
            .collect();
        let mut events = albums::merged(events);
        connect::prepare(self.shared, &mut events).await;
        while !events.is_empty() {
            let rest = events.split_off(events.len().min(MAX_BATCH));
            let is_last = rest.is_empty();
            let moves = self.shared.moves.learned();
            let batch = Batch {
                platform: self.shared.platform.clone(),
                account: self.shared.account.clone(),
                events: std::mem::replace(&mut events, rest),
                cursor: is_last
                    .then(|| Window::cursor(&self.id, last, clock / 1_000, &self.shared.moves)),
            };
            let receipt = self.ingress.accept(batch).await;
            self.open.push_back(Open {
                last: is_last.then_some(last),
                moves: is_last.then_some(moves),
                receipt,
            });
        }
        self.window.hand_in(last);
    }

    /// Stores the moves that no update told of, if nothing is under way that would.
    async fn keep_moves(&mut self) {
        if !self.open.is_empty() || !self.shared.moves.is_unstored() {
            return;
        }
        let moves = self.shared.moves.learned();
        let batch = Batch {
            platform: self.shared.platform.clone(),
            account: self.shared.account.clone(),
            events: Vec::new(),
            cursor: Some(self.window.here(&self.id, &self.shared.moves)),
        };
        let receipt = self.ingress.accept(batch).await;
        self.open.push_back(Open {
            last: None,
            moves: Some(moves),
            receipt,
        });
    }

    /// Updates did not come.
    async fn failed(&mut self, error: CallError) -> Result<(), End> {
        self.unsure = true;
        let trouble = match &error {
            CallError::Refused(refusal) => refusal.trouble(),
            CallError::Unreachable(_) | CallError::Lost(_) => Trouble::Other,
        };
        let pause = self.backoff.pause(rand::random());
        match trouble {
            Trouble::Conflict => {
                // A request waits at the platform for as long as it was told to.
                let pause = pause.max(self.shared.settings.poll_timeout);
                let since = *self.conflict.get_or_insert_with(Instant::now);
                let text = if since.elapsed() < CONFLICT_LIMIT {
                    "somebody else asks for the bot's updates: an earlier run that has not ended, or another program"
                } else {
                    "another program asks for the bot's updates; only one can have them"
                };
                self.shared
                    .reporter
                    .report(Connection::Degraded(text.into()));
                sleep(pause).await;
                Ok(())
            }
            Trouble::Webhook => {
                self.take_over().await;
                sleep(pause).await;
                Ok(())
            }
            _ => {
                let pause = connect::failed(self.shared, &error, pause).map_err(End::Failed)?;
                sleep(pause).await;
                Ok(())
            }
        }
    }

    /// A webhook stands in the way. What waits for it is kept.
    async fn take_over(&self) {
        let text = "a webhook has the bot's updates";
        self.shared
            .reporter
            .report(Connection::Degraded(text.into()));
        let Ok(api) = self.shared.calls() else { return };
        let mut call = DeleteWebhook::new();
        call.drop_pending_updates = Some(false);
        match api.call(&call, self.shared.settings.call_timeout).await {
            Ok(_) => {
                tracing::warn!(account = %self.shared.account, "a webhook was set for the bot; it is taken away");
            }
            Err(error) => {
                tracing::warn!(account = %self.shared.account, %error, "a webhook cannot be taken away");
            }
        }
    }

    /// At the end: what was handed in may still be accepted; if it is not, it comes again at the next start.
    async fn settle(&mut self) {
        let all = async {
            for open in &mut self.open {
                let _ = (&mut open.receipt).await;
            }
        };
        let _ = timeout(ACCEPT_LIMIT, all).await;
    }
}
