//! Commands through OneBot, in both languages, with and without the right to use them.

mod blocked;
mod claim;
mod config;
mod consent;
mod demoted;
mod levels;
mod limits;
mod matrix;
mod moderate;
mod oversight;
mod policy;
mod records;
mod remind;
mod requests;
mod rights;
mod stop;
mod why;

use serde_json::json;
use weirgate_testkit::{model::FakeModel, onebot::FakeOneBot};

use crate::gateway::{BOT, Chat as _, Gateway, rows};

pub const GROUP: u64 = 50;
pub const OWNER: u64 = 100_001;
pub const ADMIN: u64 = 100_002;
pub const BOB: u64 = 100_003;

/// A group in which the bot is an admin, beside an owner, an admin and a member.
pub fn people(fake: &FakeOneBot, group: u64) {
    for (user, role) in [
        (BOT, "admin"),
        (OWNER, "owner"),
        (ADMIN, "admin"),
        (BOB, "member"),
    ] {
        fake.member(group, user, Some(role));
    }
}

#[tokio::test]
async fn help_ping_and_status_answer_without_the_model() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let help = fake.ask(1, "/help").await;
    for name in [
        "help", "ping", "status", "stop", "cancel", "reset", "why", "output", "lang",
    ] {
        assert!(help.contains(&format!("/{name}")), "{name} in {help}");
    }
    let lang = fake.ask(1, "/help /LANG").await;
    assert_eq!(
        lang,
        "/lang, /language [zh-CN|en|auto] - the language I speak with you\nlanguage: zh-CN or en or auto"
    );
    for name in ["nosuch", "kick"] {
        let told = fake.ask(1, &format!("/help {name}")).await;
        assert!(told.starts_with("There is no command"), "{name}: {told}");
    }
    assert_eq!(fake.ask(1, "/ping").await, "pong");
    assert_eq!(
        fake.ask(1, "/ping a [CQ:at,qq=all] **b**").await,
        "a [CQ:at,qq=all] **b**"
    );
    assert_eq!(fake.ask(1, "／PING 你好").await, "你好");
    let status = fake.ask(1, "/status").await;
    for part in [
        "Weirgate ",
        "Waiting: 0 (yours here: 0)",
        "main/test",
        "qq/main: up",
    ] {
        assert!(status.contains(part), "{part} in {status}");
    }
    assert_eq!(model.count(), 0);
}

#[tokio::test]
async fn help_is_one_message_of_what_the_caller_may_use_and_says_where_the_rest_is() {
    let model = FakeModel::start().await;
    let owners = json!({ "permissions": { "owners": { "qq": [9] } } });
    let gateway = Gateway::start(&model, owners).await;
    let fake = gateway.onebot().await;
    let help = async |role: &str, user: u64, part: &str| {
        let text = format!("/help {part}");
        let text = fake.ask_as(role, 50, user, text.trim()).await;
        // Whatever follows belongs to another question.
        assert_eq!(fake.ask_as(role, 50, user, "/ping x").await, "x");
        text
    };
    let more = |parts: &str| format!("More: /help NAME of a command{parts}");
    for (role, user, parts) in [
        ("member", 1, ""),
        ("admin", 2, ", /help admin"),
        ("owner", 3, ", /help admin, /help owner"),
        ("member", 9, ", /help admin, /help owner"),
    ] {
        let told = help(role, user, "").await;
        assert!(told.starts_with("Commands:\n/help - "), "{told}");
        assert!(told.ends_with(&more(parts)), "{told}");
        assert!(
            !told.contains("/kick") && !told.contains("/leave"),
            "{told}"
        );
    }
    for (role, user, part, has, hasnt) in [
        ("admin", 2, "admin", "/kick - ", "/leave"),
        ("owner", 3, "管理", "/reset - ", "/ping"),
        ("owner", 3, "owner", "/leave - ", "/backup"),
        ("member", 9, "owner", "/backup - ", "/kick"),
    ] {
        let told = help(role, user, part).await;
        assert!(told.starts_with("For ") && told.contains(has), "{told}");
        assert!(!told.contains(hasnt) && told.ends_with(&more("")), "{told}");
    }
    for (role, user, part) in [("member", 1, "admin"), ("admin", 2, "owner")] {
        let told = help(role, user, part).await;
        assert!(told.starts_with("There is no command"), "{told}");
    }
}

#[tokio::test]
async fn an_unknown_command_is_said_to_be_unknown_and_other_slashes_go_to_the_model() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    assert_eq!(
        fake.ask(1, "/nosuch thing").await,
        "There is no command /nosuch. Try /help."
    );
    assert_eq!(model.count(), 0);
    assert_eq!(fake.ask(1, "/etc/hosts").await, "re: /etc/hosts");
    let metrics = gateway.get("/metrics").await.body;
    assert!(
        metrics.contains(r#"weirgate_reasons_total{reason="unknown_command"} 1"#),
        "{metrics}"
    );
}

