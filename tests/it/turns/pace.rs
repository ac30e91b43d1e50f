//! How close requests to a model follow one another: by what its provider allows, by the margin, and after it refused some.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::gateway::{Chat as _, Gateway};

async fn started(model: &FakeModel, auto: Value) -> (Gateway, FakeOneBot) {
    let changes = json!({
        "flow_control": { "auto": auto },
        "error_recovery": { "max_retries": { "rate_limit": 10 } },
    });
    let gateway = Gateway::start(model, changes).await;
    let fake = gateway.onebot().await;
    (gateway, fake)
}

/// How long so many questions take.
async fn asked(fake: &FakeOneBot, count: usize) -> Duration {
    let started = Instant::now();
    for _ in 0..count {
        assert_eq!(fake.ask(1, "hi").await, "re: hi");
    }
    started.elapsed()
}

#[tokio::test]
async fn a_margin_leaves_a_part_of_what_the_provider_allows() {
    // A tenth of a second between two requests, or the double.
    for (margin, least) in [(1.0, 500), (0.5, 1_000)] {
        let model = FakeModel::start().await;
        let auto = json!({ "api_rpm_limit": 600, "min_interval": 0, "safety_margin": margin });
        let (_gateway, fake) = started(&model, auto).await;
        let took = asked(&fake, 6).await;
        assert!(took >= Duration::from_millis(least), "{margin}: {took:?}");
    }
}

#[tokio::test]
async fn refusals_widen_the_interval_up_to_its_bound() {
    let mut times = Vec::new();
    for most in [0.1, 10.0] {
        let model = FakeModel::start().await;
        let auto = json!({ "api_rpm_limit": 600, "min_interval": 0, "safety_margin": 1.0,
            "max_interval": most });
        let (gateway, fake) = started(&model, auto).await;
        for _ in 0..8 {
            model.push(Script::rate_limited(Some("0")));
        }
        assert_eq!(fake.ask(1, "first").await, "re: first");
        assert_eq!(model.count(), 9, "{}", gateway.log());
        times.push(asked(&fake, 4).await);
    }
    let [bounded, free] = times[..] else {
        unreachable!()
    };
    // A tenth of a second, made longer by a quarter eight times, is six tenths.
    assert!(free >= Duration::from_millis(1_500), "{free:?}");
    assert!(bounded * 3 < free * 2, "{bounded:?}, {free:?}");
}
