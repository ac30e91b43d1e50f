//! What people say arrives, and answers reach them, word for word.

use serde_json::{Value, json};
use weirgate_qq::settings::Reply as ReplyStyle;
use weirgate_sdk::{
    Adapter, Segment,
    answer::{Block, Inline},
};
use weirgate_testkit::onebot::{self, FakeOneBot, Options, Target};

use super::*;

#[tokio::test]
async fn a_question_in_a_group_is_answered_with_a_quote() {
    for strings in [false, true] {
        let rig = Rig::start(settings()).await;
        let options = Options {
            strings,
            ..Options::default()
        };
        let fake = rig.connect_with(options).await.expect("connects");
        let id = fake
            .send_group(30_001, 20_001, "在吗 [CQ:at,qq=all] &amp;", true)
            .await;
        let message = rig.ingress.next_message(LIMIT).await.expect("a message");
        assert_eq!(message.own_text(), "在吗 [CQ:at,qq=all] &amp;");
        assert!(message.mentions_bot);
        assert_eq!(message.sender.key.id.as_str(), "20001");
        assert_eq!(message.id.as_str(), id.to_string());

        let answer = outgoing(
            message.conversation.conversation.as_str(),
            "在",
            Some((message.id.as_str(), message.sender.key.id.as_str())),
        );
        let sent = rig.qq.send(answer).await.expect("sent");
        let reply = fake.next_reply(LIMIT).await.expect("a reply");
        assert_eq!(reply.target, Target::Group("30001".into()));
        assert_eq!(
            (reply.text(), reply.quotes()),
            ("在".into(), Some(json!(id)))
        );
        assert_eq!(
            sent.message.expect("an id").as_str(),
            reply.message_id.to_string()
        );
        rig.stop().await;
    }
}

#[tokio::test]
async fn codes_in_an_answer_reach_people_as_text() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    let text = "[CQ:at,qq=all] 注意 [CQ:image,file=file:///etc/hostname]";
    let blocks = [Block::Paragraph(vec![Inline::Text(text.into())])];
    let rendered = rig.qq.render().render(&blocks);
    let mut answer = outgoing("g30001", "", None);
    answer.rendered = rendered;
    rig.qq.send(answer).await.expect("sent");
    let reply = fake.next_reply(LIMIT).await.expect("a reply");
    assert_eq!(reply.segments, [onebot::text(text)]);
    rig.stop().await;
}

#[tokio::test]
async fn ids_go_back_exactly_as_they_came() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    for id in [
        json!(-912345678),
        json!(1712345678901_i64),
        json!("7301234567890123456"),
    ] {
        fake.raw(json!({
            "post_type": "message", "message_type": "group", "sub_type": "normal", "time": 1,
            "self_id": BOT.to_string(), "user_id": "20001", "group_id": "30001", "message_id": id,
            "message": "x", "sender": { "user_id": 20001 },
        }))
        .await;
        let message = rig.ingress.next_message(LIMIT).await.expect("a message");
        let conversation = message.conversation.conversation.as_str();
        let answer = outgoing(conversation, "y", Some((message.id.as_str(), "20001")));
        rig.qq.send(answer).await.expect("sent");
        let reply = fake.next_reply(LIMIT).await.expect("a reply");
        assert_eq!(reply.quotes(), Some(id));
        assert_eq!(reply.params["group_id"], 30_001);
    }
    rig.stop().await;
}

#[tokio::test]
async fn a_private_chat_and_a_mention_are_addressed_right() {
    let rig = Rig::start(Settings {
        reply: ReplyStyle::Mention,
        ..settings()
    })
    .await;
    let fake = rig.connect().await;
    fake.send_private(20_001, "hi").await;
    let message = rig.ingress.next_message(LIMIT).await.expect("a message");
    rig.say(message.conversation.conversation.as_str(), "hello")
        .await
        .expect("sent");
    let reply = fake.next_reply(LIMIT).await.expect("a reply");
    assert_eq!(
        reply.target,
        Target::Private {
            user: "20001".into(),
            group: None
        }
    );
    rig.qq
        .send(outgoing("g30001", "hello", Some(("5", "20001"))))
        .await
        .expect("sent");
    assert_eq!(
        fake.next_reply(LIMIT).await.expect("a reply").mentions(),
        ["20001"]
    );
    rig.say("t30001:20001", "hello").await.expect("sent");
    let reply = fake.next_reply(LIMIT).await.expect("a reply");
    let through = Target::Private {
        user: "20001".into(),
        group: Some("30001".into()),
    };
    assert_eq!(reply.target, through);
    rig.stop().await;
}

