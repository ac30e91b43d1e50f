//! The interface over HTTP against a property-based tester by others, which makes requests from its description.
//!
//! `tests/run.sh` installs the tester; without it this test fails and says so.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use tokio::process::Command;
use weirgate_testkit::{model::FakeModel, webchat::WebChatClient};

use crate::gateway::{Gateway, long};

/// The description, for one site. The stream of events has no end, so it is left out.
fn description() -> Value {
    let mut document = weirgate_webchat::openapi::document("test");
    let paths = document["paths"].as_object().unwrap().clone();
    let of_site = paths.into_iter().filter_map(|(path, mut item)| {
        item.as_object_mut().unwrap().remove("parameters");
        let path = path.replace("{site}", "default");
        (!path.ends_with("/events")).then_some((path, item))
    });
    document["paths"] = Value::Object(of_site.collect());
    document
}

#[tokio::test]
async fn a_tester_by_others_finds_nothing() {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let tester = target.join("../counterparts/python/bin/schemathesis");
    assert!(
        tester.exists(),
        "the tester by others is not installed: run `bash tests/run.sh --counterparts` once"
    );
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    let file = gateway.folder().join("openapi.json");
    fs::write(&file, description().to_string()).unwrap();
    let examples = if long() { "200" } else { "20" };
    let found = Command::new(tester)
        .current_dir(gateway.folder())
        .args([
            "run",
            "openapi.json",
            "--seed",
            "1",
            "--checks",
            "all",
            "--no-color",
        ])
        .args([
            "--phases",
            "examples,coverage,fuzzing",
            "--max-examples",
            examples,
        ])
        .args(["--url", &format!("http://{}", gateway.http())])
        .args([
            "--header",
            &format!("Authorization: Bearer {}", client.token),
        ])
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let told = String::from_utf8_lossy(&found.stdout);
    assert!(found.status.success(), "{told}");
    client.say("after", "/ping").await;
    client.skip_to("end").await;
}
