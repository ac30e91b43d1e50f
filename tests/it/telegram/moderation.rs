//! What is done to members and messages, and what is said when it is not.

use serde_json::Value;
use weirgate_sdk::{Action, Moderates, ModerationError, PlatformRole, UserId};
use weirgate_testkit::telegram::{BOT, Fault, Standing};

use super::*;

const OWNER: i64 = 20_001;
const ADMIN: i64 = 20_002;
const MEMBER: i64 = 20_003;
const STRANGER: i64 = 20_009;
const HOUR: Duration = Duration::from_secs(3_600);

/// A group in which the bot has this standing.
async fn group(standing: Standing) -> Rig {
    let rig = Rig::start().await;
    for (user, standing) in [
        (BOT, standing),
        (OWNER, Standing::Creator),
        (ADMIN, Standing::Administrator),
        (MEMBER, Standing::Member),
    ] {
        rig.fake.member(GROUP, user, standing);
    }
    rig
}

fn here() -> ConversationKey {
    place(GROUP, Some("77"))
}

fn user(number: i64) -> UserId {
    number.to_string().into()
}

fn moderates(rig: &Rig) -> &dyn Moderates {
    rig.bot.moderates().expect("this platform can")
}

async fn act(rig: &Rig, action: Action) -> Result<(), ModerationError> {
    moderates(rig).act(&here(), &action).await
}

fn kick(number: i64) -> Action {
    Action::Kick { user: user(number) }
}

fn ban(number: i64, time: Option<Duration>) -> Action {
    Action::Ban {
        user: user(number),
        time,
    }
}

fn mute(number: i64, time: Option<Duration>) -> Action {
    Action::Mute {
        user: user(number),
        time,
    }
}

#[tokio::test]
async fn an_admin_mutes_kicks_and_bans_members_and_takes_it_back() {
    let rig = group(Standing::Administrator).await;
    let look = async || moderates(&rig).member(&here(), &user(MEMBER)).await;
    let is_done = async |action: &Action| moderates(&rig).is_done(&here(), action).await;
    act(&rig, mute(MEMBER, Some(HOUR))).await.expect("done");
    let muted = look().await.expect("a member");
    assert!(
        muted
            .muted_until
            .is_some_and(|until| until > 1_700_000_000_000)
    );
    assert_eq!(muted.role, PlatformRole::Member);
    assert_eq!(is_done(&mute(MEMBER, Some(HOUR))).await, Ok(Some(true)));
    act(&rig, Action::Unmute { user: user(MEMBER) })
        .await
        .expect("done");
    assert_eq!(look().await.expect("a member").muted_until, None);
    act(&rig, mute(MEMBER, None)).await.expect("for good");
    assert_eq!(look().await.expect("a member").muted_until, Some(i64::MAX));
    let permissions = rig.fake.calls("restrictChatMember");
    let complete = |call: &Value| {
        call["permissions"]
            .as_object()
            .is_some_and(|all| all.len() == 16)
    };
    assert!(
        permissions.iter().all(complete),
        "what is left out is taken away"
    );
    act(&rig, kick(MEMBER)).await.expect("done");
    assert_eq!(look().await, Err(ModerationError::NotAMember));
    assert_eq!(is_done(&kick(MEMBER)).await, Ok(Some(true)));
    assert_eq!(
        is_done(&ban(MEMBER, None)).await,
        Ok(Some(false)),
        "he may come back"
    );
    assert_eq!(
        act(&rig, kick(MEMBER)).await,
        Err(ModerationError::NotAMember)
    );
    act(&rig, ban(MEMBER, None)).await.expect("also who went");
    assert_eq!(is_done(&ban(MEMBER, None)).await, Ok(Some(true)));
    act(&rig, Action::Unban { user: user(MEMBER) })
        .await
        .expect("done");
    assert_eq!(
        is_done(&Action::Unban { user: user(MEMBER) }).await,
        Ok(Some(true))
    );
    rig.stop().await;
}

#[tokio::test]
async fn who_is_let_in_again_is_not_put_out() {
    let rig = group(Standing::Administrator).await;
    act(&rig, Action::Unban { user: user(MEMBER) })
        .await
        .expect("nothing to do");
    assert_eq!(
        rig.fake.standing(GROUP, MEMBER).expect("known")["status"],
        "member"
    );
    rig.stop().await;
}

#[tokio::test]
async fn what_cannot_be_done_is_said_and_not_tried() {
    let rig = group(Standing::Administrator).await;
    let year = 367 * 24 * HOUR;
    for (action, error) in [
        (kick(OWNER), ModerationError::TargetIsOwner),
        (mute(OWNER, None), ModerationError::TargetIsOwner),
        (kick(ADMIN), ModerationError::TargetIsAdmin),
        (ban(ADMIN, None), ModerationError::TargetIsAdmin),
        (kick(BOT), ModerationError::TargetIsBot),
        (kick(STRANGER), ModerationError::NotAMember),
        (kick(-7), ModerationError::NotSupported),
        (
            ban(MEMBER, Some(year)),
            ModerationError::TooLong {
                most: 366 * 24 * HOUR,
            },
        ),
    ] {
        assert_eq!(act(&rig, action.clone()).await, Err(error), "{action:?}");
    }
    let odd = Action::Kick { user: "x".into() };
    assert_eq!(act(&rig, odd).await, Err(ModerationError::NotAMember));
    let private = moderates(&rig).act(&place(7, None), &kick(MEMBER)).await;
    assert_eq!(private, Err(ModerationError::NotSupported));
    for method in ["banChatMember", "restrictChatMember"] {
        assert_eq!(rig.fake.calls(method).len(), 0, "{method}");
    }
    rig.stop().await;
}

