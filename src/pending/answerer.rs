//! Who may answer.
//!
//! Owns the rules; pure. Rights are looked at as they are when the answer comes, not when the question was asked.

use weirgate_sdk::{Timestamp, UserKey};

use crate::{
    permission::{Actor, Capability, Denial, Scope, decide},
    store::{Answerer, Pending},
};

/// Why somebody may not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotYours {
    /// Somebody else is asked.
    SomebodyElse,
    /// He lacks the right.
    Lacks(Denial),
    /// Another one has to look at it.
    FourEyes,
}

/// Whether this person may say yes.
///
/// # Errors
/// The rule that forbids it.
pub fn may_answer(
    pending: &Pending,
    actor: &Actor,
    person: &UserKey,
    at: Timestamp,
) -> Result<(), NotYours> {
    let (capability, scope) = match &pending.answerer {
        Answerer::Person(key) if key == person => return Ok(()),
        Answerer::Person(_) => return Err(NotYours::SomebodyElse),
        Answerer::Capability(capability) => {
            (*capability, Scope::Conversation(pending.conversation))
        }
        Answerer::GlobalOwner => (Capability::empty(), Scope::Global),
    };
    let _proof = decide(actor, capability, scope, at).map_err(NotYours::Lacks)?;
    if pending.four_eyes && actor.person == pending.asker {
        return Err(NotYours::FourEyes);
    }
    Ok(())
}

/// Whether this person may say no: whoever may say yes, and who asked.
///
/// # Errors
/// The rule that forbids it.
pub fn may_refuse(
    pending: &Pending,
    actor: &Actor,
    person: &UserKey,
    at: Timestamp,
) -> Result<(), NotYours> {
    if actor.person == pending.asker {
        return Ok(());
    }
    may_answer(pending, actor, person, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{permission::BuiltIn, store::PendingKind};

    const ASKER: i64 = 1;

    fn person(id: i64) -> UserKey {
        UserKey {
            platform: "p".into(),
            realm: "".into(),
            id: id.to_string().into(),
        }
    }

    fn pending(answerer: Answerer, four_eyes: bool) -> Pending {
        Pending {
            id: 9,
            conversation: 5,
            asker: ASKER,
            kind: PendingKind::Approval,
            answerer,
            four_eyes,
            action: String::new(),
            hash: String::new(),
            created_at: 0,
            expires_at: 1,
        }
    }

    fn answers(pending: &Pending, id: i64, role: BuiltIn, global_owner: bool) -> Option<NotYours> {
        let actor = Actor {
            person: id,
            role: role.role(),
            global_owner,
        };
        may_answer(pending, &actor, &person(id), 0).err()
    }

    #[test]
    fn a_person_is_asked_alone() {
        let row = pending(Answerer::Person(person(7)), false);
        assert_eq!(answers(&row, 7, BuiltIn::Guest, false), None);
        for (id, owner) in [(ASKER, false), (8, true)] {
            let refused = answers(&row, id, BuiltIn::Owner, owner);
            assert_eq!(refused, Some(NotYours::SomebodyElse));
        }
    }

    #[test]
    fn a_right_is_needed_and_four_eyes_where_policy_wants_them() {
        let row = |four_eyes| pending(Answerer::Capability(Capability::MANAGE_MEMBER), four_eyes);
        for four_eyes in [false, true] {
            let member = answers(&row(four_eyes), 2, BuiltIn::Member, false);
            assert!(matches!(member, Some(NotYours::Lacks(_))));
            assert_eq!(answers(&row(four_eyes), 2, BuiltIn::Admin, false), None);
        }
        // Who asks may answer by his own right, but not where others have to look.
        assert_eq!(answers(&row(false), ASKER, BuiltIn::Admin, false), None);
        let asker = answers(&row(true), ASKER, BuiltIn::Owner, true);
        assert_eq!(asker, Some(NotYours::FourEyes));
        let demoted = answers(&row(false), ASKER, BuiltIn::Member, false);
        assert!(matches!(demoted, Some(NotYours::Lacks(_))));
    }

    #[test]
    fn an_owner_of_the_gateway_is_no_owner_of_a_conversation() {
        let row = pending(Answerer::GlobalOwner, false);
        assert!(answers(&row, 2, BuiltIn::Owner, false).is_some());
        assert_eq!(answers(&row, 2, BuiltIn::Owner, true), None);
    }

    #[test]
    fn who_asked_may_take_it_back() {
        let row = pending(Answerer::Person(person(7)), true);
        let refuses = |id| {
            let actor = Actor {
                person: id,
                role: BuiltIn::Member.role(),
                global_owner: false,
            };
            may_refuse(&row, &actor, &person(id), 0).is_ok()
        };
        assert_eq!([ASKER, 7, 8].map(refuses), [true, true, false]);
    }
}
