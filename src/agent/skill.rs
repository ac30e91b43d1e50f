//! Skills: folders that tell a model how something is done, read when it is needed.
//!
//! Owns which skills there are, which of them can be used now, what the prompt says of them, and why one is left out.
//! What a skill says are the operator's words, as those of the prompt are. It runs nothing and grants nothing: what a
//! skill makes a model do is a call of a tool like any other.

pub mod config;
mod folder;
mod front;
mod list;
mod reach;
pub mod tool;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};

use parking_lot::Mutex;

use super::watched::Watched;
use crate::{
    i18n::{Language, skills::SkillText},
    permission::{Actor, Capability, Scope, decide},
    security::paths::PathGuard,
};

pub use list::listing;
pub use reach::File;

/// What a person needs to use a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    /// The capability.
    pub capability: Capability,
    /// Only a global owner.
    pub global: bool,
}

impl Rights {
    /// Where they have to hold.
    #[must_use]
    pub fn scope(self, here: Scope) -> Scope {
        if self.global { Scope::Global } else { here }
    }
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its name: that of its folder.
    pub name: String,
    /// What it is for and when it is used, on one line.
    pub description: String,
    /// The tools without which it cannot be used.
    pub tools: Vec<String>,
    /// Who may use it.
    pub rights: Rights,
    /// Its licence and whatever else is told of it, for people.
    pub about: Vec<(&'static str, String)>,
    /// What the model reads.
    pub body: Arc<str>,
    /// Where its files are; `None` for one that came along.
    folder: Option<PathBuf>,
}

/// Why a skill is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// There is no SKILL.md, or it cannot be read.
    Unreadable {
        /// What happened.
        error: String,
    },
    /// SKILL.md is larger than so many bytes.
    TooLarge {
        /// The most.
        most: usize,
    },
    /// It does not begin with a front matter between lines of `---`.
    NoFrontMatter,
    /// The front matter is no YAML.
    Yaml {
        /// What is wrong, with its place.
        error: String,
    },
    /// A key is missing or is not what it should be.
    Key {
        /// The key.
        key: &'static str,
        /// What it should be.
        wanted: &'static str,
    },
    /// The name is not that of the folder.
    OtherName {
        /// The name.
        name: String,
    },
    /// There is nothing behind the front matter.
    Empty,
    /// A tool has this name.
    Taken,
    /// Tools that it needs are not there.
    Missing {
        /// Their names.
        tools: Vec<String>,
    },
    /// There are more skills than are read.
    TooMany {
        /// The most.
        most: usize,
    },
}

/// A skill that is left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The name of its folder.
    pub name: String,
    /// Why.
    pub fault: Fault,
}

/// What there is in the folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Found {
    skills: Vec<Arc<Skill>>,
    left_out: Vec<LeftOut>,
}

/// What there is with the tools as they are now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sorted {
    /// Those that can be used, in order of their names.
    pub usable: Vec<Arc<Skill>>,
    /// Those that cannot.
    pub left_out: Vec<LeftOut>,
}

impl Sorted {
    /// Those that somebody may use.
    pub fn of<'a>(
        &'a self,
        actor: &'a Actor,
        here: Scope,
        now: weirgate_sdk::Timestamp,
    ) -> impl Iterator<Item = &'a Arc<Skill>> {
        let may =
            move |rights: Rights| decide(actor, rights.capability, rights.scope(here), now).is_ok();
        self.usable.iter().filter(move |skill| may(skill.rights))
    }
}

/// The skills of a configuration.
#[derive(Debug)]
pub struct Skills {
    found: Watched<Found>,
    guard: PathGuard,
    /// Those of which the log has told that they cannot be used with the tools that there are.
    told: Mutex<BTreeMap<String, Fault>>,
}

impl Skills {
    /// The skills of a folder, which need not be there. They follow it when it changes.
    #[must_use]
    pub fn of(settings: &config::Settings, folder: PathBuf, guard: PathGuard) -> Self {
        let (stamped, disabled) = (folder.clone(), settings.disabled.clone());
        let reading = guard.clone();
        Self {
            found: Watched::of(
                "skills",
                move || folder::stamp(&stamped),
                move || folder::look(&folder, &disabled, &reading),
            ),
            guard,
            told: Mutex::default(),
        }
    }

    /// What there is, where `has` says which tools there are. What cannot be used is told to the log once.
    #[must_use]
    pub fn sorted(&self, has: impl Fn(&str) -> bool) -> Sorted {
        let found = self.found.get();
        let mut sorted = Sorted {
            usable: Vec::with_capacity(found.skills.len()),
            left_out: found.left_out.clone(),
        };
        let mut unusable = BTreeMap::new();
        for skill in &found.skills {
            match unfit(skill, &has) {
                None => sorted.usable.push(Arc::clone(skill)),
                Some(fault) => {
                    unusable.insert(skill.name.clone(), fault.clone());
                    let name = skill.name.clone();
                    sorted.left_out.push(LeftOut { name, fault });
                }
            }
        }
        self.tell(unusable);
        sorted
    }

    fn tell(&self, unusable: BTreeMap<String, Fault>) {
        let mut told = self.told.lock();
        if *told == unusable {
            return;
        }
        for (name, fault) in &unusable {
            if told.get(name) != Some(fault) {
                left_out(name, fault);
            }
        }
        *told = unusable;
    }
}

/// Why a skill cannot be used with the tools that there are.
fn unfit(skill: &Skill, has: &impl Fn(&str) -> bool) -> Option<Fault> {
    if has(&skill.name) {
        return Some(Fault::Taken);
    }
    let missing: BTreeSet<&String> = skill.tools.iter().filter(|tool| !has(tool)).collect();
    (!missing.is_empty()).then(|| Fault::Missing {
        tools: missing.into_iter().cloned().collect(),
    })
}

/// Tells the log of a skill that is left out.
fn left_out(name: &str, fault: &Fault) {
    let what = SkillText::Why(fault.clone()).render(Language::En);
    tracing::warn!(skill = name, what, "a skill is left out");
}

#[cfg(test)]
mod tests;
