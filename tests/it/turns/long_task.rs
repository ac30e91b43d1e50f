//! A task of many steps: what is behind is summarised within the turn, and stays whole in the store.

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, RecordedRequest, Script},
    onebot::FakeOneBot,
};

use crate::gateway::{Chat as _, Gateway, merge};

/// What a model is asked that is to summarise begins with this.
const RECORD: &str = "[record of a conversation";

fn is_summary(request: &RecordedRequest) -> bool {
    request.last_user_text().starts_with(RECORD)
}

/// What a text found, once each.
fn found(text: &str) -> String {
    let mut found: Vec<&str> = text
        .split(|sign: char| !sign.is_alphanumeric())
        .filter(|word| word.starts_with("FACT"))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.join(", ")
}

/// A step that finds a fact, with four calls.
fn step(number: usize) -> Script {
    let sums: Vec<_> = (1..=4)
        .map(|sum| {
            (
                "calculate",
                json!({ "expression": format!("{number}*100+{sum}") }),
            )
        })
        .collect();
    Script::pieces(&[&format!("I know FACT{number}. ")]).and_calls(&sums)
}

async fn model(summarises: bool) -> FakeModel {
    FakeModel::start_with(move |asked| match asked.starts_with(RECORD) {
        true if summarises => Script::answer(&format!("[Findings]\n{}", found(asked))),
        true => Script::error(400, "no"),
        false => Script::answer("done"),
    })
    .await
}

async fn six_steps(model: &FakeModel, more: serde_json::Value) -> (Gateway, FakeOneBot) {
    let mut changes = json!({ "context": { "system_prompt": "" } });
    merge(&mut changes, more);
    let gateway = Gateway::start(model, changes).await;
    let fake = gateway.onebot().await;
    (1..=6).for_each(|number| model.push(step(number)));
    assert_eq!(fake.ask(1, "find all the facts").await, "done");
    (gateway, fake)
}

#[tokio::test]
async fn what_is_behind_is_told_in_short_and_nothing_of_it_is_lost() {
    // The steps that are pushed are taken in order, whoever asks: a summary must not take one.
    let model = model(true).await;
    let by_another = json!({
        "providers": { "short": { "kind": "openai", "base_url": "" } },
        "models": { "compress": ["short/test"] },
    });
    let summaries = self::model(true).await;
    let mut changes = by_another;
    changes["providers"]["short"]["base_url"] = json!(summaries.url());
    let (_gateway, fake) = six_steps(&model, changes).await;
    let asked = summaries.requests();
    assert_eq!(asked.len(), 1, "once, for the steps that were behind");
    let record = asked[0].last_user_text();
    assert!(
        record.contains("find all the facts") && record.contains("401"),
        "{record}"
    );
    let requests = model.requests();
    // Five steps of five messages are more than twenty.
    let fifth = &requests[5];
    let said = fifth.spoken().join("\n");
    assert!(said.contains("FACT1, FACT2, FACT3, FACT4"), "{said}");
    assert_eq!(fifth.told(), ["501", "502", "503", "504"]);
    assert!(fifth.spoken()[0].contains("find all the facts"), "{said}");
    let last = requests.last().unwrap();
    assert_eq!(last.told().len(), 8);
    // What is stored is whole, and so are the costs.
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("context_summarised"), "{why}");
    let log = fake.ask(1, "/log").await;
    assert!(log.contains("80 tokens in"), "{log}");
    fake.ask(1, "and now?").await;
    assert_eq!(model.requests().last().unwrap().told().len(), 24);
}

#[tokio::test]
async fn without_a_summary_the_steps_stay_as_they_are() {
    for (more, asked) in [
        (json!({}), 1),
        (
            json!({ "memory": { "context_window": { "summarize_beyond": false } } }),
            0,
        ),
    ] {
        let model = model(true).await;
        let summaries = self::model(false).await;
        let mut changes = json!({
            "providers": { "short": { "kind": "openai", "base_url": summaries.url() } },
            "models": { "compress": ["short/test"] },
        });
        merge(&mut changes, more);
        let _running = six_steps(&model, changes).await;
        assert_eq!(summaries.requests().len(), asked);
        assert!(summaries.requests().iter().all(is_summary));
        let told = model.requests().last().unwrap().told();
        assert_eq!(told.len(), 24, "{told:?}");
    }
}
