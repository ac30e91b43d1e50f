//! The keeper: says again and again that this process is alive, and takes what nobody has any more.
//!
//! Owns the order of a takeover: what another process left is taken up before its account starts here. It decides
//! neither who is dead nor who gets what; the store does.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::Mutex,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, sleep},
};
use weirgate_sdk::Stop;

use super::accounts::{Accounts, Key, Wishes};
use crate::{
    inbound::{
        recover::{Left, Recovery},
        sent::{self, SentMessages},
    },
    store::{Held, LastStop, Store, StoreError, Taken, Wanted},
    telemetry::metrics,
};

/// Between two signs of life.
const RENEWAL: Duration = Duration::from_secs(1);
/// How long a start waits for what is free in a moment, so that a process which was killed and started again takes
/// up what it left before anything new comes in.
const PATIENCE: Duration = Duration::from_secs(8);
/// Between two looks then.
const LOOK: Duration = Duration::from_millis(250);

/// Keeps what this process has.
pub(super) struct Keeper {
    pub(super) store: Arc<dyn Store>,
    pub(super) recovery: Recovery,
    pub(super) sent: Arc<SentMessages>,
    /// Set when another process has taken over.
    pub(super) fenced: Arc<AtomicBool>,
    /// Held while something is taken up for which reading is paused.
    pub(super) one_by_one: Mutex<()>,
}

impl Keeper {
    /// Takes at a start what is free, and takes it up. Gives the accounts that are this process's.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn begin(&self, wanted: &[Wanted]) -> Result<Vec<Key>, StoreError> {
        let started = Instant::now();
        let mut taken = Vec::new();
        loop {
            let held = self.store.hold(wanted).await?;
            taken.extend(held.taken);
            if !held.expiring || started.elapsed() > PATIENCE {
                break;
            }
            sleep(LOOK).await;
        }
        note(&taken);
        self.take_up(&taken, false, false).await?;
        Ok(keys(&taken))
    }

    /// Keeps it until `stop`, and takes no more from `full` on. Ends before only if another process has taken over,
    /// or by a fault.
    pub(super) async fn run(
        self,
        accounts: Arc<Mutex<Accounts>>,
        wishes: Arc<Wishes>,
        full: Stop,
        stop: Stop,
    ) {
        let keeper = Arc::new(self);
        let mut takeovers = JoinSet::new();
        let mut renewal = interval(RENEWAL);
        renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.stopped() => return,
                Some(ended) = takeovers.join_next() => match ended {
                    Ok(Ok(())) => continue,
                    Ok(Err(error)) => {
                        let error: StoreError = error;
                        tracing::error!(%error, "what another process left cannot be taken up");
                        return;
                    }
                    Err(error) => {
                        tracing::error!(%error, "a takeover ended by a fault");
                        return;
                    }
                },
                _ = renewal.tick() => {}
                () = wishes.changed.notified() => {}
            }
            let wanted = if full.is_stopped() {
                Arc::default()
            } else {
                wishes.wanted.get()
            };
            match keeper.store.hold(&wanted).await {
                Ok(Held { taken, .. }) if !taken.is_empty() => {
                    note(&taken);
                    let (keeper, accounts) = (Arc::clone(&keeper), Arc::clone(&accounts));
                    takeovers.spawn(async move { keeper.take_over(taken, &accounts).await });
                }
                Ok(_) => {}
                Err(StoreError::Fenced) => {
                    keeper.fenced.store(true, Ordering::Release);
                    return;
                }
                // The store says so itself; nothing is lost as long as nobody takes over.
                Err(error) => tracing::debug!(%error, "no sign of life could be given"),
            }
        }
    }

    async fn take_over(
        &self,
        taken: Vec<Taken>,
        accounts: &Mutex<Accounts>,
    ) -> Result<(), StoreError> {
        // Replies to what the other process sent are recognised, too.
        sent::recall(Arc::clone(&self.store), Arc::clone(&self.sent)).await;
        let (shared, alone): (Vec<_>, Vec<_>) =
            taken.into_iter().partition(|taken| taken.wanted.shared);
        let one = self.one_by_one.lock().await;
        self.take_up(&alone, false, true).await?;
        drop(one);
        accounts.lock().await.take(keys(&alone));
        // This process has served people itself: older messages come back among newer ones.
        self.take_up(&shared, true, true).await?;
        accounts.lock().await.take(keys(&shared));
        Ok(())
    }

    /// Takes up what belongs to these leases.
    async fn take_up(&self, taken: &[Taken], mixed: bool, at_work: bool) -> Result<(), StoreError> {
        let leases: Arc<[i64]> = taken.iter().map(|taken| taken.lease).collect();
        if taken.iter().all(|taken| taken.before == LastStop::First) {
            self.store.adopt(&leases);
            return Ok(());
        }
        let left = Left {
            leases,
            unclean: taken.iter().any(|taken| taken.before == LastStop::Unclean),
            mixed,
            at_work,
        };
        let recovered = self.recovery.recover(&left).await?;
        if recovered.unsent + recovered.messages + recovered.controls > 0 {
            tracing::info!(
                unsent = recovered.unsent,
                messages = recovered.messages,
                controls = recovered.controls,
                "taken up from before"
            );
        }
        Ok(())
    }
}

fn keys(taken: &[Taken]) -> Vec<Key> {
    let key = |taken: &Taken| (taken.wanted.platform.clone(), taken.wanted.account.clone());
    taken.iter().map(key).collect()
}

fn note(taken: &[Taken]) {
    for taken in taken {
        let Wanted {
            platform, account, ..
        } = &taken.wanted;
        let before = match taken.before {
            LastStop::First => "first",
            LastStop::Clean => "clean",
            LastStop::Unclean => "unclean",
        };
        metrics::lease_taken(before);
        tracing::info!(%platform, %account, before, "this process has the account now");
    }
}
