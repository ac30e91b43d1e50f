//! Members of guilds and groups: who they are, and what is done to them.

use weirgate_sdk::{
    Action, ConversationKey, Member, Moderates, ModerationError, PlatformRole, UserId,
};
use weirgate_testkit::qq::{BOT, GROUP_BOT, Policy, member};

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);

/// A bot that may moderate groups, and where it is.
async fn rig(place: Where) -> (Rig, ConversationKey) {
    let rig = Rig::start().await;
    rig.fake.allow(Policy {
        groups: true,
        ..Policy::default()
    });
    let here = rig.hear(place, "hi").await.conversation;
    (rig, here)
}

fn moderates(rig: &Rig) -> &dyn Moderates {
    rig.bot.moderates().expect("it moderates")
}

async fn act(rig: &Rig, here: &ConversationKey, action: Action) -> Result<(), ModerationError> {
    moderates(rig).act(here, &action).await
}

fn id(user: &str) -> UserId {
    user.into()
}

fn mute(user: &str, time: Option<Duration>) -> Action {
    let user = id(user);
    Action::Mute { user, time }
}

#[tokio::test]
async fn guild_and_group_members_are_kept_quiet_removed_and_kept_out() {
    for (place, seven, eight) in [
        (Where::Channel, "7".to_owned(), "8".to_owned()),
        (Where::Group, member(7), member(8)),
    ] {
        let (rig, here) = rig(place).await;
        act(&rig, &here, mute(&seven, Some(HOUR)))
            .await
            .expect("quiet");
        assert!(rig.fake.quiet(&seven).is_some());
        let user = id(&seven);
        act(&rig, &here, Action::Unmute { user })
            .await
            .expect("heard");
        assert_eq!(rig.fake.quiet(&seven), None);
        let user = id(&seven);
        // For a time there is no other way.
        let ban = Action::Ban {
            user,
            time: Some(HOUR),
        };
        act(&rig, &here, ban).await.expect("quiet");
        assert!(rig.fake.quiet(&seven).is_some());
        assert_eq!(rig.fake.presence(&seven), (true, false));
        let kick = Action::Kick { user: id(&seven) };
        assert_eq!(moderates(&rig).is_done(&here, &kick).await, Ok(Some(false)));
        act(&rig, &here, kick.clone()).await.expect("gone");
        assert_eq!(rig.fake.presence(&seven), (false, false));
        assert_eq!(moderates(&rig).is_done(&here, &kick).await, Ok(Some(true)));
        let ban = Action::Ban {
            user: id(&eight),
            time: None,
        };
        act(&rig, &here, ban).await.expect("kept out");
        assert_eq!(rig.fake.presence(&eight), (false, true));
        // Only people can let him in again.
        let unban = act(&rig, &here, Action::Unban { user: id(&eight) }).await;
        assert_eq!(unban, Err(ModerationError::NotSupported));
        rig.ended().await;
    }
}

#[tokio::test]
async fn each_failure_is_told_by_its_kind() {
    for (place, owner, admin, seven, bot) in [
        (
            Where::Channel,
            "1".to_owned(),
            "2".to_owned(),
            "7".to_owned(),
            BOT.to_owned(),
        ),
        (
            Where::Group,
            member(1),
            member(2),
            member(7),
            GROUP_BOT.to_owned(),
        ),
    ] {
        let (rig, here) = rig(place).await;
        for (user, expected) in [
            (&owner, ModerationError::TargetIsOwner),
            (&admin, ModerationError::TargetIsAdmin),
            (&bot, ModerationError::TargetIsBot),
            (&"nobody".to_owned(), ModerationError::NotAMember),
            (&"../x".to_owned(), ModerationError::NotAMember),
        ] {
            let told = act(&rig, &here, mute(user, Some(HOUR))).await;
            assert_eq!(told, Err(expected), "{user}");
        }
        for time in [None, Some(HOUR * 24 * 90)] {
            let told = act(&rig, &here, mute(&seven, time)).await;
            assert!(
                matches!(told, Err(ModerationError::TooLong { .. })),
                "{told:?}"
            );
        }
        rig.fake.fail("moderate", Fault::Refused(502, Value::Null));
        let told = act(&rig, &here, mute(&seven, Some(HOUR))).await;
        assert!(
            matches!(told, Err(ModerationError::Unavailable(_))),
            "{told:?}"
        );
        rig.fake.promote(false);
        let told = act(&rig, &here, mute(&seven, Some(HOUR))).await;
        assert_eq!(told, Err(ModerationError::BotLacksRight));
        let rights = moderates(&rig).bot_rights(&here).await.expect("rights");
        assert_eq!((rights.role, rights.mute), (PlatformRole::Member, false));
        assert_eq!(rig.fake.quiet(&seven), None);
        rig.ended().await;
    }
}

