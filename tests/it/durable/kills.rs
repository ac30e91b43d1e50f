//! Kills at random moments under load: every message that had a moment's time is answered, in order.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use super::{Random, report, seed};
use crate::gateway::{Gateway, LIMIT, long, person};

/// How old a message must be at a kill so that it must survive.
const MOMENT: Duration = Duration::from_millis(50);
/// How long before a kill a send may have been whose receipt was not written yet.
const DOUBT: Duration = Duration::from_secs(1);
const USERS: u64 = 100;
const KILLS: usize = 10;

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

/// From shortly before a kill until the connection was seen to be gone.
struct Gap {
    killed: Instant,
    gone: Instant,
}

#[derive(Default)]
struct Run {
    sent: RefCell<Vec<Message>>,
    answers: RefCell<Vec<Answer>>,
    gaps: RefCell<Vec<Gap>>,
    /// The longest that the machine kept this process from running when it wanted to.
    stall: Cell<Duration>,
    done: Cell<bool>,
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
            fake.send_private(user, &format!("number {number}")).await;
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
            let pause = random.within(0, if long() { 2_500 } else { 1_000 });
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let killed = Instant::now();
            gateway.kill().await;
            assert!(fake.connection_is(false, LIMIT).await);
            self.gaps.borrow_mut().push(Gap {
                killed,
                gone: Instant::now(),
            });
            gateway.up().await;
            assert!(fake.connection_is(true, LIMIT).await);
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

    async fn watch(&self) {
        while !self.done.get() {
            let wanted = Duration::from_millis(5);
            let before = Instant::now();
            tokio::time::sleep(wanted).await;
            let late = before.elapsed().saturating_sub(wanted);
            self.stall.set(self.stall.get().max(late));
        }
    }

    /// Messages that must be answered and are not, in all.
    fn missing(&self) -> Vec<(u64, usize)> {
        let grace = MOMENT + 2 * self.stall.get();
        let answers = self.answers.borrow();
        let answered: std::collections::HashSet<(u64, usize)> = answers
            .iter()
            .flat_map(|answer| answer.numbers.iter().map(|number| (answer.user, *number)))
            .collect();
        let gaps = self.gaps.borrow();
        let due = |message: &&Message| {
            !gaps
                .iter()
                .any(|gap| message.at + grace > gap.killed && message.at <= gap.gone)
        };
        let sent = self.sent.borrow();
        let due = sent
            .iter()
            .filter(due)
            .map(|message| (message.user, message.number));
        due.filter(|message| !answered.contains(message)).collect()
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
                    *before <= gap.gone && *before + DOUBT >= gap.killed && *at >= gap.gone
                });
                assert!(
                    excused,
                    "user {user} got {text:?} twice, and no kill explains it"
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

#[tokio::test]
async fn every_message_survives_ten_kills_and_is_answered_in_order() {
    let seed = seed("kills");
    let model = FakeModel::start_with(|text| {
        let numbers: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("number "))
            .collect();
        let delay = Duration::from_millis(if long() { 400 } else { 150 });
        Script::answer(&format!("got {}", numbers.join(" "))).before_headers(delay)
    })
    .await;
    let mut gateway = Gateway::start(&model, json!({ "platforms": { "webchat": null } })).await;
    let fake = gateway.onebot().await;
    let messages = if long() { 2_000 } else { 500 };
    let run = Run::default();
    let work = async {
        tokio::join!(
            run.write(&fake, messages, Random(seed)),
            run.kill(&mut gateway, &fake, Random(seed ^ 1)),
        );
        let started = Instant::now();
        while !run.missing().is_empty() && started.elapsed() < 2 * LIMIT {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let status = gateway.term().await;
        assert_eq!(status.code(), Some(0), "{}", gateway.log());
        tokio::time::sleep(Duration::from_millis(200)).await;
        run.done.set(true);
    };
    tokio::join!(work, run.collect(&fake), run.watch());
    let missing = run.missing();
    assert!(
        missing.is_empty(),
        "not answered: {missing:?}: {}",
        gateway.log()
    );
    let repeats = run.check();
    let sent = run.sent.borrow().len();
    let answers = run.answers.borrow().len();
    report(&format!(
        "kills: {sent} messages, {answers} answers, {repeats} of them repeated after a kill, \
         longest stall {:?}",
        run.stall.get()
    ));
}