#[tokio::test]
async fn the_gateway_speaks_the_language_of_the_person() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({ "language": "auto" })).await;
    let fake = gateway.onebot().await;
    assert_eq!(
        fake.ask(1, "/lang en").await,
        "I speak English with you from now on."
    );
    assert!(fake.ask(1, "/help").await.starts_with("Commands:"));
    assert_eq!(
        fake.ask(1, "/lang").await,
        "Language: en. /lang auto undoes it."
    );
    assert_eq!(fake.ask(2, "/lang 中文").await, "之后我会用中文回复你。");
    assert!(fake.ask(2, "/help").await.starts_with("可用命令："));
    assert!(
        fake.ask(2, "/status")
            .await
            .contains("等待中：0（你在这里的：0）")
    );
    assert_eq!(
        fake.ask(2, "/nosuch").await,
        "没有 /nosuch 这个命令，试试 /help。"
    );
    assert!(
        fake.ask(1, "/help").await.starts_with("Commands:"),
        "each has his own"
    );
    assert!(
        fake.ask(1, "/lang klingon")
            .await
            .contains("zh-CN, en, auto")
    );
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("bad_arguments"), "{why}");
    assert_eq!(
        fake.ask(1, "/lang auto").await,
        "I answer in the language of your messages again."
    );
}

#[tokio::test]
async fn a_chosen_language_is_kept_over_a_restart() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({ "language": "auto" })).await;
    let fake = gateway.onebot().await;
    fake.ask(1, "/lang en").await;
    gateway.term().await;
    gateway.up().await;
    assert!(fake.ask(1, "/help").await.starts_with("Commands:"));
}

#[tokio::test]
async fn output_changes_how_long_answers_come() {
    let sentence = "This is one sentence of an answer that goes on for a while. ";
    let model = FakeModel::start_with(move |_| {
        weirgate_testkit::model::Script::answer(sentence.repeat(20).trim())
    })
    .await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    fake.send_private(1, "tell").await;
    assert!(
        fake.answers(3)
            .await
            .iter()
            .all(|part| part.chars().count() <= 503)
    );
    fake.ask(1, "/ping").await;
    assert_eq!(
        fake.ask(1, "/output full").await,
        "Output is now full, where the platform can do it."
    );
    assert_eq!(fake.ask(1, "tell").await, sentence.repeat(20).trim());
    assert_eq!(
        fake.ask(1, "/output").await,
        "Output: full. /output default undoes it."
    );
    assert!(
        fake.ask(1, "/output loud")
            .await
            .contains("streaming, segmented, full, default")
    );
    assert_eq!(
        fake.ask(1, "/output default").await,
        "Output is back to the default."
    );
}

#[tokio::test]
async fn reset_forgets_a_private_conversation() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    fake.ask(1, "my name is Ann").await;
    fake.ask(1, "second").await;
    let before = model.requests()[1].body.to_string();
    assert!(before.contains("my name is Ann"));
    let done = fake.ask(1, "/new").await;
    assert!(done.starts_with("Done."), "{done}");
    fake.ask(1, "third").await;
    let after = model.requests()[2].body.to_string();
    assert!(
        !after.contains("Ann") && !after.contains("second"),
        "{after}"
    );
}

#[tokio::test]
async fn reset_in_a_group_needs_a_right_and_is_audited() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(
        &model,
        json!({ "permissions": { "owners": { "qq": ["4"] } } }),
    )
    .await;
    let fake = gateway.onebot().await;
    fake.send_group(50, 1, "remember the number 17", true).await;
    fake.answer().await;
    fake.group_as("member", 50, 1, "/reset").await;
    let told = fake.answer().await.text();
    assert!(told == "Only an admin may do that here.", "{told}");
    fake.send_group(50, 2, "which number?", true).await;
    fake.answer().await;
    assert!(
        model.requests()[1].body.to_string().contains("number 17"),
        "nothing was forgotten"
    );
    fake.group_as("admin", 50, 3, "/reset").await;
    assert!(fake.answer().await.text().starts_with("Done."));
    fake.send_group(50, 2, "which number now?", true).await;
    fake.answer().await;
    assert!(!model.requests()[2].body.to_string().contains("number 17"));
    // The owner of the gateway may everywhere, whatever his role in the group.
    fake.group_as("member", 50, 4, "/reset").await;
    assert!(fake.answer().await.text().starts_with("Done."));
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    let count = |event: &str| audit.iter().filter(|row| row.contains(event)).count();
    assert_eq!(count("command_blocked"), 1, "{audit:?}");
    assert_eq!(count("context_reset"), 2, "{audit:?}");
}

#[tokio::test]
async fn the_platforms_roles_can_be_switched_off() {
    let model = FakeModel::start().await;
    let off = json!({ "permissions": { "platform_roles": false } });
    let gateway = Gateway::start(&model, off).await;
    let fake = gateway.onebot().await;
    fake.group_as("owner", 50, 3, "/reset").await;
    let told = fake.answer().await.text();
    assert!(told == "Only an admin may do that here.", "{told}");
}