#[tokio::test]
async fn a_channel_that_speaks_is_kept_out_as_a_channel() {
    let rig = group(Standing::Administrator).await;
    act(&rig, ban(-1_007, None)).await.expect("done");
    act(&rig, Action::Unban { user: user(-1_007) })
        .await
        .expect("done");
    assert_eq!(
        rig.fake.calls("banChatSenderChat")[0]["sender_chat_id"],
        -1_007
    );
    assert_eq!(rig.fake.calls("unbanChatSenderChat").len(), 1);
    rig.stop().await;
}

#[tokio::test]
async fn a_bot_without_the_right_says_so() {
    for standing in [
        Standing::Member,
        Standing::PowerlessAdministrator,
        Standing::Left,
    ] {
        let rig = group(standing).await;
        let powerless = Err(ModerationError::BotLacksRight);
        assert_eq!(act(&rig, kick(MEMBER)).await, powerless, "{standing:?}");
        assert_eq!(
            act(&rig, mute(MEMBER, None)).await,
            powerless,
            "{standing:?}"
        );
        let rights = moderates(&rig).bot_rights(&here()).await.expect("known");
        assert!(!rights.remove && !rights.mute && !rights.delete);
        rig.stop().await;
    }
}

#[tokio::test]
async fn messages_are_deleted_as_far_as_the_right_goes() {
    let rig = group(Standing::Member).await;
    let theirs = rig.fake.say(GROUP, MEMBER, "hi", &Value::Null);
    rig.heard().await;
    let delete = |id: i64| Action::Delete {
        message: id.to_string().into(),
    };
    assert_eq!(
        act(&rig, delete(theirs)).await,
        Err(ModerationError::BotLacksRight)
    );
    let sent = rig.say(&place(GROUP, None), "oops").await.expect("sent");
    let message = sent.message.expect("an id");
    let own = Action::Delete { message };
    act(&rig, own.clone()).await.expect("its own");
    rig.fake.member(GROUP, BOT, Standing::Administrator);
    act(&rig, delete(theirs)).await.expect("now it may");
    assert_eq!(act(&rig, own).await, Err(ModerationError::MessageGone));
    rig.stop().await;
}

#[tokio::test]
async fn done_is_only_said_when_the_platform_said_so() {
    let rig = group(Standing::Administrator).await;
    rig.fake.fail("banChatMember", Fault::Lost);
    let unsure = act(&rig, kick(MEMBER)).await;
    assert!(
        matches!(unsure, Err(ModerationError::NotConfirmed(_))),
        "{unsure:?}"
    );
    rig.fake.member(GROUP, MEMBER, Standing::Member);
    let refusal = "Bad Request: user is an administrator of the chat";
    rig.fake.fail("banChatMember", Fault::refused(400, refusal));
    assert_eq!(
        act(&rig, kick(MEMBER)).await,
        Err(ModerationError::TargetIsAdmin)
    );
    // The second call of two is lost: he is out, and free in a minute.
    rig.fake.fail("unbanChatMember", Fault::Broken);
    act(&rig, kick(MEMBER)).await.expect("he is out");
    let record = rig.fake.standing(GROUP, MEMBER).expect("known");
    assert!(
        record["until_date"].as_i64().is_some_and(|until| until > 0),
        "{record}"
    );
    rig.stop().await;
}

#[tokio::test]
async fn admins_are_asked_for_once_until_a_role_changes() {
    let rig = group(Standing::Administrator).await;
    let admins = async || {
        let found = moderates(&rig).admins(&here()).await.expect("known");
        let mut ids: Vec<String> = found.iter().map(|one| one.user.id.to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(admins().await, ["10001", "20001", "20002"]);
    rig.fake.member(GROUP, MEMBER, Standing::Administrator);
    assert_eq!(admins().await.len(), 3, "from the cache");
    let member = |status: &str| json!({ "user": { "id": MEMBER }, "status": status });
    rig.fake.update(json!({ "chat_member": {
        "chat": { "id": GROUP, "type": "supergroup" }, "from": { "id": OWNER }, "date": 1,
        "old_chat_member": member("member"), "new_chat_member": member("administrator"),
    }}));
    let told = |events: &[Event]| {
        let role = |event: &&Event| matches!(event, Event::RoleChanged { .. });
        events.iter().find(role).map(|_| ())
    };
    rig.ingress.events_hold(LIMIT, told).await.expect("told");
    assert_eq!(admins().await, ["10001", "20001", "20002", "20003"]);
    assert_eq!(rig.fake.calls("getChatAdministrators").len(), 2);
    rig.stop().await;
}

#[tokio::test]
async fn who_says_something_to_the_bot_has_his_standing() {
    let rig = group(Standing::Administrator).await;
    rig.fake.say(GROUP, MEMBER, "just talking", &Value::Null);
    assert_eq!(rig.heard().await.sender.role, PlatformRole::Unknown);
    assert_eq!(
        rig.fake.calls("getChatAdministrators").len(),
        0,
        "nobody was meant"
    );
    for (person, role) in [
        (OWNER, PlatformRole::Owner),
        (ADMIN, PlatformRole::Admin),
        (MEMBER, PlatformRole::Member),
    ] {
        rig.fake.say(GROUP, person, "/status", &in_topic(77));
        assert_eq!(rig.heard().await.sender.role, role, "{person}");
    }
    assert_eq!(rig.fake.calls("getChatAdministrators").len(), 1);
    // Where it cannot be known, what was said comes all the same.
    rig.fake
        .fail("getChatAdministrators", Fault::Status(502, String::new()));
    rig.fake.say(-1_009, MEMBER, "/status", &Value::Null);
    assert_eq!(rig.heard().await.sender.role, PlatformRole::Unknown);
    rig.stop().await;
}
