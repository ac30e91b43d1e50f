//! The real gateway with bots of this platform.

use serde_json::Value;
use weirgate_testkit::{
    model::{FakeModel, Script},
    telegram::{BOT_NAME, Fault, Message, Standing},
};

use super::*;
use crate::gateway::{Gateway, LIMIT, until};

/// An account without limits that reaches the service.
pub fn account(fake: &FakeTelegram, token: &str) -> Value {
    let off = json!({
        "account_per_second": 0, "conversation_interval": 0, "group_interval": 0,
    });
    json!({
        "token": token, "api_url": fake.url(), "poll_timeout": 1, "reconnect": 0.1, "limits": off,
    })
}

pub async fn gateway(fake: &FakeTelegram, changes: Value) -> (FakeModel, Gateway) {
    let model = FakeModel::start().await;
    let accounts = json!({ "main": account(fake, TOKEN) });
    let mut all = json!({ "platforms": { "telegram": { "accounts": accounts } } });
    crate::gateway::merge(&mut all, changes);
    let gateway = Gateway::start(&model, all).await;
    (model, gateway)
}

async fn answer(fake: &FakeTelegram) -> Message {
    let message = fake.next_message(LIMIT).await;
    message.expect("an answer in time")
}

async fn ask(fake: &FakeTelegram, user: i64, text: &str) -> String {
    fake.say(user, user, text, &Value::Null);
    answer(fake).await.text
}

#[tokio::test]
async fn people_and_groups_are_answered_where_they_asked() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (model, gateway) = gateway(&fake, json!({})).await;
    assert_eq!(ask(&fake, 7, "/ping").await, "pong");
    assert_eq!(ask(&fake, 7, "hello").await, "re: hello");
    model.push(Script::answer("**bold** and `code`"));
    fake.say(7, 7, "form", &Value::Null);
    let form = answer(&fake).await;
    assert_eq!(form.text, "bold and code");
    assert_eq!(form.entities.len(), 2);
    // In a group only who means it.
    fake.say(GROUP, 7, "nobody is meant", &in_topic(77));
    let mention = json!([{ "type": "mention", "offset": 0, "length": 1 + BOT_NAME.len() }]);
    let mut changes = in_topic(77);
    changes["entities"] = mention;
    let question = fake.say(GROUP, 7, &format!("@{BOT_NAME} are you there"), &changes);
    let reply = answer(&fake).await;
    assert_eq!(reply.text, "re: user 7: are you there");
    assert_eq!((reply.topic, reply.reply_to), (Some(77), Some(question)));
    fake.say(
        GROUP,
        7,
        &format!("/ping@{}", BOT_NAME.to_lowercase()),
        &Value::Null,
    );
    let pong = answer(&fake).await;
    assert_eq!((&*pong.text, pong.topic), ("pong", None));
    fake.say(GROUP, 7, "/ping@OtherBot", &Value::Null);
    let replied = json!({ "reply_to_message": {
        "message_id": pong.id, "from": { "id": weirgate_testkit::telegram::BOT, "is_bot": true } } });
    fake.say(GROUP, 7, "and now", &replied);
    assert_eq!(answer(&fake).await.text, "re: user 7: and now");
    let ready = gateway.get("/readyz").await.body;
    assert!(ready.contains("\"telegram/main\":\"up\""), "{ready}");
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn an_edit_takes_the_place_of_the_message_that_waits() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (model, gateway) = gateway(&fake, json!({})).await;
    model.push(Script::hang());
    fake.say(7, 7, "first", &Value::Null);
    model.wait_for(1).await;
    let waiting = fake.say(7, 7, "wrong", &Value::Null);
    fake.edit(7, 7, waiting, "right");
    while gateway.counted("edited").await == 0 {
        assert_eq!(ask(&fake, 8, "/ping").await, "pong");
    }
    fake.say(7, 7, "/stop", &Value::Null);
    while answer(&fake).await.text != "re: right" {}
    let said = model.requests().pop().expect("a request").body.to_string();
    assert!(!said.contains("wrong"), "{said}");
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn two_bots_hear_and_answer_for_themselves() {
    let (one, two) = (
        FakeTelegram::start(TOKEN).await,
        FakeTelegram::start("10002:TEST-other_value").await,
    );
    let second = json!({ "platforms": { "telegram": { "accounts": {
        "second": account(&two, "10002:TEST-other_value") } } } });
    let (_model, gateway) = gateway(&one, second).await;
    assert_eq!(ask(&one, 7, "/ping").await, "pong");
    assert_eq!(ask(&two, 7, "/ping").await, "pong");
    let ready = gateway.get("/readyz").await.body;
    assert!(ready.contains("\"telegram/second\":\"up\""), "{ready}");
}

