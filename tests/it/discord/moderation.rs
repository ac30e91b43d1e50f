//! Members: who may what, what is done to them, and what each refusal means.

use weirgate_sdk::{Action, Moderates, ModerationError, PlatformRole, UserId};
use weirgate_testkit::discord::{
    BOT, Fault, SERVER,
    guild::{ADMIN_ROLE, BAN, HIGH_ROLE, KICK, MANAGE_MESSAGES, MODERATE, OWNER, ROLE},
};

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

fn kick(user: u64) -> Action {
    Action::Kick { user: id(user) }
}

fn ban(user: u64, time: Option<Duration>) -> Action {
    Action::Ban {
        user: id(user),
        time,
    }
}

fn mute(user: u64, time: Option<Duration>) -> Action {
    Action::Mute {
        user: id(user),
        time,
    }
}

fn id(user: u64) -> UserId {
    user.to_string().into()
}

async fn rig() -> Rig {
    let rig = Rig::start().await;
    rig.fake.join(7, &[ROLE]);
    rig.fake.join(8, &[ADMIN_ROLE]);
    rig.fake.join(9, &[HIGH_ROLE]);
    rig
}

fn moderates(rig: &Rig) -> &dyn Moderates {
    rig.bot.moderates().expect("it can")
}

#[tokio::test]
async fn what_is_asked_for_is_done_and_known_to_be() {
    let rig = rig().await;
    let (fake, can) = (&rig.fake, moderates(&rig));
    let here = place(CHANNEL, Some(THREAD));
    let steps = [
        (mute(7, Some(HOUR)), (true, false, true)),
        (Action::Unmute { user: id(7) }, (true, false, false)),
        (kick(7), (false, false, false)),
        // Its end is the gateway's to bring about.
        (ban(7, Some(DAY)), (false, true, false)),
        (Action::Unban { user: id(7) }, (false, false, false)),
        (ban(7, None), (false, true, false)),
        (Action::Unban { user: id(7) }, (false, false, false)),
    ];
    for (action, standing) in steps {
        assert_eq!(
            can.is_done(&here, &action).await,
            Ok(Some(false)),
            "{action:?}"
        );
        assert_eq!(can.act(&here, &action).await, Ok(()), "{action:?}");
        assert_eq!(
            can.is_done(&here, &action).await,
            Ok(Some(true)),
            "{action:?}"
        );
        assert_eq!(fake.standing(7), standing, "{action:?}");
    }
    assert!(can.ends(&mute(7, Some(HOUR))) && !can.ends(&ban(7, Some(DAY))));
    // What is so already, and somebody who never came.
    assert_eq!(can.act(&here, &Action::Unban { user: id(7) }).await, Ok(()));
    assert_eq!(can.act(&here, &ban(99, None)).await, Ok(()));
    let said = fake.say(CHANNEL, 7, "spam", &Value::Null).to_string();
    let delete = Action::Delete {
        message: said.into(),
    };
    assert_eq!(can.act(&place(CHANNEL, None), &delete).await, Ok(()));
    assert_eq!(
        can.act(&place(CHANNEL, None), &delete).await,
        Err(ModerationError::MessageGone)
    );
    assert_eq!(can.is_done(&here, &delete).await, Ok(None));
    rig.ended().await;
}

#[tokio::test]
async fn each_failure_says_what_is_in_the_way() {
    let rig = rig().await;
    let can = moderates(&rig);
    let here = place(CHANNEL, None);
    let most = 28 * DAY;
    for (action, error) in [
        (kick(OWNER), ModerationError::TargetIsOwner),
        (kick(BOT), ModerationError::TargetIsBot),
        (kick(9), ModerationError::TargetOutranks),
        (mute(8, Some(HOUR)), ModerationError::TargetIsAdmin),
        (kick(99), ModerationError::NotAMember),
        (mute(7, Some(29 * DAY)), ModerationError::TooLong { most }),
        (mute(7, None), ModerationError::TooLong { most }),
    ] {
        assert_eq!(can.act(&here, &action).await, Err(error), "{action:?}");
    }
    assert_eq!(can.act(&here, &kick(8)).await, Ok(()), "he stands below");
    rig.fake.bot_may(KICK, true);
    for action in [
        ban(7, None),
        mute(7, Some(HOUR)),
        Action::Unban { user: id(7) },
    ] {
        let lacks = can.act(&here, &action).await;
        assert_eq!(lacks, Err(ModerationError::BotLacksRight), "{action:?}");
    }
    assert_eq!(
        rig.fake.calls("ban").len() + rig.fake.calls("change member").len(),
        0
    );
    rig.say("hi");
    let direct = rig.heard().await.conversation;
    assert_eq!(
        can.act(&direct, &kick(7)).await,
        Err(ModerationError::NotSupported)
    );
    for (fault, unknown) in [
        (Fault::Lost, true),
        (Fault::Status(502, String::new()), true),
        (Fault::flood(1.0, false), false),
    ] {
        rig.fake.fail("kick", fault.clone());
        let failed = can.act(&here, &kick(7)).await;
        let is_unknown = matches!(failed, Err(ModerationError::NotConfirmed(_)));
        let is_refused = matches!(failed, Err(ModerationError::Unavailable(_)));
        assert!(
            is_unknown == unknown && is_refused != unknown,
            "{fault:?}: {failed:?}"
        );
        rig.fake.join(7, &[ROLE]);
    }
    rig.ended().await;
}

