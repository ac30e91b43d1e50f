//! Each key of the section permissions, as somebody who talks with the bot notices it.

use serde_json::{Value, json};
use weirgate_testkit::{model::FakeModel, onebot::FakeOneBot};

use crate::gateway::{Chat as _, Gateway};

const GROUP: u64 = 50;

async fn start(permissions: Value) -> (FakeModel, Gateway, FakeOneBot) {
    let model = FakeModel::start().await;
    let changes = json!({ "permissions": permissions });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    (model, gateway, fake)
}

/// Whether he may: the answer is none of those that say who may instead.
async fn may(fake: &FakeOneBot, role: &str, user: u64, text: &str) -> bool {
    let told = fake.ask_as(role, GROUP, user, text).await;
    let refused = ["Only an ", "needs a member", "not answered here"];
    !refused.iter().any(|start| told.contains(start))
}

#[tokio::test]
async fn each_level_is_for_those_at_it_and_above() {
    let (_model, _gateway, fake) = start(json!({
        "commands": {
            "public": ["/policy"], "member": ["/ping"], "admin": ["/output"], "owner": ["/WHOAMI"],
        },
    }))
    .await;
    fake.ask_as("owner", GROUP, 100_001, "/role @100004 guest")
        .await;
    let people = [
        ("member", 100_004),
        ("member", 100_003),
        ("admin", 100_002),
        ("owner", 100_001),
    ];
    for (command, first) in [("/policy", 0), ("/ping", 1), ("/output", 2), ("/whoami", 3)] {
        for (place, (role, user)) in people.into_iter().enumerate() {
            let may = may(&fake, role, user, command).await;
            assert_eq!(may, place >= first, "{command} by {user}");
        }
    }
}

#[tokio::test]
async fn the_list_of_the_design_is_what_it_says() {
    let (_model, _gateway, fake) = start(json!({
        "commands": {
            "public": ["/help", "/status", "/ping"],
            "member": ["/search", "/weather", "/translate"],
            "admin": ["/kick", "/ban", "/mute", "/warn", "/config"],
            "owner": ["/transfer", "/delete", "/backup", "/reload"],
        },
    }))
    .await;
    fake.ask_as("owner", GROUP, 100_001, "/role @100004 guest")
        .await;
    for (role, user, command, wanted) in [
        ("member", 100_004, "/status", true),
        ("member", 100_004, "/weather x", false),
        ("member", 100_003, "/weather x", true),
        ("member", 100_003, "/config", false),
        ("admin", 100_002, "/config", true),
        ("member", 100_003, "/warn @100004", false),
        ("admin", 100_002, "/delete", false),
        ("owner", 100_001, "/delete", true),
        // Whose gateway it is, no list says.
        ("owner", 100_001, "/backup", false),
        ("owner", 100_001, "/reload", false),
    ] {
        let may = may(&fake, role, user, command).await;
        assert_eq!(may, wanted, "{command} by {user}");
    }
}

#[tokio::test]
async fn roles_have_what_they_say_and_what_they_inherit() {
    let roles = json!({
        "roles": {
            // Another right for a built-in role, in digits.
            "guest": { "capabilities": "0o450" },
            "helper": { "capabilities": "0o004", "inherits": ["member"] },
        },
    });
    let (_model, _gateway, fake) = start(roles.clone()).await;
    let own =
        async |fake: &FakeOneBot, user: u64| fake.ask_as("member", GROUP, user, "/whoami").await;
    for (user, role) in [(100_004, "guest"), (100_005, "helper")] {
        let text = format!("/role @{user} {role}");
        fake.ask_as("owner", GROUP, 100_001, &text).await;
    }
    let told = own(&fake, 100_004).await;
    assert!(
        told.contains("Role: guest (READ, SEND_MESSAGE, SEND_COMMAND)"),
        "{told}"
    );
    let told = own(&fake, 100_005).await;
    assert!(
        told.contains("MANAGE_MEMBER") && told.contains("SEND_MEDIA"),
        "{told}"
    );
    // Without inheritance a role has what it says itself, and nobody answers one that may not speak.
    let mut alone = roles;
    alone["inheritance"] = json!({ "enabled": false });
    let (_model, _gateway, fake) = start(alone).await;
    fake.ask_as("owner", GROUP, 100_001, "/role @100005 helper")
        .await;
    let told = own(&fake, 100_005).await;
    assert!(told.contains("not answered here"), "{told}");
}

#[tokio::test]
async fn a_chain_that_is_too_long_and_a_circle_stop_the_start() {
    let model = FakeModel::start().await;
    let chain = |depth: u64| {
        json!({ "permissions": {
            "roles": {
                "a": { "capabilities": ["READ"], "inherits": ["b"] },
                "b": { "capabilities": ["READ"], "inherits": ["c"] },
                "c": { "capabilities": ["READ"], "inherits": ["guest"] },
            },
            "inheritance": { "max_depth": depth },
        } })
    };
    let check = async |changes: Value| {
        let gateway = Gateway::prepare(&model, changes);
        let checked = crate::tools::tool(&gateway, &["check"]).await;
        (checked.code, format!("{}{}", checked.out, checked.err))
    };
    let (code, told) = check(chain(5)).await;
    assert_eq!(code, 0, "{told}");
    let (code, told) = check(chain(2)).await;
    assert!(
        code != 0 && told.contains("permissions.roles.a") && told.contains("a > b > c"),
        "{told}"
    );
    let mut circle = chain(5);
    circle["permissions"]["roles"]["c"]["inherits"] = json!(["a"]);
    let (code, told) = check(circle).await;
    assert!(code != 0 && told.contains("a > b > c > a"), "{told}");
}
