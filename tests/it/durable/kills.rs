//! Kills at random moments under load: every message that had a moment's time is answered, in order.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap, HashSet},
    time::{Duration, Instant},
};

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use super::{Random, report, seed};
use crate::{
    engine::Engine,
    gateway::{Gateway, LIMIT, alone, long, person},
};

/// How long before a kill a send may have been whose receipt was not written yet.
const DOUBT: Duration = Duration::from_secs(1);
const USERS: u64 = 100;
const KILLS: usize = 10;
const KILLS_OF_TWO: usize = 4;
/// How long an account may be without a process.
const TAKEOVER: Duration = Duration::from_secs(10);

/// One message on its way.
struct Message {
    user: u64,
    number: usize,
    at: Instant,
}

/// One send of the gateway.
struct Answer {
    user: u64,
    text: String,
    numbers: Vec<usize>,
    at: Instant,
}

/// From a kill until the connection was seen to be gone.
struct Gap {
    killed: Instant,
    gone: Instant,
}

#[derive(Default)]
struct Run {
    sent: RefCell<Vec<Message>>,
    answers: RefCell<Vec<Answer>>,
    gaps: RefCell<Vec<Gap>>,
    done: Cell<bool>,
}

/// How old a message must be at a kill so that it must survive. What the journal took is asked of the journal
/// in every run; how fast it takes it is a figure of an idle machine, so only where no test runs beside is it insisted on.
fn moment() -> Duration {
    if alone() {
        Duration::from_millis(50)
    } else {
        Duration::from_secs(1)
    }
}

impl Run {
    /// People write, one message after the other, without waiting for answers.
    async fn write(&self, fake: &FakeOneBot, messages: usize, mut random: Random) {
        let mut numbers = HashMap::new();
        for _ in 0..messages {
            let user = 1 + random.within(0, USERS);
            let number = numbers
                .entry(user)
                .and_modify(|number| *number += 1)
                .or_insert(1_usize);
            fake.send_private(user, &format!("number {number} of {user}"))
                .await;
            let message = Message {
                user,
                number: *number,
                at: Instant::now(),
            };
            self.sent.borrow_mut().push(message);
            // People write in bursts.
            if random.within(0, 8) == 0 {
                tokio::time::sleep(Duration::from_millis(random.within(0, 240))).await;
            }
        }
    }

    async fn kill(&self, gateway: &mut Gateway, fake: &FakeOneBot, mut random: Random) {
        for _ in 0..KILLS {
            self.kill_once(gateway, fake, &mut random).await;
            gateway.up().await;
            assert!(fake.connection_is(true, LIMIT).await);
        }
    }

    /// Kills at a random moment; says when that was.
    async fn kill_once(
        &self,
        gateway: &mut Gateway,
        fake: &FakeOneBot,
        random: &mut Random,
    ) -> Instant {
        let pause = random.within(0, if long() { 2_500 } else { 1_000 });
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let killed = Instant::now();
        gateway.kill().await;
        assert!(fake.connection_is(false, LIMIT).await);
        let gone = Instant::now();
        self.gaps.borrow_mut().push(Gap { killed, gone });
        killed
    }

    /// Kills the process that has the account, again and again; the other takes over.
    async fn kill_in_turn(&self, both: &mut [Gateway; 2], fake: &FakeOneBot, mut random: Random) {
        for kill in 0..KILLS_OF_TWO {
            let [one, other] = both;
            let (holder, heir) = if kill % 2 == 0 {
                (one, other)
            } else {
                (other, one)
            };
            assert_eq!(heir.account("qq/main").await, "standby");
            let killed = self.kill_once(holder, fake, &mut random).await;
            assert!(fake.connection_is(true, LIMIT).await, "{}", heir.log());
            let gap = killed.elapsed();
            assert!(gap < TAKEOVER, "{gap:?}: {}", heir.log());
            holder.up().await;
        }
    }

