//! `weirgate healthcheck`, as a container calls it: the real program beside the running one.

use serde_json::json;
use weirgate_testkit::model::FakeModel;

use crate::gateway::{Gateway, free_port};

/// Exit code and output.
async fn asked(gateway: &Gateway, arguments: &[&str]) -> (Option<i32>, String) {
    let output = gateway.command(arguments).output().await.unwrap();
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

#[tokio::test]
async fn it_tells_whether_the_gateway_takes_messages() {
    let model = FakeModel::start().await;
    let listen = format!("0.0.0.0:{}", free_port());
    let changes = json!({ "http": { "listen": listen } });
    let mut gateway = Gateway::prepare(&model, changes);
    let (code, text) = asked(&gateway, &["healthcheck"]).await;
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("127.0.0.1") && text.contains("refused"),
        "{text}"
    );

    gateway.spawn();
    let started = std::time::Instant::now();
    let (mut code, mut text) = (None, String::new());
    while code != Some(0) && started.elapsed() < crate::gateway::LIMIT {
        (code, text) = asked(&gateway, &["healthcheck"]).await;
    }
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(r#""ready":true"#), "{text}");
    let (code, text) = asked(&gateway, &["healthcheck", "--alive"]).await;
    assert_eq!((code, text.trim()), (Some(0), "ok"));
    assert!(gateway.term().await.success());
}

#[tokio::test]
async fn it_says_why_it_cannot_ask() {
    let gateway = Gateway::bare();
    gateway.write("agent.yaml", "http: {listen: \"127.0.0.1:0\"}\n");
    let (code, text) = asked(&gateway, &["healthcheck"]).await;
    assert_eq!(code, Some(1));
    assert!(text.contains("port 0"), "{text}");
    gateway.write("agent.yaml", "http: {listen: nowhere}\n");
    let (code, text) = asked(&gateway, &["healthcheck"]).await;
    assert_eq!(code, Some(1));
    assert!(text.contains("http.listen"), "{text}");
}
