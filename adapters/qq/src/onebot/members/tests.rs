use serde_json::{Value, json, value::to_raw_value};

use super::*;

fn group(number: usize) -> ConversationKey {
    ConversationKey {
        platform: "qq".into(),
        account: "main".into(),
        conversation: format!("g{number}").into(),
        thread: None,
    }
}

fn read(value: &Value) -> Option<Vec<Member>> {
    admins(Some(&to_raw_value(value).expect("JSON")), &"qq".into())
}

fn somebody() -> Vec<Member> {
    read(&json!([{ "user_id": 1, "role": "owner" }])).expect("a list")
}

#[test]
fn members_are_read_as_the_wire_has_them() {
    let list = json!([
        { "user_id": "1", "role": "owner", "nickname": "n", "card": "c" },
        { "user_id": 2, "role": "admin", "nickname": "n", "card": "", "shut_up_timestamp": "1790000000" },
        { "user_id": 3, "role": "member" },
        { "role": "admin" },
        7,
    ]);
    let found = read(&list).expect("a list");
    let seen: Vec<_> = found
        .iter()
        .map(|one| (one.user.id.as_str(), &*one.name, one.role))
        .collect();
    assert_eq!(
        seen,
        [
            ("1", "c", PlatformRole::Owner),
            ("2", "n", PlatformRole::Admin)
        ]
    );
    assert_eq!(found[0].muted_until, None);
    assert_eq!(found[1].muted_until, Some(1_790_000_000_000));
    assert_eq!(read(&json!({})), None);
}

#[tokio::test(start_paused = true)]
async fn admins_are_kept_until_something_changes_or_time_passes() {
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
