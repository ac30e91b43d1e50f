//! Random operations against a plain model that scans: nothing lost, nothing twice, order, runs,
//! slots, tokens, counts, and that nobody waits who could run.

mod cases;
mod tokens;

use super::*;
use cases::{Step, policies, steps};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tokens::Tokens;

struct Waiting {
    entry: Entry,
    at: Tick,
}

/// All that the scheduler should hold, in the plainest form.
struct Model {
    policy: Policy,
    now: Tick,
    queues: BTreeMap<QueueKey, VecDeque<Waiting>>,
    commands: BTreeMap<i64, VecDeque<Waiting>>,
    dropped: BTreeMap<QueueKey, Dropped>,
    /// Too old and out of their queues, not handed over yet.
    aside: BTreeSet<i64>,
    tokens: BTreeMap<i64, Tokens>,
    manual: Tokens,
    running: Vec<Batch>,
    /// Ids that have left, each once.
    gone: BTreeSet<i64>,
}

impl Model {
    fn new(policy: Policy) -> Self {
        Self {
            manual: Tokens::full(policy.manual.unwrap_or(Rate::UNLIMITED)),
            policy,
            now: 0,
            queues: BTreeMap::new(),
            commands: BTreeMap::new(),
            dropped: BTreeMap::new(),
            aside: BTreeSet::new(),
            tokens: BTreeMap::new(),
            running: Vec::new(),
            gone: BTreeSet::new(),
        }
    }

    fn total(&self) -> usize {
        let lists = self.queues.values().chain(self.commands.values());
        lists.map(VecDeque::len).sum::<usize>() + self.aside.len()
    }

    fn too_old(&self, waiting: &Waiting) -> bool {
        let max_age = ticks(self.policy.max_age);
        max_age > 0 && self.now - waiting.at >= max_age
    }

    fn leave(&mut self, id: i64) {
        assert!(self.gone.insert(id), "{id} left twice");
    }

    fn count_dropped(&mut self, key: QueueKey) {
        let now = self.now;
        let zero = Dropped {
            count: 0,
            first: now,
            last: now,
        };
        let dropped = self.dropped.entry(key).or_insert(zero);
        (dropped.count, dropped.last) = (dropped.count + 1, now);
    }

    fn push(&mut self, s: &mut Scheduler, entry: Entry) {
        let full = self.total() >= self.policy.max_total as usize;
        let (key, id, person) = (entry.key, entry.id, entry.person);
        let waiting = Waiting {
            entry: entry.clone(),
            at: self.now,
        };
        let pushed = s.push(self.now, entry.clone());
        if entry.kind == Kind::Now {
            return self.push_command(person, waiting, full, &pushed);
        }
        let list = self.queues.entry(key).or_default();
        if !full && list.len() < self.policy.max_queue_size as usize {
            assert_eq!(pushed, Pushed::Queued);
            return list.push_back(waiting);
        }
        if self.policy.overflow == Overflow::DropNewest || list.is_empty() {
            let own = list.len() >= self.policy.max_queue_size as usize;
            let full = if own { Full::Queue } else { Full::Total };
            assert_eq!(pushed, Pushed::Refused(full));
            return self.leave(id);
        }
        let oldest = list.pop_front().unwrap().entry.id;
        list.push_back(waiting);
        assert_eq!(displaced(pushed), [oldest]);
        self.leave(oldest);
        self.count_dropped(key);
    }

    fn push_command(&mut self, person: i64, waiting: Waiting, full: bool, pushed: &Pushed) {
        let most = self.policy.max_queue_size as usize;
        let mut list = self.commands.remove(&person).unwrap_or_default();
        if *pushed == Pushed::Queued {
            assert!(!full);
            while list.len() >= most {
                // There is room only because the oldest was found too old, whenever that was.
                let oldest = list.pop_front().unwrap();
                assert!(self.too_old(&oldest), "more commands than may wait");
                self.aside.insert(oldest.entry.id);
            }
            list.push_back(waiting);
        } else {
            let cause = if full { Full::Total } else { Full::Queue };
            assert_eq!(*pushed, Pushed::Refused(cause));
            assert!(full || list.len() >= most);
            self.leave(waiting.entry.id);
        }
        self.commands.insert(person, list);
    }

