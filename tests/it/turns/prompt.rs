//! What the model is told first: layers, personas, and that it stays the same from turn to turn.

use serde_json::json;
use weirgate_testkit::model::FakeModel;

use crate::gateway::{Chat as _, Gateway, LIMIT};

/// What the model was told first, request by request.
fn told(model: &FakeModel) -> Vec<String> {
    let requests = model.requests();
    let first = requests.iter().map(|request| &request.body["messages"][0]);
    first
        .map(|message| {
            assert_eq!(message["role"], "system", "{message}");
            message["content"].as_str().unwrap().to_owned()
        })
        .collect()
}

fn layer(gateway: &Gateway, name: &str, text: &str) {
    let path = gateway.database().with_file_name("prompt").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[tokio::test]
async fn layers_are_the_same_bytes_in_every_turn_and_follow_their_files() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare(&model, json!({}));
    layer(
        &gateway,
        "IDENTITY.md",
        "You are the lighthouse of the harbour.\n",
    );
    gateway.up().await;
    let fake = gateway.onebot().await;
    for text in ["hello", "what is 2 + 2?", "and now?"] {
        fake.ask(1, text).await;
    }
    let first = told(&model);
    assert!(first[0].contains("\n\nYou are the lighthouse of the harbour.\n\n"));
    assert!(first.iter().all(|prompt| *prompt == first[0]), "{first:?}");
    let tools = |at: usize| model.requests()[at].body["tools"].to_string();
    assert_eq!(
        tools(0),
        tools(2),
        "what follows the prompt is the same too"
    );
    layer(&gateway, "IDENTITY.md", "You are the ferry.");
    let followed = async {
        loop {
            fake.ask(1, "who?").await;
            if told(&model).last().unwrap().contains("You are the ferry.") {
                return;
            }
        }
    };
    assert!(tokio::time::timeout(LIMIT, followed).await.is_ok());
}

#[tokio::test]
async fn a_conversation_chooses_a_persona_and_another_one_keeps_its_own() {
    let model = FakeModel::start().await;
    let owners = json!({ "permissions": { "owners": { "qq": [1] } } });
    let mut gateway = Gateway::prepare(&model, owners);
    layer(&gateway, "personas/pirate.md", "You are a pirate.");
    layer(&gateway, "personas/judge/SOUL.md", "You are stern.");
    gateway.up().await;
    let fake = gateway.onebot().await;
    let names = fake.ask(1, "/persona").await;
    assert_eq!(names, "Persona: default. Possible: judge, pirate, default.");
    let chosen = fake.ask(1, "/persona pirate").await;
    assert_eq!(chosen, "From now on I am pirate here.");
    assert!(fake.ask(1, "/persona parrot").await.contains("\"parrot\""));
    fake.ask(1, "who are you?").await;
    fake.ask(2, "who are you?").await;
    let first = told(&model);
    assert!(first[0].contains("You are a pirate."), "{}", first[0]);
    assert!(!first[1].contains("pirate"), "{}", first[1]);
    // In a group it is everybody's, so only who moderates chooses.
    fake.group_as("member", 7, 42, "/persona judge").await;
    let refused = fake.answer().await.text();
    assert!(!refused.contains("judge"), "{refused}");
    fake.group_as("admin", 7, 43, "/persona judge").await;
    fake.answer().await;
    fake.send_group(7, 42, "well?", true).await;
    fake.answer().await;
    assert!(told(&model)[2].starts_with("You are stern.\n\n"));
    fake.ask(1, "/persona default").await;
    fake.ask(1, "who are you?").await;
    assert!(!told(&model)[3].contains("pirate"));
    let record = gateway
        .command(&["audit", "export"])
        .output()
        .await
        .unwrap();
    let record = String::from_utf8(record.stdout).unwrap();
    assert!(
        record.contains("config_changed") && record.contains("persona"),
        "{record}"
    );
}
