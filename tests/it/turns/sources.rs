//! Where tools come from: each source has a key of its own, and none ends with another.

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::{
    agents::fake::Endpoint,
    gateway::{Chat as _, Gateway, LIMIT, merge},
    mcp::scripted,
};

/// One tool of each source.
const SOURCES: [&str; 6] = [
    "calculate",
    "near__go",
    "agent__far__helper",
    "skill",
    "delegate",
    "echo",
];

/// Waits until a request offers exactly these of the sources.
async fn offers(model: &FakeModel, fake: &FakeOneBot, wanted: &[&str]) {
    let mut seen = Vec::new();
    let wait = async {
        loop {
            assert_eq!(fake.ask(1, "hello").await, "re: hello");
            let offered = model.requests().pop().unwrap().offered();
            seen = offered
                .into_iter()
                .filter(|name| SOURCES.contains(&&**name))
                .collect();
            if SOURCES.iter().all(|name| {
                let there = seen.iter().any(|one| one == name);
                there == wanted.contains(name)
            }) {
                return;
            }
        }
    };
    let in_time = tokio::time::timeout(LIMIT, wait).await;
    assert!(in_time.is_ok(), "{wanted:?}: {seen:?}");
}

#[tokio::test]
async fn each_source_of_tools_ends_by_its_own_key_alone() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let manifest = json!({ "name": "echo", "description": "Echoes.", "access": "read",
        "command": ["/bin/cat"] });
    write("tools/echo/module.json", &manifest.to_string());
    let skill = "---\nname: maps\ndescription: What maps are for.\n---\nMeasure twice.\n";
    write("skills/maps/SKILL.md", skill);
    let socket = folder.path().join("agents.sock");
    let _far = Endpoint::unix(&socket, &["helper"]);
    let all = json!({
        "tools": {
            "folder": folder.path().join("tools"),
            "skills": { "registry_path": folder.path().join("skills") },
            "mcp": { "servers": [{ "name": "near", "command": scripted("plain") }] },
        },
        "agent_collaboration": {
            "acp": { "endpoints": [{ "name": "far", "type": "unix", "path": socket }] },
            "discovery": { "refresh_interval": 1 },
        },
        "permissions": { "owners": { "qq": [1] } },
    });
    for (gone, section, part) in [
        ("", "tools", "internal"),
        ("calculate", "tools", "internal"),
        ("near__go", "tools", "mcp"),
        ("agent__far__helper", "agent_collaboration", "acp"),
        ("skill", "tools", "skills"),
        ("delegate", "agent_collaboration", "subagents"),
    ] {
        let model = FakeModel::start().await;
        let mut config = all.clone();
        let key = format!("{section}.{part}.enabled");
        merge(
            &mut config,
            json!({ section: { part: { "enabled": gone.is_empty() } } }),
        );
        let gateway = Gateway::start(&model, config).await;
        let fake = gateway.onebot().await;
        let others: Vec<&str> = SOURCES.into_iter().filter(|name| *name != gone).collect();
        offers(&model, &fake, &others).await;
        // Neither is it run when it is called all the same.
        if !gone.is_empty() {
            model.push(Script::calls(&[(gone, json!({}))]));
            assert_eq!(fake.ask(1, "go").await, "re: go");
            let told = model.requests().pop().unwrap().told();
            assert_eq!(told, ["Error: There is no tool of this name."], "{key}");
        }
        let said = fake.ask(1, "/mcp").await;
        for (tool, line) in [
            ("near__go", "near: "),
            ("agent__far__helper", "agents/far: "),
        ] {
            let there = said.lines().any(|one| one.starts_with(line));
            assert_eq!(there, tool != gone, "{key}: {said}");
        }
    }
}
