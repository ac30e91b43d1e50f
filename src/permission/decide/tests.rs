//! The capability matrix, role by role.

use super::*;

fn actor(role: BuiltIn) -> Actor {
    Actor {
        person: 1,
        role: role.role(),
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
        BuiltIn::Owner,
        BuiltIn::Admin,
        BuiltIn::Member,
        BuiltIn::Guest,
        BuiltIn::Blocked,
    ];
    for (capability, expected) in rows {
        for (role, allowed) in roles.into_iter().zip(expected) {
            let decision = decide(&actor(role), capability, Scope::Conversation(1), 0);
            assert_eq!(decision.is_ok(), allowed, "{capability:?} as {role:?}");
        }
    }
}

#[test]
fn global_scope_needs_a_global_owner() {
    let conversation_owner = actor(BuiltIn::Owner);
    assert!(decide(&conversation_owner, Capability::READ, Scope::Global, 0).is_err());
    let global = Actor {
        global_owner: true,
        ..conversation_owner
    };
    assert!(decide(&global, Capability::READ, Scope::Global, 0).is_ok());
}

#[test]
fn a_denial_names_what_is_missing() {
    let wanted = Capability::SEND_COMMAND | Capability::SEND_MESSAGE;
    let denial = decide(&actor(BuiltIn::Guest), wanted, Scope::Own, 0).unwrap_err();
    assert_eq!(denial.missing(), Capability::SEND_COMMAND);
}
