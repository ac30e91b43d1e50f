//! A week in an hour: the real program with a clock that runs 168 times as fast, under load all the time.
//!
//! Owns what comes in meanwhile, and what must not grow: resident memory, files, descriptors. The clock is
//! libfaketime's, which the program is started with; the people, the platform and the model keep ordinary time.
//! `WEIRGATE_LONG=1` runs the hour; else it is some seconds, in which only descriptors and ends are judged.
//! `WEIRGATE_SOAK_SECONDS` sets another length.

#![cfg(test)]

mod figures;

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
    webchat::WebChatClient,
};

use crate::gateway::{Gateway, LIMIT, long, rows, until};
use figures::Figures;

/// How much faster the program's clock runs, in the long form and in the short one. Time-outs shrink by as much, and
/// in a usual run the machine is busy with other tests.
const PACE: (u32, u32) = (168, 20);
/// Time between two messages to the platform, in the people's time.
const STEP: Duration = Duration::from_millis(25);
/// Days for which finished rows stay; a day of the program is nine minutes of ours.
const DAYS: u32 = 1;

#[test]
fn a_week_passes_and_nothing_grows() {
    let length = std::env::var("WEIRGATE_SOAK_SECONDS").ok();
    let length = length.and_then(|seconds| seconds.parse().ok());
    let length = Duration::from_secs(length.unwrap_or(if long() { 3_600 } else { 15 }));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(week(length));
}

/// What was said and what came back.
#[derive(Default)]
struct Count {
    sent: AtomicU64,
    sends: AtomicU64,
    visits: AtomicU64,
    over: AtomicBool,
}

async fn week(length: Duration) {
    let model = FakeModel::start_with(|text| {
        let words = 5 + text.len() % 60;
        Script::answer(&"Something that a model would say. ".repeat(words / 5))
    })
    .await;
    let kept = json!({ "inbox": DAYS, "outbox": DAYS, "history": DAYS, "audit": DAYS });
    let mut gateway = Gateway::prepare(
        &model,
        json!({
            "storage": { "retention": kept },
            "observability": { "log": { "level": "info", "file": { "path": "weirgate.log", "max_size": 1_048_576, "keep": 3 } } },
            // A second of ours is three minutes of the program's.
            "flow_control": { "turn_timeout": 3_600 },
            "output": { "on_unknown": "resend" },
        }),
    );
    if !gateway.with_clock() {
        return;
    }
    gateway.up().await;
    let fake = Arc::new(gateway.onebot().await);
    let pace = if long() { PACE.0 } else { PACE.1 };
    gateway.turn_clock(&format!("+0 x{pace}"));
    let count = Arc::new(Count::default());
    let hearing = tokio::spawn(hear(Arc::clone(&fake), Arc::clone(&count)));
    let talking = tokio::spawn(talk(Arc::clone(&fake), Arc::clone(&count)));
    let visiting = tokio::spawn(visit(gateway.http(), Arc::clone(&count)));
    let (begun, mut figures) = (
        Instant::now(),
        Figures::new(gateway.process(), gateway.folder(), &gateway.database()),
    );
    while begun.elapsed() < length {
        tokio::time::sleep((length / 60).min(length.saturating_sub(begun.elapsed()))).await;
        figures.take();
    }
    count.over.store(true, Ordering::Release);
    talking.await.unwrap();
    visiting.await.unwrap();
    // What waits is worked off now; a time-out of the program may be a moment of ours.
    let unended = || rows(&gateway.database(), UNENDED);
    let mut left = unended().len();
    while left > 0 && !until(|| unended().is_empty()).await && unended().len() < left {
        left = unended().len();
    }
    hearing.await.unwrap();
    let [sent, sends, visits] =
        [&count.sent, &count.sends, &count.visits].map(|count| count.load(Ordering::Acquire));
    figures.tell(&format!(
        "{sent} messages, {sends} sends, {visits} visits in {:?} of the program's time",
        length * pace
    ));
    let left = unended();
    assert!(
        left.is_empty(),
        "without an end: {left:?}: {}",
        gateway.log()
    );
    assert!(
        sends > sent / 2,
        "{sends} sends for {sent} messages: {}",
        gateway.log()
    );
    assert!(visits > 0, "nobody was answered on the page");
    figures.judge(length * pace > Duration::from_hours(72));
    let status = gateway.term().await;
    assert!(status.success(), "{status}: {}", gateway.log());
}

/// Messages without an end.
const UNENDED: &str =
    "SELECT id FROM inbox WHERE id NOT IN (SELECT id FROM ended UNION SELECT id FROM outbox)";

/// People write in private and in groups, some again and again, some once; some write more than fits.
async fn talk(fake: Arc<FakeOneBot>, count: Arc<Count>) {
    let mut step = 0_u64;
    while !count.over.load(Ordering::Acquire) {
        step += 1;
        // One in three is somebody who was never here.
        let user = if step.is_multiple_of(3) {
            1_000_000 + step
        } else {
            100 + step % 50
        };
        match step % 8 {
            0 | 3 => fake.send_private(user, &format!("/ping {step}")).await,
            1 => {
                fake.send_group(
                    9_000 + step % 300,
                    user,
                    &format!("what about {step}?"),
                    true,
                )
                .await
            }
            5 => {
                fake.send_group(9_000 + step % 300, user, "said to somebody else", false)
                    .await
            }
            _ => {
                fake.send_private(user, &format!("tell me about {step}"))
                    .await
            }
        };
        count
            .sent
            .fetch_add(u64::from(step % 8 != 5), Ordering::Release);
        if step.is_multiple_of(2_000) {
            fake.drop_connection();
            fake.connection_is(true, LIMIT).await;
        }
        tokio::time::sleep(STEP).await;
    }
}

/// Takes what the program sends, until all is over and nothing comes any more.
async fn hear(fake: Arc<FakeOneBot>, count: Arc<Count>) {
    loop {
        match fake.next_reply(Duration::from_secs(1)).await {
            Some(_) => count.sends.fetch_add(1, Ordering::Release),
            None if count.over.load(Ordering::Acquire) => return,
            None => continue,
        };
    }
}

/// One visitor after the other opens the page, asks, reads and goes.
async fn visit(address: SocketAddr, count: Arc<Count>) {
    while !count.over.load(Ordering::Acquire) {
        if is_answered(address).await {
            count.visits.fetch_add(1, Ordering::Release);
        }
        tokio::time::sleep(STEP * 20).await;
    }
}

/// One visit. The program may close the connection of somebody who says nothing for some milliseconds of ours.
async fn is_answered(address: SocketAddr) -> bool {
    let mut page = WebChatClient::connect(address).await;
    page.send(json!({ "type": "hello" })).await;
    while let Some(frame) = page.next_within(LIMIT).await {
        match frame["type"].as_str() {
            Some("history") => page.say("m1", "hello from the page").await,
            Some("end") => return true,
            None => return false,
            Some(_) => {}
        }
    }
    false
}
