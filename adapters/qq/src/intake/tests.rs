//! Nothing that was read is lost, order holds, and nobody waits for one receipt before the next.

use std::collections::HashSet;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::time::Instant;
use weirgate_sdk::{Connection, Outcome, ReceiptSlot, Transcript};

use super::*;
use crate::{
    onebot::intake::{Listening, Parcel},
    qq::Shared,
    settings::Settings,
};

/// A store that fails as told, and journals each event once.
#[derive(Default)]
struct Store {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    journal: Vec<String>,
    known: HashSet<String>,
    batches: Vec<usize>,
    failures: usize,
    stopping: bool,
    holding: bool,
    held: Vec<(Batch, ReceiptSlot)>,
}

impl State {
    fn resolve(&mut self, batch: Batch, slot: ReceiptSlot) {
        if self.stopping {
            return slot.resolve(Err(NotAccepted::Stopping));
        }
        if self.failures > 0 {
            self.failures -= 1;
            return slot.resolve(Err(NotAccepted::Store("full".into())));
        }
        let outcomes = batch.events.into_iter().map(|event| {
            let Event::Other { name } = event else {
                return Outcome::Ignored;
            };
            if !self.known.insert(name.clone()) {
                return Outcome::Duplicate;
            }
            self.journal.push(name);
            Outcome::Accepted(1)
        });
        slot.resolve(Ok(outcomes.collect()));
    }
}

impl Store {
    /// Resolves the receipts that are held; `failures` tells how many fail from each on.
    fn release(&self, failures: impl Fn(usize) -> usize) {
        let mut state = self.state.lock();
        state.holding = false;
        for (index, (batch, slot)) in std::mem::take(&mut state.held).into_iter().enumerate() {
            state.failures = failures(index);
            state.resolve(batch, slot);
        }
    }
}

#[async_trait]
impl Ingress for Store {
    async fn accept(&self, batch: Batch) -> Receipt {
        let (slot, receipt) = Receipt::new();
        let mut state = self.state.lock();
        state.batches.push(batch.events.len());
        if state.holding {
            state.held.push((batch, slot));
        } else {
            state.resolve(batch, slot);
        }
        receipt
    }

    async fn cursor(&self, _platform: &Platform, _account: &AccountName) -> Option<Cursor> {
        None
    }

    fn connection(&self, _platform: &Platform, _account: &AccountName, _state: Connection) {}

    fn transcript(&self) -> Arc<dyn Transcript> {
        unreachable!("not asked for")
    }
}

fn names(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

fn events(range: std::ops::Range<usize>) -> Parcel {
    let events = names(range).into_iter().map(|name| Event::Other { name });
    events.collect::<Vec<_>>().into()
}

fn intake(store: &Arc<Store>) -> (mpsc::Sender<Parcel>, Intake<Listening>) {
    let (sender, receiver) = mpsc::channel(CHANNEL);
    (
        sender,
        Intake::new(
            store.clone(),
            Listening::new(Arc::new(Shared::new("main".into(), Settings::default()))),
            receiver,
        ),
    )
}

#[tokio::test(start_paused = true)]
async fn everything_is_accepted_in_order_before_the_end() {
    let store = Arc::<Store>::default();
    let (sender, mut intake) = intake(&store);
    let send = async move {
        for chunk in 0..100 {
            sender
                .send(events(chunk * 10..chunk * 10 + 10))
                .await
                .expect("taken");
        }
    };
    tokio::join!(send, intake.run());
    assert_eq!(store.state.lock().journal, names(0..1_000));
    assert_eq!(intake.left(), 0);
    assert!(
        store
            .state
            .lock()
            .batches
            .iter()
            .all(|events| *events <= 256)
    );
}

#[tokio::test(start_paused = true)]
async fn reading_goes_on_while_receipts_are_open_up_to_a_limit() {
    let store = Arc::<Store>::default();
    store.state.lock().holding = true;
    let (sender, mut intake) = intake(&store);
    let flood = tokio::spawn(async move {
        let mut sent = 0;
        while let Ok(Ok(())) = timeout(sender.send(events(sent..sent + GATHER))).await {
            sent += GATHER;
        }
        sent
    });
    let work = tokio::spawn(async move {
        intake.run().await;
        intake.left()
    });
    let read = flood.await.expect("ends");
    let handed_in: usize = store.state.lock().batches.iter().sum();
    assert!(
        (MAX_OPEN..MAX_OPEN + 256).contains(&handed_in),
        "{handed_in}"
    );
    assert!(read <= handed_in + CHANNEL * GATHER, "{read}");
    store.release(|_| 0);
    assert_eq!(work.await.expect("ends"), 0);
    assert_eq!(store.state.lock().journal, names(0..read));
}

async fn timeout<T>(future: impl Future<Output = T>) -> Result<T, tokio::time::error::Elapsed> {
    tokio::time::timeout(Duration::from_secs(1), future).await
}

#[tokio::test(start_paused = true)]
async fn refused_events_are_handed_in_again_in_order() {
    for failures in [1, 3, 8] {
        let store = Arc::<Store>::default();
        store.state.lock().failures = failures;
        let (sender, mut intake) = intake(&store);
        for chunk in 0..20 {
            sender
                .send(events(chunk * GATHER..(chunk + 1) * GATHER))
                .await
                .expect("room");
        }
        drop(sender);
        let start = Instant::now();
        intake.run().await;
        assert_eq!(
            store.state.lock().journal,
            names(0..20 * GATHER),
            "{failures} failures"
        );
        assert_eq!(intake.left(), 0);
        assert!(start.elapsed() >= FIRST_PAUSE, "it pauses");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_in_flight_behind_a_failure_is_kept_too() {
    let store = Arc::<Store>::default();
    store.state.lock().holding = true;
    let (sender, mut intake) = intake(&store);
    let work = tokio::spawn(async move {
        intake.run().await;
        intake.left()
    });
    for chunk in 0..5 {
        sender
            .send(events(chunk * 10..chunk * 10 + 10))
            .await
            .expect("taken");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(store.state.lock().held.len(), 5);
    // The first, third and fifth fail; the others are accepted.
    store.release(|index| usize::from(index % 2 == 0));
    drop(sender);
    assert_eq!(work.await.expect("ends"), 0);
    let mut journal = store.state.lock().journal.clone();
    assert_eq!(journal.len(), 50);
    journal.sort_by_key(|name| name.parse::<usize>().unwrap_or_default());
    assert_eq!(journal, names(0..50));
}

#[tokio::test(start_paused = true)]
async fn the_pause_grows_to_a_limit() {
    let store = Arc::<Store>::default();
    store.state.lock().failures = 20;
    let (sender, mut intake) = intake(&store);
    sender.send(events(0..1)).await.expect("room");
    drop(sender);
    let start = Instant::now();
    intake.run().await;
    let waited = start.elapsed();
    assert!(
        waited > 10 * LONGEST_PAUSE && waited < 20 * LONGEST_PAUSE,
        "{waited:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_stopping_gateway_did_not_take_is_counted() {
    let store = Arc::<Store>::default();
    store.state.lock().stopping = true;
    let (sender, mut intake) = intake(&store);
    sender.send(events(0..7)).await.expect("room");
    sender.send(events(7..10)).await.expect("room");
    intake.run().await;
    assert_eq!(intake.left(), 10);
}
