//! What one person, one conversation and one account may have, talking in circles, and strangers.

use std::time::Duration;

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use super::{BOB, GROUP, OWNER, matrix::asked, people};
use crate::gateway::{Chat as _, Gateway, LIMIT, rows};

fn limits(of: &str, quota: Value) -> Value {
    json!({
        "limits": { of: quota },
        "permissions": { "owners": { "qq": ["9"] } },
        "flow_control": { "user": { "rate": 0 } },
    })
}

/// Waits until a reason was given so often.
async fn counts(gateway: &Gateway, reason: &str, times: u64) {
    let wait = async {
        while gateway.counted(reason).await < times {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(
        tokio::time::timeout(LIMIT, wait).await.is_ok(),
        "{}",
        gateway.log()
    );
    assert_eq!(gateway.counted(reason).await, times);
}

#[tokio::test]
async fn tokens_of_a_day_are_used_up_also_over_a_restart() {
    let model = FakeModel::start().await;
    let quota = json!({ "tokens_per_day": 1 });
    let mut gateway = Gateway::start(&model, limits("user", quota)).await;
    let fake = gateway.onebot().await;
    assert_eq!(
        fake.ask(1, "one").await,
        "re: one",
        "the last one is answered whole"
    );
    let told = "You have used up what you may have of the model today.";
    assert_eq!(fake.ask(1, "two").await, told);
    assert_eq!(fake.ask(2, "two").await, "re: two", "others have theirs");
    assert_eq!(fake.ask(1, "/ping").await, "pong");
    assert_eq!(gateway.counted("token_budget").await, 1);
    gateway.kill().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    assert_eq!(fake.ask(1, "three").await, told);
    assert_eq!(model.count(), 2);
}

#[tokio::test]
async fn an_account_and_a_conversation_have_limits_of_their_own() {
    let model = FakeModel::start().await;
    let changes = json!({
        "limits": {
            "account": { "commands_per_minute": 2 },
            "conversation": { "messages_per_minute": 1 },
        },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    fake.ask(1, "/whoami").await;
    fake.ask(2, "/whoami").await;
    let told = fake.ask(3, "/whoami").await;
    assert!(told.contains("2"), "{told}");
    assert_eq!(gateway.counted("too_many").await, 1);
    fake.ask_as("member", 50, 100_001, "hello").await;
    let told = fake.ask_as("member", 50, 100_002, "hello").await;
    assert!(!told.starts_with("re:"), "{told}");
    let audit = rows(
        &gateway.database(),
        "SELECT event FROM audit WHERE details LIKE '%too_many%' ORDER BY id",
    );
    assert_eq!(audit, ["command_blocked", "permission_denied"]);
}

#[tokio::test]
async fn each_limit_holds_for_its_own_and_for_what_it_counts() {
    // What is refused after one of a sort: by the same person elsewhere, by another one here, by anybody elsewhere.
    for (of, elsewhere, another, anybody) in [
        ("user", true, false, false),
        ("conversation", false, true, false),
        ("account", true, true, true),
    ] {
        for (counts, text) in [
            ("messages_per_minute", "hello"),
            ("commands_per_minute", "/whoami"),
            ("tokens_per_day", "hello"),
        ] {
            let model = FakeModel::start().await;
            let gateway = Gateway::start(&model, limits(of, json!({ counts: 1 }))).await;
            let fake = gateway.onebot().await;
            let refused = async |group: u64, user: u64, text: &str| {
                let told = fake.ask_as("member", group, user, text).await;
                !told.starts_with("re: ") && !told.starts_with("You: ")
            };
            assert!(
                !refused(50, 100_001, text).await,
                "{of}, {counts}: the first"
            );
            for (group, user, wanted) in [
                (50, 100_001, true),
                (51, 100_001, elsewhere),
                (50, 100_002, another),
                (52, 100_003, anybody),
            ] {
                let refused = refused(group, user, text).await;
                assert_eq!(refused, wanted, "{of}, {counts}: {user} in {group}");
            }
            // What is not counted is not refused.
            let other = if text == "hello" { "/whoami" } else { "hello" };
            assert!(
                !refused(50, 100_001, other).await,
                "{of}, {counts}: {other}"
            );
        }
    }
}

#[tokio::test]
async fn messages_that_are_answered_together_count_each() {
    let model = FakeModel::start().await;
    for (most, answered) in [(2, false), (3, true)] {
        let mut changes = limits("user", json!({ "messages_per_minute": most }));
        changes["flow_control"]["max_turns_in_flight"] = json!(1);
        changes["flow_control"]["max_turns_per_user"] = json!(1);
        let gateway = Gateway::start(&model, changes).await;
        let fake = gateway.onebot().await;
        // His messages gather behind the turn of somebody else.
        model.push(Script::answer("slow").first(Duration::from_secs(1)));
        let count = model.count();
        fake.send_private(2, "a question").await;
        model.wait_for(count + 1).await;
        for text in ["one", "two", "three"] {
            fake.send_private(1, text).await;
        }
        assert_eq!(fake.answer().await.text(), "slow");
        let told = fake.answer().await.text();
        if answered {
            assert!(told.contains("one") && told.contains("three"), "{told}");
            let told = fake.ask(1, "four").await;
            assert!(told.contains("at most 3 of your messages"), "{told}");
        } else {
            assert!(told.contains("at most 2 of your messages"), "{told}");
            // What was refused counts nothing.
            assert_eq!(fake.ask(1, "four").await, "re: four");
        }
        assert_eq!(gateway.counted("too_many").await, 1);
    }
}

#[tokio::test]
async fn a_bot_that_does_not_say_so_is_not_answered_for_ever() {
    let model = FakeModel::start().await;
    let changes = limits("loop", json!({ "messages": 3, "pause": 60 }));
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    for _ in 0..3 {
        let said = fake.ask_as("member", 50, 100_001, "and you?").await;
        assert!(said.starts_with("re: "), "{said}");
    }
    let told = fake.ask_as("member", 50, 100_001, "and you?").await;
    assert_eq!(
        told,
        "We are talking in circles. I answer you here again in 1m."
    );
    fake.group_as("member", 50, 100_001, "and you?").await;
    let other = fake.ask_as("member", 50, 100_002, "hello").await;
    assert!(other.starts_with("re: "), "others are answered: {other}");
    assert_eq!(
        fake.ask(100_001, "hello").await,
        "re: hello",
        "in private too"
    );
    counts(&gateway, "bot_loop", 2).await;
    assert_eq!(model.count(), 5);
}

#[tokio::test]
async fn a_bot_in_private_is_not_answered_for_ever_either_where_people_have_a_pace() {
    let model = FakeModel::start().await;
    for (rate, loops) in [(1_000, true), (0, false)] {
        let mut changes = limits("loop", json!({ "messages": 1, "private": 3, "pause": 60 }));
        changes["flow_control"] = json!({ "user": { "rate": rate, "burst": 1_000 } });
        let gateway = Gateway::start(&model, changes).await;
        let fake = gateway.onebot().await;
        for _ in 0..3 {
            assert_eq!(fake.ask(1, "and you?").await, "re: and you?");
        }
        let told = fake.ask(1, "and you?").await;
        assert_eq!(
            told.starts_with("We are talking in circles."),
            loops,
            "{rate}: {told}"
        );
        assert_eq!(
            fake.ask(2, "hello").await,
            "re: hello",
            "others are answered"
        );
        // What he asks by a command is no talk.
        assert_eq!(fake.ask(1, "/ping").await, "pong");
        assert_eq!(gateway.counted("bot_loop").await, u64::from(loops));
    }
}

#[tokio::test]
async fn a_stranger_is_let_in_by_an_owner() {
    let model = FakeModel::start().await;
    let changes = json!({ "permissions": { "pairing": true, "owners": { "qq": ["9"] } } });
    let mut gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    let told = fake.ask(1, "hello").await;
    let code = told
        .split("/pair ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let code = code.expect("a code").to_owned();
    fake.send_private(1, "hello?").await;
    assert_eq!(fake.ask(9, "hello").await, "re: hello", "an owner is known");
    counts(&gateway, "not_paired", 2).await;
    assert_eq!(fake.reply_count(), 2, "he is told once");
    let group = fake.ask_as("member", 50, 1, "hello").await;
    assert!(
        group.starts_with("re: "),
        "groups have their own rules: {group}"
    );
    gateway.term().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    assert_eq!(fake.ask(9, "/pair WRONG").await, "No such code is good.");
    let waiting = fake.ask(9, "/pair").await;
    assert_eq!(waiting, format!("{code}: qq//1"));
    let done = fake.ask(9, &format!("/pair {}", code.to_lowercase())).await;
    assert_eq!(done, "qq//1 is let in.");
    assert_eq!(fake.ask(1, "now?").await, "re: now?");
    assert_eq!(fake.ask(9, "/pair").await, "Nobody waits to be let in.");
    let again = fake.ask(9, &format!("/pair {code}")).await;
    assert_eq!(again, "No such code is good.", "it is used once");
    // And he is a stranger again, who is told another code.
    for (who, told) in [
        ("2", "qq//2 was not let in by a code."),
        ("qq//1", "qq//1 is a stranger again."),
        ("1", "qq//1 was not let in by a code."),
    ] {
        assert_eq!(fake.ask(9, &format!("/pair remove {who}")).await, told);
    }
    let told = fake.ask(1, "still?").await;
    assert!(told.contains("/pair ") && !told.contains(&code), "{told}");
    let told = fake.ask_as("member", 50, 1, "/pair remove 9").await;
    assert_eq!(told, "Only an owner of the gateway may do that.");
}

/// The code that a stranger is told.
async fn code_of(fake: &FakeOneBot, user: u64) -> String {
    let told = asked(fake, user, "hello").await;
    let code = told.split("/pair ").nth(1);
    let code = code.and_then(|rest| rest.split(' ').next());
    code.expect("a code").to_owned()
}

/// Waits until the clock was heard of. The leap may break the connection, and what waits in it is too old; whoever asks
/// here is told so and nobody else.
async fn has_run_for(fake: &FakeOneBot, time: &str) {
    loop {
        fake.send_private(8, "/status").await;
        let told = fake.next_reply(Duration::from_secs(2)).await;
        if told.is_some_and(|told| told.text().contains(time)) {
            return;
        }
    }
}

#[tokio::test]
async fn codes_of_strangers_end_after_a_day_and_are_a_hundred_at_most() {
    let model = FakeModel::start().await;
    let changes = json!({ "permissions": { "pairing": true, "owners": { "qq": [8, 9] } } });
    let mut gateway = Gateway::prepare(&model, changes);
    if !gateway.with_clock() {
        return;
    }
    gateway.up().await;
    let fake = gateway.onebot().await;
    let mut codes = Vec::new();
    for user in 1_001..=1_100 {
        codes.push(code_of(&fake, user).await);
    }
    // Of another one nobody could be told.
    fake.send_private(1_101, "hello").await;
    counts(&gateway, "not_paired", 101).await;
    assert_eq!(fake.reply_count(), 100, "he is told nothing");
    let waiting = "SELECT count(*) FROM setting WHERE key LIKE 'pair:%'";
    assert_eq!(rows(&gateway.database(), waiting), ["100"]);
    // Whoever is let in makes room.
    let told = fake.ask(9, &format!("/pair {}", codes[1])).await;
    assert_eq!(told, "qq//1002 is let in.");
    let last = code_of(&fake, 1_101).await;
    // Just before a day is over they are good, and not behind it.
    gateway.turn_clock("+86000s x1");
    has_run_for(&fake, ", up 23h").await;
    let told = asked(&fake, 9, &format!("/pair {last}")).await;
    assert_eq!(told, "qq//1101 is let in.");
    gateway.turn_clock("+88000s x1");
    has_run_for(&fake, ", up 1d").await;
    let told = asked(&fake, 9, &format!("/pair {}", codes[0])).await;
    assert_eq!(told, "No such code is good.");
    assert_eq!(asked(&fake, 9, "/pair").await, "Nobody waits to be let in.");
    let again = code_of(&fake, 1_001).await;
    assert_ne!(again, codes[0], "he is told a new one");
}

#[tokio::test]
async fn a_written_name_means_the_one_who_bears_it() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    people(&fake, GROUP);
    fake.ask_as("member", GROUP, BOB, "/ping").await;
    let warned = fake
        .ask_as("owner", GROUP, OWNER, "/warn @Member 100003 too loud")
        .await;
    assert_eq!(warned, "member 100003 is warned (1 of 3).");
    let nobody = fake
        .ask_as("owner", GROUP, OWNER, "/warn @somebody else")
        .await;
    assert!(nobody.starts_with("Who is meant?"), "{nobody}");
}
