//! Moderation in a QQ group: what is done, what is refused, and what is reported.

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::{self, FakeOneBot, Kicks},
};

use crate::gateway::{BOT, Chat as _, Gateway, LIMIT, rows};

const GROUP: u64 = 50;
const OWNER: u64 = 100_001;
const ADMIN: u64 = 100_002;
const BOB: u64 = 100_003;

/// A group with an owner, an admin, two members and the bot.
async fn group(gateway: &Gateway, bot: &'static str) -> FakeOneBot {
    let fake = gateway.onebot().await;
    for (user, role) in [
        (BOT, bot),
        (OWNER, "owner"),
        (ADMIN, "admin"),
        (BOB, "member"),
        (100_004, "member"),
    ] {
        fake.member(GROUP, user, Some(role));
    }
    fake
}

async fn said(fake: &FakeOneBot, role: &str, user: u64, text: &str) -> String {
    fake.ask_as(role, GROUP, user, text).await
}

#[tokio::test]
async fn members_are_muted_and_removed_by_who_stands_above_them() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway, "admin").await;
    assert_eq!(
        said(&fake, "member", BOB, "/kick @100004").await,
        "Only an admin may do that here."
    );
    let told = said(&fake, "admin", ADMIN, "/mute @100003 10m too loud").await;
    assert_eq!(told, "100003 is muted for 10m. Reason: too loud");
    let told = said(&fake, "admin", ADMIN, "/mute @100004").await;
    assert_eq!(told, "100004 is muted for 1h.");
    assert_eq!(
        said(&fake, "admin", ADMIN, "/unmute @100003").await,
        "100003 may write again."
    );
    for (text, says) in [
        ("/kick @100001", "he does not stand below you"),
        ("/kick @100002", "that would be yourself"),
        ("/kick @999999", "nobody of that id is here"),
        ("/kick @Bob", "Who is meant?"),
        ("/kick", "Who is meant?"),
        ("/mute @100003 400d", "at most 29d"),
        ("/mute @100003 -5m", "\"-5m\" is not a time"),
        ("/ban @100003 99999999999999999999d spam", "is not a time"),
        ("/kick 10001", "he does not stand below you"),
        // An id of another platform is nobody's here, and a name with a platform in front is no id.
        ("/kick 175928847299117063", "nobody of that id is here"),
        ("/kick telegram:100003", "Who is meant?"),
        ("/role telegram:100003 admin", "Who is meant?"),
    ] {
        let told = said(&fake, "admin", ADMIN, text).await;
        assert!(told.contains(says), "{text}: {told}");
    }
    let told = said(&fake, "owner", OWNER, "/kick @100002").await;
    assert!(
        told.contains("he is an admin of this group, and I cannot touch admins"),
        "{told}"
    );
    let dry = said(&fake, "admin", ADMIN, "/kick @100003 dry-run").await;
    assert!(
        dry.starts_with("Would kick 100003. Nothing was done.\nYes: /approve "),
        "{dry}"
    );
    assert!(
        !fake.called().contains(&"set_group_kick".to_owned()),
        "nothing is done"
    );
    let told = said(&fake, "admin", ADMIN, "/kick @100003 spam").await;
    assert_eq!(told, "100003 was removed. Reason: spam");
    let told = said(&fake, "admin", ADMIN, "/kick @100003").await;
    assert!(told.contains("nobody of that id is here"), "{told}");
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    let has = |event: &str, text: &str| {
        audit
            .iter()
            .any(|row| row.contains(event) && row.contains(text))
    };
    assert!(
        has("user_kicked", r#""outcome":"done""#) && has("user_kicked", "spam"),
        "{audit:?}"
    );
    assert!(
        has("user_muted", r#""seconds":600"#) && has("user_unmuted", "100003"),
        "{audit:?}"
    );
}

#[tokio::test]
async fn a_time_is_understood_or_asked_for_again_and_never_taken_for_a_reason() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway, "admin").await;
    for (given, means) in [
        ("7days", "7d"),
        ("30mins spam", "30m"),
        ("2hours, spam", "2h"),
        ("7 days spam", "7d"),
        ("a week", "7d"),
        ("7日", "7d"),
        ("2小時 刷屏", "2h"),
        ("三天 刷屏", "3d"),
        ("7d -- 3 times spam", "7d"),
    ] {
        let told = said(&fake, "admin", ADMIN, &format!("/mute @100003 {given}")).await;
        assert!(
            told.starts_with(&format!("100003 is muted for {means}.")),
            "{given}: {told}"
        );
    }
    for given in ["1y", "1个月", "12 months"] {
        let told = said(&fake, "admin", ADMIN, &format!("/ban @100003 {given}")).await;
        assert!(told.contains("at most 29d"), "it was a time: {told}");
    }
    for (given, says) in [
        ("30", "\"30\" is not a time. Write 30s, 10m, 2h, 7d"),
        ("7 lightyears", "\"7\" is not a time"),
        ("+5x spam", "\"+5x\" is not a time"),
        ("3月", "\"3月\" is not a time"),
        ("7天刷屏", "\"7天刷屏\" is not a time"),
        ("soon -- spam", "\"soon\" is not a time"),
        ("spam 7d", "in front of the reason: @user 7d why"),
        ("spam 7 days.", "@user 7 days why"),
        ("刷屏7天", "@user 7天 why"),
        ("for 2 hours he spams", "@user 2 hours why"),
    ] {
        for command in ["ban", "mute"] {
            let text = format!("/{command} @100003 {given}");
            let told = said(&fake, "admin", ADMIN, &text).await;
            assert!(told.contains(says), "{text}: {told}");
        }
    }
    assert!(!fake.called().contains(&"set_group_kick".to_owned()));
    assert!(fake.is_member(GROUP, BOB), "nobody was banned");
    // Where no time stands, a number is of the reason; and behind the mark.
    let told = said(
        &fake,
        "admin",
        ADMIN,
        "/warn @100003 3 warnings are enough, 7d",
    )
    .await;
    assert_eq!(told, "100003 is warned (1 of 3).");
    let told = said(&fake, "admin", ADMIN, "/mute @100003 — 30 links in 5m").await;
    assert_eq!(told, "100003 is muted for 1h. Reason: 30 links in 5m");
    let told = said(&fake, "admin", ADMIN, "/ban @100003 -- 30 links").await;
    assert_eq!(told, "100003 is banned. Reason: 30 links");
    assert!(!fake.is_member(GROUP, BOB));
}

