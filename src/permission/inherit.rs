//! Inheritance of roles: from what is written to what each may do.
//!
//! Owns the union over what a role inherits, and its two faults: a circle, and a chain that is too long.
//! Pure; faults are told to whoever wrote the role.

use std::collections::BTreeMap;

use super::{BuiltIn, Capability, Role, Roles};

/// Tells the writer of a role what is wrong with it.
pub type Complain<'a> = Box<dyn Fn(String) + 'a>;

/// A role before its inheritance is worked out.
pub struct RoleDraft<'a> {
    own: Capability,
    inherits: Vec<String>,
    complain: Option<Complain<'a>>,
}

/// All roles before their inheritance is worked out.
pub struct Drafts<'a>(BTreeMap<String, RoleDraft<'a>>);

impl<'a> Drafts<'a> {
    /// The built-in roles. Each has all it needs by itself, so they inherit nothing.
    #[must_use]
    pub fn shipped() -> Self {
        let draft = |role: BuiltIn| {
            let draft = RoleDraft {
                own: role.capabilities(),
                inherits: Vec::new(),
                complain: None,
            };
            (role.name().to_owned(), draft)
        };
        Self(BuiltIn::ALL.into_iter().map(draft).collect())
    }

    /// What is written about a role. What is left out stays as it was; a new role without capabilities
    /// has those that it inherits.
    pub fn put(
        &mut self,
        name: &str,
        capabilities: Option<Capability>,
        inherits: Option<Vec<String>>,
        complain: impl Fn(String) + 'a,
    ) {
        let draft = self.0.entry(name.to_owned()).or_insert(RoleDraft {
            own: Capability::empty(),
            inherits: Vec::new(),
            complain: None,
        });
        draft.own = capabilities.unwrap_or(draft.own);
        draft.inherits = inherits.unwrap_or_default();
        draft.complain = Some(Box::new(complain));
    }

    /// The roles. `most` is the longest chain of inheritance; `None` switches it off.
    #[must_use]
    pub fn resolve(self, most: Option<usize>) -> Roles {
        let mut roles = Roles::default();
        for (name, draft) in &self.0 {
            let mut chain = vec![name.as_str()];
            let all = match most {
                Some(most) => self.union(&mut chain, most),
                None => Ok(draft.own),
            };
            match all.and_then(|all| check(name, all)) {
                Ok(all) => roles.set(Role::new(name, all)),
                Err(what) => {
                    if let Some(complain) = &draft.complain {
                        complain(what);
                    }
                }
            }
        }
        roles
    }

    /// What the last role of a chain may do, with all that it inherits.
    fn union<'s>(&'s self, chain: &mut Vec<&'s str>, most: usize) -> Result<Capability, String> {
        let Some(draft) = chain.last().and_then(|name| self.0.get(*name)) else {
            return Ok(Capability::empty());
        };
        let mut all = draft.own;
        for parent in &draft.inherits {
            if !self.0.contains_key(parent) {
                return Err(format!("inherits {parent}, and there is no such role"));
            }
            let circle = chain.contains(&parent.as_str());
            chain.push(parent);
            if circle {
                return Err(format!("inherits in a circle: {}", chain.join(" > ")));
            }
            if chain.len() - 1 > most {
                let chain = chain.join(" > ");
                return Err(format!("inherits over more than {most} roles: {chain}"));
            }
            all |= self.union(chain, most)?;
            chain.pop();
        }
        Ok(all)
    }
}

/// Two roles mean what their names say, or nobody could repair a conversation, or shut anybody out.
fn check(name: &str, all: Capability) -> Result<Capability, String> {
    if name == BuiltIn::Owner.name() && !all.is_all() {
        return Err("an owner may do everything: write 0o777".to_owned());
    }
    if name == BuiltIn::Blocked.name() && !all.is_empty() {
        return Err("who is blocked may do nothing: write 0o000".to_owned());
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn resolve(written: &[(&str, u16, &[&str])], most: Option<usize>) -> (Roles, Vec<String>) {
        let told = RefCell::new(Vec::new());
        let mut drafts = Drafts::shipped();
        for (name, bits, inherits) in written {
            let inherits = inherits.iter().map(|&name| name.to_owned()).collect();
            let bits = Capability::from_bits_truncate(*bits);
            let told = &told;
            drafts.put(name, Some(bits), Some(inherits), move |what| {
                told.borrow_mut().push(what);
            });
        }
        let roles = drafts.resolve(most);
        (roles, told.into_inner())
    }

    fn bits(roles: &Roles, name: &str) -> u16 {
        roles.get(name).expect("a role").capabilities().bits()
    }

    #[test]
    fn a_role_has_the_union_of_what_it_inherits() {
        let written: [(&str, u16, &[&str]); 2] = [
            ("helper", 0o004, &["member"]),
            ("lead", 0o200, &["helper", "guest"]),
        ];
        let (roles, told) = resolve(&written, Some(5));
        assert_eq!(told, [""; 0]);
        assert_eq!(bits(&roles, "helper"), 0o574);
        assert_eq!(bits(&roles, "lead"), 0o774);
        let (roles, _) = resolve(&written, None);
        assert_eq!(bits(&roles, "helper"), 0o004);
    }

    #[test]
    fn circles_and_long_chains_are_named() {
        let (roles, told) = resolve(&[("a", 0, &["b"]), ("b", 0o400, &["a"])], Some(5));
        assert_eq!(
            told,
            [
                "inherits in a circle: a > b > a",
                "inherits in a circle: b > a > b"
            ]
        );
        assert!(roles.get("a").is_none());
        let chain: [(&str, u16, &[&str]); 3] =
            [("a", 0, &["b"]), ("b", 0, &["c"]), ("c", 0o400, &[])];
        assert_eq!(
            resolve(&chain, Some(1)).1,
            ["inherits over more than 1 roles: a > b > c"]
        );
        assert_eq!(bits(&resolve(&chain, Some(2)).0, "a"), 0o400);
        assert_eq!(
            resolve(&[("a", 0, &["nobody"])], Some(1)).1,
            ["inherits nobody, and there is no such role"]
        );
    }

    #[test]
    fn owners_may_all_and_the_blocked_nothing() {
        let (roles, told) = resolve(&[("owner", 0o770, &[]), ("blocked", 0o400, &[])], Some(5));
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(bits(&roles, "owner"), 0o777);
        assert_eq!(bits(&roles, "blocked"), 0);
    }
}
