//! What is done to members and messages, and what is said when it is not.

use serde_json::json;
use weirgate_sdk::{Action, Moderates, ModerationError, PlatformRole, UserId};
use weirgate_testkit::onebot::{FakeOneBot, Kicks, Options};

use super::*;

const GROUP: u64 = 30_001;
const OWNER: u64 = 20_001;
const ADMIN: u64 = 20_002;
const MEMBER: u64 = 20_003;
const STRANGER: u64 = 20_009;
const HOUR: Duration = Duration::from_secs(3_600);

/// A group in which the bot has this role.
async fn group(role: &'static str) -> (FakeOneBot, Rig) {
    let fake = FakeOneBot::listen(BOT, Options::default()).await;
    fake.member(GROUP, BOT, Some(role));
    for (user, role) in [(OWNER, "owner"), (ADMIN, "admin"), (MEMBER, "member")] {
        fake.member(GROUP, user, Some(role));
    }
    let rig = Rig::reach(with(Transport::Forward {
        url: fake.url().to_owned(),
    }));
    rig.is(&Connection::Up).await;
    (fake, rig)
}

fn place(conversation: &str) -> ConversationKey {
    outgoing(conversation, "x", None).conversation
}

fn here() -> ConversationKey {
    place("g30001")
}

fn user(number: u64) -> UserId {
    number.to_string().into()
}

fn moderates(rig: &Rig) -> &dyn Moderates {
    rig.qq.moderates().expect("this platform can")
}

async fn act(rig: &Rig, action: Action) -> Result<(), ModerationError> {
    moderates(rig).act(&here(), &action).await
}

fn kick(number: u64) -> Action {
    Action::Kick { user: user(number) }
}

fn mute(number: u64, time: Duration) -> Action {
    Action::Mute {
        user: user(number),
        time: Some(time),
    }
}

#[tokio::test]
async fn an_admin_kicks_mutes_and_unmutes_members() {
    let (fake, rig) = group("admin").await;
    let look = async || moderates(&rig).member(&here(), &user(MEMBER)).await;
    let is_done = async |action: &Action| moderates(&rig).is_done(&here(), action).await;
    act(&rig, mute(MEMBER, HOUR)).await.expect("done");
    let muted = look().await.expect("a member");
    assert!(
        muted
            .muted_until
            .is_some_and(|until| until > 1_700_000_000_000)
    );
    assert_eq!(muted.role, PlatformRole::Member);
    assert_eq!(is_done(&mute(MEMBER, HOUR)).await, Ok(Some(true)));
    act(&rig, Action::Unmute { user: user(MEMBER) })
        .await
        .expect("done");
    assert_eq!(look().await.expect("a member").muted_until, None);
    // A ban for a time is a mute here.
    let ban = Action::Ban {
        user: user(MEMBER),
        time: Some(HOUR),
    };
    act(&rig, ban).await.expect("done");
    assert!(look().await.expect("a member").muted_until.is_some());
    assert_eq!(is_done(&kick(MEMBER)).await, Ok(Some(false)));
    act(&rig, kick(MEMBER)).await.expect("done");
    assert_eq!(look().await, Err(ModerationError::NotAMember));
    assert_eq!(is_done(&kick(MEMBER)).await, Ok(Some(true)));
    assert_eq!(
        act(&rig, kick(MEMBER)).await,
        Err(ModerationError::NotAMember)
    );
    assert!(
        fake.called()
            .iter()
            .any(|action| action == "set_group_kick")
    );
    rig.stop().await;
}

#[tokio::test]
async fn what_cannot_be_done_is_said_and_not_tried() {
    let (fake, rig) = group("admin").await;
    for (action, error) in [
        (kick(OWNER), ModerationError::TargetIsOwner),
        (mute(OWNER, HOUR), ModerationError::TargetIsOwner),
        (kick(ADMIN), ModerationError::TargetIsAdmin),
        (kick(BOT), ModerationError::TargetIsBot),
        (kick(STRANGER), ModerationError::NotAMember),
    ] {
        assert_eq!(act(&rig, action.clone()).await, Err(error), "{action:?}");
    }
    let anonymous = Action::Kick {
        user: "anonymous:7".into(),
    };
    assert_eq!(act(&rig, anonymous).await, Err(ModerationError::NotAMember));
    let month = mute(MEMBER, 30 * 24 * HOUR);
    let too_long = act(&rig, month).await;
    assert!(
        matches!(too_long, Err(ModerationError::TooLong { .. })),
        "{too_long:?}"
    );
    let for_good = Action::Mute {
        user: user(MEMBER),
        time: None,
    };
    let too_long = act(&rig, for_good).await;
    assert!(
        matches!(too_long, Err(ModerationError::TooLong { .. })),
        "{too_long:?}"
    );
    let unban = Action::Unban {
        user: user(STRANGER),
    };
    assert_eq!(act(&rig, unban).await, Err(ModerationError::NotSupported));
    let private = moderates(&rig).act(&place("p20003"), &kick(MEMBER)).await;
    assert_eq!(private, Err(ModerationError::NotSupported));
    let tried = fake.called();
    assert!(
        !tried.iter().any(|action| action.starts_with("set_group")),
        "{tried:?}"
    );
    rig.stop().await;
}

