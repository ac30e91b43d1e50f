//! Skills: folders that tell a model how something is done, read when it is needed.
//!
//! Owns which skills there are, which of them can be used now, what the prompt says of them, and why one is left out.
//! What a skill says are the operator's words, as those of the prompt are. It grants nothing: what a skill makes a model do,
//! and what one does by itself (`template`), is a call of a tool like any other.

pub mod config;
mod folder;
mod front;
mod list;
pub(in crate::agent) mod reach;
pub(in crate::agent) mod template;
pub mod tool;

use std::{path::PathBuf, sync::Arc};

use super::{shelf, watched::Watched};
use crate::{
    i18n::{Language, skills::SkillText},
    security::paths::PathGuard,
};

pub use super::shelf::{Fault, LeftOut, Rights};
pub use list::{MORE, listing};
pub use reach::File;
pub use template::{
    Template,
    tool::{NAME as RUN, RunSkill as Run},
};

/// What there is in the folder.
type Found = shelf::Found<Skill>;
/// What there is with the tools as they are now.
pub type Sorted = shelf::Sorted<Skill>;

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
    /// What it runs, if it runs by itself.
    pub steps: Option<Arc<Template>>,
}

impl Skill {
    /// What a model is told it is for.
    #[must_use]
    pub fn summary(&self) -> String {
        let mark = if self.steps.is_some() { MARK } else { "" };
        format!("{mark}{}", self.description)
    }
}

/// What a model is told before the description of one that runs by itself.
const MARK: &str = "[steps] ";

impl shelf::Piece for Skill {
    fn name(&self) -> &str {
        &self.name
    }

    fn tools(&self) -> &[String] {
        &self.tools
    }

    fn rights(&self) -> Rights {
        self.rights
    }

    const DISTINCT: bool = true;

    fn left_out(name: &str, fault: &Fault) {
        let what = SkillText::Why(fault.clone()).render(Language::En);
        tracing::warn!(skill = name, what, "a skill is left out");
    }
}

/// The skills of a configuration.
#[derive(Debug)]
pub struct Skills {
    shelf: shelf::Shelf<Skill>,
    guard: PathGuard,
}

impl Skills {
    /// The skills of a folder, which need not be there. They follow it when it changes.
    #[must_use]
    pub fn of(settings: &config::Settings, folder: PathBuf, guard: PathGuard) -> Self {
        let (stamped, disabled) = (folder.clone(), settings.disabled.clone());
        let reading = guard.clone();
        let found = Watched::of(
            "skills",
            move || folder::stamp(&stamped),
            move || folder::look(&folder, &disabled, &reading),
        );
        Self {
            shelf: shelf::Shelf::of(found),
            guard,
        }
    }

    /// The one of this name, whatever tools there are.
    fn named(&self, name: &str) -> Option<Arc<Skill>> {
        let found = self.shelf.found();
        found.all.iter().find(|skill| skill.name == name).cloned()
    }

    /// What there is, where `has` says which tools there are. What cannot be used is told to the log once.
    #[must_use]
    pub fn sorted(&self, has: impl Fn(&str) -> bool) -> Sorted {
        self.shelf.sorted(has)
    }
}

#[cfg(test)]
mod tests;