#[tokio::test]
async fn what_was_said_while_the_gateway_was_dead_is_answered_once() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (model, mut gateway) = gateway(&fake, json!({})).await;
    assert_eq!(ask(&fake, 7, "/ping").await, "pong");
    assert_eq!(ask(&fake, 7, "one").await, "re: one");
    gateway.kill().await;
    fake.say(7, 7, "two", &Value::Null);
    // As if the last confirmation had been lost with the process.
    fake.repeat(7);
    gateway.up().await;
    // An answer whose receipt was not written comes once more; no question is asked twice.
    while answer(&fake).await.text != "re: two" {}
    assert_eq!(ask(&fake, 8, "/ping").await, "pong");
    assert_eq!(model.count(), 2);
    let all = fake.messages();
    let two = all.iter().filter(|message| message.text == "re: two");
    assert_eq!(two.count(), 1);
}

#[tokio::test]
async fn a_refused_entity_is_sent_again_as_plain_text_once() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (model, _gateway) = gateway(&fake, json!({})).await;
    let refusal = "Bad Request: can't parse entities: nobody knows why";
    fake.fail("sendMessage", Fault::refused(400, refusal));
    model.push(Script::answer("a **bold** word"));
    fake.say(7, 7, "form", &Value::Null);
    let plain = answer(&fake).await;
    assert_eq!(
        (plain.text.as_str(), plain.entities.len()),
        ("a **bold** word", 0)
    );
    assert_eq!(fake.calls("sendMessage").len(), 2);
}

#[tokio::test]
async fn an_answer_waits_for_the_end_of_a_flood_wait_and_others_do_not() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (_model, _gateway) = gateway(&fake, json!({})).await;
    assert_eq!(ask(&fake, 7, "/ping").await, "pong");
    fake.fail("sendMessage", Fault::Flood(2));
    let begun = std::time::Instant::now();
    fake.say(7, 7, "slow", &Value::Null);
    let asked = |calls: &[(String, Value)]| {
        let sends = calls.iter().filter(|(method, _)| method == "sendMessage");
        (sends.count() >= 2).then_some(())
    };
    assert!(fake.called(LIMIT, asked).await.is_some());
    assert_eq!(ask(&fake, 8, "/ping").await, "pong");
    assert_eq!(answer(&fake).await.text, "re: slow");
    assert!(begun.elapsed() >= Duration::from_secs(2));
    assert_eq!(fake.messages().len(), 3);
}

