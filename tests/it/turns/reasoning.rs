//! What a model thinks before it answers: nobody sees it, or whoever is told to.

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{Ending, FakeModel, Script},
    webchat::WebChatClient,
};

use super::{
    formats::{KINDS, speaking, sum},
    streams::{drafts, finals, until_end},
};
use crate::gateway::{Chat as _, Gateway, KEY, LIMIT, merge, to_approve};

const GROUP: u64 = 60;

/// Changes after which the first provider speaks a format and what it thinks is shown.
fn shown(kind: &str) -> Value {
    let mut changes = speaking(kind);
    merge(&mut changes, json!({ "output": { "reasoning": "shown" } }));
    changes
}

#[tokio::test]
async fn thoughts_are_hidden_unless_they_are_to_be_shown() {
    for kind in KINDS {
        let model = FakeModel::start().await;
        let gateway = Gateway::start(&model, speaking(kind)).await;
        let fake = gateway.onebot().await;
        let script = Script::pieces(&["It is ", "noon."]).thinking_in(&["The sun\n", "is high."]);
        model.push(script.clone());
        assert_eq!(fake.ask(1, "when?").await, "It is noon.", "{kind}");
        gateway.configure(&model, shown(kind));
        gateway.signal("HUP");
        gateway.logged("output.reasoning: not set -> shown").await;
        model.push(script);
        let told = fake.ask(1, "when?").await;
        assert_eq!(
            told, "> Reasoning\n>\n> The sun\n> is high.\n\nIt is noon.",
            "{kind}"
        );
        // The model is told what it answered, and nothing of that before it.
        assert_eq!(fake.ask(1, "so?").await, "re: so?", "{kind}");
        let asked = model.requests().pop().unwrap();
        let spoken = asked.spoken();
        let answers = spoken.iter().filter(|said| said.starts_with("assistant: "));
        let answers: Vec<&String> = answers.collect();
        assert_eq!(answers, ["assistant: It is noon."; 2], "{kind}");
        assert!(!asked.body.to_string().contains("> "), "{kind} {asked:?}");
    }
}

#[tokio::test]
async fn a_secret_that_is_cut_in_a_thought_is_shown_to_nobody() {
    let model = FakeModel::start().await;
    for kind in KINDS {
        let gateway = Gateway::start(&model, shown(kind)).await;
        let mut client = WebChatClient::connect(gateway.http()).await;
        client.enter(None).await;
        let (one, two) = KEY.split_at(KEY.len() / 2);
        let before = format!("The key is {one}");
        let behind = format!("{two}, which I do not tell.");
        model.push(Script::answer("No.").thinking_in(&[&before, &behind]));
        client.say("m1", "tell me").await;
        let frames = until_end(&mut client).await;
        let all = Value::Array(frames.clone()).to_string();
        assert!(!all.contains(one) && !all.contains(two), "{kind} {all}");
        let told = finals(&frames).concat();
        assert!(
            told.contains("The key is [REDACTED], which I do not tell."),
            "{kind} {told}"
        );
        client.say("m2", "/why").await;
        let why = finals(&until_end(&mut client).await).concat();
        assert!(why.contains("redacted"), "{kind} {why}");
    }
}

#[tokio::test]
async fn thoughts_are_shown_while_they_come_and_when_no_answer_does() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, shown("openai")).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    let thought = ["First I count the boats, ", "then the people on them."];
    model.push(
        Script::pieces(&[])
            .thinking_in(&thought)
            .ending(Ending::Hang),
    );
    client.say("m1", "how many?").await;
    let draft = loop {
        let frame = client.next().await;
        if frame["type"] == "text" {
            break frame;
        }
    };
    let html = draft["html"].as_str().unwrap();
    assert!(html.starts_with("<blockquote>"), "{draft}");
    assert!(
        html.contains("Reasoning") && html.contains("First I count"),
        "{draft}"
    );
    client.say("m2", "/stop").await;
    let mut told = String::new();
    while !told.ends_with("(stopped)") {
        told = finals(&until_end(&mut client).await).concat();
    }
    assert!(told.contains("then the people on them."), "{told}");
}

