//! Giving a role: who may give which to whom.
//!
//! Owns the rules beyond the capability, which [`super::decide`] has proved before. Pure.

use super::{Actor, BuiltIn, Role};

/// Whom a role is given to, as he stands now.
#[derive(Debug)]
pub struct Target<'a> {
    /// It is the operator himself.
    pub is_operator: bool,
    /// The role that he has.
    pub present: &'a Role,
    /// He owns the gateway.
    pub global_owner: bool,
    /// Nobody else was made owner here for good.
    pub last_owner: bool,
}

/// Why a role is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// He owns the gateway, which is above every conversation.
    #[error("owns the gateway")]
    GlobalOwner,
    /// He may as much as the operator, or more.
    #[error("not below the operator")]
    TargetTooHigh,
    /// The role may as much as the operator's, or more.
    #[error("the role is not below the operator's")]
    RoleTooHigh,
    /// Nobody raises himself.
    #[error("raises himself")]
    Self_,
    /// An owner is not blocked.
    #[error("blocks an owner")]
    BlocksOwner,
    /// A conversation keeps its last owner.
    #[error("the last owner")]
    LastOwner,
}

/// Whether `operator` may change the role of `target` to `new`.
///
/// # Errors
/// The first rule that forbids it.
pub fn may_assign(operator: &Actor, target: &Target<'_>, new: &Role) -> Result<(), Refused> {
    if target.global_owner {
        return Err(Refused::GlobalOwner);
    }
    let was_owner = target.present.is(BuiltIn::Owner);
    if was_owner && new.is(BuiltIn::Blocked) {
        return Err(Refused::BlocksOwner);
    }
    if operator.global_owner {
        return Ok(());
    }
    if !target.is_operator && !target.present.is_below(&operator.role) {
        return Err(Refused::TargetTooHigh);
    }
    if was_owner && target.last_owner && !new.is(BuiltIn::Owner) {
        return Err(Refused::LastOwner);
    }
    if target.is_operator {
        return if new.is_below(target.present) {
            Ok(())
        } else {
            Err(Refused::Self_)
        };
    }
    if !new.is_below(&operator.role) {
        return Err(Refused::RoleTooHigh);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actor(role: BuiltIn, global_owner: bool) -> Actor {
        Actor {
            person: 1,
            role: role.role(),
            global_owner,
        }
    }

    fn try_it(operator: BuiltIn, present: BuiltIn, new: BuiltIn) -> Result<(), Refused> {
        let target = Target {
            is_operator: false,
            present: &present.role(),
            global_owner: false,
            last_owner: false,
        };
        may_assign(&actor(operator, false), &target, &new.role())
    }

    #[test]
    fn nobody_gives_what_he_does_not_have_or_takes_from_his_like() {
        use BuiltIn::{Admin, Blocked, Guest, Member, Owner};
        for operator in BuiltIn::ALL {
            for present in BuiltIn::ALL {
                for new in BuiltIn::ALL {
                    let allowed = present < operator && new < operator;
                    assert_eq!(
                        try_it(operator, present, new).is_ok(),
                        allowed,
                        "{operator:?}: {present:?} to {new:?}"
                    );
                }
            }
        }
        assert_eq!(try_it(Admin, Member, Admin), Err(Refused::RoleTooHigh));
        assert_eq!(try_it(Admin, Admin, Guest), Err(Refused::TargetTooHigh));
        assert_eq!(try_it(Owner, Owner, Blocked), Err(Refused::BlocksOwner));
    }

    #[test]
    fn nobody_raises_himself_and_the_last_owner_stays() {
        let owner = BuiltIn::Owner.role();
        let mut target = Target {
            is_operator: true,
            present: &owner,
            global_owner: false,
            last_owner: true,
        };
        let (operator, root) = (actor(BuiltIn::Owner, false), actor(BuiltIn::Owner, true));
        let admin = BuiltIn::Admin.role();
        let refused = may_assign(&operator, &target, &admin);
        assert_eq!(refused, Err(Refused::LastOwner));
        assert_eq!(may_assign(&root, &target, &admin), Ok(()));
        target.last_owner = false;
        assert_eq!(may_assign(&operator, &target, &admin), Ok(()));
        let member = BuiltIn::Member.role();
        target.present = &member;
        let operator = actor(BuiltIn::Member, false);
        assert_eq!(may_assign(&operator, &target, &admin), Err(Refused::Self_));
        assert_eq!(may_assign(&operator, &target, &member), Err(Refused::Self_));
        target.global_owner = true;
        assert_eq!(
            may_assign(&root, &target, &admin),
            Err(Refused::GlobalOwner)
        );
    }
}
