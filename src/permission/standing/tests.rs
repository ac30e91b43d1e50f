//! The order in which a role is found.

use super::*;

struct Case {
    user: UserKey,
    kind: SenderKind,
    platform_role: PlatformRole,
    claimed: bool,
    blocked: bool,
    grant: Option<Grant>,
    policy: Policy,
    of_account: Option<String>,
    rules: Permissions,
}

fn case(id: &str) -> Case {
    Case {
        user: UserKey {
            platform: "p".into(),
            realm: "".into(),
            id: id.into(),
        },
        kind: SenderKind::Person,
        platform_role: PlatformRole::Member,
        claimed: false,
        blocked: false,
        grant: None,
        policy: Policy::default(),
        of_account: None,
        rules: Permissions {
            owners: vec![("p".to_owned(), "1".to_owned())],
            ..Permissions::default()
        },
    }
}

impl Case {
    fn stands(&self) -> (String, bool) {
        let known = Known {
            user: &self.user,
            kind: self.kind,
            platform_role: self.platform_role,
            claimed: self.claimed,
            blocked: self.blocked,
            grant: self.grant.as_ref(),
            policy: &self.policy,
            of_account: self.of_account.as_deref(),
            now: 10,
        };
        let found = standing(&known, &self.rules);
        (found.role.name().to_owned(), found.global_owner)
    }

    fn is(&self, role: &str) {
        assert_eq!(self.stands(), (role.to_owned(), false));
    }
}

#[test]
fn owners_of_the_gateway_come_before_everything() {
    let mut owner = case("1");
    owner.policy.blacklist = vec!["1".into()];
    owner.grant = Some(Grant::new("blocked", None, 0));
    assert_eq!(owner.stands(), ("owner".to_owned(), true));
    let mut claimed = case("2");
    claimed.claimed = true;
    assert_eq!(claimed.stands(), ("owner".to_owned(), true));
    // The same id on another platform is somebody else.
    let mut other = case("1");
    other.user.platform = "q".into();
    other.is("member");
    // Nobody speaks for an owner behind a channel.
    let mut channel = case("1");
    channel.kind = SenderKind::Channel;
    channel.is("guest");
}

#[test]
fn lists_then_grants_then_the_platform_then_defaults() {
    let mut person = case("2");
    person.is("member");
    person.rules.default_role = "guest".into();
    person.is("guest");
    person.policy.default_role = Some("member".into());
    person.is("member");
    person.platform_role = PlatformRole::Admin;
    person.is("admin");
    person.platform_role = PlatformRole::Owner;
    person.is("owner");
    person.rules.platform_roles = false;
    person.is("member");
    person.rules.platform_roles = true;
    person.grant = Some(Grant::new("guest", None, 0));
    person.is("guest");
    person.policy.whitelist = vec!["3".into()];
    person.is("blocked");
    person.policy.whitelist.push("2".into());
    person.is("guest");
    person.policy.blacklist = vec!["2".into()];
    person.is("blocked");
}

#[test]
fn who_is_blocked_in_the_whole_gateway_is_that_whatever_else_he_is() {
    let by_file = |case: &mut Case| case.rules.blocked = vec![("p".into(), "2".into())];
    let by_command = |case: &mut Case| case.blocked = true;
    for block in [by_file as fn(&mut Case), by_command] {
        let mut person = case("2");
        person.platform_role = PlatformRole::Owner;
        person.grant = Some(Grant::new("admin", None, 0));
        person.policy.whitelist = vec!["2".into()];
        person.is("admin");
        block(&mut person);
        person.is("blocked");
        person.kind = SenderKind::Channel;
        person.is("blocked");
        person.kind = SenderKind::Person;
        person.claimed = true;
        assert_eq!(person.stands(), ("owner".to_owned(), true));
    }
    // The same id on another platform is somebody else.
    let mut other = case("2");
    by_file(&mut other);
    other.user.platform = "q".into();
    other.is("member");
}

#[test]
fn what_ran_out_or_is_gone_gives_nothing() {
    let mut person = case("2");
    person.grant = Some(Grant {
        role: "admin".into(),
        until: Some(10),
    });
    person.is("member");
    person.grant = Some(Grant::new("no-such-role", None, 0));
    person.is("guest");
    person.grant = None;
    person.policy.default_role = Some("no-such-role".into());
    person.is("member");
}

#[test]
fn nobody_in_person_is_a_guest_unless_the_conversation_trusts_the_platform() {
    let mut anonymous = case("2");
    anonymous.kind = SenderKind::Anonymous;
    anonymous.platform_role = PlatformRole::Admin;
    anonymous.is("guest");
    anonymous.policy.anonymous_admins = true;
    anonymous.is("admin");
    anonymous.kind = SenderKind::Channel;
    anonymous.is("guest");
}

#[test]
fn whoever_is_shut_out_is_so_also_without_a_person_behind() {
    for kind in [
        SenderKind::Anonymous,
        SenderKind::Channel,
        SenderKind::Service,
    ] {
        let mut nobody = case("2");
        nobody.kind = kind;
        nobody.platform_role = PlatformRole::Admin;
        nobody.policy.anonymous_admins = true;
        nobody.policy.blacklist = vec!["2".into()];
        nobody.is("blocked");
        nobody.policy.blacklist.clear();
        nobody.policy.whitelist = vec!["3".into()];
        nobody.is("blocked");
        nobody.policy.whitelist.push("2".into());
        nobody.policy.anonymous_admins = false;
        nobody.is("guest");
        nobody.grant = Some(Grant::new("admin", None, 0));
        nobody.is("guest");
        nobody.grant = Some(Grant::new("blocked", None, 0));
        nobody.is("blocked");
        // Not even an owner's id makes an owner of what is no person.
        nobody.grant = None;
        nobody.rules.owners = vec![(nobody.user.platform.to_string(), "2".into())];
        nobody.is("guest");
    }
}

#[test]
fn a_policy_takes_from_guests_alone() {
    let mut guest = case("2");
    guest.rules.default_role = "guest".into();
    guest.policy.allow_guest_send = false;
    let known = |case: &Case| {
        let known = Known {
            user: &case.user,
            kind: case.kind,
            platform_role: case.platform_role,
            claimed: false,
            blocked: false,
            grant: None,
            policy: &case.policy,
            of_account: None,
            now: 10,
        };
        standing(&known, &case.rules).role.capabilities()
    };
    assert_eq!(known(&guest), Capability::READ);
    guest.policy.allow_guest_read = false;
    assert_eq!(known(&guest), Capability::empty());
    guest.rules.default_role = "member".into();
    assert_eq!(known(&guest).bits(), 0o570);
}