#[tokio::test]
async fn a_reply_to_the_bots_own_message_is_known() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    rig.say("g30001", "asked?").await.expect("sent");
    let own = fake.next_reply(LIMIT).await.expect("a reply").message_id;
    for (id, known) in [(own, Some(true)), (own + 500, None)] {
        let segments = [onebot::reply_to(id), onebot::text("yes")];
        fake.send_segments(Some(30_001), 20_001, &segments).await;
        let message = rig.ingress.next_message(LIMIT).await.expect("a message");
        assert_eq!(message.reply_to.expect("a reply").to_bot, known);
    }
    rig.stop().await;
}

#[tokio::test]
async fn odd_frames_leave_the_connection_up() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    for frame in [
        "",
        "{",
        "[]",
        "7",
        "null",
        "{}",
        "\u{0}",
        r#"{"post_type":{}}"#,
    ] {
        fake.raw_text(frame).await;
    }
    fake.raw(json!({ "status": "ok", "retcode": 0, "echo": "not ours" }))
        .await;
    fake.raw(json!({
        "post_type": "notice", "notice_type": "notify", "sub_type": "input_status", "user_id": 1,
        "self_id": BOT, "time": 3,
    }))
    .await;
    fake.raw(json!({ "post_type": "message_sent", "user_id": BOT, "message": "own" }))
        .await;
    fake.send_segments(
        None,
        20_001,
        &[json!({ "type": "mface2" }), onebot::text("still here")],
    )
    .await;
    let message = rig.ingress.next_message(LIMIT).await.expect("a message");
    let expected = [
        Segment::Placeholder("mface2".into()),
        Segment::Text("still here".into()),
    ];
    assert_eq!(message.segments, expected);
    assert_eq!(texts(&rig.ingress.accepted()), ["still here"]);
    assert!(fake.is_connected());
    rig.stop().await;
}

#[tokio::test]
async fn the_fake_obeys_codes_in_strings_and_refuses_bad_calls() {
    use futures_util::{SinkExt, StreamExt};
    use tokio_tungstenite::tungstenite::Message;

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("binds");
    let url = format!("ws://{}/", listener.local_addr().expect("bound"));
    let connect = FakeOneBot::connect(&url, BOT, None);
    let accept = async {
        let (stream, _) = listener.accept().await.expect("accepts");
        tokio_tungstenite::accept_async(stream)
            .await
            .expect("upgrades")
    };
    let (fake, mut socket) = tokio::join!(connect, accept);
    let fake = fake.expect("connects");
    for (call, retcode) in [
        (
            json!({ "action": "send_group_msg", "params": { "group_id": 1, "message": "[CQ:at,qq=all]" } }),
            0,
        ),
        (
            json!({ "action": "send_group_msg", "params": { "group_id": "undefined", "message": "x" } }),
            1400,
        ),
        (
            json!({ "action": "send_private_msg", "params": { "user_id": 1, "message": [] } }),
            1400,
        ),
        (json!({ "action": "get_login_info", "params": {} }), 0),
        (json!({ "action": "dance", "params": {} }), 1404),
    ] {
        socket
            .send(Message::text(call.to_string()))
            .await
            .expect("sent");
        let answer = loop {
            let frame = socket.next().await.expect("open").expect("a frame");
            let frame: Value = serde_json::from_str(frame.to_text().expect("text")).expect("JSON");
            if frame.get("retcode").is_some() {
                break frame;
            }
        };
        assert_eq!(answer["retcode"], retcode, "{call}");
    }
    let reply = fake.next_reply(LIMIT).await.expect("a reply");
    assert_eq!(reply.mentions(), Vec::<String>::new(), "all is nobody");
    assert_eq!(reply.segments[0]["type"], "at");
}

#[tokio::test]
async fn what_a_question_answers_comes_with_it() {
    let fake = FakeOneBot::listen(BOT, Options::default()).await;
    let rig = Rig::reach(with(Transport::Forward {
        url: fake.url().to_owned(),
    }));
    rig.is(&Connection::Up).await;
    let here = fake.past(Some(30_001), 20_002, "the text in question", 60);
    let elsewhere = fake.past(Some(30_002), 20_002, "a secret of another group", 60);
    let ask = async |id: i64, at_bot: bool| {
        let mut segments = vec![onebot::reply_to(id)];
        if at_bot {
            segments.push(onebot::at(BOT));
        }
        segments.push(onebot::text(" translate this"));
        fake.send_segments(Some(30_001), 20_001, &segments).await;
        rig.ingress.next_message(LIMIT).await.expect("a message")
    };
    let quote = Segment::Quote("user 20002: the text in question".into());
    let message = ask(here, true).await;
    assert_eq!(message.segments[0], quote);
    assert_eq!(message.own_text().trim(), "translate this");
    // Another conversation's words, words that are gone, and a message that is not for the bot.
    for (id, at_bot) in [(elsewhere, true), (here + 500, true), (here, false)] {
        let message = ask(id, at_bot).await;
        let quoted = |segment: &Segment| matches!(segment, Segment::Quote(_));
        assert!(
            !message.segments.iter().any(quoted),
            "{:?}",
            message.segments
        );
    }
    rig.stop().await;
}
