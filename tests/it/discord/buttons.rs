//! Questions with buttons: how they are shown, what a press becomes and is answered with, and through the real gateway
//! who may press and what a press does once.

use weirgate_sdk::{Button, ButtonStyle, PreviewStart, Via};
use weirgate_testkit::discord::{
    Fault, Message,
    guild::{ADMIN_ROLE, OWNER, ROLE},
};

use super::{whole::gateway, *};
use crate::gateway::{Gateway, rows, until};

const ADMIN: u64 = 20_002;
const MEMBER: u64 = 20_003;

pub(super) fn button(label: &str, id: &str) -> Button {
    Button {
        label: label.to_owned(),
        id: id.to_owned(),
        style: ButtonStyle::Positive,
    }
}

/// A question in the channel, and its number.
async fn question(rig: &Rig) -> u64 {
    let question = Outgoing {
        buttons: vec![button("Yes", "p/1/2/yes"), button("No", "p/1/2/no")],
        ..rig.outgoing(&place(CHANNEL, None), 1, "Really?")
    };
    rig.bot.send(question).await.expect("sent");
    rig.fake.messages().pop().expect("it is there").id
}

fn alone(rig: &Rig, press: &InboundMessage, id: i64) -> Outgoing {
    Outgoing {
        answers: vec![press.id.clone()],
        reply_context: press.reply_context.clone(),
        private: true,
        ..rig.outgoing(&press.conversation, id, "not yours")
    }
}

#[tokio::test]
async fn a_press_is_taken_at_once_and_leaves_the_question_as_it_is() {
    let rig = Rig::start().await;
    let asked = question(&rig).await;
    // The first sign is lost once, and given again.
    rig.fake.fail("acknowledge", Fault::Lost);
    let pressed = rig.fake.press(CHANNEL, 7, asked, "p/1/2/yes");
    let press = rig.heard().await;
    assert_eq!(
        (press.via, press.own_text().as_str()),
        (Via::Button, "p/1/2/yes")
    );
    assert!(rig.fake.settled(pressed, LIMIT).await, "the first sign");
    for part in 0..2 {
        let told = Outgoing {
            part,
            parts: 2,
            ..alone(&rig, &press, 2)
        };
        rig.bot.send(told).await.expect("sent");
    }
    let told = rig.fake.messages().split_off(1);
    assert!(
        told.len() == 2
            && told
                .iter()
                .all(|it| it.private && it.interaction == Some(pressed))
    );
    // Also a press that ends without an answer of its own.
    rig.fake.press(CHANNEL, 7, asked, "p/1/2/no");
    let press = rig.heard().await;
    rig.bot
        .ended(&press.conversation, std::slice::from_ref(&press.id));
    let open = Outgoing {
        private: false,
        ..alone(&rig, &press, 3)
    };
    rig.bot.send(open).await.expect("sent");
    let said = rig.fake.messages().pop().expect("a message");
    assert_eq!(
        (said.private, said.interaction, said.reply_to),
        (false, None, None)
    );
    assert_eq!(rig.fake.buttons(asked).len(), 2, "it stands there");
    assert_eq!(
        rig.fake.calls("delete answer").len() + rig.fake.calls("edit answer").len(),
        0
    );
    rig.ended().await;
}

#[tokio::test]
async fn who_can_no_longer_be_told_alone_is_not_told_before_all() {
    let rig = Rig::start().await;
    let asked = question(&rig).await;
    let pressed = rig.fake.press(CHANNEL, 7, asked, "p/1/2/yes");
    let press = rig.heard().await;
    assert!(rig.fake.settled(pressed, LIMIT).await);
    rig.fake.expire(pressed);
    let late = rig.bot.send(alone(&rig, &press, 2)).await;
    assert_eq!(late, Err(SendError::Expired));
    // The platform did not take the first sign: nothing can follow it.
    rig.fake.fail("acknowledge", Fault::code(404, 10_062));
    rig.fake.press(CHANNEL, 7, asked, "p/1/2/yes");
    let press = rig.heard().await;
    let never = rig.bot.send(alone(&rig, &press, 3)).await;
    assert_eq!(never, Err(SendError::Expired));
    assert_eq!(rig.fake.messages().len(), 1);
    rig.ended().await;
}