#[tokio::test]
async fn what_is_thought_before_each_call_stands_in_front_once_and_a_vain_try_leaves_nothing() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, shown("openai")).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    model.push(Script::calls(&[sum("6 * 7")]).thinking("I reckon."));
    model.push(
        Script::pieces(&["It i"])
            .thinking("In vain.")
            .ending(Ending::BreakOff),
    );
    model.push(Script::answer("It is 42.").thinking("I have it."));
    client.say("m1", "go").await;
    let frames = until_end(&mut client).await;
    let told = finals(&frames);
    assert_eq!(told, ["Reasoning\nI reckon.\nI have it.\nIt is 42."]);
    let last = drafts(&frames).pop().expect("a draft")["html"].to_string();
    assert!(!last.contains("vain"), "{last}");
}

#[tokio::test]
async fn a_long_thought_is_shortened_and_stays_inside_of_its_quote() {
    let model = FakeModel::start().await;
    let mut changes = shown("openai");
    let wide = json!({ "platforms": { "qq": { "accounts": { "main": { "max_length": 5000 } } } },
        "output": { "platform_adaptation": { "max_length_by_platform": { "qq": 5000 } },
            "default_strategy": "full", "segmented": { "enable": false } } });
    merge(&mut changes, wide);
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    let thought = format!(
        "```\nfn main()\n\r# No heading\n{}",
        "想一想。".repeat(1_000)
    );
    model.push(Script::answer("Done.").thinking(&thought));
    let told = fake.ask(1, "go").await;
    assert!(told.ends_with("\n\nDone."), "{told}");
    assert!(told.contains("(shortened)"), "{told}");
    let count = told.chars().count();
    assert!((1_900..2_200).contains(&count), "{count}");
    let quote = told.trim_end_matches("\n\nDone.");
    assert!(quote.lines().all(|line| line.starts_with('>')), "{quote}");
}

#[tokio::test]
async fn a_conversation_says_for_itself_whether_thoughts_are_shown() {
    let model = FakeModel::start_with(|_| Script::answer("Well.").thinking("Hm.")).await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let set = "/config reasoning shown";
    let told = fake.ask_as("member", GROUP, 2, set).await;
    assert_eq!(told, "Only an admin may do that here.");
    let told = fake
        .ask_as("admin", GROUP, 3, "/config reasoning loud")
        .await;
    assert!(told.contains("hidden, shown, reset"), "{told}");
    let told = fake
        .ask_as("admin", GROUP, 3, "/config Reasoning_ shown")
        .await;
    assert!(told.contains("Only an owner"), "{told}");
    let told = fake.ask_as("admin", GROUP, 3, set).await;
    assert_eq!(told, "reasoning is now: shown");
    let told = fake.ask_as("member", GROUP, 2, "hello").await;
    assert!(told.ends_with("> Reasoning\n>\n> Hm.\n\nWell."), "{told}");
    // In private it is his own conversation, and that one is as the gateway is.
    assert_eq!(fake.ask(2, "hello").await, "Well.");
    assert_eq!(fake.ask(2, set).await, "reasoning is now: shown");
    assert_eq!(fake.ask(2, "/lang zh").await, "之后我会用中文回复你。");
    assert_eq!(fake.ask(2, "hello").await, "> 思考\n>\n> Hm.\n\nWell.");
    let told = fake
        .ask_as("admin", GROUP, 3, "/config reasoning reset")
        .await;
    assert_eq!(told, "reasoning is back to what it was.");
    let told = fake.ask_as("member", GROUP, 4, "hello").await;
    assert!(told.ends_with("Well.") && !told.contains("Hm."), "{told}");
}

/// The signatures of the thoughts in a request.
fn signed(request: &Value) -> Vec<&str> {
    let messages = request["messages"].as_array().into_iter().flatten();
    let blocks = messages.flat_map(|message| message["content"].as_array().into_iter().flatten());
    let signed = blocks.filter(|block| block["type"] == "thinking");
    signed
        .map(|block| block["signature"].as_str().unwrap_or_default())
        .collect()
}