#[tokio::test]
async fn rights_members_and_admins_are_looked_up() {
    let rig = rig().await;
    let can = moderates(&rig);
    let here = place(CHANNEL, None);
    let rights = can.bot_rights(&here).await.expect("rights");
    assert!(rights.remove && rights.mute && rights.delete && rights.role == PlatformRole::Member);
    rig.fake.bot_may(BAN | MODERATE | MANAGE_MESSAGES, true);
    assert!(!can.bot_rights(&here).await.expect("rights").remove);
    can.act(&here, &mute(7, Some(HOUR))).await.expect("done");
    let muted = can.member(&here, &id(7)).await.expect("a member");
    assert!(muted.muted_until.is_some() && &*muted.name == "user 7");
    for (user, role) in [
        (OWNER, PlatformRole::Owner),
        (8, PlatformRole::Admin),
        (9, PlatformRole::Member),
    ] {
        assert_eq!(
            can.member(&here, &id(user)).await.expect("a member").role,
            role
        );
    }
    let admins = async || {
        let admins = can.admins(&here).await.expect("admins");
        admins
            .iter()
            .map(|admin| admin.user.id.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(admins().await, ["1", "8"]);
    assert_eq!(admins().await, ["1", "8"]);
    assert_eq!(
        rig.fake.calls("members").len(),
        1,
        "the second time nobody was asked"
    );
    // A role event refreshes them.
    rig.fake.join(7, &[ADMIN_ROLE]);
    let key = place(SERVER, None);
    let told = rig.ingress.events_hold(LIMIT, |events| {
        events.iter().rev().find_map(|event| match event {
            Event::RoleChanged {
                conversation,
                user,
                role,
            } => Some((conversation.clone(), user.id.to_string(), *role)),
            _ => None,
        })
    });
    assert_eq!(told.await, Some((key, "7".to_owned(), PlatformRole::Admin)));
    assert_eq!(admins().await, ["1", "7", "8"]);
    // Who may not ask for all knows the owner.
    rig.fake.bot_may(BAN, false);
    rig.fake.join(7, &[]);
    let demoted = rig.ingress.events_hold(LIMIT, |events| {
        let is_member = |event: &Event| {
            matches!(
                event,
                Event::RoleChanged {
                    role: PlatformRole::Member,
                    ..
                }
            )
        };
        events.iter().any(is_member).then_some(())
    });
    assert!(demoted.await.is_some());
    assert_eq!(admins().await, ["1"]);
    rig.ended().await;
}

#[tokio::test]
async fn whoever_speaks_has_the_standing_that_his_roles_give_him() {
    let rig = Rig::start().await;
    let member = |roles: &[u64]| {
        let roles: Vec<String> = roles.iter().map(ToString::to_string).collect();
        json!({ "member": { "roles": roles } })
    };
    let role = async |user: u64, changes: &Value| {
        rig.fake.say(CHANNEL, user, "hi", changes);
        rig.heard().await.sender.role
    };
    assert_eq!(role(OWNER, &member(&[])).await, PlatformRole::Owner);
    assert_eq!(role(8, &member(&[ADMIN_ROLE])).await, PlatformRole::Admin);
    assert_eq!(role(7, &member(&[ROLE])).await, PlatformRole::Member);
    let mut webhook = member(&[ADMIN_ROLE]);
    webhook["webhook_id"] = "55".into();
    assert_eq!(role(55, &webhook).await, PlatformRole::Unknown);
    // The process is another one, the session is not: the server is asked for.
    let (fake, ingress) = rig.ended().await;
    let rig = Rig::run(fake, ingress);
    rig.is_up().await;
    rig.fake.say(CHANNEL, 8, "again", &member(&[ADMIN_ROLE]));
    assert_eq!(rig.heard().await.sender.role, PlatformRole::Admin);
    assert_eq!(rig.fake.calls("server").len(), 1);
    for (kind, data) in [
        (
            "GUILD_MEMBER_ADD",
            json!({ "guild_id": "50", "user": { "id": "70" }, "roles": [] }),
        ),
        (
            "GUILD_MEMBER_REMOVE",
            json!({ "guild_id": "50", "user": { "id": "70" } }),
        ),
        ("GUILD_DELETE", json!({ "id": "50", "unavailable": true })),
        ("GUILD_DELETE", json!({ "id": "50" })),
    ] {
        rig.fake.event(kind, data);
    }
    let told = rig.ingress.events_hold(LIMIT, |events| {
        let of = |event: &Event| match event {
            Event::MemberJoined { .. } => Some("joined"),
            Event::MemberLeft { .. } => Some("left"),
            Event::BotRemoved { .. } => Some("removed"),
            _ => None,
        };
        let told: Vec<&str> = events.iter().filter_map(of).collect();
        (told.len() == 3).then_some(told)
    });
    assert_eq!(told.await, Some(vec!["joined", "left", "removed"]));
    rig.ended().await;
}
