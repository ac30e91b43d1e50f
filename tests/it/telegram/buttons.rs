//! Questions with buttons, through the real gateway: who may press, what a press does once, and what it does not.

use serde_json::Value;
use weirgate_testkit::{
    model::FakeModel,
    telegram::{BOT, Message, Standing},
};

use super::{whole::gateway, *};
use crate::gateway::{Gateway, LIMIT, rows, until};

const OWNER: i64 = 20_001;
const ADMIN: i64 = 20_002;
const MEMBER: i64 = 20_003;

/// A gateway in a group in which its bot is an administrator.
async fn group(fake: &FakeTelegram) -> (FakeModel, Gateway) {
    for (user, standing) in [
        (BOT, Standing::Administrator),
        (OWNER, Standing::Creator),
        (ADMIN, Standing::Administrator),
        (MEMBER, Standing::Member),
    ] {
        fake.member(GROUP, user, standing);
    }
    gateway(fake, json!({})).await
}

/// What the gateway answers to a command in the group.
async fn said(fake: &FakeTelegram, user: i64, text: &str) -> Message {
    fake.say(GROUP, user, text, &Value::Null);
    let message = fake.next_message(LIMIT).await;
    message.expect("an answer in time")
}

/// The data of the button whose label begins so.
fn button(message: &Message, label: &str) -> String {
    let found = message
        .buttons
        .iter()
        .find(|(text, _)| text.starts_with(label));
    found.expect("it has this button").1.clone()
}

/// How many buttons stand under a message now.
fn buttons(fake: &FakeTelegram, id: i64) -> usize {
    let messages = fake.messages();
    let message = messages.iter().find(|message| message.id == id);
    message.expect("it is there").buttons.len()
}

/// Whether something becomes true in time.
pub(super) async fn eventually(condition: impl AsyncFn() -> bool) -> bool {
    let look = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, look).await.is_ok()
}

/// What whoever pressed was shown; the `count`-th answer to a press.
async fn alert(fake: &FakeTelegram, count: usize) -> String {
    let shown = fake.pressed(count, LIMIT).await;
    let (_, text, alert) = shown.get(count - 1).expect("an answer").clone();
    assert!(alert || text.is_empty(), "{text}");
    text
}

#[tokio::test]
async fn what_was_tried_out_is_done_by_one_press_of_who_may() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (_model, mut gateway) = group(&fake).await;
    let question = said(&fake, ADMIN, "/ban 20003 7d --dry-run spam").await;
    assert!(
        question
            .text
            .starts_with("Would ban 20003 for 7d. Nothing was done.\n("),
        "{}",
        question.text
    );
    assert_eq!(question.buttons.len(), 2);
    let (yes, no) = (button(&question, "Yes"), button(&question, "No"));
    // Somebody who may not is told so alone, and nothing happens.
    fake.press(GROUP, MEMBER, question.id, &yes);
    assert_eq!(
        alert(&fake, 1).await,
        "That is for somebody else to answer."
    );
    fake.press(GROUP, MEMBER, question.id, &no);
    assert_eq!(
        alert(&fake, 2).await,
        "That is for somebody else to answer."
    );
    assert!(fake.calls("banChatMember").is_empty());
    // Two at once: one ban, and the other one is told.
    fake.press(GROUP, OWNER, question.id, &yes);
    fake.press(GROUP, ADMIN, question.id, &yes);
    let told = fake.next_message(LIMIT).await.expect("an answer");
    assert_eq!(told.text, "20003 is banned for 7d. Reason: spam");
    let shown = fake.pressed(4, LIMIT).await;
    let late: Vec<&String> = shown[2..].iter().map(|(_, text, _)| text).collect();
    assert!(
        late.iter().any(|text| text.is_empty())
            && late.iter().any(|text| *text == "That was answered before."),
        "{late:?}"
    );
    assert_eq!(fake.calls("banChatMember").len(), 1);
    assert!(until(|| buttons(&fake, question.id) == 0).await, "they go");
    assert_eq!(gateway.counted("pending_closed").await, 1);
    assert_eq!(fake.violations(), Vec::<String>::new());
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    let count = |event: &str| audit.iter().filter(|row| row.contains(event)).count();
    assert_eq!(
        (count("user_banned"), count("permission_denied")),
        (1, 2),
        "{audit:?}"
    );
}

#[tokio::test]
async fn a_question_is_answered_after_a_crash() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (_model, mut gateway) = group(&fake).await;
    let question = said(&fake, ADMIN, "/mute 20003 10m dry").await;
    gateway.kill().await;
    gateway.up().await;
    fake.press(GROUP, ADMIN, question.id, &button(&question, "Yes"));
    // The question itself may come again: nobody knew whether it had arrived.
    let mut told = fake.next_message(LIMIT).await.expect("an answer");
    if told.text == question.text {
        told = fake.next_message(LIMIT).await.expect("an answer");
    }
    assert_eq!(told.text, "20003 is muted for 10m.");
    let mutes = fake.calls("restrictChatMember").len();
    fake.press(GROUP, ADMIN, question.id, &button(&question, "Yes"));
    assert_eq!(alert(&fake, 2).await, "That was answered before.");
    assert_eq!((mutes, fake.calls("restrictChatMember").len()), (1, 1));
}

