//! Many sockets at once in the real gateway: nobody is lost, nobody waits for another, and who is silent costs little.
//!
//! The figures of a machine are measured by the load tool; here only what holds on every machine is looked at.

use std::{fs, time::Duration};

use tokio::task::JoinSet;
use weirgate_testkit::model::{FakeModel, Script};

use super::*;
use crate::gateway::{Gateway, long};

/// Words of an answer, and the pause between two.
const WORDS: usize = 8;
const PAUSE: Duration = Duration::from_millis(60);
/// Most resident memory of a socket that is open and silent, in bytes. Without optimisation a task takes several times
/// as much as in a release.
const EACH: u64 = 96 * 1024;

/// Resident memory of a process in bytes.
fn memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().unwrap();
    kibibytes * 1_024
}

async fn visitors(gateway: &Gateway, count: usize) -> Vec<WebChatClient> {
    let address = gateway.http();
    let opening: JoinSet<WebChatClient> = (0..count)
        .map(|_| async move {
            let mut client = WebChatClient::connect(address).await;
            client.enter(None).await;
            client
        })
        .collect();
    opening.join_all().await
}

/// Reads an answer to its end; how often it grew.
async fn follow(mut client: WebChatClient, number: usize) -> usize {
    let mut drafts = 0;
    loop {
        let frame = client.next().await;
        assert!(frame.get("closed").is_none(), "{frame}");
        if frame["final"] == true {
            let text = frame["text"].as_str().unwrap();
            assert!(text.starts_with(&format!("re: {number} ")), "{text}");
        } else if frame["type"] == "text" {
            drafts += 1;
        }
        if frame["type"] == "end" {
            return drafts;
        }
    }
}

#[tokio::test]
async fn silent_sockets_cost_little_and_answers_are_shown_to_all_at_once() {
    let (silent, speaking) = if long() { (2_000, 100) } else { (150, 20) };
    let model = FakeModel::start_with(|said| {
        let words = (1..WORDS).map(|word| format!("and words that fill a piece {word} "));
        let pieces: Vec<String> = [format!("re: {said} ")].into_iter().chain(words).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        Script::pieces(&pieces).between(PAUSE)
    })
    .await;
    let site = json!({ "max_sockets": 10_000, "max_sockets_per_address": 0 });
    let changes = json!({ "platforms": { "webchat": { "accounts": { "default": site } } } });
    let gateway = Gateway::start(&model, changes).await;
    // The first ones pay for what all share.
    let mut first = visitors(&gateway, 20).await;
    let before = memory(gateway.process());
    let mut quiet = visitors(&gateway, silent).await;
    let grown = memory(gateway.process()).saturating_sub(before);
    let each = grown / u64::try_from(silent).unwrap();
    assert!(each < EACH, "{each} bytes for each of {silent} sockets");

    let mut speakers = visitors(&gateway, speaking).await;
    for (number, client) in speakers.iter_mut().enumerate() {
        client.say("m1", &number.to_string()).await;
    }
    let following: JoinSet<usize> = speakers
        .into_iter()
        .enumerate()
        .map(|(number, client)| follow(client, number))
        .collect();
    let drafts = following.join_all().await;
    assert!(
        drafts.iter().all(|shown| *shown > 1),
        "everybody sees it grow: {drafts:?}"
    );
    assert!(
        model.max_concurrency() > speaking / 2,
        "{}",
        model.max_concurrency()
    );
    for client in quiet.iter_mut().chain(&mut first) {
        assert!(
            client.is_quiet().await,
            "it is still open, and got nothing of others"
        );
    }
}
