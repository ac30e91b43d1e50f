//! Commands from the platform's own menu: offered, acknowledged in time, and answered where they were given.

use weirgate_sdk::{FieldKind, Menu, MenuCommand, MenuField, MenuLanguage, Via};
use weirgate_testkit::discord::{Fault, SERVER};

use super::*;

fn answer_to(rig: &Rig, question: &InboundMessage, id: i64, text: &str) -> Outgoing {
    Outgoing {
        answers: vec![question.id.clone()],
        reply_context: question.reply_context.clone(),
        ..rig.outgoing(&question.conversation, id, text)
    }
}

async fn pressed(rig: &Rig) -> (u64, InboundMessage) {
    let id = rig
        .fake
        .slash(CHANNEL, 7, "ping", &Value::Null, &Value::Null);
    (id, rig.heard().await)
}

#[tokio::test]
async fn a_command_is_what_somebody_would_have_typed() {
    let rig = Rig::start().await;
    let options = json!([
        { "name": "user", "type": 6, "value": "8" },
        { "name": "text", "type": 3, "value": "1h he and <@9> spam" },
    ]);
    let resolved = json!({
        "users": { "8": { "id": "8", "username": "bob" } }, "members": { "8": { "nick": "Bob" } },
    });
    let data =
        json!({ "id": "77", "name": "mute", "type": 1, "options": options, "resolved": resolved });
    let changes = json!({ "data": data });
    let id = rig.fake.slash(THREAD, 7, "mute", &options, &changes);
    let heard = rig.heard().await;
    assert_eq!(heard.own_text(), "/mute @Bob 1h he and @9 spam");
    assert_eq!(heard.conversation, place(CHANNEL, Some(THREAD)));
    assert_eq!((heard.via, heard.id), (Via::Command, id.to_string().into()));
    assert_eq!(
        (heard.sender.key.id.as_str(), &*heard.sender.name),
        ("7", "user 7")
    );
    let context = heard.reply_context.expect("it can be answered");
    assert!(context.expires_at.is_some() && context.data.len() < 1_024);
    rig.fake
        .slash(direct(7), 7, "ping", &Value::Null, &Value::Null);
    let heard = rig.heard().await;
    assert_eq!(
        (heard.own_text().as_str(), heard.chat),
        ("/ping", weirgate_sdk::ChatKind::Private)
    );
    rig.ended().await;
}

#[tokio::test]
async fn the_answer_takes_the_place_of_thinking_and_its_rest_follows_as_messages() {
    let rig = Rig::start().await;
    let (id, question) = pressed(&rig).await;
    let answer = answer_to(&rig, &question, 1, "@everyone pong");
    // The connection breaks behind the first attempt: the second one is the same answer.
    rig.fake.fail("edit answer", Fault::Lost);
    let lost = rig.bot.send(answer.clone()).await;
    assert!(matches!(lost, Err(SendError::Ambiguous(_))), "{lost:?}");
    let sent = rig.bot.send(answer.clone()).await.expect("sent");
    let rest = Outgoing {
        part: 1,
        parts: 2,
        ..answer
    };
    rig.bot.send(rest).await.expect("sent");
    let messages = rig.fake.messages();
    assert_eq!(messages.len(), 2);
    assert_eq!(
        (messages[0].interaction, messages[0].private),
        (Some(id), false)
    );
    assert_eq!(sent.message, Some(messages[0].id.to_string().into()));
    assert_eq!(
        (messages[1].interaction, messages[1].nonce.is_empty()),
        (None, false)
    );
    assert_eq!(rig.fake.calls("acknowledge").len(), 1);
    rig.ended().await;
}

#[tokio::test]
async fn a_refusal_is_seen_by_its_person_alone() {
    let rig = Rig::start().await;
    let (id, question) = pressed(&rig).await;
    for part in 0..2 {
        let answer = Outgoing {
            private: true,
            part,
            parts: 2,
            ..answer_to(&rig, &question, 1, "no")
        };
        rig.bot.send(answer).await.expect("sent");
    }
    let messages = rig.fake.messages();
    assert!(
        messages.len() == 2 && messages.iter().all(|message| message.private),
        "{messages:?}"
    );
    assert!(!rig.fake.is_shown(id), "nothing is left for the others");
    rig.ended().await;
}

