//! Folders of skills: the list in the prompt, a body when it is used, changes without a restart, and what is refused.

use serde_json::json;

use super::{OWNER, called, folder, offered, only_own, prepared, prompt, skill, write};
use crate::gateway::{Chat as _, LIMIT};

#[tokio::test]
async fn skills_are_listed_in_the_prompt_and_read_when_they_are_used() {
    let (model, mut gateway) = prepared(json!({})).await;
    write(
        &gateway,
        "maps/SKILL.md",
        &skill(
            "maps",
            "tools: [calculate]\n",
            "Measure twice.\nSee forms/scale.md.",
        ),
    );
    write(&gateway, "maps/forms/scale.md", "1:25000\n");
    gateway.up().await;
    let fake = gateway.onebot().await;
    fake.ask(2, "hello").await;
    let first = model.requests().pop().unwrap();
    let said = prompt(&first);
    assert!(said.contains("- maps: What maps is for."), "{said}");
    assert!(
        !said.contains("Measure twice"),
        "the body only when it is used: {said}"
    );
    assert!(offered(&first).contains(&"skill".to_owned()));
    let got = called(
        &model,
        &fake,
        2,
        &[
            ("skill", json!({ "name": "maps" })),
            ("skill", json!({ "name": "maps", "file": "forms/scale.md" })),
            ("skill", json!({})),
        ],
    )
    .await;
    assert_eq!(
        got[0],
        "Measure twice.\nSee forms/scale.md.\n\n[further files of this skill, to be read with file]\n- forms/scale.md (8 bytes)"
    );
    assert_eq!(got[1], "1:25000\n");
    assert!(got[2].contains("- maps: What maps is for."), "{}", got[2]);
    let later = model.requests().pop().unwrap();
    assert_eq!(prompt(&later), said, "the prompt stays the same");
}

#[tokio::test]
async fn a_skill_that_comes_changes_or_goes_is_seen_without_a_restart() {
    let (model, mut gateway) = prepared(json!({})).await;
    gateway.up().await;
    let fake = gateway.onebot().await;
    let told = async |wanted: &str, there: bool| {
        let seen = async {
            loop {
                fake.ask(2, "hello").await;
                if prompt(&model.requests().pop().unwrap()).contains(wanted) == there {
                    return;
                }
            }
        };
        assert!(tokio::time::timeout(LIMIT, seen).await.is_ok(), "{wanted}");
    };
    write(
        &gateway,
        "maps/SKILL.md",
        &skill("maps", "", "Measure twice."),
    );
    told("- maps: What maps is for.", true).await;
    let other =
        skill("maps", "", "Measure three times.").replace("What maps is for", "All about maps");
    write(&gateway, "maps/SKILL.md", &other);
    told("- maps: All about maps.", true).await;
    let got = called(&model, &fake, 2, &[("skill", json!({ "name": "maps" }))]).await;
    assert_eq!(got, ["Measure three times."]);
    std::fs::remove_dir_all(folder(&gateway).join("maps")).unwrap();
    told("- maps:", false).await;
}

#[tokio::test]
async fn broken_ones_are_left_out_and_reported() {
    let mut changes = only_own();
    crate::gateway::merge(&mut changes, json!({ "memory": { "enable": false } }));
    let (model, mut gateway) = prepared(changes).await;
    write(
        &gateway,
        "maps/SKILL.md",
        &skill("maps", "version: 1.2\n", "Measure twice."),
    );
    write(&gateway, "charts/SKILL.md", &skill("graphs", "", "Draw."));
    write(&gateway, "weather/SKILL.md", "No front matter.");
    write(
        &gateway,
        "needy/SKILL.md",
        &skill("needy", "tools: [no_such_tool, calculate]\n", "Do."),
    );
    write(
        &gateway,
        "diary/SKILL.md",
        &skill("diary", "tools: [memory]\n", "Remember."),
    );
    write(
        &gateway,
        "date_time/SKILL.md",
        &skill("date_time", "", "Do."),
    );
    let doctor = gateway
        .command(&["doctor", "--offline"])
        .output()
        .await
        .unwrap();
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    gateway.up().await;
    let fake = gateway.onebot().await;
    fake.ask(2, "hello").await;
    let said = prompt(&model.requests().pop().unwrap());
    assert!(said.contains("- maps: "), "{said}");
    let all = fake.ask(OWNER, "/skill").await;
    let log = gateway.log();
    for (name, why) in [
        ("charts", "the name \"graphs\" is not that of the folder"),
        ("weather", "does not begin with a front matter"),
        ("needy", "tools that are not there: no_such_tool"),
        ("diary", "tools that are not there: memory"),
        ("date_time", "a tool has this name"),
    ] {
        assert!(!said.contains(&format!("- {name}")), "{said}");
        for place in [&all, &doctor] {
            let line = place.lines().find(|line| line.contains(name));
            assert!(
                line.is_some_and(|line| line.contains(why)),
                "{name}: {place}"
            );
        }
        assert!(
            log.lines()
                .any(|line| line.contains("a skill is left out") && line.contains(name)),
            "{name}: {log}"
        );
    }
    assert!(doctor.contains("skills: 1"), "{doctor}");
    let mine = fake.ask(2, "/skill").await;
    assert_eq!(
        mine, "maps: What maps is for.",
        "faults are for those who can mend them"
    );
    let one = fake.ask(2, "/skill show maps").await;
    assert_eq!(one, "maps\nWhat maps is for.\nversion: 1.2");
    let none = fake.ask(2, "/skill show charts").await;
    assert_eq!(
        none,
        "There is no skill charts. /skill shows which there are."
    );
    let got = called(&model, &fake, 2, &[("skill", json!({ "name": "charts" }))]).await;
    assert!(
        got[0].starts_with("Error: There is no skill of this name."),
        "{got:?}"
    );
}

