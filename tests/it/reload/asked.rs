//! Reloads that the operator asks for: SIGHUP and the web server.

use serde_json::{Value, json};
use weirgate_testkit::model::FakeModel;

use super::{ask, prompt, reads};
use crate::gateway::{Gateway, KEY, Response, merge};

const TOKEN: &str = "the-admin-token-0123456789";

/// Writes a file of which no event tells: its folder has no such name.
async fn with_a_secret_in_a_file(model: &FakeModel) -> Gateway {
    let gateway = Gateway::bare();
    gateway.write("key", KEY);
    let changes = json!({ "providers": { "main": { "api_key": null, "api_key_file": "key" } } });
    gateway.configure(model, changes);
    gateway
}

#[tokio::test]
async fn a_hangup_reads_the_file_and_the_secrets_in_other_files() {
    let model = FakeModel::start().await;
    let mut gateway = with_a_secret_in_a_file(&model).await;
    gateway.up().await;
    reads(&gateway, "unchanged", 1).await;
    let fake = gateway.onebot().await;
    gateway.write("key", "the-rotated-key-13579");
    gateway.signal("HUP");
    reads(&gateway, "applied", 1).await;
    ask(&model, &fake).await;
    let last = model.requests().pop().unwrap();
    assert_eq!(
        last.header("authorization"),
        Some("Bearer the-rotated-key-13579")
    );
    gateway
        .logged("changed: providers.main.api_key_file: *** -> ***")
        .await;
    gateway.signal("HUP");
    reads(&gateway, "unchanged", 2).await;
    gateway.logged("read again; nothing changed").await;
    assert!(!gateway.log().contains("rotated-key"));
}

fn body(response: &Response) -> Value {
    serde_json::from_str(&response.body).unwrap_or_else(|_| panic!("{response:?}"))
}

#[tokio::test]
async fn the_web_server_answers_with_what_changed_or_with_all_that_is_wrong() {
    let model = FakeModel::start().await;
    let mut changes = prompt("one");
    changes["http"]["admin_token_file"] = "token".into();
    let mut gateway = Gateway::prepare(&model, changes.clone());
    gateway.write("token", TOKEN);
    gateway.up().await;
    let fake = gateway.onebot().await;

    let same = gateway.post_with("/admin/reload", &[]).await;
    assert_eq!(same.status, 200);
    assert_eq!(
        body(&same),
        json!({ "outcome": "unchanged", "changes": [], "needs_restart": [] })
    );
    merge(&mut changes, prompt("two"));
    merge(
        &mut changes,
        json!({ "http": { "listen": "127.0.0.1:1" }, "input_buffer": { "per_user_queue": false } }),
    );
    gateway.configure(&model, changes.clone());
    let applied = gateway.post_with("/admin/reload", &[]).await;
    let answer = body(&applied);
    // The file's own watch may have been faster; then nothing is left to change, and the rest is still named.
    if answer["outcome"] == "applied" {
        let change = json!({ "key": "context.system_prompt", "from": "one", "to": "two" });
        assert_eq!(answer["changes"], json!([change]));
    }
    let restart = json!([
        { "key": "http.listen", "from": "127.0.0.1:0", "to": "127.0.0.1:1" },
        { "key": "input_buffer.per_user_queue", "from": null, "to": "false" },
    ]);
    assert_eq!((applied.status, &answer["needs_restart"]), (200, &restart));
    assert_eq!(ask(&model, &fake).await, "two");

    gateway.write("agent.yaml", "language: nowhere\nnonsense: 1\nhttp: 3\n");
    let refused = gateway.post_with("/admin/reload", &[]).await;
    assert_eq!(refused.status, 422);
    let answer = body(&refused);
    assert_eq!(answer["outcome"], "refused");
    let keys: Vec<&str> = answer["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| problem["key"].as_str().unwrap())
        .collect();
    assert_eq!(keys, ["language", "nonsense", "http"]);
    assert_eq!(answer["problems"][0]["line"], 1);
    assert_eq!(ask(&model, &fake).await, "two");
}

#[tokio::test]
async fn only_this_machine_or_the_token_may_ask_and_no_page_may() {
    let model = FakeModel::start().await;
    let changes = json!({ "http": { "admin_token_file": "token" } });
    let mut gateway = Gateway::prepare(&model, changes);
    gateway.write("token", TOKEN);
    gateway.up().await;
    let token = format!("Bearer {TOKEN}");
    let right = ("Authorization", token.as_str());
    let wrong = ("Authorization", "Bearer the-admin-token-012345678");
    let cases: [(&[(&str, &str)], u16); 7] = [
        (&[], 200),
        (&[("X-Forwarded-For", "203.0.113.9")], 403),
        (&[("X-Forwarded-For", "203.0.113.9"), wrong], 403),
        (&[("X-Forwarded-For", "203.0.113.9"), right], 200),
        // A page that a browser on this machine shows sends these.
        (&[("Origin", "http://evil.example")], 403),
        (&[("Sec-Fetch-Site", "cross-site")], 403),
        (&[("Origin", "http://127.0.0.1"), right], 200),
    ];
    for (headers, status) in cases {
        let answer = gateway.post_with("/admin/reload", headers).await;
        assert_eq!(answer.status, status, "{headers:?}");
    }
    assert_eq!(gateway.get("/admin/reload").await.status, 405);
    // A token that is changed is in force at once.
    gateway.write("token", "quite-another-token-111");
    assert_eq!(gateway.post_with("/admin/reload", &[]).await.status, 200);
    let proxied = ("X-Forwarded-For", "203.0.113.9");
    let old = gateway.post_with("/admin/reload", &[proxied, right]).await;
    assert_eq!(old.status, 403);
    let metrics = gateway.get_with("/metrics", &[proxied, right]).await;
    assert_eq!(metrics.status, 403);
}
