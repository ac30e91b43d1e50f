//! The adapter against a OneBot server written by others: what our own fake takes for granted may be wrong.
//!
//! Owns the server's process. `tests/run.sh` installs it; without it these tests fail and say so.

use std::{path::PathBuf, process::Stdio};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use weirgate_sdk::{Action, ModerationError, PlatformRole};

use super::*;

/// The bot of the server's own sample data.
const ITS_BOT: &str = "123456789";

struct Counterpart {
    /// Where it writes its own log.
    _folder: tempfile::TempDir,
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    port: u64,
}

impl Counterpart {
    async fn start(port: u64) -> Self {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let python = target.join("../counterparts/python/bin/python");
        assert!(
            python.exists(),
            "the OneBot server by others is not installed: run `bash tests/run.sh --counterparts` once"
        );
        let folder = tempfile::tempdir().expect("a folder");
        let mut process = Command::new(python)
            .current_dir(folder.path())
            .arg(root.join("tests/counterparts/onebot.py"))
            .arg(port.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("starts");
        let input = process.stdin.take().expect("piped");
        let output = BufReader::new(process.stdout.take().expect("piped")).lines();
        let mut counterpart = Self {
            _folder: folder,
            process,
            input,
            output,
            port: 0,
        };
        let said = counterpart.said().await;
        counterpart.port = said["port"].as_u64().expect("a port");
        counterpart
    }

    async fn said(&mut self) -> Value {
        let line = tokio::time::timeout(3 * LIMIT, self.output.next_line()).await;
        let line = line.expect("in time").expect("readable").expect("it runs");
        serde_json::from_str(&line).expect("JSON")
    }

    async fn ask(&mut self, wanted: Value) -> Value {
        let line = format!("{wanted}\n");
        self.input
            .write_all(line.as_bytes())
            .await
            .expect("it reads");
        self.said().await
    }

    /// The parameters of all calls of an action.
    async fn calls(&mut self, action: &str) -> Vec<Value> {
        let said = self.ask(json!({ "calls": true })).await;
        let calls = said["calls"].as_array().expect("a list");
        let of = calls.iter().filter(|call| call["action"] == action);
        of.map(|call| call["params"].clone()).collect()
    }

    async fn end(mut self) {
        self.process.kill().await.expect("ends");
    }

    fn reach(&self) -> Rig {
        Rig::reach(with(Transport::Forward {
            url: format!("ws://127.0.0.1:{}", self.port),
        }))
    }
}

/// A question of a member in a group, with ids as the server writes them.
fn question(id: &str) -> Value {
    json!({
        "post_type": "message", "message_type": "group", "sub_type": "normal", "time": 1_790_000_000,
        "self_id": 123456789, "user_id": 876543210, "group_id": 987654321, "message_id": id,
        "message": [
            { "type": "at", "data": { "qq": ITS_BOT } },
            { "type": "text", "data": { "text": " 在吗?" } },
        ],
        "raw_message": "[CQ:at,qq=123456789] 在吗?", "font": 0,
        "sender": { "user_id": "876543210", "nickname": "某人", "card": "", "role": "member" },
    })
}

#[tokio::test]
async fn words_go_both_ways_through_a_server_by_others() {
    let mut counterpart = Counterpart::start(0).await;
    let rig = counterpart.reach();
    rig.is(&Connection::Up).await;
    counterpart
        .ask(json!({ "event": question("1790000000123") }))
        .await;
    let message = rig.ingress.next_message(LIMIT).await.expect("a message");
    assert!(
        message.mentions_bot,
        "its own id comes as text and as number"
    );
    assert_eq!(message.own_text(), "在吗?");
    assert_eq!(message.sender.key.id.as_str(), "876543210");

    let conversation = message.conversation.conversation.as_str();
    let text = "在 [CQ:at,qq=all] & more";
    let answer = outgoing(conversation, text, Some((message.id.as_str(), "876543210")));
    let sent = rig.qq.send(answer).await.expect("sent");
    let id = sent.message.expect("an id");
    let calls = counterpart.calls("send_group_msg").await;
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["group_id"], 987_654_321);
    assert_eq!(calls[0]["message"][0]["type"], "reply");
    let kept = counterpart.ask(json!({ "message": id.as_str() })).await;
    let kept = &kept["message"]["message"];
    assert_eq!(kept[1], json!({ "type": "text", "data": { "text": text } }));