#[tokio::test]
async fn nothing_is_reported_as_done_that_the_platform_did_not_confirm() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway, "member").await;
    let told = said(&fake, "owner", OWNER, "/kick @100003").await;
    assert_eq!(told, "100003: I may not do that: I am not an admin here.");
    assert_eq!(gateway.counted("moderation_failed").await, 1);
    let dry = said(&fake, "owner", OWNER, "/mute @100003 dry").await;
    assert!(
        dry.ends_with("I am not an admin here. Nothing was tried."),
        "{dry}"
    );
    fake.member(GROUP, BOT, Some("admin"));
    fake.kicks(Kicks::Pretended);
    let told = said(&fake, "owner", OWNER, "/kick @100003").await;
    assert!(told.contains("the platform did not confirm it"), "{told}");
    assert_eq!(gateway.counted("moderation_unknown").await, 1);
    fake.kicks(Kicks::Honest);
    assert_eq!(
        said(&fake, "owner", OWNER, "/kick @100003").await,
        "100003 was removed."
    );
    // In private there is nobody to be removed.
    let told = fake.ask(OWNER, "/kick 100004").await;
    assert_eq!(told, "Only an admin may do that here.");
}

#[tokio::test]
async fn a_ban_for_a_time_is_a_mute_here_and_one_for_good_cannot_be_taken_back() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway, "admin").await;
    let quiet_until = || fake.standing(GROUP, BOB).map(|(_, until)| until);
    let told = said(&fake, "member", BOB, "/ban @100004").await;
    assert_eq!(told, "Only an admin may do that here.");
    let told = said(&fake, "admin", ADMIN, "/ban @100003 10m spam").await;
    assert_eq!(told, "100003 is banned for 10m. Reason: spam");
    assert!(quiet_until().is_some_and(|until| until > 0));
    let told = said(&fake, "admin", ADMIN, "/unban @100003").await;
    assert_eq!(told, "100003 may come back.");
    assert_eq!(quiet_until(), Some(0));
    let told = said(&fake, "admin", ADMIN, "/ban @100003").await;
    assert_eq!(told, "100003 is banned.");
    assert!(!fake.is_member(GROUP, BOB));
    assert!(fake.called().contains(&"set_group_kick".to_owned()));
    let told = said(&fake, "admin", ADMIN, "/unban @100003").await;
    assert_eq!(told, "100003: the platform cannot do that here.");
}