    /// Follows what `next` has set aside for its age; it may be nothing else.
    fn follow_expiry(&mut self, s: &Scheduler, except: Option<(QueueKey, usize)>) {
        let keys: Vec<QueueKey> = self.queues.keys().copied().collect();
        for key in keys {
            let taken = except
                .filter(|taken| taken.0 == key)
                .map_or(0, |taken| taken.1);
            while self.queues[&key].len() > s.depth(&key) + taken {
                let waiting = self.queues.get_mut(&key).unwrap().pop_front().unwrap();
                assert!(self.too_old(&waiting), "{} is gone", waiting.entry.id);
                self.aside.insert(waiting.entry.id);
                self.count_dropped(key);
            }
        }
    }

    fn run_length(&self, key: &QueueKey) -> usize {
        let list = &self.queues[key];
        let head = &list[0].entry;
        if head.kind != Kind::Message || head.single {
            return 1;
        }
        let same = list.iter().take(self.policy.messages_per_request as usize);
        let same = same.take_while(|waiting| {
            let entry = &waiting.entry;
            let who = (entry.account, entry.conversation, entry.person);
            entry.kind == Kind::Message
                && !entry.single
                && who == (head.account, head.conversation, head.person)
        });
        same.count()
    }

    /// Whether the sender has paused, or nothing more can join.
    fn is_quiet(&self, key: &QueueKey) -> bool {
        let (list, run) = (&self.queues[key], self.run_length(key));
        let (first, last) = (list[0].at, list[run - 1].at);
        let alone = list[0].entry.kind != Kind::Message || list[0].entry.single;
        let closed = run < list.len() || run == self.policy.messages_per_request as usize;
        let full = list.len() >= self.policy.max_queue_size as usize;
        let paused = self.now >= last + ticks(self.policy.debounce);
        let long = self.now >= first + ticks(self.policy.debounce_max);
        self.policy.debounce.is_zero() || alone || closed || full || paused || long
    }

    fn turns(&self, person: i64, now: bool) -> usize {
        let running = self.running.iter();
        running
            .filter(|b| b.person == person && (b.kind == Kind::Now) == now)
            .count()
    }

    fn has_tokens(&self, person: i64, tokens: usize) -> bool {
        let bucket = self.tokens.get(&person);
        bucket.is_none_or(|bucket| bucket.has(self.policy.user, tokens, self.now))
    }

    fn check_run(&mut self, s: &Scheduler, batch: Batch) {
        let count = batch.entries.len();
        assert!(
            self.has_tokens(batch.person, count),
            "{batch:?} without tokens"
        );
        let limit = if batch.kind == Kind::Now {
            1
        } else {
            self.policy.max_turns_per_user
        };
        assert!(self.turns(batch.person, batch.kind == Kind::Now) < limit as usize);
        let mut expected: Vec<Waiting> = Vec::new();
        if batch.kind == Kind::Now {
            self.follow_expiry(s, None);
            while let Some(command) = self.commands.get_mut(&batch.person).unwrap().pop_front() {
                if !self.too_old(&command) {
                    expected.push(command);
                    break;
                }
                self.aside.insert(command.entry.id);
            }
        } else {
            let other = |b: &Batch| b.kind != Kind::Now && b.key == batch.key;
            assert!(!self.running.iter().any(other), "two turns of one queue");
            self.follow_expiry(s, Some((batch.key, count)));
            assert_eq!(self.run_length(&batch.key), count, "not the longest run");
            assert!(self.is_quiet(&batch.key), "{batch:?} too early");
            expected.extend(self.queues.get_mut(&batch.key).unwrap().drain(..count));
        }
        let all = expected.iter().zip(&batch.entries);
        assert_eq!(expected.len(), count);
        for (waiting, taken) in all {
            let entry = &waiting.entry;
            assert!(!self.too_old(waiting), "{} is too old", entry.id);
            assert_eq!((entry.id, &entry.body), (taken.id, &taken.body));
            assert_eq!(Duration::from_micros(self.now - waiting.at), taken.waited);
            assert_eq!(
                (entry.key, entry.conversation),
                (batch.key, batch.conversation)
            );
            assert_eq!((entry.person, entry.kind), (batch.person, batch.kind));
            self.gone.insert(entry.id);
        }
        assert_eq!(
            expected.iter().map(|waiting| waiting.entry.lane).min(),
            Some(batch.lane)
        );
        let user = self.policy.user;
        let tokens = self
            .tokens
            .entry(batch.person)
            .or_insert_with(|| Tokens::full(user));
        tokens.take(user, count, self.now);
        if batch.kind == Kind::Message {
            assert_eq!(batch.dropped, self.dropped.remove(&batch.key));
            if let Some(rate) = self.policy.manual {
                assert!(self.manual.has(rate, count, self.now));
                self.manual.take(rate, count, self.now);
            }
        }
        self.running.push(batch);
    }