#[tokio::test]
async fn signed_thoughts_go_back_to_their_model_within_the_turn_and_nowhere_else() {
    let (model, other) = (FakeModel::start().await, FakeModel::start().await);
    let mut changes = speaking("anthropic");
    let bounded = json!({ "reasoning_budget": 2000 });
    merge(
        &mut changes,
        json!({
            "providers": {
                "main": { "models": { "test": bounded } },
                "other": { "kind": "anthropic", "base_url": other.url(), "models": { "big": bounded } },
            },
            "models": { "chat": ["main/test", "other/big"] },
            "error_recovery": { "max_retries": { "api": 0 } },
        }),
    );
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    let first = Script::pieces(&["I reckon."]).and_calls(&[sum("6 * 7")]);
    model.push(first.thinking_in(&["first ", "thought"]));
    model.push(Script::calls(&[sum("1 + 1")]).thinking("second thought"));
    model.push(Script::error(500, "overloaded"));
    assert_eq!(fake.ask(1, "go").await, "re: go");
    let asked = model.requests();
    let enabled = json!({ "type": "enabled", "budget_tokens": 2000 });
    assert_eq!(asked[0].body["thinking"], enabled);
    assert_eq!(signed(&asked[1].body), ["signed by test: first thought"]);
    let both = [
        "signed by test: first thought",
        "signed by test: second thought",
    ];
    assert_eq!(signed(&asked[2].body), both);
    assert_eq!(asked[2].body["thinking"], enabled);
    let fallback = other.requests().remove(0);
    assert_eq!(
        fallback.results(),
        ["id0: 42", "id0-2: 2"],
        "it knows what was done"
    );
    assert!(
        signed(&fallback.body).is_empty(),
        "and has signed none of that"
    );
    assert!(
        fallback.body.get("thinking").is_none(),
        "so it goes on without"
    );
    assert_eq!(fake.ask(1, "and?").await, "re: and?");
    let later = model.requests().pop().unwrap();
    assert!(
        signed(&later.body).is_empty(),
        "another turn has no use for it"
    );
    assert_eq!(later.body["thinking"], enabled);
}

#[tokio::test]
async fn a_turn_that_waited_for_a_yes_goes_on_with_what_it_had_thought() {
    let model = FakeModel::start().await;
    let mut changes = speaking("anthropic");
    merge(
        &mut changes,
        json!({
            "providers": { "main": { "models": { "test": { "reasoning_budget": 2000 } } } },
            "tools": { "approval": ["calculate"] },
            "output": { "reasoning": "shown" },
        }),
    );
    let mut gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    model.push(Script::calls(&[sum("6 * 7")]).thinking("I ask first."));
    let asked = fake.ask(1, "go").await;
    assert!(
        asked.starts_with("> Reasoning\n>\n> I ask first.\n\n"),
        "{asked}"
    );
    gateway.kill().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await, "it comes again");
    model.push(Script::answer("It is 42.").thinking("Now I know."));
    let name = to_approve(&asked);
    fake.send_private(1, &format!("/approve {name}")).await;
    // What was shown with the question is not shown again in front of the answer.
    let mut told = String::new();
    while !told.ends_with("It is 42.") {
        told = fake.answer().await.text();
    }
    assert_eq!(told, "> Reasoning\n>\n> Now I know.\n\nIt is 42.");
    let later = model.requests().pop().unwrap();
    assert_eq!(signed(&later.body), ["signed by test: I ask first."]);
    assert_eq!(later.told().pop().as_deref(), Some("42"));
}

#[tokio::test]
async fn a_budget_that_the_format_does_not_know_is_refused() {
    let model = FakeModel::start().await;
    let options = json!({ "test": { "reasoning_budget": 2000 } });
    let changes = json!({ "providers": { "main": { "models": options } } });
    let gateway = Gateway::prepare(&model, changes);
    let output = gateway.command(&["check"]).output().await.unwrap();
    let said = format!("{output:?}");
    assert!(
        said.contains("reasoning_budget") && said.contains("write kind: anthropic"),
        "{said}"
    );
}
