//! The capability matrix, role by role, and the order in which a role is found.

use weirgate_sdk::{PlatformRole, SenderKind, UserKey};

use super::*;
use crate::permission::role_of;

fn actor(role: Role) -> Actor {
    Actor {
        person: 1,
        role,
        global_owner: false,
    }
}

#[test]
fn the_matrix_holds() {
    use Capability as C;
    let rows: [(C, [bool; 5]); 9] = [
        // owner, admin, member, guest, blocked
        (C::READ, [true, true, true, true, false]),
        (C::WRITE, [true, true, false, false, false]),
        (C::EXECUTE, [true, true, true, false, false]),
        (C::SEND_MESSAGE, [true, true, true, true, false]),
        (C::SEND_MEDIA, [true, true, true, false, false]),
        (C::SEND_COMMAND, [true, true, true, false, false]),
        (C::MANAGE_MEMBER, [true, true, false, false, false]),
        (C::MANAGE_CONFIG, [true, false, false, false, false]),
        (C::MANAGE_PERMISSION, [true, false, false, false, false]),
    ];
    let roles = [
        Role::Owner,
        Role::Admin,
        Role::Member,
        Role::Guest,
        Role::Blocked,
    ];
    for (capability, expected) in rows {
        for (role, allowed) in roles.into_iter().zip(expected) {
            let decision = decide(actor(role), capability, Scope::Conversation(1), 0);
            assert_eq!(decision.is_ok(), allowed, "{capability:?} as {role:?}");
        }
    }
}

#[test]
fn global_scope_needs_a_global_owner() {
    let conversation_owner = actor(Role::Owner);
    assert!(decide(conversation_owner, Capability::READ, Scope::Global, 0).is_err());
    let global = Actor {
        global_owner: true,
        ..conversation_owner
    };
    assert!(decide(global, Capability::READ, Scope::Global, 0).is_ok());
}

#[test]
fn a_denial_names_what_is_missing() {
    let wanted = Capability::SEND_COMMAND | Capability::SEND_MESSAGE;
    let denial = decide(actor(Role::Guest), wanted, Scope::Own, 0).unwrap_err();
    assert_eq!(denial.missing(), Capability::SEND_COMMAND);
}

#[test]
fn roles_are_found_in_order() {
    let user = |id: &str| UserKey {
        platform: "p".into(),
        realm: "".into(),
        id: id.into(),
    };
    let owners = vec![("p".to_owned(), "1".to_owned())];
    let person = SenderKind::Person;
    let cases = [
        ("1", person, PlatformRole::Member, true, (Role::Owner, true)),
        ("2", person, PlatformRole::Owner, true, (Role::Owner, false)),
        ("2", person, PlatformRole::Admin, true, (Role::Admin, false)),
        (
            "2",
            person,
            PlatformRole::Admin,
            false,
            (Role::Member, false),
        ),
        (
            "2",
            person,
            PlatformRole::Unknown,
            true,
            (Role::Member, false),
        ),
        (
            "1",
            SenderKind::Anonymous,
            PlatformRole::Owner,
            true,
            (Role::Guest, false),
        ),
        (
            "2",
            SenderKind::Channel,
            PlatformRole::Admin,
            true,
            (Role::Guest, false),
        ),
    ];
    for (id, kind, role, platform_roles, expected) in cases {
        assert_eq!(
            role_of(&user(id), kind, role, &owners, platform_roles),
            expected,
            "{id} {kind:?}"
        );
    }
    let other_platform = UserKey {
        platform: "q".into(),
        realm: "".into(),
        id: "1".into(),
    };
    let found = role_of(
        &other_platform,
        person,
        PlatformRole::Unknown,
        &owners,
        true,
    );
    assert_eq!(
        found,
        (Role::Member, false),
        "an owner's id of one platform means nothing on another"
    );
}
