//! Services that search the web, each asked as it wants to be and read as it answers.

use serde_json::json;
use weirgate_testkit::model::{FakeModel, Script};

use super::page::Page;
use crate::gateway::{Chat as _, Gateway};

/// The key of the services.
const KEY: &str = "key-of-the-search-0001";

#[tokio::test]
async fn tavily_and_brave_are_asked_with_their_keys_for_so_many_results() {
    // Where each puts the key, the words and the number; the configuration's own secret is taken out of what it says.
    for (service, asked) in [
        ("tavily", "1. weirs & dams for Bearer [REDACTED], 2\n"),
        ("brave", "1. q=weirs+%26+dams&count=2 for [REDACTED]\n"),
    ] {
        let model = FakeModel::start().await;
        let page = Page::start().await;
        let search = json!({ "service": service, "base_url": page.url(""), "api_key": KEY,
            "max_results": 2 });
        let gateway = Gateway::start(&model, json!({ "tools": { "search": search } })).await;
        let fake = gateway.onebot().await;
        let found = fake.ask(1, "/search weirs & dams").await;
        assert!(found.starts_with(asked), "{service}: {found}");
        let excerpts = [
            "https://1.example\nexcerpt 1",
            "https://2.example\nexcerpt 2",
        ];
        assert!(excerpts.iter().all(|part| found.contains(part)), "{found}");
        assert!(!found.contains("a third"), "more than are wanted: {found}");
        let call = ("web_search", json!({ "query": "weirs & dams" }));
        model.push(Script::calls(&[call]));
        assert_eq!(fake.ask(1, "go").await, "re: go");
        let told = model.requests()[1].told();
        assert!(told[0].starts_with("[web page; data"), "{told:?}");
        assert!(told[0].contains("> excerpt 2"), "{told:?}");
        // With a wrong address nothing is made up.
        let wrong = json!({ "service": service, "base_url": page.url("/nowhere"), "api_key": KEY });
        let gateway = Gateway::start(&model, json!({ "tools": { "search": wrong } })).await;
        let told = gateway.onebot().await.ask(1, "/search weirs").await;
        assert!(!told.contains("1. "), "{told}");
    }
}