#[tokio::test]
async fn a_command_without_a_name_means_who_wrote_the_answered_message() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway, "admin").await;
    let spam = fake.past(Some(GROUP), BOB, "buy now", 5);
    // A mention that is only written is nobody; the id behind a real one counts, whatever name it shows.
    let answer = [onebot::reply_to(spam), onebot::text("/mute 5m spam")];
    fake.group_segments("admin", GROUP, ADMIN, &answer).await;
    let told = fake.answer().await.text();
    assert_eq!(told, "100003 is muted for 5m. Reason: spam");
    let forged = json!({ "type": "at", "data": { "qq": "100004", "name": "@user 100003" } });
    let text = [onebot::text("/kick "), forged];
    fake.group_segments("admin", GROUP, ADMIN, &text).await;
    assert_eq!(fake.answer().await.text(), "user 100003 was removed.");
    assert!(!fake.is_member(GROUP, 100_004) && fake.is_member(GROUP, BOB));
}

#[tokio::test]
async fn warnings_count_and_the_third_mutes() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway, "admin").await;
    assert_eq!(
        said(&fake, "admin", ADMIN, "/warn @100003 caps").await,
        "100003 is warned (1 of 3)."
    );
    gateway.term().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await, "it comes again");
    assert_eq!(
        said(&fake, "admin", ADMIN, "/warn @100003 spam").await,
        "100003 is warned (2 of 3)."
    );
    let told = said(&fake, "admin", ADMIN, "/warnings @100003").await;
    assert!(
        told.contains("UTC  caps\n") && told.ends_with("UTC  spam"),
        "{told}"
    );
    let told = said(&fake, "admin", ADMIN, "/warn @100003 again").await;
    assert_eq!(told, "100003 is warned and, after so many, muted for 1h.");
    let told = said(&fake, "admin", ADMIN, "/warnings @100003").await;
    assert_eq!(told, "100003 has no warnings here.");
    said(&fake, "owner", OWNER, "/policy warnings_before_mute 1").await;
    said(&fake, "owner", OWNER, "/policy warning_mute 2h").await;
    let told = said(&fake, "admin", ADMIN, "/warn @100004").await;
    assert_eq!(told, "100004 is warned and, after so many, muted for 2h.");
    said(&fake, "owner", OWNER, "/policy warnings_before_mute none").await;
    assert_eq!(
        said(&fake, "admin", ADMIN, "/warn @100004").await,
        "100004 is warned (warning 1)."
    );
    let told = said(&fake, "admin", ADMIN, "/warnings @100004 clear").await;
    assert_eq!(told, "100004 has no warnings any more.");
    let told = said(&fake, "admin", ADMIN, "/warn @100001").await;
    assert!(told.contains("does not stand below you"), "{told}");
}

#[tokio::test]
async fn no_warning_is_lost_when_several_warn_at_once() {
    const AT_ONCE: u64 = 8;
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway, "admin").await;
    said(&fake, "owner", OWNER, "/policy warnings_before_mute none").await;
    let warn = [
        onebot::text("/warn "),
        onebot::at(BOB),
        onebot::text(" spam"),
    ];
    for admin in 200_000..200_000 + AT_ONCE {
        fake.group_segments("admin", GROUP, admin, &warn).await;
    }
    let mut told = fake.answers(8).await;
    told.sort();
    let expected: Vec<String> = (1..=AT_ONCE)
        .map(|count| format!("100003 is warned (warning {count})."))
        .collect();
    assert_eq!(told, expected);
    let told = said(&fake, "admin", ADMIN, "/warnings @100003").await;
    assert_eq!(told.matches("spam").count(), 8, "{told}");
}

#[tokio::test]
async fn who_waits_for_an_answer_moderates_meanwhile() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway, "admin").await;
    model.push(Script::hang());
    fake.group_as("admin", GROUP, ADMIN, "a long story").await;
    model.wait_for(1).await;
    let told = said(&fake, "admin", ADMIN, "/mute @100003 10m").await;
    assert_eq!(told, "100003 is muted for 10m.");
    let told = said(&fake, "admin", ADMIN, "/warn @100004 too").await;
    assert!(told.contains("100004"), "{told}");
    assert_eq!(model.running(), 1, "the story is still told");
}

#[tokio::test]
async fn what_a_rule_forbids_is_recorded() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway, "admin").await;
    let too_high = said(&fake, "admin", ADMIN, "/kick @100001").await;
    assert!(too_high.contains("does not stand below you"), "{too_high}");
    let raised = said(&fake, "owner", OWNER, "/role @100001 admin").await;
    assert!(raised.starts_with("Not done"), "{raised}");
    gateway.term().await;
    let sql = "SELECT event, result FROM audit ORDER BY id";
    let audit = rows(&gateway.database(), sql);
    let denied = audit.iter().filter(|row| row.contains("permission_denied"));
    assert_eq!(denied.count(), 2, "{audit:?}");
}