#[tokio::test]
async fn a_bot_that_is_no_admin_says_so() {
    let (fake, rig) = group("member").await;
    let powerless = Err(ModerationError::BotLacksRight);
    assert_eq!(act(&rig, kick(MEMBER)).await, powerless);
    assert_eq!(act(&rig, mute(MEMBER, HOUR)).await, powerless);
    let rights = moderates(&rig).bot_rights(&here()).await.expect("known");
    assert!(!rights.remove && !rights.mute && !rights.delete);
    // Somebody else's message; its own can be taken back.
    let theirs = Action::Delete {
        message: "5".into(),
    };
    assert_eq!(act(&rig, theirs).await, powerless);
    let sent = rig.say("g30001", "oops").await.expect("sent");
    let message = sent.message.expect("an id");
    let own = Action::Delete { message };
    act(&rig, own.clone()).await.expect("done");
    assert!(!fake.replies()[0].delivered());
    // Made an admin meanwhile: it is asked each time.
    fake.member(GROUP, BOT, Some("admin"));
    let rights = moderates(&rig).bot_rights(&here()).await.expect("known");
    assert!(rights.remove && rights.mute && rights.delete);
    assert_eq!(act(&rig, own).await, Err(ModerationError::MessageGone));
    rig.stop().await;
}

#[tokio::test]
async fn done_is_only_said_when_the_platform_did_it() {
    let (fake, rig) = group("owner").await;
    for kicks in [Kicks::Pretended, Kicks::Later] {
        fake.kicks(kicks);
        let outcome = act(&rig, kick(MEMBER)).await;
        let unsure = matches!(outcome, Err(ModerationError::NotConfirmed(_)));
        assert!(unsure, "{kicks:?}: {outcome:?}");
    }
    // The answer was lost, and he is gone.
    fake.kicks(Kicks::TimedOut);
    act(&rig, kick(MEMBER)).await.expect("seen to be gone");
    // An owner's bot may touch admins.
    fake.kicks(Kicks::Honest);
    act(&rig, kick(ADMIN)).await.expect("done");
    fake.reachable(false);
    rig.is_down().await;
    let outcome = act(&rig, kick(OWNER)).await;
    assert!(
        matches!(outcome, Err(ModerationError::Unavailable(_))),
        "{outcome:?}"
    );
    rig.stop().await;
}

#[tokio::test]
async fn admins_are_asked_for_once_until_a_role_changes() {
    let (fake, rig) = group("admin").await;
    let admins = async || {
        let found = moderates(&rig).admins(&here()).await.expect("known");
        let mut ids: Vec<String> = found.iter().map(|one| one.user.id.to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(admins().await, ["10001", "20001", "20002"]);
    fake.member(GROUP, MEMBER, Some("admin"));
    assert_eq!(admins().await.len(), 3, "from the cache");
    let promoted = json!({
        "post_type": "notice", "notice_type": "group_admin", "sub_type": "set", "time": 1,
        "self_id": BOT, "group_id": GROUP, "user_id": MEMBER,
    });
    fake.raw(promoted).await;
    let told = |events: &[Event]| {
        let role = |event: &&Event| matches!(event, Event::RoleChanged { .. });
        events.iter().find(role).map(|_| ())
    };
    rig.ingress.events_hold(LIMIT, told).await.expect("told");
    assert_eq!(admins().await, ["10001", "20001", "20002", "20003"]);
    let asked = fake.called();
    let lists = asked
        .iter()
        .filter(|action| *action == "get_group_member_list");
    assert_eq!(lists.count(), 2);
    rig.stop().await;
}
