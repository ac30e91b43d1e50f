//! Messages whose turns were under way at several crashes: set aside, or cleared one by one.
//!
//! Owns the rule after how many crashes a message is set aside. A kill from outside hits turns by chance,
//! and a message that crashes the process takes the others that were under way with it; so having been
//! there is proof only of a message that was there alone. It never touches the store.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// How often a turn is tried as any other.
pub const TRIES: u32 = 3;
/// How often a turn that had company at those crashes is tried after that, with no other such turn beside
/// it.
const TRIES_ALONE: u32 = 3;
/// How long the first of them waits for the others, so that those with fewer attempts come first.
const ARRIVAL: Duration = Duration::from_millis(100);

/// The turns that were tried as often as any other and had company.
#[derive(Debug, Default)]
pub struct Suspects {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// How often each had begun when this process started.
    attempts: HashMap<i64, u32>,
    /// Who waits, fewest attempts first: whom a kill hit by chance is not hit again at the next one.
    waiting: BTreeSet<(u32, i64)>,
    running: bool,
}

/// A suspect's place, waiting or running; leaves it when dropped.
#[derive(Debug)]
pub struct Place<'a> {
    suspects: &'a Suspects,
    key: (u32, i64),
    running: bool,
}

impl Suspects {
    /// Takes over the turns that had begun when the process before this one crashed, each with its number
    /// of attempts.
    pub fn take_over(&self, begun: &[(i64, u32)]) {
        if begun.len() < 2 {
            return;
        }
        let tried = begun.iter().filter(|(_, attempts)| *attempts >= TRIES);
        self.state.lock().attempts.extend(tried.copied());
    }

    /// Waits until no other suspect runs, if the turn is one.
    pub async fn admit(&self, turn: i64) -> Option<Place<'_>> {
        let mut place = self.enter(turn)?;
        tokio::time::sleep(ARRIVAL).await;
        loop {
            let changed = self.changed.notified();
            if place.try_run() {
                return Some(place);
            }
            changed.await;
        }
    }

    /// Whether a turn that is begun for the `attempt`-th time is to be set aside instead.
    #[must_use]
    pub fn is_guilty(&self, turn: i64, attempt: u32) -> bool {
        let suspected = self.state.lock().attempts.contains_key(&turn);
        attempt
            > if suspected {
                TRIES + TRIES_ALONE
            } else {
                TRIES
            }
    }

    fn enter(&self, turn: i64) -> Option<Place<'_>> {
        let mut state = self.state.lock();
        let key = (*state.attempts.get(&turn)?, turn);
        state.waiting.insert(key);
        Some(Place {
            suspects: self,
            key,
            running: false,
        })
    }
}

impl Place<'_> {
    fn try_run(&mut self) -> bool {
        let mut state = self.suspects.state.lock();
        if state.running || state.waiting.first() != Some(&self.key) {
            return false;
        }
        state.waiting.remove(&self.key);
        state.running = true;
        self.running = true;
        true
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.suspects.state.lock();
        if self.running {
            state.running = false;
        } else {
            state.waiting.remove(&self.key);
        }
        drop(state);
        self.suspects.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, future::join3};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_was_alone_at_three_crashes_is_guilty() {
        let suspects = Suspects::default();
        suspects.take_over(&[(7, 3)]);
        assert!(suspects.is_guilty(7, 4) && !suspects.is_guilty(7, 3));
        assert!(suspects.admit(7).now_or_never().unwrap().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn turns_with_company_run_one_by_one_fewest_attempts_first() {
        let suspects = Suspects::default();
        suspects.take_over(&[(7, 5), (8, 3), (9, 4), (10, 2)]);
        let order = Mutex::new(Vec::new());
        let run = async |turn| {
            let place = suspects.admit(turn).await;
            assert!(place.is_some());
            order.lock().push(turn);
            tokio::time::sleep(ARRIVAL).await;
            assert_eq!(order.lock().last(), Some(&turn), "nobody runs beside it");
        };
        join3(run(7), run(8), run(9)).await;
        assert_eq!(*order.lock(), [8, 9, 7]);
        assert!(
            suspects.admit(10).now_or_never().unwrap().is_none(),
            "others do not wait"
        );
        assert!(suspects.is_guilty(10, 4) && suspects.is_guilty(7, 7) && !suspects.is_guilty(7, 6));
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_gives_up_waiting_holds_nobody_up() {
        let suspects = Suspects::default();
        suspects.take_over(&[(7, 3), (8, 4)]);
        let gone = tokio::time::timeout(ARRIVAL / 2, suspects.admit(7)).await;
        assert!(gone.is_err());
        assert!(suspects.admit(8).await.is_some());
    }
}
