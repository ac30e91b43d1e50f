//! What implementations have beyond the standard, and in which they differ.

use serde_json::{Value, json};
use weirgate_sdk::{Attachment, InboundMessage, Indicates, Segment};
use weirgate_testkit::onebot::{Options, Script};

use super::*;

/// The notice of a file in a group, as it stands in the standard.
fn notice(user: u64, name: &str, time: i64) -> Value {
    json!({
        "time": time, "self_id": BOT, "post_type": "notice", "notice_type": "group_upload",
        "group_id": 30_001, "user_id": user,
        "file": { "id": format!("/{name}"), "name": name, "size": 3, "busid": 102 },
    })
}

/// The same file as a message with a file in it.
fn message(id: i64, user: u64, name: &str, time: i64) -> Value {
    json!({
        "time": time, "self_id": BOT, "post_type": "message", "message_type": "group",
        "sub_type": "normal", "message_id": id, "group_id": 30_001, "user_id": user,
        "sender": { "user_id": user, "nickname": "A", "role": "member" },
        "message": [{ "type": "file", "data": {
            "file": name, "file_id": "other-id", "file_size": "3" } }],
    })
}

async fn heard(rig: &Rig) -> InboundMessage {
    let message = rig.ingress.next_message(LIMIT).await;
    message.expect("a message reaches the gateway")
}

fn file(message: &InboundMessage) -> Attachment {
    match message.segments.as_slice() {
        [Segment::Attachment(file)] => file.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_file_that_only_a_notice_tells_of_arrives_and_can_be_had() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    fake.raw(notice(7, "a.txt", 1_790_000_000)).await;
    let told = heard(&rig).await;
    assert_eq!(told.conversation.conversation.as_str(), "g30001");
    assert_eq!(told.sender.key.id.as_str(), "7");
    let file = file(&told);
    assert_eq!((file.name.as_deref(), file.size), (Some("a.txt"), Some(3)));
    fake.file("/a.txt", json!({ "base64": "YWJj" }));
    let downloads = rig.qq.downloads().expect("it fetches files");
    let mut download = downloads
        .open(&told.conversation, &file)
        .await
        .expect("there");
    let piece = download.content.next().await.expect("read");
    assert_eq!(piece.as_deref(), Some(&b"abc"[..]));
    let called = fake.called();
    assert!(
        called.contains(&"get_group_file_url".to_owned()),
        "{called:?}"
    );
    // It has no number, so an answer quotes nothing.
    let id = told.id.as_str();
    let answer = outgoing("g30001", "thanks", Some((id, "7")));
    rig.qq.send(answer).await.expect("sent");
    assert_eq!(fake.replies().last().expect("an answer").quotes(), None);
    // The bot's own files are its own, and what a friend gives comes from him.
    fake.raw(notice(BOT, "b.txt", 1_790_000_001)).await;
    let mut private = notice(8, "c.txt", 1_790_000_002);
    private["notice_type"] = "offline_file".into();
    private["group_id"] = Value::Null;
    private["file"] = json!({ "name": "c.txt", "size": 3, "url": "http://192.0.2.1/c" });
    fake.raw(private).await;
    let told = heard(&rig).await;
    assert_eq!(told.conversation.conversation.as_str(), "p8");
    assert_eq!(self::file(&told).reference, "http://192.0.2.1/c");
    rig.stop().await;
}

#[tokio::test]
async fn a_file_that_is_told_twice_arrives_once_in_either_order() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    let time = 1_790_000_000;
    fake.raw(notice(7, "a.txt", time + 1)).await;
    fake.raw(message(5, 7, "a.txt", time)).await;
    fake.raw(message(6, 7, "b.txt", time + 5)).await;
    fake.raw(notice(7, "b.txt", time + 4)).await;
    fake.raw(message(7, 8, "a.txt", time)).await;
    fake.send_group(30_001, 9, "end", false).await;
    let mut names = Vec::new();
    loop {
        let told = heard(&rig).await;
        if told.own_text() == "end" {
            break;
        }
        let name = file(&told).name.expect("a name");
        names.push(format!("{} {name}", told.sender.key.id.as_str()));
    }
    assert_eq!(names, ["7 a.txt", "7 b.txt", "8 a.txt"]);
    rig.stop().await;
}

#[tokio::test]
async fn typing_is_shown_in_private_chats_of_those_that_have_it() {
    let rig = Rig::start(settings()).await;
    let here = |place: &str| outgoing(place, "x", None).conversation;
    let show = async |place: &str| {
        let indicates: &dyn Indicates = rig.qq.indicates().expect("it shows typing");
        indicates.indicate(&here(place)).await
    };
    let options = Options {
        typing: true,
        ..Options::default()
    };
    let fake = rig.connect_with(options).await.expect("connects");
    rig.is(&Connection::Up).await;
    show("p7").await.expect("shown");
    assert_eq!(fake.typing(), ["7"]);
    for place in ["g30001", "t30001:7"] {
        let shown = show(place).await;
        assert!(matches!(shown, Err(SendError::Rejected(_))), "{shown:?}");
    }
    assert_eq!(fake.typing().len(), 1, "nobody is asked");
    rig.stop().await;
}

#[tokio::test]
async fn who_does_not_know_typing_is_asked_once() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    let indicates: &dyn Indicates = rig.qq.indicates().expect("it shows typing");
    let here = outgoing("p7", "x", None).conversation;
    for _ in 0..3 {
        assert!(indicates.indicate(&here).await.is_err());
    }
    let called = fake.called();
    let asked = called.iter().filter(|name| *name == "set_input_status");
    assert_eq!(asked.count(), 1, "{called:?}");
    rig.stop().await;
}

#[tokio::test]
async fn an_answer_to_a_deleted_message_goes_out_without_it() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    let refuse = |message: &str| {
        fake.script(Script::Fail {
            retcode: 1200,
            message: message.into(),
        });
    };
    let answer = || outgoing("g30001", "yes", Some(("5", "7")));
    refuse("回复的消息不存在");
    rig.qq.send(answer()).await.expect("sent");
    let replies = fake.replies();
    let quotes: Vec<bool> = replies
        .iter()
        .map(|reply| reply.quotes().is_some())
        .collect();
    assert_eq!(quotes, [true, false]);
    assert_eq!(
        (replies[1].text(), replies[1].delivered()),
        ("yes".into(), true)
    );
    // Once; and no other refusal makes it go out again, nor does one that is not a refusal.
    refuse("reply not found");
    refuse("reply not found");
    assert!(rig.qq.send(answer()).await.is_err());
    refuse("blocked by server");
    assert!(rig.qq.send(answer()).await.is_err());
    fake.script(Script::TimeOut);
    assert!(rig.qq.send(answer()).await.is_err());
    assert_eq!(fake.reply_count(), 6);
    rig.stop().await;
}

#[tokio::test]
async fn an_account_of_which_nobody_knows_whether_it_is_heard_slows_down() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    let pace = || {
        let here = outgoing("g1", "x", None).conversation;
        rig.qq.capabilities(&here).rates
    };
    let usual = pace();
    for _ in 0..3 {
        assert_eq!(pace(), usual);
        fake.script(Script::TimeOut);
        assert!(rig.say("g1", "x").await.is_err());
    }
    assert!(
        pace().account <= 0.1 && pace().account > 0.0,
        "{:?}",
        pace()
    );
    assert_eq!(pace().account_burst, 1);
    rig.say("g1", "y").await.expect("sent");
    assert_eq!(pace(), usual);
    rig.stop().await;
}
