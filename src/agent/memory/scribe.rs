//! Looks through conversations when they have come to rest, and through the memory now and then.
//!
//! Owns which conversations wait for a look and since when. A look that fails is made with the next one: what was looked
//! through is only counted when it is kept. After a restart what is still in the history is looked through once more, and
//! finds itself known.

use std::{collections::HashMap, num::NonZeroUsize, sync::Arc, time::Duration};

use lru::LruCache;
use parking_lot::Mutex;
use tokio::sync::Notify;
use weirgate_sdk::{Stop, Timestamp};

use super::{
    Memories, Site,
    config::Extract,
    extract::{entries, question, today},
};
use crate::{
    agent::{
        ledger::{Ledger, Payers},
        model::Silent,
        rules::Rules,
    },
    clock::{Clock, Tick, micros},
    current::Current,
    reason::Reason,
    store::{HistoryScope, NumberedRow, Store, StoreError},
    trace::{Traces, turn_id},
};

/// Conversations that wait for a look; of more, the one that waits longest is left out until it is spoken in again.
const MOST: usize = 4_096;
/// The setting that says when something was forgotten last: of a person, or of a group.
pub const FORGOTTEN: &str = "forgotten";
/// Conversations of which it is known how far they were looked through.
const KNOWN: NonZeroUsize = NonZeroUsize::new(16_384).expect("not zero");
/// The newest rows of a history that are looked at where nobody knows how far it was looked through.
const ROWS: usize = 100;
/// Most rows since the last look that are looked at, as many as one look takes at a time.
const MOST_ROWS: usize = 2_000;
/// Longest time for a look.
const LONGEST: Duration = Duration::from_secs(120);
/// Between two looks through everything that is remembered.
const TENDING: Duration = Duration::from_hours(1);
/// The longest pause, so that a changed configuration is noticed.
const PAUSE: Duration = Duration::from_secs(60);

/// Makes the looks.
pub struct Scribe {
    /// Where entries go.
    pub memories: Arc<Memories>,
    /// Where conversations are.
    pub store: Arc<dyn Store>,
    /// The rules, as they are at each look.
    pub rules: Arc<Current<Rules>>,
    /// Who has used what.
    pub ledger: Arc<Ledger>,
    /// Where reasons are noted.
    pub traces: Arc<Traces>,
    /// The clock.
    pub clock: Clock,
    /// Numbers from 0 to 1.
    pub random: fn() -> f64,
    /// What waits.
    pub waiting: Waiting,
}

impl std::fmt::Debug for Scribe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scribe").finish_non_exhaustive()
    }
}

/// A conversation that waits for a look.
#[derive(Debug, Clone, Copy)]
struct Talk {
    site: Site,
    payers: Payers,
    /// When something was said in it last.
    at: Tick,
}

/// Conversations that wait for a look, and how far each was looked through.
#[derive(Debug)]
pub struct Waiting {
    open: Mutex<HashMap<HistoryScope, Talk>>,
    /// The number of the last row that was looked at.
    seen: Mutex<LruCache<HistoryScope, i64>>,
    added: Notify,
}

impl Default for Waiting {
    fn default() -> Self {
        Self {
            open: Mutex::default(),
            seen: Mutex::new(LruCache::new(KNOWN)),
            added: Notify::new(),
        }
    }
}

impl Scribe {
    /// Something was said in a conversation; `payers` pay for the look through it.
    pub fn talked(&self, scope: HistoryScope, site: Site, payers: Payers) {
        let wanted = match self.rules.get().settings.memory.extract {
            Extract::Off => false,
            Extract::Private => !site.group,
            Extract::All => true,
        };
        if !wanted {
            return;
        }
        // What several people said is nobody's in particular.
        let person = if site.group { 0 } else { site.person };
        let mut open = self.waiting.open.lock();
        let site = Site { person, ..site };
        let at = self.clock.tick();
        open.insert(scope, Talk { site, payers, at });
        if open.len() > MOST
            && let Some(oldest) = open.iter().min_by_key(|(_, talk)| talk.at)
        {
            let oldest = *oldest.0;
            open.remove(&oldest);
        }
        drop(open);
        self.waiting.added.notify_one();
    }

    /// Works until it is stopped. Begins with what became due while the process did not run.
    pub async fn run(self: Arc<Self>, stop: Stop) {
        tokio::select! {
            () = stop.stopped() => return,
            () = self.tend() => {}
        }
        let mut tended = self.clock.tick();
        loop {
            let pause = self.pause().min(PAUSE);
            tokio::select! {
                () = stop.stopped() => return,
                () = tokio::time::sleep(pause) => {}
                () = self.waiting.added.notified() => continue,
            }
            let work = async {
                while let Some((scope, talk)) = self.next() {
                    self.look(scope, talk).await;
                }
                if self.clock.tick().saturating_sub(tended) >= micros(TENDING) {
                    self.tend().await;
                    return true;
                }
                false
            };
            tokio::select! {
                () = stop.stopped() => return,
                done = work => if done { tended = self.clock.tick() },
            }
        }
    }

