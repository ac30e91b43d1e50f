//! Why a tool gave nothing, for who asked by a command: in his language, also where a model is told it in English.

use axum::{Router, http::Uri, response::IntoResponse as _};
use serde_json::{Value, json};
use weirgate_testkit::model::{FakeModel, Script};

use super::page::Page;
use crate::gateway::{Chat as _, Gateway};

async fn told(model: &FakeModel, tools: Value, command: &str) -> [String; 2] {
    let gateway = Gateway::start(model, json!({ "tools": tools })).await;
    let fake = gateway.onebot().await;
    let english = fake.ask(1, command).await;
    fake.ask(1, "/lang zh").await;
    [english, fake.ask(1, command).await]
}

/// A service that does not answer as it should.
async fn odd_service() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = |uri: Uri| async move {
        match uri.path() {
            "/page/search" => "<p>Welcome</p>".into_response(),
            "/none/search" => r#"{"results": []}"#.into_response(),
            _ => std::future::pending().await,
        }
    };
    let router = Router::new().fallback(answer);
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

#[tokio::test]
async fn a_cause_is_told_in_the_language_of_who_asks() {
    let model = FakeModel::start().await;
    let page = Page::start().await;
    let odd = odd_service().await;
    let search = |url: String| json!({ "search": { "service": "searxng", "base_url": url } });
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let away = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    for (tools, command, english, chinese) in [
        (
            json!({ "weather": { "service": "open-meteo", "base_url": page.url("") } }),
            "/weather Nowhere",
            "There is no place of this name.",
            "没有叫这个名字的地方。",
        ),
        (
            search(away),
            "/search weirs",
            "The service cannot be reached.",
            "连不上该服务。",
        ),
        (
            search(page.url("/absent")),
            "/search weirs",
            "The server answered with status 404.",
            "服务器返回了状态码 404。",
        ),
        (
            search(format!("{odd}/page")),
            "/search weirs",
            "The answer of the service cannot be read.",
            "看不懂该服务的回复。",
        ),
    ] {
        let [first, second] = told(&model, tools, command).await;
        assert_eq!(first, format!("That failed: {english}"), "{command}");
        assert_eq!(second, format!("没有成功：{chinese}"), "{command}");
    }
    let nothing = told(&model, search(format!("{odd}/none")), "/search weirs").await;
    assert_eq!(nothing, ["Nothing was found.", "什么也没有找到。"]);
}

#[tokio::test]
async fn a_tool_that_takes_too_long_and_a_model_that_is_away_are_told_as_that() {
    let model = FakeModel::start().await;
    let slow = format!("{}/slow", odd_service().await);
    let tools = json!({ "search": { "service": "searxng", "base_url": slow } });
    let calling = json!({ "tools": tools, "tool_calling": { "timeout": 1 } });
    let gateway = Gateway::start(&model, calling).await;
    let fake = gateway.onebot().await;
    fake.ask(1, "/lang zh").await;
    let slow = fake.ask(1, "/search weirs").await;
    assert_eq!(slow, "没有成功：用时太长。");
    model.push(Script::error(401, "no"));
    let away = fake.ask(1, "/translate en 早").await;
    assert_eq!(away, "没有成功：没有模型作答。");
}