#[tokio::test]
async fn groups_are_moderated_by_chosen_bots_alone_and_private_chats_by_none() {
    let (rig, here) = rig(Where::Group).await;
    rig.fake.allow(Policy::default());
    let seven = member(7);
    let told = act(&rig, &here, mute(&seven, Some(HOUR))).await;
    assert_eq!(told, Err(ModerationError::NotSupported));
    let private = rig.hear(Where::Private, "hi").await.conversation;
    let told = act(&rig, &private, mute(&seven, Some(HOUR))).await;
    assert_eq!(told, Err(ModerationError::NotSupported));
    rig.ended().await;
}

#[tokio::test]
async fn members_and_admins_are_known_and_a_role_event_makes_them_known_anew() {
    for (place, owner, admin, bot) in [
        (
            Where::Channel,
            "1".to_owned(),
            "2".to_owned(),
            BOT.to_owned(),
        ),
        (Where::Group, member(1), member(2), GROUP_BOT.to_owned()),
    ] {
        let (rig, here) = rig(place).await;
        let found = moderates(&rig).member(&here, &id(&owner)).await;
        let found = found.expect("a member");
        let name = format!("user {owner}");
        assert_eq!((found.role, found.name), (PlatformRole::Owner, name));
        let ids = |admins: Vec<Member>| {
            let mut ids: Vec<String> = admins
                .into_iter()
                .map(|admin| admin.user.id.as_str().to_owned())
                .collect();
            ids.sort();
            ids
        };
        let mut expected = vec![owner.clone(), admin, bot.clone()];
        expected.sort();
        let admins = moderates(&rig).admins(&here).await.expect("admins");
        assert_eq!(ids(admins), expected);
        rig.fake.promote(false);
        let known = moderates(&rig).admins(&here).await.expect("admins");
        assert_eq!(ids(known), expected, "from the cache");
        let (kind, event) = match place {
            Where::Channel => (
                "GUILD_MEMBER_UPDATE",
                json!({
                    "guild_id": "50", "roles": ["1"], "user": { "id": bot },
                }),
            ),
            _ => (
                "GROUP_MEMBER_REMOVE",
                json!({
                    "group_openid": GROUP, "member_openid": bot,
                }),
            ),
        };
        rig.fake.event(kind, event);
        rig.hear(place, "end").await;
        expected.retain(|user| *user != bot);
        let anew = moderates(&rig).admins(&here).await.expect("admins");
        assert_eq!(ids(anew), expected);
        rig.ended().await;
    }
}

#[tokio::test]
async fn a_message_is_taken_back_where_the_bot_may() {
    let rig = Rig::start().await;
    for (number, place) in (1..).zip([Where::Group, Where::Private, Where::Channel, Where::Direct])
    {
        let heard = rig.hear(place, "hi").await;
        let own = rig.send(&heard, number, "oops").await.expect("sent");
        let message = own.message.expect("an id");
        let delete = Action::Delete { message };
        let here = &heard.conversation;
        assert_eq!(act(&rig, here, delete).await, Ok(()));
        let message = heard.id.clone();
        let told = act(&rig, here, Action::Delete { message }).await;
        assert_eq!(told, Err(ModerationError::BotLacksRight));
        for odd in ["gone", "../x", "a/b", "a?b"] {
            let message = odd.into();
            let told = act(&rig, here, Action::Delete { message }).await;
            assert_eq!(told, Err(ModerationError::MessageGone), "{odd}");
        }
    }
    rig.ended().await;
}

#[tokio::test]
async fn who_comes_and_goes_is_told() {
    let rig = Rig::start().await;
    let guild = |user: &str| json!({ "guild_id": "50", "user": { "id": user }, "roles": ["2"] });
    let group = json!({ "group_openid": GROUP, "member_openid": member(7) });
    for (kind, data) in [
        ("GUILD_CREATE", json!({ "id": "50" })),
        ("GUILD_MEMBER_ADD", guild("7")),
        ("GUILD_MEMBER_UPDATE", guild("7")),
        ("GUILD_MEMBER_REMOVE", guild("7")),
        ("GROUP_MEMBER_ADD", group.clone()),
        ("GROUP_MEMBER_REMOVE", group),
        ("GUILD_DELETE", json!({ "id": "50" })),
        ("GUILD_MEMBER_ADD", json!({ "guild_id": "../x" })),
    ] {
        rig.fake.event(kind, data);
    }
    rig.hear(Where::Private, "end").await;
    let told: Vec<&str> = rig
        .ingress
        .accepted()
        .iter()
        .filter_map(|event| match event {
            Event::BotAdded { .. } => Some("added"),
            Event::MemberJoined { .. } => Some("joined"),
            Event::RoleChanged { role, .. } => {
                assert_eq!(*role, PlatformRole::Admin);
                Some("role")
            }
            Event::MemberLeft { .. } => Some("left"),
            Event::BotRemoved { .. } => Some("removed"),
            Event::Malformed { .. } => Some("malformed"),
            _ => None,
        })
        .collect();
    let expected = [
        "added",
        "joined",
        "role",
        "left",
        "joined",
        "left",
        "removed",
        "malformed",
    ];
    assert_eq!(told, expected);
    rig.ended().await;
}
