//! The real gateway with bots of this platform.

use weirgate_testkit::{
    discord::{
        BOT, Fault, Message,
        guild::{OWNER, ROLE},
    },
    model::{FakeModel, Script},
};

use super::*;
use crate::gateway::{Gateway, LIMIT, until};

/// An account without limits that reaches the platform.
pub fn account(fake: &FakeDiscord, token: &str) -> Value {
    let off = json!({ "account_per_second": 0, "conversation_interval": 0 });
    json!({ "token": token, "api_url": fake.url(), "reconnect": 0.1, "limits": off })
}

pub async fn gateway(fake: &FakeDiscord, changes: Value) -> (FakeModel, Gateway) {
    let model = FakeModel::start().await;
    let accounts = json!({ "main": account(fake, TOKEN) });
    // Whole answers, so that the first that is seen of one is all of it.
    let whole = json!({ "platform_adaptation": { "strategy_by_platform": { "discord": "full" } } });
    let mut all = json!({ "platforms": { "discord": { "accounts": accounts } }, "output": whole });
    crate::gateway::merge(&mut all, changes);
    let gateway = Gateway::start(&model, all).await;
    // What is said before a session has begun is told to nobody.
    assert!(until(|| fake.sessions().0 > 0).await, "{}", gateway.log());
    (model, gateway)
}

async fn answer(fake: &FakeDiscord) -> Message {
    let message = fake.next_message(LIMIT).await;
    message.expect("an answer in time")
}

async fn ask(fake: &FakeDiscord, user: u64, text: &str) -> String {
    fake.say(direct(user), user, text, &Value::Null);
    answer(fake).await.text
}

