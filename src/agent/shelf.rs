//! What is offered from a folder of Markdown: which can be used now, and why the others are left out.
//!
//! Owns what skills and agents have in common: rights, reasons, and that the log tells of each change once. What one is and
//! how it is read is its own file's.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use parking_lot::Mutex;

use super::watched::Watched;
use crate::permission::{Actor, Capability, Scope, decide};

/// What a person needs to use one.
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

/// One of them.
pub trait Piece: Send + Sync + 'static {
    /// Its name.
    fn name(&self) -> &str;

    /// The tools without which it cannot be used.
    fn tools(&self) -> &[String];

    /// Who may use it.
    fn rights(&self) -> Rights;

    /// Whether no tool may have its name.
    const DISTINCT: bool;

    /// Tells the log of one that is left out.
    fn left_out(name: &str, fault: &Fault);
}

/// Why one is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is not there, or cannot be read.
    Unreadable {
        /// What happened.
        error: String,
    },
    /// It is larger than so many bytes.
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
    /// The name is not that of the file.
    OtherFile {
        /// The name.
        name: String,
    },
    /// There is nothing behind the front matter.
    Empty,
    /// The file of its steps is not right.
    Steps {
        /// Each thing that is wrong, with its place.
        problems: Vec<String>,
    },
    /// There are a SKILL.md and a steps.yaml.
    BothForms,
    /// A tool has this name.
    Taken,
    /// Tools that it needs are not there.
    Missing {
        /// Their names.
        tools: Vec<String>,
    },
    /// There are more than are read.
    TooMany {
        /// The most.
        most: usize,
    },
}

/// One that is left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The name of its folder or file.
    pub name: String,
    /// Why.
    pub fault: Fault,
}

/// What there is in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<T> {
    /// What can be read, in order of the names.
    pub all: Vec<Arc<T>>,
    /// What cannot.
    pub left_out: Vec<LeftOut>,
}

impl<T> Default for Found<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

/// What there is with the tools as they are now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sorted<T> {
    /// Those that can be used, in order of their names.
    pub usable: Vec<Arc<T>>,
    /// Those that cannot.
    pub left_out: Vec<LeftOut>,
}

impl<T> Default for Sorted<T> {
    fn default() -> Self {
        Self {
            usable: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

impl<T: Piece> Sorted<T> {
    /// Those that somebody may use.
    pub fn of<'a>(
        &'a self,
        actor: &'a Actor,
        here: Scope,
        now: weirgate_sdk::Timestamp,
    ) -> impl Iterator<Item = &'a Arc<T>> {
        let may =
            move |rights: Rights| decide(actor, rights.capability, rights.scope(here), now).is_ok();
        self.usable.iter().filter(move |one| may(one.rights()))
    }
}

/// A folder of them.
#[derive(Debug)]
pub struct Shelf<T> {
    found: Watched<Found<T>>,
    /// Those of which the log has told that they cannot be used with the tools that there are.
    told: Mutex<BTreeMap<String, Fault>>,
}

impl<T: Piece> Shelf<T> {
    /// What follows a folder.
    #[must_use]
    pub fn of(found: Watched<Found<T>>) -> Self {
        Self {
            found,
            told: Mutex::default(),
        }
    }

    /// What there is in the folder, whatever tools there are.
    #[must_use]
    pub fn found(&self) -> Arc<Found<T>> {
        self.found.get()
    }

    /// What there is, where `has` says which tools there are. What cannot be used is told to the log once.
    #[must_use]
    pub fn sorted(&self, has: impl Fn(&str) -> bool) -> Sorted<T> {
        let found = self.found.get();
        let mut sorted = Sorted {
            usable: Vec::with_capacity(found.all.len()),
            left_out: found.left_out.clone(),
        };
        let mut unusable = BTreeMap::new();
        for one in &found.all {
            match unfit(&**one, &has) {
                None => sorted.usable.push(Arc::clone(one)),
                Some(fault) => {
                    let name = one.name().to_owned();
                    unusable.insert(name.clone(), fault.clone());
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
                T::left_out(name, fault);
            }
        }
        *told = unusable;
    }
}

/// Why one cannot be used with the tools that there are.
fn unfit<T: Piece>(one: &T, has: &impl Fn(&str) -> bool) -> Option<Fault> {
    if T::DISTINCT && has(one.name()) {
        return Some(Fault::Taken);
    }
    let missing: BTreeSet<&String> = one.tools().iter().filter(|tool| !has(tool)).collect();
    (!missing.is_empty()).then(|| Fault::Missing {
        tools: missing.into_iter().cloned().collect(),
    })
}