#[tokio::test]
async fn a_question_stands_where_its_answer_was_awaited() {
    let rig = Rig::start().await;
    let yes = || vec![button("Yes", "p/1/2/yes")];
    let id = rig
        .fake
        .slash(CHANNEL, 7, "leave", &Value::Null, &Value::Null);
    let command = rig.heard().await;
    let answer = Outgoing {
        buttons: yes(),
        private: false,
        ..alone(&rig, &command, 1)
    };
    rig.bot.send(answer).await.expect("sent");
    let shown = rig.fake.messages().pop().expect("an answer");
    assert_eq!((shown.interaction, shown.buttons.len()), (Some(id), 1));
    // What was shown before it was whole has buttons only at its end.
    let question = rig.fake.say(direct(7), 7, "/delete", &Value::Null);
    let place = rig.heard().await.conversation;
    let start = PreviewStart {
        conversation: place.clone(),
        turn: "t2".into(),
        attempt: 1,
        answers: vec![question.to_string().into()],
        reply_context: None,
    };
    let mut preview = rig
        .bot
        .streams()
        .expect("it can")
        .open(start)
        .await
        .expect("a preview");
    let words = Block::Paragraph(vec![Inline::Text("How".to_owned())]);
    preview.push(&[words]).await.expect("shown");
    assert_eq!(rig.fake.messages().pop().map(|it| it.buttons), Some(vec![]));
    let whole = Outgoing {
        turn: Some("t2".into()),
        buttons: yes(),
        ..rig.outgoing(&place, 2, "How much?")
    };
    let sent = rig
        .bot
        .send(whole)
        .await
        .expect("sent")
        .message
        .expect("a number");
    let shown = rig.fake.messages().pop().expect("an answer");
    assert_eq!((&*shown.text, shown.buttons.len()), ("How much?", 1));
    let buttons = rig.bot.buttons().expect("it can");
    assert_eq!(buttons.retire(&place, &sent).await, Ok(()));
    assert_eq!(rig.fake.buttons(shown.id), []);
    let gone = buttons.retire(&place, &"1".into()).await;
    assert!(matches!(gone, Err(SendError::Gone(_))), "{gone:?}");
    rig.ended().await;
}

#[tokio::test]
async fn what_no_button_of_ours_says_is_no_press() {
    let rig = Rig::start().await;
    let asked = question(&rig).await;
    rig.fake.press(CHANNEL, 7, asked, &"p".repeat(65));
    rig.fake.press(CHANNEL, 7, asked, "");
    let menu = json!({
        "id": "9", "application_id": "5", "type": 3, "token": "t", "channel_id": CHANNEL.to_string(),
        "data": { "component_type": 3, "custom_id": "p/1/2/yes", "values": ["x"] },
        "user": { "id": "7", "username": "ann" }, "message": { "id": asked.to_string() },
    });
    rig.fake.event("INTERACTION_CREATE", menu);
    rig.say("hi");
    assert_eq!(rig.heard().await.own_text(), "hi");
    assert_eq!(rig.fake.calls("acknowledge").len(), 0);
    rig.ended().await;
}

/// A gateway whose bot is in a server with an owner, an admin and a member.
async fn server(fake: &FakeDiscord) -> Gateway {
    fake.join(ADMIN, &[ADMIN_ROLE]);
    fake.join(MEMBER, &[ROLE]);
    gateway(fake, json!({})).await.1
}

/// What the gateway answers to words in the channel.
async fn said(fake: &FakeDiscord, user: u64, text: &str) -> Message {
    let roles: &[u64] = if user == ADMIN { &[ADMIN_ROLE] } else { &[] };
    let roles: Vec<String> = roles.iter().map(ToString::to_string).collect();
    fake.say(
        CHANNEL,
        user,
        text,
        &json!({ "member": { "roles": roles } }),
    );
    answer(fake).await
}

async fn answer(fake: &FakeDiscord) -> Message {
    let message = fake.next_message(LIMIT).await;
    message.expect("an answer in time")
}