#[tokio::test]
async fn no_path_leads_out_of_a_skill() {
    let (model, mut gateway) = prepared(json!({})).await;
    write(&gateway, "maps/SKILL.md", &skill("maps", "", "Do."));
    write(&gateway, "maps/.env", "KEY=1");
    write(&gateway, "secret.txt", "secret");
    let inside = folder(&gateway).join("maps");
    std::os::unix::fs::symlink(folder(&gateway).join("secret.txt"), inside.join("link")).unwrap();
    std::os::unix::fs::symlink(folder(&gateway), inside.join("up")).unwrap();
    gateway.up().await;
    let fake = gateway.onebot().await;
    for path in [
        "../secret.txt",
        "link",
        "up/secret.txt",
        "/etc/hostname",
        ".env",
        "maps/../../secret.txt",
    ] {
        let arguments = json!({ "name": "maps", "file": path });
        let got = called(&model, &fake, 2, &[("skill", arguments)]).await;
        assert!(
            got[0].starts_with("Error: This file of the skill cannot be read"),
            "{path}: {got:?}"
        );
    }
    let told = model.requests().pop().unwrap().body.to_string();
    assert!(
        !told.contains("KEY=1") && !told.contains("\"secret\""),
        "{told}"
    );
}

#[tokio::test]
async fn who_lacks_the_right_is_neither_told_of_a_skill_nor_given_it() {
    let (model, mut gateway) = prepared(only_own()).await;
    write(
        &gateway,
        "ledger/SKILL.md",
        &skill("ledger", "rights: admin\n", "Count."),
    );
    write(
        &gateway,
        "keys/SKILL.md",
        &skill("keys", "rights: global\n", "Turn."),
    );
    gateway.up().await;
    let fake = gateway.onebot().await;
    let ask = async |role: &str, user: u64| {
        model.push(weirgate_testkit::model::Script::calls(&[
            ("skill", json!({ "name": "ledger" })),
            ("skill", json!({ "name": "keys" })),
        ]));
        fake.ask_as(role, 50, user, "go").await;
        let last = model.requests().pop().unwrap();
        let got = last.told();
        (prompt(&last), got[got.len() - 2..].to_vec(), offered(&last))
    };
    let refused = "Error: The person who asks may not use this tool here.";
    let (said, got, offers) = ask("member", 7).await;
    assert_eq!(got, [refused, refused]);
    assert!(
        !said.contains("ledger") && !said.contains("keys:"),
        "{said}"
    );
    assert!(
        !offers.contains(&"skill".to_owned()),
        "there is none for him"
    );
    assert_eq!(
        fake.ask_as("member", 50, 7, "/skill show ledger").await,
        "There is no skill ledger. /skill shows which there are."
    );
    let (said, got, _) = ask("admin", 8).await;
    assert_eq!(got, ["Count.", refused]);
    assert!(
        said.contains("- ledger:") && !said.contains("- keys:"),
        "{said}"
    );
    let (said, got, _) = ask("member", OWNER).await;
    assert_eq!(got[1], "Turn.");
    assert!(said.contains("- keys:"), "{said}");
    let shown = fake.ask(OWNER, "/skill").await;
    assert!(
        shown.contains("ledger: ") && shown.contains("keys: "),
        "{shown}"
    );
}

#[tokio::test]
async fn both_keys_have_their_effect() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(place.path().join("own/maps")).unwrap();
    std::fs::write(
        place.path().join("own/maps/SKILL.md"),
        skill("maps", "", "Do."),
    )
    .unwrap();
    let path = json!({ "tools": { "skills": { "registry_path": "$XDG_DATA_HOME/own/" } } });
    let (model, mut gateway) = prepared(path).await;
    gateway.set("XDG_DATA_HOME", place.path().to_str().unwrap());
    gateway.up().await;
    let fake = gateway.onebot().await;
    fake.ask(2, "hello").await;
    assert!(prompt(&model.requests().pop().unwrap()).contains("- maps:"));
    drop((fake, gateway));
    for changes in [json!({ "enabled": false }), json!({ "disabled": ["maps"] })] {
        let (model, mut gateway) = prepared(json!({ "tools": { "skills": changes } })).await;
        write(&gateway, "maps/SKILL.md", &skill("maps", "", "Do."));
        gateway.up().await;
        let fake = gateway.onebot().await;
        fake.ask(2, "hello").await;
        assert!(!prompt(&model.requests().pop().unwrap()).contains("maps"));
        assert!(!fake.ask(2, "/skill").await.contains("maps"));
    }
}

#[tokio::test]
async fn the_tools_that_a_read_skill_names_are_offered_where_not_all_have_room() {
    let mut changes = only_own();
    let few = json!({ "tools": { "internal": { "max_per_request": 3 } } });
    crate::gateway::merge(&mut changes, few);
    let (model, mut gateway) = prepared(changes).await;
    let needs = "tools: [office_write, send_file]\n";
    write(&gateway, "maps/SKILL.md", &skill("maps", needs, "Draw."));
    gateway.up().await;
    let fake = gateway.onebot().await;
    model.push(weirgate_testkit::model::Script::calls(&[(
        "skill",
        json!({ "name": "maps" }),
    )]));
    assert_eq!(fake.ask(2, "please").await, "re: please");
    let requests = model.requests();
    let before = offered(&requests[0]);
    assert_eq!(before.len(), 3);
    assert!(before.contains(&"skill".to_owned()), "{before:?}");
    for tool in ["office_write", "send_file"] {
        assert!(!before.contains(&tool.to_owned()), "{before:?}");
    }
    let mut behind = offered(&requests[1]);
    behind.sort();
    assert_eq!(behind, ["office_write", "send_file", "skill"]);
}