#[tokio::test]
async fn the_token_is_in_no_log_whatever_goes_wrong() {
    let fake = FakeTelegram::start(TOKEN).await;
    let changes = json!({ "observability": { "log": { "level": "trace" } } });
    let (_model, mut gateway) = gateway(&fake, changes).await;
    assert_eq!(ask(&fake, 7, "/ping").await, "pong");
    for (sent, fault) in [
        Fault::Status(301, String::new()),
        Fault::Status(200, "<html>".into()),
        Fault::Lost,
    ]
    .into_iter()
    .enumerate()
    {
        fake.fail("sendMessage", fault.clone());
        fake.fail("getUpdates", fault);
        fake.say(7, 7, "/ping", &Value::Null);
        let all = until(|| fake.calls("sendMessage").len() > sent + 1).await;
        assert!(all, "{}", gateway.log());
    }
    fake.reachable(false);
    gateway.logged("not connected").await;
    fake.reachable(true);
    assert!(until(|| gateway.log().matches("connected").count() > 2).await);
    let why = ask(&fake, 8, "/status").await;
    gateway.term().await;
    let log = gateway.log() + &why;
    let secret = TOKEN.split(':').nth(1).expect("a secret");
    assert!(!log.contains(secret), "the token was logged");
}

/// An answer that takes a while to write.
fn slowly(pieces: &[&str]) -> Script {
    Script::pieces(pieces).between(Duration::from_millis(600))
}

#[tokio::test]
async fn an_answer_is_shown_while_it_is_written_in_private() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (model, _gateway) = gateway(&fake, json!({})).await;
    model.push(slowly(&["One ", "two ", "three ", "four ", "five."]));
    assert_eq!(ask(&fake, 7, "count").await, "One two three four five.");
    let drafts = fake.drafts();
    assert!(!drafts.is_empty(), "nothing was shown");
    assert!(drafts.iter().all(|draft| {
        "One two three four five.".starts_with(draft["text"].as_str().unwrap_or("?"))
    }));
    assert_eq!(fake.messages().len(), 1);
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn the_button_beside_a_draft_stops_the_answer() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (model, _gateway) = gateway(&fake, json!({})).await;
    model.push(
        Script::pieces(&["Once upon ", "a time ", "there was "]).between(Duration::from_secs(2)),
    );
    fake.say(7, 7, "a story", &Value::Null);
    let shown = |calls: &[(String, Value)]| {
        let draft = calls
            .iter()
            .find(|(method, _)| method == "sendMessageDraft")?;
        draft.1["draft_id"].as_i64()
    };
    let draft = fake.called(LIMIT, shown).await.expect("a draft");
    fake.update(json!({ "stopped_message_generation": {
        "chat": { "id": 7, "type": "private", "first_name": "A" }, "draft_id": draft,
    }}));
    let stopped = answer(&fake).await;
    assert!(stopped.text.ends_with("(stopped)"), "{}", stopped.text);
    assert_eq!(ask(&fake, 7, "/ping").await, "pong");
}

