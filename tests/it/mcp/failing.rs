//! Servers that fail, hang, die and ask.

use std::{fs, time::Duration};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use weirgate_testkit::model::{FakeModel, Script};

use super::{OWNER, answers, called, offered, says, scripted, with};
use crate::gateway::{Chat as _, Gateway, to_approve, until};

#[tokio::test]
async fn one_that_fails_takes_nothing_down_and_says_why() {
    let secret = "secret-of-the-server-0123456789";
    let servers = json!([
        { "name": "good", "command": scripted("good") },
        { "name": "bare", "command": scripted("bare") },
        { "name": "broken", "command": scripted("broken"), "env": { "API_KEY": secret } },
        { "name": "silent", "command": scripted("silent"), "start_timeout": 1 },
        { "name": "absent", "command": ["/no/such/program"] },
        { "name": "off", "enabled": false, "command": ["/no/such/program"] },
    ]);
    let (model, gateway, fake) = with(servers).await;
    says(&fake, "good: up, tools: 3").await;
    says(&fake, "bare: up, tools: 0").await;
    says(&fake, "silent: down, tried again: it did not greet in time").await;
    let said = says(&fake, "broken: down").await;
    assert!(said.contains("ModuleNotFoundError"), "{said}");
    assert!(!said.contains(secret), "{said}");
    // Each is tried again and again, so that they need not be down at one moment.
    says(&fake, "absent: down, tried again: /no/such/program").await;
    assert!(!said.contains("off:"), "{said}");
    let got = called(&model, &fake, &[("good__go", json!({}))]).await;
    assert!(got[0].contains("> go was called"), "{got:?}");
    let status = answers(&fake, 2, "/status", "mcp/broken: down").await;
    assert!(!status.contains("Module"), "{status}");
    let told = fake.ask(OWNER, "/mcp restart good").await;
    assert_eq!(told, "good is started anew.");
    says(&fake, "good: up").await;
    let told = fake.ask(2, "/mcp").await;
    assert!(told.contains("Only"), "not for everybody: {told}");
    assert!(!gateway.log().contains(secret), "nor is it in the log");
}

