//! What requests take is counted for somebody: where a provider does not count, and what is done behind turns.

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::{
    gateway::{Chat as _, Gateway, merge, rows, until},
    memory::RECORD,
};

/// An answer of a provider that does not count.
fn uncounted(text: &str) -> Script {
    let delta = json!({ "content": text });
    let chunk = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": "stop" }] });
    Script::raw([format!("data: {chunk}\n\n"), "data: [DONE]\n\n".to_owned()])
}

#[tokio::test]
async fn where_a_provider_does_not_count_tools_count_too() {
    for tools in [true, false] {
        let model = FakeModel::start_with(|_| uncounted("four words of mine")).await;
        let max_steps = if tools { 11 } else { 1 };
        let changes = json!({
            "tool_calling": { "max_steps": max_steps },
            "limits": { "user": { "tokens_per_day": 1_000_000 } },
        });
        let gateway = Gateway::start(&model, changes).await;
        let fake = gateway.onebot().await;
        fake.ask(1, "hello").await;
        let body = &model.requests()[0].body;
        assert_eq!(body["tools"].is_array(), tools, "{body}");
        // A token is four bytes or so; JSON has some signs more than what is counted.
        let bytes = body["messages"].to_string().len()
            + match tools {
                true => body["tools"].to_string().len(),
                false => 0,
            };
        let log = fake.ask(1, "/log").await;
        let (before, _) = log.split_once(" tokens in").expect("a number");
        let counted: usize = before.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(
            (bytes / 6..bytes / 3).contains(&counted),
            "{counted} of {bytes} bytes: {log}"
        );
        assert!(log.contains("tokens in, 5 out"), "{log}");
        let stored = rows(
            &gateway.database(),
            "SELECT value FROM setting WHERE key = 'tokens'",
        );
        let total: usize = stored[0].split(' ').nth(1).unwrap().parse().unwrap();
        assert_eq!(total, counted + 5, "they count for the day");
    }
}

/// A gateway whose models cost a unit for each token in; histories are summarised and talks looked through soon.
fn costly(changes: Value) -> Value {
    let price = json!({ "price": { "input": 1_000_000.0, "output": 0.0 } });
    let mut all = json!({
        "models": { "chat": ["main/test"], "compress": ["main/small"], "currency": "EUR" },
        "providers": { "main": { "models": { "test": price, "small": price } } },
        "language": "en",
    });
    merge(&mut all, changes);
    all
}

/// What was spent today by the one who asks, in the conversation, and by the account.
fn spent(status: &str) -> Vec<f64> {
    let line = status.lines().find(|line| line.starts_with("Today: "));
    let words = line.unwrap_or_else(|| panic!("{status}")).split(' ');
    words.filter_map(|word| word.parse().ok()).collect()
}

/// The requests in which a record was to be summarised or looked through.
fn behind(model: &FakeModel) -> usize {
    let requests = model.requests();
    let records = requests.iter();
    records
        .filter(|request| request.last_user_text().starts_with(RECORD))
        .count()
}

/// Asks until the spending is what all requests together cost: ten tokens each.
async fn all_is_charged(model: &FakeModel, asked: impl AsyncFn() -> Vec<f64>, of: &[bool; 3]) {
    let wait = async {
        loop {
            let wanted = 10.0 * f64::from(u32::try_from(model.count()).unwrap());
            let less = 10.0 * f64::from(u32::try_from(behind(model)).unwrap());
            let now = asked().await;
            let right = now.iter().zip(of).all(|(spent, counts)| {
                let wanted = if *counts { wanted } else { wanted - less };
                (spent - wanted).abs() < 0.001
            });
            if right {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let in_time = tokio::time::timeout(crate::gateway::LIMIT, wait).await;
    let last = asked().await;
    assert!(in_time.is_ok(), "{last:?} for {} requests", model.count());
}

#[tokio::test]
async fn summaries_are_paid_for_by_whom_they_are_made_for() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(
        &model,
        costly(json!({
            "context": { "keep_recent_messages": 2 },
            "memory": {
                "extract": "off",
                "retention": { "auto_summary_threshold": 4 },
                "context_window": { "recent_rounds": 1 },
            },
        })),
    )
    .await;
    let fake = gateway.onebot().await;
    for number in 0..5 {
        fake.ask(1, &format!("word {number} {}", "x".repeat(400)))
            .await;
    }
    gateway.counts("summary_failed", 1).await;
    let status = async || spent(&fake.ask(1, "/status").await);
    all_is_charged(&model, status, &[true; 3]).await;
    assert!(behind(&model) > 0, "one that was no good costs as well");
}

#[tokio::test]
async fn a_summary_of_a_group_is_paid_for_by_the_group() {
    let model = FakeModel::start_with(|asked| {
        Script::answer(if asked.starts_with(RECORD) {
            "[Findings]\nnone"
        } else {
            "ok"
        })
    })
    .await;
    let gateway = Gateway::start(
        &model,
        costly(json!({
            "context": { "keep_recent_messages": 2 },
            "memory": {
                "extract": "off",
                "retention": { "auto_summary_threshold": 4 },
                "context_window": { "recent_rounds": 1 },
            },
        })),
    )
    .await;
    let fake = gateway.onebot().await;
    for number in 0..5 {
        let words = format!("word {number} {}", "x".repeat(400));
        fake.ask_as("member", 50, 7, &words).await;
    }
    gateway.counts("context_summarised", 1).await;
    let status = async || spent(&fake.ask_as("member", 50, 7, "/status").await);
    all_is_charged(&model, status, &[false, true, true]).await;
    assert!(behind(&model) > 0);
}

#[tokio::test]
async fn a_look_through_a_talk_is_paid_for_and_none_is_made_of_what_is_used_up() {
    let looks = json!({ "memory": { "extract": "private", "extract_after": 1 } });
    let model = FakeModel::start_with(|asked| {
        let none = "{\"entries\": []}";
        Script::answer(if asked.starts_with(RECORD) {
            none
        } else {
            "ok"
        })
    })
    .await;
    let gateway = Gateway::start(&model, costly(looks.clone())).await;
    let fake = gateway.onebot().await;
    fake.ask(1, "my cat is called Pangur").await;
    assert!(until(|| behind(&model) == 1).await, "{}", gateway.log());
    let status = async || spent(&fake.ask(1, "/status").await);
    all_is_charged(&model, status, &[true; 3]).await;

    // The day's tokens are used up by the turn itself.
    let mut changes = costly(looks);
    merge(
        &mut changes,
        json!({ "limits": { "conversation": { "tokens_per_day": 5 } }, "observability": { "log": { "level": "debug" } } }),
    );
    let gateway = Gateway::start(&model, changes).await;
    let fake: FakeOneBot = gateway.onebot().await;
    let before = model.count();
    fake.ask(1, "my cat is called Pangur").await;
    gateway.logged("no tokens are left for a look").await;
    assert_eq!(model.count(), before + 1);
}