#[tokio::test]
async fn in_a_group_one_message_grows_where_the_operator_wants_it() {
    let fake = FakeTelegram::start(TOKEN).await;
    let streaming = json!({ "output": { "platform_adaptation": {
        "strategy_by_platform": { "telegram": "streaming" } } } });
    let (model, _gateway) = gateway(&fake, streaming).await;
    model.push(
        Script::pieces(&[
            "One sentence is here. ",
            "Two of them stand here. ",
            "Three.",
        ])
        .between(Duration::from_secs(4)),
    );
    let question = fake.say(GROUP, 7, "/ping", &in_topic(77));
    assert_eq!(answer(&fake).await.text, "pong");
    let replied = json!({ "reply_to_message": {
        "message_id": question + 1, "from": { "id": weirgate_testkit::telegram::BOT, "is_bot": true } },
        "message_thread_id": 77, "is_topic_message": true });
    fake.say(GROUP, 7, "count", &replied);
    let begun = answer(&fake).await;
    assert_eq!(
        (&*begun.text, begun.topic),
        ("One sentence is here.", Some(77))
    );
    let whole = || {
        fake.messages()
            .iter()
            .any(|message| message.text.ends_with("here. Three."))
    };
    assert!(until(whole).await, "{:?}", fake.messages());
    assert_eq!(fake.messages().len(), 2, "{:?}", fake.messages());
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn people_see_commands_in_their_language_and_that_an_answer_is_coming() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (model, _gateway) = gateway(&fake, json!({})).await;
    model.push(Script::answer("done").before_headers(Duration::from_secs(2)));
    fake.say(GROUP, 7, "/ping", &in_topic(77));
    let pong = answer(&fake).await;
    let replied = json!({ "message_thread_id": 77, "is_topic_message": true, "reply_to_message": {
        "message_id": pong.id, "from": { "id": weirgate_testkit::telegram::BOT, "is_bot": true } } });
    fake.say(GROUP, 7, "think", &replied);
    assert_eq!(answer(&fake).await.text, "done");
    let typing = fake.calls("sendChatAction");
    assert!(!typing.is_empty(), "nothing was shown");
    let here = |call: &Value| call["message_thread_id"] == 77 && call["action"] == "typing";
    assert!(typing.iter().all(here), "{typing:?}");
    let menus = fake.commands();
    let languages: Vec<_> = menus
        .iter()
        .map(|menu| menu["language_code"].as_str())
        .collect();
    assert_eq!(languages, [None, Some("en"), Some("zh")]);
    let names = |menu: &Value| menu["commands"].as_array().map_or(0, Vec::len);
    assert!(menus.iter().all(|menu| names(menu) >= 8), "{menus:?}");
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn the_doctor_says_whether_the_platform_knows_the_bot() {
    let fake = FakeTelegram::start(TOKEN).await;
    let model = FakeModel::start().await;
    let accounts = json!({
        "main": account(&fake, TOKEN),
        "other": account(&fake, "20002:TEST-nobody_knows_it"),
    });
    let changes = json!({ "platforms": { "telegram": { "accounts": accounts } } });
    let gateway = Gateway::prepare(&model, changes);
    let said = async |arguments: &[&str]| {
        let output = gateway.command(arguments).output().await.expect("runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let all = said(&["doctor"]).await;
    assert!(all.contains(&format!("@{BOT_NAME}")), "{all}");
    assert!(all.contains("does not take the token"), "{all}");
    assert!(!all.contains("TEST-"), "{all}");
    let before = fake.calls("getMe").len();
    assert!(!said(&["doctor", "--offline"]).await.contains(BOT_NAME));
    assert_eq!(fake.calls("getMe").len(), before, "nobody was asked");
}

#[tokio::test]
async fn an_admin_moderates_by_answering_a_message_and_others_may_not() {
    let fake = FakeTelegram::start(TOKEN).await;
    let bot = weirgate_testkit::telegram::BOT;
    for (user, standing) in [
        (bot, Standing::Administrator),
        (1, Standing::Creator),
        (2, Standing::Member),
        (3, Standing::Member),
    ] {
        fake.member(GROUP, user, standing);
    }
    let (_model, _gateway) = gateway(&fake, json!({})).await;
    let spam = fake.say(GROUP, 3, "buy this", &Value::Null);
    let answers = json!({ "reply_to_message": {
        "message_id": spam, "from": { "id": 3, "is_bot": false, "first_name": "user 3" }, "text": "buy this" } });
    fake.say(GROUP, 2, "/mute 5m", &answers);
    answer(&fake).await;
    assert_eq!(fake.standing(GROUP, 3).expect("known")["status"], "member");
    fake.say(GROUP, 1, "/mute 5m spam", &answers);
    let told = answer(&fake).await.text;
    assert_eq!(
        fake.standing(GROUP, 3).expect("known")["status"],
        "restricted",
        "{told}"
    );
    fake.say(GROUP, 1, "/kick", &answers);
    let told = answer(&fake).await.text;
    assert_eq!(
        fake.standing(GROUP, 3).expect("known")["status"],
        "left",
        "{told}"
    );
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_ban_ends_when_it_is_to_and_can_be_taken_back() {
    const WEEK: i64 = 7 * 86_400;
    let fake = FakeTelegram::start(TOKEN).await;
    let bot = weirgate_testkit::telegram::BOT;
    for (user, standing) in [
        (bot, Standing::Administrator),
        (1, Standing::Creator),
        (3, Standing::Member),
    ] {
        fake.member(GROUP, user, standing);
    }
    let (_model, _gateway) = gateway(&fake, json!({})).await;
    let spam = fake.say(GROUP, 3, "buy this", &Value::Null);
    let answers = json!({ "reply_to_message": {
        "message_id": spam, "from": { "id": 3, "is_bot": false, "first_name": "user 3" }, "text": "buy this" } });
    let command = async |text: &str| {
        fake.say(GROUP, 1, text, &answers);
        answer(&fake).await.text
    };
    let standing = || fake.standing(GROUP, 3).expect("known");
    let told = command("/ban 7days spam").await;
    assert_eq!(told, "3 is banned for 7d. Reason: spam");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = i64::try_from(now.expect("after 1970").as_secs()).expect("before the end");
    let until = standing()["until_date"].as_i64().expect("a time") - now;
    assert!((WEEK - 300..=WEEK).contains(&until), "{until}");
    assert_eq!(standing()["status"], "kicked");
    assert_eq!(command("/unban").await, "3 may come back.");
    assert_eq!(standing()["status"], "left");
    assert_eq!(command("/ban").await, "3 is banned.");
    assert_eq!(
        (&standing()["status"], &standing()["until_date"]),
        (&json!("kicked"), &json!(0))
    );
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_hidden_admin_is_one_where_the_group_takes_the_platforms_word() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (_model, _gateway) = gateway(&fake, json!({})).await;
    fake.member(GROUP, 9, Standing::Creator);
    fake.member(GROUP, 8, Standing::Member);
    let hidden = json!({
        "from": { "id": 1_087_968_824, "is_bot": true, "first_name": "Group" },
        "sender_chat": { "id": GROUP, "type": "supergroup", "title": "G" },
    });
    let command = async |user: i64, text: &str, changes: &Value| {
        fake.say(GROUP, user, text, changes);
        answer(&fake).await.text
    };
    let told = command(1_087_968_824, "/warnings 8", &hidden).await;
    assert_eq!(told, "Only an admin may do that here.");
    let told = command(9, "/policy anonymous_admins on", &Value::Null).await;
    assert!(told.contains("is now: on"), "{told}");
    let told = command(1_087_968_824, "/warnings 8", &hidden).await;
    assert!(!told.contains("Only an admin"), "{told}");
    // A channel is nobody's, whatever it says.
    let channel = json!({
        "from": { "id": 136_817_688, "is_bot": true, "first_name": "Channel" },
        "sender_chat": { "id": -1_007, "type": "channel", "title": "News" },
    });
    let told = command(136_817_688, "/warnings 8", &channel).await;
    assert_eq!(told, "Only an admin may do that here.");
}

#[tokio::test]
async fn a_forward_and_what_is_to_be_done_with_it_are_one_question() {
    let fake = FakeTelegram::start(TOKEN).await;
    let bursts = json!({ "flow_control": { "debounce": 1, "debounce_max": 20 } });
    let (model, _gateway) = gateway(&fake, bursts).await;
    let forwarded = json!({ "forward_date": 1_764_500_000, "forward_origin": {
        "type": "user", "date": 1_764_500_000,
        "sender_user": { "id": 8, "is_bot": false, "first_name": "Bob" },
    } });
    fake.say(7, 7, "Train leaves 18:20", &forwarded);
    fake.say(7, 7, "put this on my list", &Value::Null);
    answer(&fake).await;
    let told = model.requests()[0].last_user_text().to_owned();
    let quoted = "> Bob: Train leaves 18:20\nput this on my list";
    assert!(told.ends_with(quoted), "{told}");
    assert_eq!((model.count(), fake.messages().len()), (1, 1));
    assert_eq!(fake.violations(), Vec::<String>::new());
}