#[tokio::test]
async fn what_cannot_be_answered_any_more_is_answered_by_a_message() {
    let rig = Rig::start().await;
    let (id, question) = pressed(&rig).await;
    assert!(rig.fake.shows(id, LIMIT).await, "the first sign");
    rig.fake.expire(id);
    let late = rig.bot.send(answer_to(&rig, &question, 1, "late")).await;
    assert!(late.is_ok(), "{late:?}");
    // The first sign was refused: nobody waits for it.
    rig.fake.fail("acknowledge", Fault::code(404, 10_062));
    let (_, question) = pressed(&rig).await;
    rig.bot
        .send(answer_to(&rig, &question, 2, "early"))
        .await
        .expect("sent");
    let of: Vec<_> = rig
        .fake
        .messages()
        .into_iter()
        .map(|message| (message.text, message.interaction))
        .collect();
    assert_eq!(of, [("late".to_owned(), None), ("early".to_owned(), None)]);
    assert_eq!(rig.fake.calls("edit answer").len(), 1);
    rig.ended().await;
}

#[tokio::test]
async fn a_sign_that_is_lost_is_given_again_and_one_that_ends_without_an_answer_is_taken_back() {
    let rig = Rig::start().await;
    for fault in [Fault::Lost, Fault::Status(502, String::new())] {
        rig.fake.fail("acknowledge", fault);
    }
    let (id, question) = pressed(&rig).await;
    rig.bot
        .send(answer_to(&rig, &question, 1, "pong"))
        .await
        .expect("sent");
    assert_eq!(rig.fake.messages()[0].interaction, Some(id));
    let (id, question) = pressed(&rig).await;
    assert!(rig.fake.shows(id, LIMIT).await);
    rig.bot.ended(&question.conversation, &[question.id]);
    assert!(rig.fake.settled(id, LIMIT).await);
    assert_eq!(rig.fake.messages().len(), 1);
    rig.ended().await;
}

#[tokio::test]
async fn what_ends_before_its_first_sign_shows_none_afterwards() {
    let rig = Rig::start().await;
    rig.fake
        .fail("acknowledge", Fault::Status(502, String::new()));
    let (id, question) = pressed(&rig).await;
    rig.bot.ended(&question.conversation, &[question.id]);
    assert!(rig.fake.settled(id, LIMIT).await, "it is taken away");
    assert!(!rig.fake.is_shown(id));
    assert_eq!(rig.fake.calls("acknowledge").len(), 2);
    rig.ended().await;
}

fn with_menu() -> Setup {
    let field = |(name, kind, required): (&str, FieldKind, bool)| MenuField {
        name: name.to_owned(),
        about: name.to_owned(),
        kind,
        required,
    };
    let command = |name: &str, fields: Vec<(&str, FieldKind, bool)>| MenuCommand {
        name: name.to_owned(),
        about: "about".to_owned(),
        usage: String::new(),
        fields: fields.into_iter().map(field).collect(),
    };
    let ban = || {
        vec![
            ("user", FieldKind::Person, true),
            ("time", FieldKind::Span, false),
            ("reason", FieldKind::Words, false),
        ]
    };
    let language = |code| MenuLanguage {
        code,
        commands: vec![command("ban", ban()), command("ping", Vec::new())],
    };
    Setup {
        menu: Menu {
            languages: vec![language("en"), language("zh")],
        },
        ..setup()
    }
}