    /// Nobody waits who could run: for no person with a free slot are there tokens for whatever
    /// of his may be next.
    fn check_wait(&mut self, s: &Scheduler, model_free: bool, at: Option<Tick>) {
        self.follow_expiry(s, None);
        assert!(at.is_none_or(|at| at > self.now));
        // Person: what may run, by kind and tokens.
        let mut ready: BTreeMap<i64, Vec<(Kind, usize)>> = BTreeMap::new();
        for (key, list) in &self.queues {
            let busy = |b: &Batch| b.kind != Kind::Now && b.key == *key;
            if list.is_empty() || self.running.iter().any(busy) || !self.is_quiet(key) {
                continue;
            }
            let head = &list[0].entry;
            if self.turns(head.person, false) < self.policy.max_turns_per_user as usize {
                let turn = (head.kind, self.run_length(key));
                ready.entry(head.person).or_default().push(turn);
            }
        }
        for (&person, list) in &self.commands {
            let old = list.iter().all(|waiting| self.too_old(waiting));
            if !old && self.turns(person, true) == 0 {
                ready.entry(person).or_default().push((Kind::Now, 1));
            }
        }
        let manual = self.policy.manual;
        for (person, turns) in ready {
            let stuck = turns
                .iter()
                .any(|&(_, tokens)| !self.has_tokens(person, tokens));
            if stuck && let [(_, need)] = turns[..] {
                let ready = self.tokens[&person].ready_at(self.policy.user, need, self.now);
                assert!(
                    at.is_some_and(|at| at <= ready),
                    "{person} would wait too long"
                );
            }
            assert!(!stuck || at.is_some(), "{person} would wait for ever");
            let runnable = turns
                .iter()
                .any(|&(kind, _)| kind != Kind::Message || (model_free && manual.is_none()));
            assert!(stuck || !runnable, "{person} could run: {turns:?}");
            let gateway_would_do = model_free
                && manual.is_some_and(|rate| self.manual.has(rate, usize::MAX >> 1, self.now));
            assert!(stuck || !gateway_would_do, "{person} could run: {turns:?}");
        }
    }

    fn next(&mut self, s: &mut Scheduler, model_free: bool) -> Option<Option<Tick>> {
        match s.next(self.now, model_free) {
            Next::Run(batch) => {
                assert!(model_free || batch.kind != Kind::Message);
                self.check_run(s, batch);
                None
            }
            Next::Wait(at) => {
                self.check_wait(s, model_free, at);
                Some(at)
            }
        }
    }

    fn done(&mut self, s: &mut Scheduler, nth: usize) {
        if nth < self.running.len() {
            let batch = self.running.swap_remove(nth);
            assert!(s.done(batch.token, self.now));
            assert!(!s.done(batch.token, self.now));
        }
    }