/// The id of the button whose label begins so.
fn id_of(message: &Message, label: &str) -> String {
    let mut buttons = message.buttons.iter();
    let found = buttons.find(|(text, _)| text.starts_with(label));
    found.expect("it has this button").1.clone()
}

#[tokio::test]
async fn what_was_tried_out_is_done_by_one_press_of_who_may() {
    let fake = FakeDiscord::start(TOKEN).await;
    let mut gateway = server(&fake).await;
    let asked = said(&fake, ADMIN, "/ban 20003 2s --dry-run spam").await;
    assert!(
        asked.text.starts_with("Would ban 20003 for 2s."),
        "{}",
        asked.text
    );
    let (yes, no) = (id_of(&asked, "Yes"), id_of(&asked, "No"));
    for id in [&yes, &no] {
        fake.press(CHANNEL, MEMBER, asked.id, id);
        let told = answer(&fake).await;
        assert_eq!(told.text, "That is for somebody else to answer.");
        assert!(told.private);
    }
    // A client of his own making says what it likes.
    for (id, says) in [
        ("nonsense", "Nothing of that name"),
        (&*yes.replace("/yes", "/all"), "Which?"),
    ] {
        fake.press(CHANNEL, OWNER, asked.id, id);
        let told = answer(&fake).await;
        assert!(told.private && told.text.starts_with(says), "{}", told.text);
    }
    assert_eq!(fake.standing(MEMBER), (true, false, false));
    // Two at once: one ban, and the other one is told.
    fake.press(CHANNEL, OWNER, asked.id, &yes);
    fake.press(CHANNEL, ADMIN, asked.id, &yes);
    let mut told = [answer(&fake).await, answer(&fake).await];
    told.sort_by_key(|message| message.private);
    assert_eq!(told[0].text, "20003 is banned for 2s. Reason: spam");
    assert!(
        told[1].private && told[1].text == "That was answered before.",
        "{told:?}"
    );
    assert_eq!(fake.calls("ban").len(), 1);
    assert!(until(|| fake.buttons(asked.id).is_empty()).await, "they go");
    assert_eq!(fake.messages()[0].text, asked.text, "the words stay");
    // The platform does not end it, so the gateway does.
    assert!(
        until(|| !fake.standing(MEMBER).1).await,
        "{}",
        gateway.log()
    );
    assert_eq!(fake.violations(), Vec::<String>::new());
    gateway.term().await;
    let operator = "SELECT p.key || ' ' || details FROM audit JOIN person p ON p.id = operator WHERE event = 'user_banned'";
    let audit = rows(&gateway.database(), operator);
    assert!(
        audit.len() == 1 && audit[0].contains("20002") && audit[0].contains("approved_by"),
        "{audit:?}"
    );
}

#[tokio::test]
async fn a_question_is_answered_after_a_crash_and_not_too_late() {
    let fake = FakeDiscord::start(TOKEN).await;
    let mut gateway = server(&fake).await;
    let asked = said(&fake, ADMIN, "/mute 20003 10m dry").await;
    gateway.kill().await;
    gateway.up().await;
    fake.press(CHANNEL, ADMIN, asked.id, &id_of(&asked, "Yes"));
    assert_eq!(answer(&fake).await.text, "20003 is muted for 10m.");
    said(&fake, OWNER, "/policy approval_time 1s").await;
    let asked = said(&fake, ADMIN, "/kick 20003 dry").await;
    let told = answer(&fake).await;
    assert!(
        told.text
            .ends_with("nobody answered in time. Not done: kick 20003."),
        "{}",
        told.text
    );
    assert!(until(|| fake.buttons(asked.id).is_empty()).await, "they go");
    fake.press(CHANNEL, ADMIN, asked.id, &id_of(&asked, "Yes"));
    let told = answer(&fake).await;
    assert!(
        told.private && told.text.starts_with("Too late"),
        "{}",
        told.text
    );
    assert_eq!(fake.calls("kick").len(), 0);
    assert_eq!(fake.violations(), Vec::<String>::new());
}