#[tokio::test]
async fn odd_tools_are_left_out_one_by_one_and_pages_are_followed() {
    let servers = json!([{ "name": "p", "command": scripted("pages") }]);
    let (model, _gateway, fake) = with(servers).await;
    says(&fake, "p: up, tools: 5, left out: 2").await;
    fake.ask(OWNER, "hello").await;
    let mut names = offered(&model);
    names.retain(|name| name.starts_with("p__"));
    assert_eq!(names.len(), 5, "{names:?}");
    for name in ["p__first", "p__null", "p__a_b", "p__last"] {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
    let clash = names
        .iter()
        .find(|name| name.starts_with("p__a_b_"))
        .unwrap();
    let got = called(&model, &fake, &[(clash, json!({})), ("p__a_b", json!({}))]).await;
    assert!(
        got[0].contains("a.b was called") && got[1].contains("a_b was called"),
        "{got:?}"
    );
}

#[tokio::test]
async fn one_that_is_killed_in_the_middle_of_a_call_is_started_again() {
    let servers = json!([{ "name": "h", "command": scripted("hangs") }]);
    let (model, gateway, fake) = with(servers).await;
    says(&fake, "h: up").await;
    let hung = gateway.folder().join("data/weirgate/mcp/h/hung");
    model.push(Script::calls(&[("h__where", json!({}))]));
    fake.ask(OWNER, "where").await;
    let got = model.requests().pop().unwrap().told().pop().unwrap();
    assert!(
        got.contains("file://") && got.trim_end().ends_with("/mcp/h"),
        "{got}"
    );
    // It reads only, so the call is made again, with the one that was started instead.
    model.push(Script::calls(&[("h__go", json!({}))]));
    fake.send_private(OWNER, "go").await;
    assert!(until(|| hung.exists()).await);
    let pid: i32 = fs::read_to_string(&hung).unwrap().parse().unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    assert_eq!(fake.answer().await.text(), "re: go");
    let got = model.requests().pop().unwrap().told().pop().unwrap();
    assert!(got.contains("go was called"), "{got}");
    let why = fake.ask(OWNER, "/why").await;
    assert!(why.contains("tool_retried"), "{why}");
}

#[tokio::test]
async fn one_that_closes_its_pipe_and_lives_on_is_started_again_and_one_that_writes_what_is_no_message_is_heard()
 {
    let servers = json!([
        { "name": "c", "command": scripted("closes") },
        { "name": "t", "command": scripted("chatty") },
    ]);
    let (model, gateway, fake) = with(servers).await;
    says(&fake, "c: up").await;
    says(&fake, "t: up").await;
    // It reads only, so the call is made again, with the one that was started instead; at once, not at its limit.
    let got = called(&model, &fake, &[("c__go", json!({}))]).await;
    assert!(got[0].contains("go was called"), "{got:?}");
    let closed = gateway.folder().join("data/weirgate/mcp/c/closed");
    assert!(closed.exists());
    let why = fake.ask(OWNER, "/why").await;
    assert!(
        why.contains("tool_retried") && !why.contains("tool_timeout"),
        "{why}"
    );
    let got = called(&model, &fake, &[("t__go", json!({}))]).await;
    assert!(got[0].contains("go was called"), "{got:?}");
}

#[tokio::test]
async fn a_picture_goes_out_with_the_answer_and_never_into_the_context_unless_that_is_off() {
    let silent = json!({ "name": "q", "command": scripted("draws"), "send_files": false });
    let servers = json!([{ "name": "d", "command": scripted("draws") }, silent]);
    let (model, _gateway, fake) = with(servers).await;
    says(&fake, "d: up").await;
    says(&fake, "q: up").await;
    let got = called(&model, &fake, &[("d__go", json!({}))]).await;
    let told = &got[0];
    assert!(told.contains("go was called"), "{told}");
    assert!(told.contains("[picture-2.png (image, "), "{told}");
    assert!(told.contains("goes out with your answer.]"), "{told}");
    assert!(told.contains("[its bytes cannot be read]"), "{told}");
    assert!(!told.contains("iVBOR"), "{told}");
    let sent = fake.answer().await;
    assert_eq!(sent.segments[0]["type"], "image", "{:?}", sent.segments);
    let got = called(&model, &fake, &[("q__go", json!({}))]).await;
    assert!(got[0].contains("[picture image/png, about "), "{got:?}");
    assert_eq!(
        fake.ask(OWNER, "and?").await,
        "re: and?",
        "nothing else was sent"
    );
}

#[tokio::test]
async fn one_that_greets_late_is_used_when_it_has_and_nobody_waits_for_it() {
    let servers = json!([
        { "name": "good", "command": scripted("good") },
        { "name": "late", "command": scripted("late") },
    ]);
    let (model, gateway, fake) = with(servers).await;
    let said = says(&fake, "good: up").await;
    assert!(said.contains("late: starting"), "{said}");
    fake.ask(OWNER, "hello").await;
    let names = offered(&model);
    assert!(names.contains(&"good__go".to_owned()), "{names:?}");
    assert!(!names.contains(&"late__go".to_owned()), "{names:?}");
    fs::write(gateway.folder().join("data/weirgate/mcp/late/now"), "").unwrap();
    says(&fake, "late: up, tools: 3").await;
    let got = called(&model, &fake, &[("late__go", json!({}))]).await;
    assert!(got[0].contains("go was called"), "{got:?}");
}

#[tokio::test]
async fn a_call_that_hangs_ends_at_its_limit_and_its_server_with_the_gateway() {
    let model = FakeModel::start().await;
    let server = json!({ "name": "h", "command": scripted("hangs"), "access": "write",
        "approval": "never" });
    let changes = json!({
        "tools": { "mcp": { "servers": [server] } },
        "tool_calling": { "timeout": 2 },
        "permissions": { "owners": { "qq": [OWNER] } },
    });
    let mut gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    says(&fake, "h: up").await;
    let got = called(&model, &fake, &[("h__go", json!({}))]).await;
    assert!(got[0].contains("took too long"), "{got:?}");
    let hung = gateway.folder().join("data/weirgate/mcp/h/hung");
    let pid: i32 = fs::read_to_string(&hung).unwrap().parse().unwrap();
    gateway.term().await;
    let stat = format!("/proc/{pid}/stat");
    // Where nobody waits for it, the dead stay in the list.
    let gone = || fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
    assert!(until(gone).await, "it ends with the gateway");
}

#[tokio::test]
async fn what_a_server_asks_in_the_middle_of_a_call_a_person_answers() {
    let servers = json!([{ "name": "a", "command": scripted("asks") }]);
    let (model, gateway, fake) = with(servers).await;
    says(&fake, "a: up").await;
    model.push(Script::calls(&[("a__go", json!({}))]));
    let question = fake.ask(OWNER, "delete it").await;
    assert!(
        question.contains("Delete all of it?") && question.contains("\"sure\": true"),
        "{question}"
    );
    let code = to_approve(&question);
    model.push(Script::answer("it is gone"));
    fake.send_private(OWNER, &format!("/approve {code}")).await;
    let told = fake.answers(2).await;
    assert!(told.contains(&"it is gone".to_owned()), "{told:?}");
    let got = model.requests().pop().unwrap().told().pop().unwrap();
    assert!(got.contains("deleted: {\"sure\": true}"), "{got}");
    let answers = gateway.folder().join("data/weirgate/mcp/a/answers");
    let answers = fs::read_to_string(answers).unwrap();
    assert_eq!(
        answers, "cancel\naccept\n",
        "once without and once with a yes"
    );
}

#[tokio::test]
async fn where_too_much_waits_already_nobody_is_asked_and_what_was_done_stays_known() {
    let model = FakeModel::start().await;
    let server = json!([{ "name": "a", "command": scripted("asks") }]);
    let changes = json!({
        "tools": { "mcp": { "servers": server }, "approval": ["calculate"] },
        "permissions": { "owners": { "qq": [OWNER] } },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    says(&fake, "a: up").await;
    for number in 0..20 {
        let sum = json!({ "expression": format!("{number} + 1") });
        model.push(Script::calls(&[("calculate", sum)]));
        let question = fake.ask(OWNER, "reckon").await;
        assert!(question.contains("May I run calculate"), "{question}");
    }
    // The server asks in the middle of its call; what stands before and behind it runs.
    let date = || ("date_time", json!({}));
    model.push(Script::calls(&[date(), ("a__go", json!({})), date()]));
    assert_eq!(fake.ask(OWNER, "go").await, "re: go");
    let got = model.requests().pop().unwrap().told();
    let own = &got[got.len() - 3..];
    assert!(
        own[0].contains("day, 20") && own[2].contains("day, 20"),
        "{own:?}"
    );
    assert!(own[1].contains("too many questions wait"), "{own:?}");
    assert_eq!(fake.ask(OWNER, "and?").await, "re: and?");
    let kept = model.requests().pop().unwrap().told();
    assert!(
        kept.iter()
            .any(|text| text.contains("too many questions wait")),
        "{kept:?}"
    );
    let answers = gateway.folder().join("data/weirgate/mcp/a/answers");
    assert_eq!(fs::read_to_string(answers).unwrap(), "cancel\n");
}

#[tokio::test]
async fn the_environment_holds_no_secret_of_the_gateway_and_what_is_required_is_waited_for() {
    let model = FakeModel::start().await;
    let server = |command| {
        json!([{ "name": "g", "command": command, "required": true,
        "start_timeout": 20, "env": { "MODE": "quiet" } }])
    };
    let changes = |command| {
        json!({
            "tools": { "mcp": { "servers": server(command) } },
            "permissions": { "owners": { "qq": [OWNER] } },
        })
    };
    let mut gateway = Gateway::prepare(&model, changes(scripted("good")));
    gateway.set("SOME_SECRET", "of-the-operator-0123456789");
    gateway.up().await;
    let fake = gateway.onebot().await;
    // It is there at once.
    let got = called(&model, &fake, &[("g__env", json!({}))]).await;
    assert!(
        got[0].contains("quiet") && !got[0].contains("SOME_SECRET"),
        "{got:?}"
    );

    let mut gateway = Gateway::prepare(&model, changes(json!(["/no/such/program"])));
    gateway.spawn();
    let status = gateway.ended().await;
    assert!(!status.success());
    let log = gateway.log();
    assert!(
        log.contains("tools.mcp.servers: g: /no/such/program"),
        "{log}"
    );
}

#[tokio::test]
async fn a_reload_keeps_servers_whose_settings_stay_and_doctor_looks_at_each() {
    let model = FakeModel::start().await;
    let changes = |also: &str| {
        let mut servers = vec![json!({ "name": "k", "command": scripted("good") })];
        if !also.is_empty() {
            servers.push(json!({ "name": also, "command": scripted("good") }));
        }
        json!({
            "tools": { "mcp": { "servers": servers } },
            "permissions": { "owners": { "qq": [OWNER] } },
        })
    };
    let mut gateway = Gateway::start(&model, changes("")).await;
    let fake = gateway.onebot().await;
    says(&fake, "k: up").await;
    let started = || gateway.log().matches("a server of tools is ready").count();
    let before = started();
    gateway.configure(&model, changes("new"));
    says(&fake, "new: up").await;
    assert_eq!(
        started(),
        before + 1,
        "the other one is kept: {}",
        gateway.log()
    );
    gateway.configure(&model, changes(""));
    let gone = async || !fake.ask(OWNER, "/mcp").await.contains("new");
    for _ in 0..200 {
        if gone().await {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(gone().await, "what is taken out ends");
    gateway.term().await;
    let out = gateway
        .command(&["doctor", "--offline"])
        .output()
        .await
        .unwrap();
    assert!(
        String::from_utf8_lossy(&out.stdout).contains("mcp k"),
        "{out:?}"
    );
    let out = gateway.command(&["doctor"]).output().await.unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(
        said.contains("mcp k") && said.contains("tools: 3"),
        "{said}"
    );
}
