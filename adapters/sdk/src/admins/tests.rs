use super::*;
use crate::{id::UserKey, message::PlatformRole};

fn group(number: usize) -> ConversationKey {
    ConversationKey {
        platform: "qq".into(),
        account: "main".into(),
        conversation: format!("g{number}").into(),
        thread: None,
    }
}

fn somebody() -> Vec<Member> {
    vec![Member {
        user: UserKey {
            platform: "qq".into(),
            realm: "".into(),
            id: "1".into(),
        },
        name: String::new(),
        role: PlatformRole::Owner,
        muted_until: None,
    }]
}

#[test]
fn admins_are_kept_until_something_changes_or_time_passes() {
    let (admins, now) = (Admins::default(), Instant::now());
    admins.keep(&group(1), somebody(), admins.changes(), now);
    admins.keep(&group(2), somebody(), admins.changes(), now);
    assert!(admins.known(&group(1), now).is_some());
    admins.heard(&Event::MemberJoined {
        conversation: group(1),
        user: somebody()[0].user.clone(),
    });
    assert!(
        admins.known(&group(1), now).is_some(),
        "who joins is no admin"
    );
    admins.heard(&Event::RoleChanged {
        conversation: group(1),
        user: somebody()[0].user.clone(),
        role: PlatformRole::Member,
    });
    assert_eq!(admins.known(&group(1), now), None);
    assert!(admins.known(&group(2), now).is_some());
    assert_eq!(admins.known(&group(2), now + LIFETIME), None);
    admins.forget();
    assert_eq!(admins.known(&group(2), now), None);
}

#[test]
fn an_answer_that_a_change_overtook_is_not_kept() {
    let (admins, now) = (Admins::default(), Instant::now());
    let before = admins.changes();
    admins.heard(&Event::BotAdded {
        conversation: group(1),
    });
    admins.keep(&group(1), somebody(), before, now);
    assert_eq!(admins.known(&group(1), now), None);
}

#[test]
fn only_so_many_groups_are_kept() {
    let (admins, now) = (Admins::default(), Instant::now());
    for number in 0..=MAX_GROUPS {
        let later = now + Duration::from_millis(u64::try_from(number).expect("small"));
        admins.keep(&group(number), somebody(), 0, later);
    }
    assert_eq!(admins.known(&group(0), now), None, "the oldest made room");
    assert!(admins.known(&group(1), now).is_some());
    assert!(admins.known(&group(MAX_GROUPS), now).is_some());
}