#[tokio::test]
async fn people_and_channels_are_answered_where_they_asked() {
    let fake = FakeDiscord::start(TOKEN).await;
    let (model, gateway) = gateway(&fake, json!({})).await;
    assert_eq!(ask(&fake, 7, "/ping").await, "pong");
    assert_eq!(ask(&fake, 7, "hello").await, "re: hello");
    model.push(Script::answer("**bold** and `code` <@1>"));
    fake.say(direct(7), 7, "form", &Value::Null);
    assert_eq!(answer(&fake).await.text, r"**bold** and `code` \<@1\>");
    // In a server only who means it.
    fake.say(CHANNEL, 7, "nobody is meant", &Value::Null);
    let mention = json!({ "mentions": [{ "id": BOT.to_string(), "username": "weir" }] });
    let question = fake.say(THREAD, 7, &format!("<@{BOT}> are you there"), &mention);
    let reply = answer(&fake).await;
    assert_eq!(reply.text, "re: user 7: are you there");
    assert_eq!((reply.channel, reply.reply_to), (THREAD, Some(question)));
    fake.say(CHANNEL, 7, &format!("<@{BOT}> /ping"), &mention);
    let pong = answer(&fake).await;
    assert_eq!((&*pong.text, pong.channel), ("pong", CHANNEL));
    let replied = json!({
        "type": 19, "message_reference": { "message_id": pong.id.to_string() },
        "referenced_message": { "id": pong.id.to_string(), "content": "pong", "author": { "id": BOT.to_string() } },
    });
    fake.say(CHANNEL, 7, "and now", &replied);
    assert_eq!(answer(&fake).await.text, "re: user 7: and now");
    let ready = gateway.get("/readyz").await.body;
    assert!(ready.contains("\"discord/main\":\"up\""), "{ready}");
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn two_bots_hear_and_answer_for_themselves() {
    let other = "MTAwMDI.TEST.other_value";
    let (one, two) = (
        FakeDiscord::start(TOKEN).await,
        FakeDiscord::start(other).await,
    );
    let second =
        json!({ "platforms": { "discord": { "accounts": { "second": account(&two, other) } } } });
    let (_model, _gateway) = gateway(&one, second).await;
    assert!(until(|| two.sessions().0 > 0).await);
    assert_eq!(ask(&one, 7, "/ping").await, "pong");
    assert_eq!(ask(&two, 7, "/ping").await, "pong");
}

#[tokio::test]
async fn what_was_said_while_the_gateway_was_dead_is_answered_once() {
    let fake = FakeDiscord::start(TOKEN).await;
    let (model, mut gateway) = gateway(&fake, json!({})).await;
    assert_eq!(ask(&fake, 7, "one").await, "re: one");
    for (word, is_over) in [("two", false), ("three", true)] {
        gateway.kill().await;
        if is_over {
            fake.forget_session();
        }
        fake.say(direct(7), 7, word, &Value::Null);
        gateway.up().await;
        assert_eq!(answer(&fake).await.text, format!("re: {word}"));
    }
    assert_eq!(model.count(), 3);
    // The key of a repeated send keeps every answer single.
    assert_eq!(fake.messages().len(), 3);
    assert_eq!(fake.sessions(), (2, 1));
}

#[tokio::test]
async fn a_lost_send_is_repeated_and_seen_once() {
    let fake = FakeDiscord::start(TOKEN).await;
    let (_model, _gateway) = gateway(&fake, json!({})).await;
    fake.fail("send", Fault::Lost);
    assert_eq!(ask(&fake, 7, "/ping").await, "pong");
    assert!(until(|| fake.calls("send").len() == 2).await);
    assert_eq!(ask(&fake, 7, "hello").await, "re: hello");
    assert_eq!(fake.messages().len(), 2);
}

#[tokio::test]
async fn an_answer_waits_for_the_end_of_a_pause_and_others_do_not() {
    let fake = FakeDiscord::start(TOKEN).await;
    let (_model, _gateway) = gateway(&fake, json!({})).await;
    assert_eq!(ask(&fake, 8, "/ping").await, "pong");
    fake.fail("send", Fault::flood(2.0, false));
    let begun = std::time::Instant::now();
    fake.say(direct(7), 7, "slow", &Value::Null);
    assert!(until(|| fake.calls("send").len() >= 2).await);
    assert_eq!(ask(&fake, 8, "/ping").await, "pong");
    assert_eq!(answer(&fake).await.text, "re: slow");
    assert!(begun.elapsed() >= Duration::from_secs(2));
    assert_eq!(fake.messages().len(), 3);
}

#[tokio::test]
async fn the_token_is_in_no_log_whatever_goes_wrong() {
    let fake = FakeDiscord::start(TOKEN).await;
    let changes = json!({ "observability": { "log": { "level": "trace" } } });
    let (_model, mut gateway) = gateway(&fake, changes).await;
    for fault in [
        Fault::Status(301, String::new()),
        Fault::Status(403, "<html>".into()),
    ] {
        let before = fake.calls("send").len();
        fake.fail("send", fault);
        fake.say(direct(7), 7, "/ping", &Value::Null);
        assert!(
            until(|| fake.calls("send").len() > before).await,
            "{}",
            gateway.log()
        );
    }
    fake.reachable(false);
    gateway.logged("not connected").await;
    fake.reachable(true);
    assert!(until(|| fake.sessions().1 > 0).await);
    assert_eq!(ask(&fake, 8, "/ping").await, "pong");
    gateway.term().await;
    assert!(
        !gateway.log().contains("secret_value"),
        "the token was logged"
    );
}

#[tokio::test]
async fn the_menu_and_typed_words_lead_to_the_same_command() {
    let fake = FakeDiscord::start(TOKEN).await;
    let (_model, gateway) = gateway(&fake, json!({})).await;
    let menu = fake.menu(None, LIMIT).await.expect("a menu");
    let of = |name: &str| menu.iter().find(|command| command["name"] == name);
    assert_eq!(of("kick").expect("there")["options"][0]["type"], 6);
    assert!(of("status").expect("there")["description_localizations"]["zh-CN"].is_string());
    let pressed = fake.slash(CHANNEL, 7, "ping", &Value::Null, &Value::Null);
    let pong = answer(&fake).await;
    assert_eq!(
        (&*pong.text, pong.interaction, pong.private),
        ("pong", Some(pressed), false)
    );
    // Refused: nobody else reads it, and nobody sees "thinking" any more.
    let whom = json!([{ "name": "user", "type": 6, "value": "8" }]);
    let refused = fake.slash(CHANNEL, 7, "kick", &whom, &Value::Null);
    let no = answer(&fake).await;
    assert!(no.private && no.interaction == Some(refused), "{no:?}");
    assert!(!fake.is_shown(refused));
    // Whoever was told so just now is not told again, and no "thinking" is left.
    for _ in 0..6 {
        let pressed = fake.slash(CHANNEL, 7, "kick", &whom, &Value::Null);
        assert!(fake.settled(pressed, LIMIT).await, "{}", gateway.log());
        assert!(!fake.is_shown(pressed));
    }
    assert!(
        fake.messages()
            .iter()
            .skip(1)
            .all(|message| message.private)
    );
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn who_is_banned_for_a_time_is_let_in_by_the_gateway_and_a_reason_is_no_time() {
    let fake = FakeDiscord::start(TOKEN).await;
    fake.join(8, &[ROLE]);
    let (_model, _gateway) = gateway(&fake, json!({})).await;
    let slash = async |name: &str, field: Option<(&str, &str)>| {
        let mut options = vec![json!({ "name": "user", "type": 6, "value": "8" })];
        let field = field.map(|(name, value)| json!({ "name": name, "type": 3, "value": value }));
        options.extend(field);
        let resolved = json!({ "users": { "8": { "id": "8", "username": "bob" } } });
        let data = json!({ "id": "77", "name": name, "type": 1, "options": options, "resolved": resolved });
        fake.slash(CHANNEL, OWNER, name, &Value::Null, &json!({ "data": data }));
        answer(&fake).await.text
    };
    let told = slash("ban", Some(("time", "soon"))).await;
    assert!(told.contains("\"soon\" is not a time"), "{told}");
    assert_eq!(fake.standing(8), (true, false, false));
    let told = slash("ban", Some(("reason", "7 days of spam"))).await;
    assert_eq!(told, "bob is banned. Reason: 7 days of spam");
    assert_eq!(fake.standing(8), (false, true, false));
    assert_eq!(slash("unban", None).await, "bob may come back.");
    assert_eq!(fake.standing(8), (false, false, false));
    fake.join(8, &[ROLE]);
    let told = slash("ban", Some(("time", "1s"))).await;
    assert_eq!(told, "bob is banned for 1s.");
    assert_eq!(
        answer(&fake).await.text,
        "bob may come back: the time is over."
    );
    assert_eq!(fake.standing(8), (false, false, false));
    assert_eq!(fake.violations(), Vec::<String>::new());
}
