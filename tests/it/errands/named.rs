//! Agents that can be named: found in a folder, offered, changed without a restart, and left out.

use serde_json::json;
use weirgate_testkit::model::{FakeModel, RecordedRequest, Script};

use super::{OWNER, begun, done, errand, for_agent, prepared, prompt, refused, started, told};
use crate::gateway::{Chat as _, Gateway, LIMIT};

/// Writes an agent's file.
fn write(gateway: &Gateway, name: &str, text: &str) {
    let folder = gateway.database().with_file_name("agents");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{name}.md")), text).unwrap();
}

fn agent(name: &str, more: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: What {name} does.\n{more}---\n{body}\n")
}

/// What the newest request that offers the tool says of it.
fn offer(model: &FakeModel) -> String {
    let of = |request: RecordedRequest| {
        let tools = request.body["tools"].as_array().cloned();
        let tools = tools.into_iter().flatten();
        let mut tools = tools.map(|tool| tool["function"].clone());
        tools.find(|tool| tool["name"] == "delegate")
    };
    let found = model.requests().into_iter().rev().find_map(of);
    found.unwrap()["description"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_named_agent_has_its_own_words_tools_and_model() {
    let second = FakeModel::start_with(|_| Script::answer("the scout was here")).await;
    let (model, mut gateway) = prepared(json!({
        "providers": { "other": { "kind": "openai", "base_url": second.url(), "api_key": "k-of-the-second" } },
        "models": { "choices": ["other/small"] },
    }))
    .await;
    let scout = agent(
        "scout",
        "tools: [calculate]\nmodel: other/small\n",
        "Look well.",
    );
    write(&gateway, "scout", &scout);
    gateway.up().await;
    let fake = gateway.onebot().await;
    model.push(Script::calls(&[for_agent("scout", "look")]));
    assert_eq!(fake.ask(2, "go").await, "re: go");
    assert!(
        told(&model)[0].contains("> the scout was here"),
        "{:?}",
        told(&model)
    );
    assert!(
        offer(&model).ends_with("\n- scout: What scout does."),
        "{}",
        offer(&model)
    );
    let asked = begun(&second, "look");
    assert_eq!(asked.offered(), ["calculate"]);
    assert_eq!(asked.body["model"], "small");
    assert!(
        prompt(&asked).ends_with("\n\nLook well."),
        "{}",
        prompt(&asked)
    );
    // What it does not have it cannot call either.
    second.push(Script::calls(&[("date_time", json!({}))]));
    model.push(Script::calls(&[for_agent("scout", "look at the clock")]));
    assert_eq!(fake.ask(2, "go").await, "re: go");
    let last = second.requests().pop().unwrap();
    assert_eq!(last.told(), ["Error: There is no tool of this name."]);
    let back = refused(&model, &fake, 2, for_agent("nobody", "look")).await;
    assert_eq!(
        back,
        "Error: There is no agent of this name. There are: scout."
    );
}

#[tokio::test]
async fn an_agent_that_comes_changes_or_goes_is_seen_without_a_restart() {
    let (model, gateway, fake) = started(json!({})).await;
    let seen = async |wanted: &str, there: bool| {
        let look = async {
            loop {
                fake.ask(2, "hello").await;
                if offer(&model).contains(wanted) == there {
                    return;
                }
            }
        };
        assert!(tokio::time::timeout(LIMIT, look).await.is_ok(), "{wanted}");
    };
    write(&gateway, "scout", &agent("scout", "", "Look."));
    seen("- scout: What scout does.", true).await;
    let other = agent("scout", "", "Look twice.").replace("What scout does", "Scouts");
    write(&gateway, "scout", &other);
    seen("- scout: Scouts.", true).await;
    model.push(Script::calls(&[for_agent("scout", "look")]));
    model.push(Script::answer("seen"));
    assert_eq!(fake.ask(2, "go").await, "re: go");
    assert!(prompt(&begun(&model, "look")).ends_with("Look twice."));
    write(&gateway, "scout", "Look.");
    seen("- scout", false).await;
    gateway.logged("an agent is left out").await;
}

#[tokio::test]
async fn broken_ones_are_left_out_and_reported_and_rights_hold() {
    let (model, mut gateway) = prepared(json!({})).await;
    write(
        &gateway,
        "keeper",
        &agent("keeper", "rights: global\n", "Keep."),
    );
    write(&gateway, "other", &agent("another", "", "Look."));
    write(
        &gateway,
        "needy",
        &agent("needy", "tools: [no_such_tool]\n", "Look."),
    );
    write(
        &gateway,
        "boss",
        &agent("boss", "tools: [delegate]\n", "Look."),
    );
    write(
        &gateway,
        "odd",
        &agent("odd", "model: main/none\n", "Look."),
    );
    let doctor = gateway.command(&["doctor", "--offline"]).output().await;
    let doctor = String::from_utf8(doctor.unwrap().stdout).unwrap();
    gateway.up().await;
    let fake = gateway.onebot().await;
    fake.ask(OWNER, "hello").await;
    let offered = offer(&model);
    assert!(
        offered.ends_with("\n- keeper: What keeper does."),
        "{offered}"
    );
    fake.ask(2, "hello").await;
    assert!(!offer(&model).contains("keeper"), "{}", offer(&model));
    let back = refused(&model, &fake, 2, for_agent("keeper", "keep it")).await;
    assert_eq!(
        back,
        "Error: The person who asks may not use this tool here."
    );
    let log = gateway.log();
    for (name, why) in [
        ("other", "the name \"another\" is not that of the file"),
        ("needy", "tools that are not there: no_such_tool"),
        ("boss", "an errand gives no errands"),
        ("odd", "one of models.chat or models.choices"),
    ] {
        let line = doctor
            .lines()
            .find(|line| line.contains(&format!("agent {name}")));
        assert!(
            line.is_some_and(|line| line.contains(why)),
            "{name}: {doctor}"
        );
        let told = |line: &str| line.contains("an agent is left out") && line.contains(name);
        assert!(log.lines().any(told), "{name}: {log}");
    }
    assert!(doctor.contains("agents that can be named: 1"), "{doctor}");
}

#[tokio::test]
async fn where_they_are_and_whether_they_are_found_is_the_operators_to_say() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("scout.md"), agent("scout", "", "Look.")).unwrap();
    for (found, back) in [(true, "> seen"), (false, "Leave it out.")] {
        let (model, _gateway, fake) = started(json!({ "agent_collaboration": {
            "subagents": { "path": place.path() },
            "discovery": { "auto_discover_internal": found },
        } }))
        .await;
        model.push(Script::calls(&[for_agent("scout", "look")]));
        if found {
            model.push(Script::answer("seen"));
        }
        assert_eq!(fake.ask(2, "go").await, "re: go");
        assert_eq!(offer(&model).contains("scout"), found);
        assert!(told(&model)[0].contains(back), "{:?}", told(&model));
        // Those without a name are there all the same.
        let (_, done) = done(&model, &fake, 2, errand("look"), &[]).await;
        assert!(done.contains("> it is done"), "{done}");
    }
}
