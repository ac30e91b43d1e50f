//! Random operations against a simple model, with crashes and clean stops at random points.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use weirgate::store::{EndState, ReceiptOutcome};

use super::{Bed, Engine, NOW, finish, message, reply, sent};

/// One step; numbers choose among what there is.
#[derive(Debug, Clone)]
enum Step {
    Accept {
        events: Vec<u8>,
        later: i64,
    },
    Begin(usize),
    Finish {
        from: usize,
        count: usize,
        replies: usize,
        sending: bool,
    },
    Intent(usize),
    Receipt(usize, u8),
    End(usize, usize, bool),
    Sweep,
    Crash,
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let some = 0..1000_usize;
    prop_oneof![
        6 => (proptest::collection::vec(0..40_u8, 1..4), 0..300_i64)
            .prop_map(|(events, later)| Step::Accept { events, later }),
        2 => some.clone().prop_map(Step::Begin),
        4 => (some.clone(), 1..4_usize, 0..3_usize, any::<bool>())
            .prop_map(|(from, count, replies, sending)| Step::Finish { from, count, replies, sending }),
        4 => some.clone().prop_map(Step::Intent),
        4 => (some.clone(), 0..7_u8).prop_map(|(reply, outcome)| Step::Receipt(reply, outcome)),
        1 => (some, 1..3_usize, any::<bool>())
            .prop_map(|(from, count, notice)| Step::End(from, count, notice)),
        1 => Just(Step::Sweep),
        1 => Just(Step::Crash),
        1 => Just(Step::Restart),
    ]
}

#[derive(Debug, Clone, PartialEq)]
struct Answer {
    state: State,
    part: u32,
    doubts: u32,
    doubtful: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Ready,
    Sending,
    InDoubt,
    Unknown,
}

#[derive(Default)]
struct Model {
    /// Event to its message and until when it counts.
    events: BTreeMap<u8, (i64, i64)>,
    /// Waiting message to its attempts.
    waiting: BTreeMap<i64, u32>,
    /// Turns that this process began. In a file those count that began after it did, and the clock of these tests
    /// stands still.
    begun: BTreeSet<i64>,
    in_file: bool,
    /// Answers that are not over.
    answers: BTreeMap<i64, Answer>,
    now: i64,
    last: i64,
}

impl Model {
    fn some_waiting(&self, from: usize, count: usize) -> Vec<i64> {
        let skip = from.checked_rem(self.waiting.len()).unwrap_or(0);
        self.waiting
            .keys()
            .skip(skip)
            .take(count)
            .copied()
            .collect()
    }

    fn some_answer(&self, number: usize) -> Option<i64> {
        let skip = number.checked_rem(self.answers.len())?;
        self.answers.keys().nth(skip).copied()
    }

    /// The process stops: that it cut a turn short was no failed attempt.
    fn close(&mut self) {
        for id in &self.begun {
            if let Some(attempts) = self.waiting.get_mut(id) {
                *attempts = attempts.saturating_sub(1);
            }
        }
        self.stop();
    }

    /// The process is gone: what it was sending is in doubt.
    fn stop(&mut self) {
        if !self.in_file {
            self.begun.clear();
        }
        for answer in self
            .answers
            .values_mut()
            .filter(|answer| answer.state == State::Sending)
        {
            (answer.state, answer.doubts) = (State::InDoubt, answer.doubts + 1);
        }
    }
}

async fn take(bed: &mut Bed, model: &mut Model, step: Step) {
    match step {
        Step::Accept { events, later } => accept(bed, model, &events, later).await,
        Step::Begin(number) => {
            if let [id] = model.some_waiting(number, 1)[..] {
                let attempts = model.waiting.entry(id).or_default();
                *attempts += 1;
                model.begun.insert(id);
                assert_eq!(bed.begin(id).await, *attempts);
            }
        }
        Step::Finish {
            from,
            count,
            replies,
            sending,
        } => {
            let members = model.some_waiting(from, count);
            if !members.is_empty() {
                end_turn(bed, model, &members, replies, sending).await;
            }
        }
        Step::Intent(number) => {
            if let Some(id) = model.some_answer(number) {
                let answer = model.answers.get_mut(&id).unwrap();
                answer.state = State::Sending;
                bed.intent(id, answer.part).await;
            }
        }
        Step::Receipt(number, outcome) => {
            if let Some(id) = model.some_answer(number) {
                receive(bed, model, id, outcome).await;
            }
        }
        Step::End(from, count, notice) => {
            let ids = model.some_waiting(from, count);
            let notices = if notice {
                vec![reply(0, "notice")]
            } else {
                Vec::new()
            };
            for id in bed.end(&ids, EndState::Dropped, notices).await {
                new_answer(model, id, false);
                assert!(id > std::mem::replace(&mut model.last, id));
            }
            model.waiting.retain(|id, _| !ids.contains(id));
        }
        Step::Sweep => {
            bed.sweep().await;
            model
                .events
                .retain(|_, (id, _)| model.waiting.contains_key(id));
        }
        Step::Crash => {
            bed.crash().await;
            model.stop();
        }
        Step::Restart => {
            bed.restart().await;
            model.close();
        }
    }
}