    fn sweep(&mut self, s: &mut Scheduler, limit: usize) -> usize {
        let swept = s.take_expired(self.now, limit);
        assert!(swept.len() <= limit);
        self.follow_expiry(s, None);
        for expired in &swept {
            if expired.kind == Kind::Now {
                let list = self.commands.get_mut(&expired.person).unwrap();
                let at = list
                    .iter()
                    .position(|waiting| waiting.entry.id == expired.id);
                if let Some(command) = at.and_then(|at| list.remove(at)) {
                    assert!(self.too_old(&command));
                    self.aside.insert(expired.id);
                }
            }
            assert!(self.aside.remove(&expired.id), "{expired:?}");
            self.leave(expired.id);
        }
        swept.len()
    }

    fn nth_key(&self, nth: usize) -> Option<QueueKey> {
        let filled = self.queues.iter().filter(|(_, list)| !list.is_empty());
        let keys: Vec<_> = filled.map(|(key, _)| *key).collect();
        (!keys.is_empty()).then(|| keys[nth % keys.len()])
    }

    fn step(&mut self, s: &mut Scheduler, id: i64, step: Step, shared: bool) {
        match step {
            Step::Push {
                person,
                conversation,
                kind,
                lane,
                priority,
                single,
            } => {
                let kind = match kind {
                    0 => Kind::Now,
                    1 => Kind::InOrder,
                    _ => Kind::Message,
                };
                let key = match shared {
                    true => QueueKey {
                        account: 1,
                        conversation,
                        person: 0,
                    },
                    false => QueueKey {
                        account: 1,
                        conversation: 0,
                        person,
                    },
                };
                let lane = Lane::ALL[lane];
                let entry = message(id, person, conversation);
                self.push(
                    s,
                    Entry {
                        key,
                        kind,
                        lane,
                        priority,
                        single,
                        ..entry
                    },
                );
            }
            Step::Next { model_free } => {
                self.next(s, model_free);
            }
            Step::Done { nth } => self.done(s, nth),
            Step::Pass { millis } => self.now += millis * 1_000,
            Step::Remove { nth } => {
                let Some(key) = self.nth_key(nth) else { return };
                let list = self.queues.get_mut(&key).unwrap();
                let id = list.remove(nth % list.len()).unwrap().entry.id;
                assert!(s.remove(&key, id) && !s.remove(&key, id));
                self.leave(id);
            }
            Step::Sweep { limit } => {
                self.sweep(s, limit);
            }
        }
        let commands: usize = self.commands.values().map(VecDeque::len).sum();
        let aside = self.aside.len();
        // Commands that next() set aside for their age are not followed one by one.
        assert!(s.len() <= self.total() - aside && s.len() + commands >= self.total() - aside);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn agrees_with_the_model(policy in policies(), steps in steps(), shared in any::<bool>()) {
        let mut s = Scheduler::new(policy.clone());
        let mut model = Model::new(policy);
        let last = i64::try_from(steps.len()).unwrap();
        let pushed = steps.iter().filter(|step| matches!(step, Step::Push { .. })).count();
        for (id, step) in (1..=last).zip(steps) {
            model.step(&mut s, id, step, shared);
        }
        // Let everything end: each wait must name a moment that brings it on.
        for _ in 0..20_000 {
            match model.next(&mut s, true) {
                None => {}
                Some(_) if !model.running.is_empty() => model.done(&mut s, 0),
                Some(Some(at)) => model.now = at,
                Some(None) => break,
            }
        }
        prop_assert_eq!(s.len(), 0);
        model.now += 100 * SECOND;
        while model.sweep(&mut s, 3) > 0 || s.users() > 0 {}
        prop_assert_eq!(model.gone.len(), pushed);
        prop_assert_eq!(s.stats(model.now), Stats::default());
        prop_assert_eq!((s.commands.len(), s.messages.len()), (0, 0));
        prop_assert_eq!((s.people.lines.len(), s.slots.len()), (0, 0));
    }
}