#[tokio::test]
async fn what_was_filled_in_stands_in_the_order_of_the_menu() {
    let fake = FakeDiscord::start(TOKEN).await;
    let bot = weirgate_discord::build(with_menu(), settings(&fake));
    let rig = Rig::of(fake, RecordingIngress::new(), bot);
    let menu = rig.fake.menu(None, LIMIT).await.expect("a menu");
    let ban = menu.iter().find(|command| command["name"] == "ban");
    let types: Vec<&Value> = ban.expect("there")["options"]
        .as_array()
        .expect("fields")
        .iter()
        .map(|option| &option["type"])
        .collect();
    assert_eq!(types, [6, 3, 3]);
    rig.is_up().await;
    // A reason in front of the time would make the ban one for good; one in its place would be a time.
    let options = json!([
        { "name": "reason", "type": 3, "value": "spam again" },
        { "name": "time", "type": 3, "value": "7d" },
        { "name": "user", "type": 6, "value": "8" },
    ]);
    let data = json!({
        "id": "77", "name": "ban", "type": 1, "options": options,
        "resolved": { "users": { "8": { "id": "8", "username": "bob" } } },
    });
    rig.fake
        .slash(CHANNEL, 7, "ban", &options, &json!({ "data": data }));
    assert_eq!(rig.heard().await.own_text(), "/ban @bob 7d -- spam again");
    for (field, written) in [
        ("time", "/ban @bob 7 days --"),
        ("reason", "/ban @bob -- 7 days"),
    ] {
        let options = json!([
            { "name": field, "type": 3, "value": "7 days" },
            { "name": "user", "type": 6, "value": "8" },
        ]);
        let data = json!({
            "id": "77", "name": "ban", "type": 1, "options": options,
            "resolved": { "users": { "8": { "id": "8", "username": "bob" } } },
        });
        rig.fake
            .slash(CHANNEL, 7, "ban", &options, &json!({ "data": data }));
        assert_eq!(rig.heard().await.own_text(), written);
    }
    // Whom the field for a person names is meant, and nobody whom a reason mentions.
    let options = json!([
        { "name": "reason", "type": 3, "value": "<@9> and <@!9> say <@so> <3" },
        { "name": "user", "type": 6, "value": "8" },
    ]);
    for name in ["ban", "forgotten"] {
        let data = json!({
            "id": "77", "name": name, "type": 1, "options": options,
            "resolved": { "users": {
                "8": { "id": "8", "username": "bob" }, "9": { "id": "9", "username": "ann" },
            } },
        });
        rig.fake
            .slash(CHANNEL, 7, name, &options, &json!({ "data": data }));
        let heard = rig.heard().await;
        let mentions = heard.segments.iter().filter_map(|segment| match segment {
            weirgate_sdk::Segment::Mention { user, .. } => Some(user.as_str()),
            _ => None,
        });
        assert_eq!(mentions.collect::<Vec<_>>(), ["8"], "{name}");
        assert!(heard.own_text().contains("@9 and @9 say <@so> <3"));
    }
    rig.ended().await;
}

#[tokio::test]
async fn the_menu_is_offered_when_it_is_another_one() {
    let fake = FakeDiscord::start(TOKEN).await;
    let everywhere = settings(&fake);
    let here = Settings {
        command_servers: [SERVER].into(),
        ..settings(&fake)
    };
    let start = |fake, settings| {
        let bot = weirgate_discord::build(with_menu(), settings);
        Rig::of(fake, RecordingIngress::new(), bot)
    };
    let rig = start(fake, everywhere.clone());
    let menu = rig.fake.menu(None, LIMIT).await.expect("a menu");
    assert_eq!(menu.len(), 2);
    assert_eq!(menu[0]["description_localizations"]["zh-CN"], "about");
    rig.is_up().await;
    let fake = rig.ended().await.0;
    fake.forget_session();
    // The same menu again, in another session.
    let rig = start(fake, everywhere);
    rig.is_up().await;
    assert!(rig.fake.called("menu", 2, LIMIT).await);
    rig.say("hi");
    rig.heard().await;
    assert_eq!(rig.fake.calls("set menu").len(), 1);
    let fake = rig.ended().await.0;
    fake.forget_session();
    let rig = start(fake, here);
    assert!(rig.fake.menu(Some(SERVER), LIMIT).await.is_some());
    assert_eq!(rig.fake.calls("set menu").len(), 3);
    assert_eq!(rig.fake.calls("set menu")[1], json!([]));
    rig.ended().await;
}