    rig.say("p876543210", "hello").await.expect("sent");
    assert_eq!(counterpart.calls("send_private_msg").await.len(), 1);
    rig.stop().await;
    counterpart.end().await;
}

#[tokio::test]
async fn a_server_by_others_that_dies_is_found_again() {
    let counterpart = Counterpart::start(0).await;
    let port = counterpart.port;
    let rig = counterpart.reach();
    rig.is(&Connection::Up).await;
    counterpart.end().await;
    rig.is_down().await;
    let unsent = rig.say("p876543210", "x").await;
    assert!(
        matches!(unsent, Err(SendError::Unavailable(_))),
        "{unsent:?}"
    );
    let mut again = Counterpart::start(port).await;
    rig.is(&Connection::Up).await;
    again
        .ask(json!({ "event": question("1790000000124") }))
        .await;
    assert!(rig.ingress.next_message(LIMIT).await.is_some());
    rig.say("p876543210", "hello").await.expect("sent");
    let called = again.calls("send_private_msg").await;
    assert_eq!(called.len(), 1);
    rig.stop().await;
    again.end().await;
}

#[tokio::test]
async fn members_of_a_server_by_others_are_looked_up_and_its_promises_checked() {
    let mut counterpart = Counterpart::start(0).await;
    let rig = counterpart.reach();
    rig.is(&Connection::Up).await;
    let moderates = rig.qq.moderates().expect("this platform can");
    // In its sample data the bot owns the first group, is an admin of the second, a member of the third.
    let group = |number: u64| outgoing(&format!("g{number}"), "x", None).conversation;
    let (first, second, third) = (group(200_001), group(200_002), group(200_003));
    let admins = moderates.admins(&first).await.expect("a list");
    let ids: Vec<&str> = admins.iter().map(|one| one.user.id.as_str()).collect();
    assert_eq!(ids, [ITS_BOT, "100001"]);
    let found = moderates
        .member(&first, &"100002".into())
        .await
        .expect("a member");
    assert_eq!((&*found.name, found.role), ("好友2", PlatformRole::Member));
    let nobody = moderates.member(&first, &"1".into()).await;
    assert_eq!(nobody, Err(ModerationError::NotAMember));
    let kick = |user: &str| Action::Kick { user: user.into() };
    // It answers "ok" to a kick and removes nobody.
    let pretended = moderates.act(&first, &kick("100002")).await;
    assert!(
        matches!(pretended, Err(ModerationError::NotConfirmed(_))),
        "{pretended:?}"
    );
    assert_eq!(counterpart.calls("set_group_kick").await.len(), 1);
    let owner = moderates.act(&second, &kick("100001")).await;
    assert_eq!(owner, Err(ModerationError::TargetIsOwner));
    let powerless = moderates.act(&third, &kick("100002")).await;
    assert_eq!(powerless, Err(ModerationError::BotLacksRight));
    let mute = Action::Mute {
        user: "100002".into(),
        time: Some(Duration::from_secs(90)),
    };
    moderates
        .act(&second, &mute)
        .await
        .expect("it says that it is done");
    let call = &counterpart.calls("set_group_ban").await[0];
    assert_eq!(
        call,
        &json!({ "group_id": 200_002, "user_id": 100_002, "duration": 90 })
    );
    let rights = moderates.bot_rights(&third).await.expect("known");
    assert_eq!((rights.role, rights.remove), (PlatformRole::Member, false));
    rig.stop().await;
    counterpart.end().await;
}