    async fn collect(&self, fake: &FakeOneBot) {
        while !self.done.get() {
            let Some(reply) = fake.next_reply(Duration::from_millis(100)).await else {
                continue;
            };
            let text = reply.text();
            let numbers = text.strip_prefix("got ").map(|numbers| {
                numbers
                    .split(' ')
                    .map(|number| number.parse().unwrap())
                    .collect()
            });
            let user = person(&reply).parse().unwrap();
            let numbers = numbers.unwrap_or_default();
            self.answers.borrow_mut().push(Answer {
                user,
                text,
                numbers,
                at: Instant::now(),
            });
        }
    }

    /// Messages that were not answered, each with its age at the next kill; what was said into a dead
    /// connection has none and is left out.
    fn lost(&self) -> Vec<(u64, usize, Duration)> {
        let answered = self.answered();
        let gaps = self.gaps.borrow();
        let sent = self.sent.borrow();
        let lost = sent
            .iter()
            .filter(|message| !answered.contains(&(message.user, message.number)))
            .filter_map(|message| {
                let age = match gaps.iter().find(|gap| message.at <= gap.gone) {
                    Some(gap) => gap.killed.checked_duration_since(message.at)?,
                    None => Duration::MAX,
                };
                Some((message.user, message.number, age))
            });
        lost.collect()
    }

    /// Those of them that were there long enough.
    fn missing(&self) -> Vec<(u64, usize, Duration)> {
        let moment = moment();
        let mut missing = self.lost();
        missing.retain(|(_, _, age)| *age >= moment);
        missing
    }

    /// User and number of every message that was answered.
    fn answered(&self) -> HashSet<(u64, usize)> {
        let answers = self.answers.borrow();
        let numbers = |answer: &Answer| {
            let user = answer.user;
            answer
                .numbers
                .clone()
                .into_iter()
                .map(move |number| (user, number))
        };
        answers.iter().flat_map(numbers).collect()
    }

    /// Messages that the journal holds and nobody answered.
    async fn forgotten(&self, gateway: &Gateway) -> Vec<String> {
        let mut stored = gateway.journaled().await;
        let answered = self.answered();
        stored.retain(|text| {
            let mut words = text.split(' ').filter_map(|word| word.parse().ok());
            let (number, user) = (words.next().unwrap(), words.next().unwrap());
            !answered.contains(&(u64::try_from(user).unwrap(), number))
        });
        stored
    }

    /// The gaps around a moment, each as milliseconds from it to the kill and to its end.
    fn around(&self, moment: Instant) -> Vec<(i64, i64)> {
        let since = |at: Instant| {
            let (after, before) = (at.duration_since(moment), moment.duration_since(at));
            i64::try_from(after.as_millis()).unwrap() - i64::try_from(before.as_millis()).unwrap()
        };
        let gaps = self.gaps.borrow();
        gaps.iter()
            .map(|gap| (since(gap.killed), since(gap.gone)))
            .collect()
    }

    /// Checks what was answered and says how many answers came again.
    fn check(&self) -> usize {
        let answers = self.answers.borrow();
        let mut first: BTreeMap<(u64, &str), Instant> = BTreeMap::new();
        let mut last: HashMap<u64, usize> = HashMap::new();
        let mut repeats = 0;
        for answer in answers.iter() {
            let Answer {
                user,
                text,
                numbers,
                at,
            } = answer;
            assert!(!numbers.is_empty(), "user {user} was told {text:?}");
            if let Some(before) = first.get(&(*user, text.as_str())) {
                let excused = self.gaps.borrow().iter().any(|gap| {
                    *before <= gap.gone + moment()
                        && *before + DOUBT >= gap.killed
                        && *at >= gap.gone
                });
                assert!(
                    excused,
                    "user {user} got {text:?} twice, {:?} apart, and no kill explains it: {:?}",
                    *at - *before,
                    self.around(*before),
                );
                repeats += 1;
                continue;
            }
            first.insert((*user, text), *at);
            for number in numbers {
                let before = last.insert(*user, *number);
                assert!(
                    before < Some(*number),
                    "user {user}: {number} after {before:?}"
                );
            }
        }
        repeats
    }
}

