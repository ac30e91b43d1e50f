//! Files of answers: a picture is seen, another file is offered to be saved.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;
use weirgate_testkit::model::Script;

use super::Visit;

/// A picture of one point.
const POINT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[tokio::test]
async fn a_picture_is_shown_and_another_file_is_offered_also_after_a_reload() {
    let Some(visit) = Visit::on_page(1200, 800).await else {
        return;
    };
    let notes = json!({ "path": "notes.txt", "content": "hello" });
    visit.model.push(Script::calls(&[("write_file", notes)]));
    visit.say("write").await;
    visit.shows(&["write"], &["re: write"]).await;
    let all = visit.gateway.database().with_file_name("workspaces");
    let mut folders = std::fs::read_dir(all).unwrap();
    let folder = folders.next().unwrap().unwrap().path();
    std::fs::write(folder.join("point.png"), STANDARD.decode(POINT).unwrap()).unwrap();
    let send = |name: &str| ("send_file", json!({ "path": name }));
    let calls = [send("point.png"), send("notes.txt")];
    visit.model.push(Script::calls(&calls));
    visit.model.push(Script::answer("here"));
    visit.say("send both").await;
    let shown = async || {
        visit.is("$('.files img')?.naturalWidth === 1").await;
        visit
            .is("$('.files .file')?.innerText.startsWith('notes.txt')")
            .await;
    };
    shown().await;
    // It is shown from memory: no address leads to it, and none holds the visitor's token.
    let source = visit.get("$('.files img').src.split(':')[0]").await;
    assert_eq!(source, "blob");
    visit.browser.picture("page-files").await;
    visit.browser.reload().await;
    shown().await;
}