    async fn tend(&self) {
        let rules = self.rules.get();
        if let Err(error) = self.memories.tend_all(&rules).await {
            tracing::warn!(%error, "the memory was not looked through");
        }
    }

    /// How long a conversation has to be silent.
    fn rest(&self) -> Tick {
        micros(self.rules.get().settings.memory.extract_after)
    }

    /// The time until the next conversation has come to rest.
    fn pause(&self) -> Duration {
        let open = self.waiting.open.lock();
        let first = open.values().map(|talk| talk.at).min();
        let due = first.map(|at| at.saturating_add(self.rest()));
        let left = due.map(|due| due.saturating_sub(self.clock.tick()));
        left.map_or(PAUSE, Duration::from_micros)
    }

    /// A conversation that has come to rest.
    fn next(&self) -> Option<(HistoryScope, Talk)> {
        let mut open = self.waiting.open.lock();
        let until = self.clock.tick().checked_sub(self.rest())?;
        let due = open.iter().find(|(_, talk)| talk.at <= until);
        let scope = *due?.0;
        open.remove(&scope).map(|talk| (scope, talk))
    }

    /// Looks through what was said in a conversation since the last time. If the tokens of today are used up, it is
    /// looked through with what is said next.
    async fn look(&self, scope: HistoryScope, talk: Talk) {
        if let Ok(Some(whose)) = self.ledger.used_up(talk.payers).await {
            tracing::debug!(turn = %turn_id(talk.site.turn), ?whose, "no tokens are left for a look");
            return;
        }
        let site = talk.site;
        let looked = tokio::time::timeout(LONGEST, self.extract(scope, talk)).await;
        let reason = match looked {
            Ok(Ok(0)) => return,
            Ok(Ok(count)) => {
                tracing::debug!(turn = %turn_id(site.turn), count, "something of a conversation is remembered");
                Reason::Remembered
            }
            Ok(Err(Failed(what))) => {
                tracing::warn!(turn = %turn_id(site.turn), what, "a conversation was not looked through");
                Reason::MemoryFailed
            }
            Err(_) => Reason::MemoryFailed,
        };
        self.traces.note(site.turn, reason, self.clock.now());
    }

    /// Until when nothing that was said is to be remembered, because something was forgotten since.
    async fn forgotten(&self, site: Site) -> Result<Timestamp, StoreError> {
        let settings = self.store.settings(site.own()).await?;
        let mark = settings.iter().find(|(key, _)| key == FORGOTTEN);
        Ok(mark
            .and_then(|(_, at)| at.parse().ok())
            .unwrap_or(Timestamp::MIN))
    }

    async fn extract(&self, scope: HistoryScope, talk: Talk) -> Result<usize, Failed> {
        let site = talk.site;
        let rules = self.rules.get();
        let seen = self.waiting.seen.lock().get(&scope).copied().unwrap_or(0);
        let most = if seen == 0 { ROWS } else { MOST_ROWS };
        let rows = self.store.numbered_history(scope, most).await?;
        let forgotten = self.forgotten(site).await?;
        let is_new = |(id, row): &NumberedRow| *id > seen && row.at > forgotten;
        let new: Vec<NumberedRow> = rows.into_iter().filter(is_new).collect();
        let told: Vec<_> = new.iter().map(|(_, row)| row.clone()).collect();
        let today = today(self.clock.now(), &rules.settings.zone);
        let Some((request, taken)) = question(&rules, &told, site.turn, &today) else {
            return Ok(0);
        };
        let (permits, mut unseen) = (&*rules.permits, Silent);
        let run = rules
            .summaries
            .run(&request, permits, None, &mut unseen, &self.random);
        let completion = run.await.map_err(|error| Failed(error.to_string()))?;
        let told_and_said = (&request, &completion);
        self.ledger
            .charge(talk.payers, site.turn, told_and_said)
            .await;
        let entries = entries(&completion)
            .ok_or_else(|| Failed("what the model said is no list".to_owned()))?;
        let count = self.memories.keep_all(&rules, site, entries).await?;
        if let Some((last, _)) = taken.checked_sub(1).and_then(|place| new.get(place)) {
            self.waiting.seen.lock().put(scope, *last);
        }
        if (1..new.len()).contains(&taken) {
            // There was no room for the rest: it is next, also if nobody says any more.
            let at = self.clock.tick().saturating_sub(self.rest());
            let mut open = self.waiting.open.lock();
            open.entry(scope).or_insert(Talk { at, ..talk });
        }
        Ok(count)
    }
}

/// Why nothing was kept.
struct Failed(String);

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self(error.to_string())
    }
}