async fn model() -> FakeModel {
    FakeModel::start_with(|text| {
        let numbers: Vec<&str> = text
            .lines()
            .filter_map(|line| line.split(' ').nth(1))
            .collect();
        let delay = Duration::from_millis(if long() { 400 } else { 150 });
        Script::answer(&format!("got {}", numbers.join(" "))).before_headers(delay)
    })
    .await
}

impl Run {
    /// Waits until everything is answered.
    async fn settle(&self, gateway: &Gateway) {
        let started = Instant::now();
        while (!self.missing().is_empty() || !self.forgotten(gateway).await.is_empty())
            && started.elapsed() < 2 * LIMIT
        {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Stops the gateway, and sees what it still says.
    async fn stop(&self, gateway: &mut Gateway) {
        let status = gateway.term().await;
        assert_eq!(status.code(), Some(0), "{}", gateway.log());
        tokio::time::sleep(Duration::from_millis(200)).await;
        self.done.set(true);
    }

    async fn judge(&self, gateway: &Gateway) {
        let forgotten = self.forgotten(gateway).await;
        assert!(
            forgotten.is_empty(),
            "accepted and not answered: {forgotten:?}: {}",
            gateway.log()
        );
        let missing = self.missing();
        assert!(
            missing.is_empty(),
            "not answered: {missing:?}: {}",
            gateway.log()
        );
        let repeats = self.check();
        let sent = self.sent.borrow().len();
        let answers = self.answers.borrow().len();
        let lost = self.lost();
        let oldest = lost
            .iter()
            .map(|(_, _, age)| *age)
            .max()
            .unwrap_or_default();
        report(&format!(
            "kills: {sent} messages, {answers} answers, {repeats} of them repeated after a kill; {} lost on \
             their way, the oldest {oldest:?} before a kill ({:?} is allowed)",
            lost.len(),
            moment(),
        ));
    }
}

async fn every_message_survives_ten_kills_and_is_answered_in_order(on: Engine) {
    let seed = seed("kills");
    let model = model().await;
    let changes = json!({ "platforms": { "webchat": null } });
    let mut gateway = Gateway::prepare_on(on, &model, changes).await;
    gateway.up().await;
    let fake = gateway.onebot().await;
    let run = Run::default();
    let work = async {
        tokio::join!(
            run.write(&fake, 2_000, Random(seed)),
            run.kill(&mut gateway, &fake, Random(seed ^ 1)),
        );
        run.settle(&gateway).await;
        run.stop(&mut gateway).await;
    };
    tokio::join!(work, run.collect(&fake));
    run.judge(&gateway).await;
}

#[tokio::test]
async fn every_message_survives_kills_of_one_of_two_processes_and_is_answered_in_order() {
    let seed = seed("kills of two");
    let model = model().await;
    let changes = json!({ "platforms": { "webchat": null } });
    let mut first = Gateway::prepare_on(Engine::Postgres, &model, changes.clone()).await;
    first.up().await;
    let fake = first.onebot().await;
    let mut second = Gateway::beside(&first, false, &model, changes);
    second.up().await;
    let mut both = [first, second];
    let run = Run::default();
    let work = async {
        tokio::join!(
            run.write(&fake, 1_500, Random(seed)),
            run.kill_in_turn(&mut both, &fake, Random(seed ^ 1)),
        );
        let [first, second] = &mut both;
        run.settle(first).await;
        // It is the standby of the other.
        run.stop(second).await;
        run.stop(first).await;
    };
    tokio::join!(work, run.collect(&fake));
    run.judge(&both[0]).await;
}

suite!(every_message_survives_ten_kills_and_is_answered_in_order);