#[tokio::test]
async fn a_press_is_believed_nothing() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (_model, gateway) = group(&fake).await;
    let question = said(&fake, ADMIN, "/kick 20003 dry").await;
    let yes = button(&question, "Yes");
    let mut parts: Vec<&str> = yes.split('/').collect();
    parts[2] = "00000000";
    let other_hash = parts.join("/");
    let other_answer = yes.replace("/yes", "/all");
    for (count, (data, says)) in (1..).zip([
        ("nonsense", "Nothing of that name"),
        ("/kick 20003", "Nothing of that name"),
        ("p/0000/00000000/yes", "Nothing of that name"),
        (&*other_hash, "Nothing of that name"),
        (&*other_answer, "Which?"),
    ]) {
        fake.press(GROUP, OWNER, question.id, data);
        let told = alert(&fake, count).await;
        assert!(told.starts_with(says), "{data}: {told}");
    }
    // In another conversation there is no such thing, whoever asks.
    fake.press(7, 7, 1, &yes);
    assert!(alert(&fake, 6).await.starts_with("Nothing of that name"));
    // Data that no button can have is no press.
    fake.press(GROUP, OWNER, question.id, &"p".repeat(65));
    assert!(fake.calls("banChatMember").is_empty());
    fake.press(GROUP, OWNER, question.id, &yes);
    let told = fake.next_message(LIMIT).await.expect("an answer");
    assert_eq!(told.text, "20003 was removed.");
    // Whoever can no longer be told alone is not told before all.
    let late = fake.press(GROUP, MEMBER, question.id, &yes);
    fake.outdate(&late);
    let gave_up = async || gateway.counted("reply_expired").await == 1;
    assert!(eventually(gave_up).await, "the alert is given up");
    assert_eq!(
        fake.messages().iter().filter(|it| it.chat == GROUP).count(),
        2
    );
}

#[tokio::test]
async fn what_nobody_answers_in_time_is_not_done() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (_model, gateway) = group(&fake).await;
    said(&fake, OWNER, "/policy approval_time 1s").await;
    let question = said(&fake, ADMIN, "/kick 20003 dry").await;
    let told = fake.next_message(LIMIT).await.expect("a notice");
    assert!(
        told.text
            .ends_with("nobody answered in time. Not done: kick 20003."),
        "{}",
        told.text
    );
    assert!(until(|| buttons(&fake, question.id) == 0).await, "they go");
    fake.press(GROUP, ADMIN, question.id, &button(&question, "Yes"));
    let text = alert(&fake, 1).await;
    assert!(text.starts_with("Too late"), "{text}");
    assert_eq!(gateway.counted("pending_expired").await, 1);
    assert!(fake.calls("banChatMember").is_empty());
}

#[tokio::test]
async fn four_eyes_are_those_of_two_people() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (_model, _gateway) = group(&fake).await;
    said(&fake, OWNER, "/policy four_eyes on").await;
    let question = said(&fake, OWNER, "/mute 20003 dry").await;
    let yes = button(&question, "Yes");
    fake.press(GROUP, OWNER, question.id, &yes);
    let text = alert(&fake, 1).await;
    assert!(text.ends_with("(four eyes)."), "{text}");
    fake.press(GROUP, ADMIN, question.id, &yes);
    let told = fake.next_message(LIMIT).await.expect("an answer");
    assert_eq!(told.text, "20003 is muted for 1h.");
    // Who asked may take it back.
    let question = said(&fake, OWNER, "/kick 20003 dry").await;
    fake.press(GROUP, OWNER, question.id, &button(&question, "No"));
    let told = fake.next_message(LIMIT).await.expect("an answer");
    assert_eq!(told.text, "Not done: kick 20003. The answer is no.");
}

#[tokio::test]
async fn the_bot_leaves_when_an_owner_confirms_it() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (_model, mut gateway) = group(&fake).await;
    let told = said(&fake, ADMIN, "/leave").await;
    assert!(told.text.contains("Only an owner"), "{}", told.text);
    let question = said(&fake, OWNER, "/leave").await;
    fake.press(GROUP, OWNER, question.id, &button(&question, "Yes"));
    assert!(until(|| fake.left() == [GROUP]).await, "it is gone");
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    let left = audit
        .iter()
        .any(|row| row.contains("conversation_left") && row.contains("done"));
    assert!(left, "{audit:?}");
}
