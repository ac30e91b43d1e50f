//! The pace of model requests as agent.yaml says it: from a provider's limit, by hand, and after a refusal. Least times
//! are asked for and no others: a busy machine may be slower, and never faster.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::gateway::{Chat as _, Gateway, merge};

/// When a model was asked, in order.
type Arrivals = Arc<Mutex<Vec<Instant>>>;

/// A model that notes when it is asked and has no script, and a gateway in front of it.
async fn timed(changes: Value) -> (FakeModel, Arrivals, Gateway, FakeOneBot) {
    let arrivals = Arrivals::default();
    let noted = Arc::clone(&arrivals);
    let model = FakeModel::start_with(move |text| {
        noted.lock().push(Instant::now());
        Script::answer(&format!("re: {text}"))
    })
    .await;
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    (model, arrivals, gateway, fake)
}

/// So many people say something at once; how long after that each request arrives, in order.
async fn asked(fake: &FakeOneBot, arrivals: &Arrivals, people: u64) -> Vec<Duration> {
    arrivals.lock().clear();
    let begun = Instant::now();
    for user in 1..=people {
        fake.send_private(user, "hello").await;
    }
    fake.answers(usize::try_from(people).unwrap()).await;
    let arrivals = arrivals.lock();
    arrivals.iter().map(|at| at.duration_since(begun)).collect()
}

/// Whether each is at least so long behind the one before, counted from the beginning.
fn are_apart(after: &[Duration], apart: Duration) -> bool {
    let least = (0..).map(|number| apart * number);
    after
        .iter()
        .zip(least)
        .all(|(after, least)| *after >= least)
}

#[tokio::test]
async fn requests_are_as_far_apart_as_the_limit_of_the_provider_asks_for() {
    let of_provider = json!({ "providers": { "main": { "rpm": 300 } } });
    let of_all = json!({ "flow_control": { "auto": { "api_rpm_limit": 300 } } });
    for limit in [of_provider, of_all] {
        let mut changes = json!({ "flow_control": { "auto": {
            "safety_margin": 0.5, "min_interval": 0 } } });
        merge(&mut changes, limit.clone());
        let (_model, arrivals, _gateway, fake) = timed(changes).await;
        let after = asked(&fake, &arrivals, 4).await;
        assert_eq!(after.len(), 4, "{limit}");
        assert!(
            are_apart(&after, Duration::from_millis(400)),
            "{limit}: {after:?}"
        );
    }
}

#[tokio::test]
async fn requests_are_never_closer_than_the_least_interval() {
    let changes = json!({ "flow_control": { "auto": {
        "api_rpm_limit": 60_000, "min_interval": 0.3 } } });
    let (_model, arrivals, _gateway, fake) = timed(changes).await;
    let after = asked(&fake, &arrivals, 4).await;
    assert!(are_apart(&after, Duration::from_millis(300)), "{after:?}");
}

#[tokio::test]
async fn by_hand_turns_are_paced_and_commands_are_not() {
    let changes = json!({ "flow_control": { "mode": "manual", "manual_rate": 2 } });
    let (_model, arrivals, _gateway, fake) = timed(changes).await;
    let begun = Instant::now();
    for user in 1..=8 {
        fake.send_private(user, "hello").await;
    }
    fake.send_private(9, "/ping").await;
    let answers = fake.answers(9).await;
    let pong = answers.iter().position(|answer| answer == "pong");
    assert!(pong.is_some_and(|place| place < 8), "{answers:?}");
    // Two at once, then two a second.
    let arrivals = arrivals.lock();
    let after: Vec<Duration> = arrivals.iter().map(|at| at.duration_since(begun)).collect();
    assert_eq!(after.len(), 8);
    assert!(
        are_apart(&after[1..], Duration::from_millis(500)),
        "{after:?}"
    );
}

#[tokio::test]
async fn after_a_refusal_without_a_time_requests_are_further_apart() {
    let changes = json!({
        "providers": { "main": { "rpm": 300 } },
        "flow_control": { "auto": { "safety_margin": 0.5, "min_interval": 0 } },
    });
    let (model, arrivals, _gateway, fake) = timed(changes).await;
    model.push(Script::error(429, "slow down"));
    let refused = Instant::now();
    assert_eq!(fake.ask(1, "hello").await, "re: hello");
    let waited = arrivals.lock()[0].duration_since(refused);
    assert!(waited >= Duration::from_secs(1), "{waited:?}");
    assert_eq!(model.count(), 2);
    // A fifth slower, and each request that went well gives a fiftieth back.
    let after = asked(&fake, &arrivals, 6).await;
    let last = after[5].as_secs_f64();
    let least: f64 = [0.82, 0.84, 0.86, 0.88, 0.90]
        .iter()
        .map(|share| 0.4 / share)
        .sum();
    assert!(last >= least, "{least}: {after:?}");
}
