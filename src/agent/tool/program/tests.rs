use std::{fs, path::Path, sync::Arc, time::Duration};

use serde_json::{Map, json};
use tokio::time::Instant;
use weirgate_sdk::ConversationKey;

use super::{folder::Programs, *};
use crate::{
    agent::{memory::Site, tool::asking::Asking},
    app::tune::default_rules,
    clock::{Clock, Zone},
    permission::{Actor, Capability, Scope, decide},
};

fn put(folder: &Path, name: &str, manifest: &Value, script: &str) {
    let folder = folder.join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("run.sh"), script).unwrap();
    fs::write(folder.join("module.json"), manifest.to_string()).unwrap();
}

fn manifest(name: &str) -> Value {
    json!({"name": name, "version": "1", "description": "a test", "dependencies": [],
        "command": ["sh", "run.sh"]})
}

fn names(programs: &Programs) -> Vec<String> {
    let all = programs.all();
    all.iter()
        .map(|entry| entry.tool.spec().name.clone())
        .collect()
}

async fn run(
    programs: &Programs,
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<Given, Fault> {
    let all = programs.all();
    let entry = all
        .iter()
        .find(|entry| entry.tool.spec().name == name)
        .unwrap();
    let key = ConversationKey {
        platform: "test".into(),
        account: "main".into(),
        conversation: "1".into(),
        thread: None,
    };
    let proof = decide(&Actor::host(), Capability::EXECUTE, Scope::Global, 0).unwrap();
    let rules = default_rules(Clock::system());
    let asking = Asking::new(rules.chain.clone(), 1, || 0.0);
    let call = Call {
        proof: &proof,
        arguments,
        consent: None,
        conversation: &key,
        site: Site {
            conversation: 1,
            person: 1,
            group: false,
            turn: 1,
        },
        rules: &rules,
        zone: &Zone::utc(),
        now: 0,
        counter: None,
        asking: &asking,
        sending: None,
    };
    Arc::clone(&entry.tool).run(call).await
}

#[tokio::test]
async fn a_program_gets_its_arguments_and_nothing_of_the_gateways_secrets() {
    let folder = tempfile::tempdir().unwrap();
    put(
        folder.path(),
        "echo",
        &manifest("echo"),
        "cat; echo; env | grep -c CARGO; exit 0",
    );
    put(
        folder.path(),
        "fails",
        &manifest("fails"),
        "echo half; echo why >&2; exit 3",
    );
    let programs = Programs::of(folder.path().to_owned(), Vec::new());
    let arguments = json!({"text": "你好; rm -rf /"});
    let given = run(&programs, "echo", arguments.as_object().unwrap())
        .await
        .unwrap();
    assert_eq!(given.text, "{\"text\":\"你好; rm -rf /\"}\n0\n");
    let fault = run(&programs, "fails", &Map::new()).await.unwrap_err();
    assert!(
        fault.given.text.contains("why") && !fault.given.text.contains("half"),
        "{fault:?}"
    );
    assert!(fault.given.origin.is_some(), "its words are fenced");
}

#[tokio::test]
async fn a_program_that_is_stopped_ends_with_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    put(
        folder.path(),
        "slow",
        &manifest("slow"),
        "(while :; do echo x >> alive; sleep 0.05; done) & wait",
    );
    let programs = Programs::of(folder.path().to_owned(), Vec::new());
    let alive = folder.path().join("slow/alive");
    let arguments = Map::new();
    tokio::select! {
        _ = run(&programs, "slow", &arguments) => panic!("it never ends"),
        () = async { while !alive.exists() { tokio::time::sleep(Duration::from_millis(10)).await } } => {}
    }
    // What was killed writes no more, as soon as the system has carried it out.
    let limit = Instant::now() + Duration::from_secs(20);
    loop {
        let before = fs::read(&alive).unwrap().len();
        tokio::time::sleep(Duration::from_millis(400)).await;
        if fs::read(&alive).unwrap().len() == before {
            break;
        }
        assert!(Instant::now() < limit, "it still runs");
    }
}

#[test]
fn broken_programs_are_left_out_and_the_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "good", &manifest("good"), "");
    put(folder.path(), "taken", &manifest("taken"), "");
    put(folder.path(), "renamed", &manifest("other"), "");
    put(
        folder.path(),
        "no-command",
        &json!({"name": "no-command", "description": "", "command": []}),
        "",
    );
    let mut odd = manifest("odd");
    odd["parameters"] = json!({"type": "string"});
    put(folder.path(), "odd", &odd, "");
    let mut unknown = manifest("unknown");
    unknown["reapeatable"] = json!(true);
    put(folder.path(), "unknown", &unknown, "");
    put(folder.path(), "bad.name", &manifest("bad.name"), "");
    fs::create_dir(folder.path().join("empty")).unwrap();
    let programs = Programs::of(folder.path().to_owned(), vec!["taken".to_owned()]);
    assert_eq!(names(&programs), ["good"]);
    let all = programs.all();
    let spec = all[0].tool.spec();
    assert!(
        !spec.repeatable && !spec.global,
        "what it does not say is the careful choice"
    );
}

#[tokio::test]
async fn a_program_that_comes_later_is_found_and_one_that_goes_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let programs = Programs::of(folder.path().to_owned(), Vec::new());
    assert!(names(&programs).is_empty());
    let wait = async |wanted: &[&str]| {
        let limit = Instant::now() + Duration::from_secs(30);
        while names(&programs) != wanted {
            assert!(Instant::now() < limit, "{:?}", names(&programs));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    put(folder.path(), "late", &manifest("late"), "");
    wait(&["late"]).await;
    fs::remove_dir_all(folder.path().join("late")).unwrap();
    wait(&[]).await;
}