async fn accept(bed: &Bed, model: &mut Model, events: &[u8], later: i64) {
    model.now += later;
    let at = model.now;
    let messages = events
        .iter()
        .map(|event| {
            let mut message = message(&format!("e{event}"));
            (message.at, message.event_until) = (at, at + 500);
            message
        })
        .collect();
    for (event, accepted) in events.iter().zip(bed.accept(messages).await) {
        match model.events.get(event) {
            Some((id, until)) if *until > at => {
                assert_eq!((accepted.id, accepted.duplicate), (*id, true));
            }
            _ => {
                assert!(!accepted.duplicate);
                assert!(accepted.id > std::mem::replace(&mut model.last, accepted.id));
                model.events.insert(*event, (accepted.id, at + 500));
                model.waiting.insert(accepted.id, 0);
            }
        }
    }
}

fn new_answer(model: &mut Model, id: i64, sending: bool) {
    let state = if sending {
        State::Sending
    } else {
        State::Ready
    };
    model.answers.insert(
        id,
        Answer {
            state,
            part: 0,
            doubts: 0,
            doubtful: false,
        },
    );
}

async fn end_turn(bed: &Bed, model: &mut Model, members: &[i64], replies: usize, sending: bool) {
    let mut turn = finish(members);
    turn.begun = model.waiting[&members[0]] > 0;
    turn.replies = (0..replies).map(|_| reply(turn.turn, "x")).collect();
    if let Some(first) = turn.replies.first_mut() {
        first.sending = sending;
    }
    for (number, id) in bed.finish(turn).await.unwrap().into_iter().enumerate() {
        new_answer(model, id, number == 0 && sending);
        if number == 0 {
            assert_eq!(id, members[0]);
        } else {
            assert!(id > std::mem::replace(&mut model.last, id));
        }
    }
    model.waiting.retain(|id, _| !members.contains(id));
}

async fn receive(bed: &Bed, model: &mut Model, id: i64, outcome: u8) {
    let answer = model.answers.get_mut(&id).unwrap();
    let part = answer.part;
    let outcome = match outcome {
        0 => sent("m", true),
        1 => {
            (answer.state, answer.part, answer.doubts) = (State::Ready, part + 1, 0);
            sent("m", false)
        }
        2 => {
            answer.state = State::Ready;
            ReceiptOutcome::Retry {
                due_at: NOW,
                reason: "flood",
            }
        }
        3 => {
            answer.state = State::Unknown;
            ReceiptOutcome::Unknown { reason: "timeout" }
        }
        4 => {
            (answer.state, answer.part, answer.doubts) = (State::Ready, part + 1, 0);
            answer.doubtful = true;
            ReceiptOutcome::Doubtful
        }
        5 => ReceiptOutcome::Failed { reason: "blocked" },
        _ => ReceiptOutcome::Expired { reason: "too_old" },
    };
    let over = !matches!(
        outcome,
        ReceiptOutcome::Retry { .. } | ReceiptOutcome::Unknown { .. } | ReceiptOutcome::Doubtful
    ) && outcome != sent("m", false);
    if over {
        model.answers.remove(&id);
    }
    bed.receipt(id, part, outcome).await;
}

async fn compare(bed: &Bed, model: &Model) {
    let waiting: BTreeMap<i64, u32> = bed
        .waiting()
        .await
        .into_iter()
        .map(|row| (row.id, row.attempts))
        .collect();
    assert_eq!(waiting, model.waiting);
    let answers: Vec<_> = bed
        .store()
        .pending_replies(None, 0, 10_000)
        .await
        .unwrap()
        .into_iter()
        .map(|row| {
            let doubts = (row.in_doubt, row.doubtful, row.attempts);
            (row.id, row.part, row.unknown, doubts)
        })
        .collect();
    let expected: Vec<_> = model
        .answers
        .iter()
        .map(|(id, answer)| {
            let (in_doubt, unknown) = (
                answer.state == State::InDoubt,
                answer.state == State::Unknown,
            );
            let doubts = (in_doubt, answer.doubtful, answer.doubts);
            (*id, answer.part, unknown, doubts)
        })
        .collect();
    assert_eq!(answers, expected);
}

/// Takes the steps on a new store, and compares after each.
fn walk(on: Engine, steps: Vec<Step>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut bed = Bed::new(on).await;
        // Old enough that a sweep removes whatever is over.
        let mut model = Model {
            now: NOW - 10 * super::DAY,
            in_file: on == Engine::Sqlite,
            ..Model::default()
        };
        for step in steps {
            take(&mut bed, &mut model, step).await;
            compare(&bed, &model).await;
        }
        bed.crash().await;
        model.stop();
        compare(&bed, &model).await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_file_does_what_the_model_does(steps in proptest::collection::vec(step(), 1..60)) {
        walk(Engine::Sqlite, steps);
    }
}

proptest! {
    // Each start takes a server tenths of a second.
    #![proptest_config(ProptestConfig::with_cases(if crate::gateway::long() { 32 } else { 6 }))]

    #[test]
    fn the_server_does_what_the_model_does(steps in proptest::collection::vec(step(), 1..60)) {
        walk(Engine::Postgres, steps);
    }
}
