//! What the running kernel can keep apart.
//!
//! Owns which version of Landlock each way of confining needs. It restricts nothing: what is made to find out is
//! thrown away.

use std::fmt;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetError, Scope,
};

/// How much has to be kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Files, and signals to other processes; refused where the kernel cannot.
    Full,
    /// Files. A program may send signals to other processes of the gateway's user where the kernel cannot keep it from
    /// that.
    Files,
}

impl Isolation {
    /// The words of agent.yaml and of the helper.
    pub const WORDS: [(&'static str, Self); 2] = [("full", Self::Full), ("files", Self::Files)];

    /// The oldest version of Landlock that does.
    #[must_use]
    pub const fn needs(self) -> u8 {
        match self {
            // Signals are kept inside since Linux 6.12.
            Self::Full => 6,
            // Before Linux 6.2 any file could be cut to nothing.
            Self::Files => 3,
        }
    }

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(_, known)| *known == self);
        found.map_or("full", |(word, _)| word)
    }
}

/// The versions that make a difference, the newest first.
const VERSIONS: [(u8, ABI); 6] = [
    (6, ABI::V6),
    (5, ABI::V5),
    (4, ABI::V4),
    (3, ABI::V3),
    (2, ABI::V2),
    (1, ABI::V1),
];

/// The version of Landlock that the kernel has, as far as it makes a difference; 0 for none.
#[must_use]
pub fn version() -> u8 {
    let found = VERSIONS.iter().find(|(_, abi)| has(*abi).is_ok());
    found.map_or(0, |(number, _)| *number)
}

/// A version by its number; the newest that is not above it.
pub(super) fn abi(number: u8) -> Option<ABI> {
    let found = VERSIONS.iter().find(|(known, _)| *known <= number);
    found.map(|(_, abi)| *abi)
}

/// Whether the kernel takes rules of a version.
fn has(abi: ABI) -> Result<(), RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?;
    if abi >= ABI::V4 {
        rules = rules.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= ABI::V6 {
        rules = rules.scope(Scope::from_all(abi))?;
    }
    rules.create().map(drop)
}

/// What the kernel lacks, so that nothing is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lacks {
    /// The version of Landlock that it has; 0 for none.
    pub version: u8,
    /// The oldest that would do.
    pub needs: u8,
    /// The Linux that brought it.
    pub linux: &'static str,
}

/// Why nothing can be confined like this here; `None` if it can.
#[must_use]
pub fn lacks(isolation: Isolation, version: u8) -> Option<Lacks> {
    let needs = isolation.needs();
    let linux = match isolation {
        Isolation::Full => "6.12",
        Isolation::Files => "6.2",
    };
    (version < needs).then_some(Lacks {
        version,
        needs,
        linux,
    })
}

impl fmt::Display for Lacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version {
            0 => f.write_str("the kernel has no Landlock, or it is switched off")?,
            number => write!(f, "the kernel has version {number} of Landlock")?,
        }
        write!(f, "; {} is needed (Linux {})", self.needs, self.linux)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_is_said_with_what_is_needed() {
        assert_eq!(lacks(Isolation::Full, 6), None);
        assert_eq!(lacks(Isolation::Files, 3), None);
        let told = lacks(Isolation::Full, 4).unwrap().to_string();
        assert!(
            told.contains("version 4") && told.contains("6.12"),
            "{told}"
        );
        let told = lacks(Isolation::Files, 0).unwrap().to_string();
        assert!(
            told.contains("no Landlock") && told.contains("3 is needed"),
            "{told}"
        );
        assert_eq!(lacks(Isolation::Full, version()).is_none(), version() >= 6);
    }
}
