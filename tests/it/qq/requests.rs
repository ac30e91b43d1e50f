//! Requests of strangers, very long answers, and numbers that no float holds.

use serde_json::{Value, json};
use weirgate_qq::settings::{OnRequest, Requests};
use weirgate_sdk::answer::{Block, Inline};
use weirgate_testkit::onebot::{Script, Target};

use super::*;

const MEMBER: u64 = 9_007_199_254_740_993;

fn request(kind: &str, sub: &str, flag: &str) -> Value {
    json!({ "time": 1, "self_id": BOT, "post_type": "request", "request_type": kind, "sub_type": sub,
        "user_id": MEMBER, "group_id": MEMBER, "comment": "[CQ:at,qq=all]", "flag": flag })
}

#[tokio::test]
async fn requests_are_answered_as_the_operator_says_and_else_not_at_all() {
    let requests = Requests {
        friend: OnRequest::Accept,
        invite: OnRequest::Reject,
        join: OnRequest::Ignore,
        owner: None,
    };
    let rig = Rig::start(Settings {
        requests,
        ..settings()
    })
    .await;
    let fake = rig.connect().await;
    fake.raw(request("friend", "", "f1")).await;
    fake.raw(request("group", "add", "f2")).await;
    fake.raw(request("group", "invite", "f3")).await;
    assert!(fake.was_called("set_friend_add_request", 1, LIMIT).await);
    assert!(fake.was_called("set_group_add_request", 1, LIMIT).await);
    let answered = fake.requests();
    let told: Vec<(&Value, &Value)> = answered
        .iter()
        .map(|params| (&params["flag"], &params["approve"]))
        .collect();
    assert_eq!(
        told,
        [(&json!("f1"), &json!(true)), (&json!("f3"), &json!(false))]
    );
    // The gateway is told that there was one, whatever became of it.
    assert!(rig.ingress.handed_in(3, LIMIT).await);
    let events = rig.ingress.accepted();
    let names: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
    assert!(
        names.iter().all(|name| name.contains("request.")),
        "{names:?}"
    );
    rig.stop().await;
}

#[tokio::test]
async fn nobody_is_let_in_without_a_word() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    for (kind, sub) in [("friend", ""), ("group", "add"), ("group", "invite")] {
        fake.raw(request(kind, sub, "f")).await;
    }
    fake.send_private(1, "hi").await;
    let heard = rig.ingress.next_message(LIMIT).await.expect("heard");
    assert_eq!(heard.own_text(), "hi");
    assert!(fake.requests().is_empty());
    rig.stop().await;
}

fn long(rig: &Rig) -> Rendered {
    let lines: Vec<String> = (0..400)
        .map(|line| format!("line {line} [CQ:at,qq=all]"))
        .collect();
    let text = Inline::Text(lines.join("\n"));
    rig.qq.render().render(&[Block::Paragraph(vec![text])])
}

#[tokio::test]
async fn a_very_long_answer_is_one_message_of_many() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    for target in [None, Some(MEMBER)] {
        let (place, expected) = match target {
            None => (
                "p20001".to_owned(),
                Target::Private {
                    user: "20001".into(),
                    group: None,
                },
            ),
            Some(group) => (format!("g{group}"), Target::Group(group.to_string())),
        };
        let mut outgoing = outgoing(&place, "", None);
        outgoing.rendered = long(&rig);
        assert!(rig.qq.render().folds(&outgoing.rendered));
        let sent = rig.qq.send(outgoing.clone()).await.expect("sent");
        assert!(sent.message.is_some());
        let reply = fake.next_reply(LIMIT).await.expect("a reply");
        assert_eq!(reply.target, expected);
        let words = |text: &str| text.replace('\n', "");
        assert_eq!(words(&reply.text()), words(&outgoing.rendered.text));
        assert!(reply.segments.len() > 5);
        assert!(
            reply
                .segments
                .iter()
                .all(|segment| segment["type"] == "text")
        );
    }
    rig.stop().await;
}

#[tokio::test]
async fn where_that_is_refused_the_messages_come_one_by_one() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    let mut outgoing = outgoing("g30001", "", None);
    outgoing.rendered = long(&rig);
    fake.script(Script::Fail {
        retcode: 1404,
        message: "unknown action".into(),
    });
    rig.qq.send(outgoing.clone()).await.expect("sent");
    let replies = fake.replies();
    let delivered: Vec<String> = replies
        .iter()
        .filter(|reply| reply.delivered())
        .map(|reply| reply.text())
        .collect();
    assert!(delivered.len() > 5);
    assert!(delivered.iter().all(|text| text.chars().count() <= 1_500));
    assert_eq!(
        delivered.concat().replace('\n', ""),
        outgoing.rendered.text.replace('\n', "")
    );
    // What nobody knows is not sent another way.
    fake.script(Script::TimeOut);
    let unknown = rig.qq.send(outgoing).await;
    assert!(
        matches!(unknown, Err(SendError::Ambiguous(_))),
        "{unknown:?}"
    );
    assert_eq!(fake.replies().len(), replies.len() + 1);
    rig.stop().await;
}
