//! Sub-agents: errands that a model gives away, and who can be named for them.
//!
//! Owns the named agents, each a Markdown file of the operator, and the way by which a call of a tool has an errand done.
//! An errand has the rights of the person who asks and no others, asks nobody, and gives no errands itself.

pub mod config;
pub(in crate::agent) mod errand;
mod folder;
pub mod tool;

use std::{fmt, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{
    shelf::{self, Fault, Rights},
    skill::template::Template,
    tool::{Fault as ToolFault, Given},
    watched::Watched,
};
use crate::{
    i18n::{Language, skills::SkillText},
    security::paths::PathGuard,
    store::ReplyFile,
};

/// Stands where not all agents have room.
pub const MORE: &str = "- (more of them; a name that there is not is answered with all)";

/// An agent that can be named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its name: that of its file.
    pub name: String,
    /// What it is for, on one line.
    pub description: String,
    /// The tools that it has; `None` for those of who gives the errand.
    pub tools: Option<Arc<[String]>>,
    /// The model that is asked first, as `provider/model`.
    pub model: Option<String>,
    /// Who may have it do something.
    pub rights: Rights,
    /// What it is told behind the layers of the prompt.
    pub body: Arc<str>,
}

impl shelf::Piece for Named {
    fn name(&self) -> &str {
        &self.name
    }

    fn tools(&self) -> &[String] {
        self.tools.as_deref().unwrap_or_default()
    }

    fn rights(&self) -> Rights {
        self.rights
    }

    const DISTINCT: bool = false;

    fn left_out(name: &str, fault: &Fault) {
        let what = SkillText::Why(fault.clone()).render(Language::En);
        tracing::warn!(agent = name, what, "an agent is left out");
    }
}

/// What there is with the tools as they are now.
pub type Sorted = shelf::Sorted<Named>;

/// The agents of a configuration that can be named.
#[derive(Debug)]
pub struct Agents(shelf::Shelf<Named>);

impl Agents {
    /// Those of a folder, which need not be there. They follow it when it changes. `models`: the names of those that there
    /// are.
    #[must_use]
    pub fn of(folder: PathBuf, models: Vec<String>, guard: PathGuard) -> Self {
        let stamped = folder.clone();
        Self(shelf::Shelf::of(Watched::of(
            "agents",
            move || folder::stamp(&stamped),
            move || folder::look(&folder, &models, &guard),
        )))
    }

    /// What there is, where `has` says which tools there are. What cannot be used is told to the log once.
    #[must_use]
    pub fn sorted(&self, has: impl Fn(&str) -> bool) -> Sorted {
        self.0.sorted(has)
    }

    /// The one of this name, whatever tools there are.
    fn named(&self, name: &str) -> Option<Arc<Named>> {
        let found = self.0.found();
        found.all.iter().find(|one| one.name == name).cloned()
    }
}

/// What an errand brings back.
#[derive(Debug)]
pub struct Brought {
    /// What it says.
    pub given: Given,
    /// The files that go out with the answer of the turn.
    pub files: Vec<ReplyFile>,
}

/// How a call of a tool has errands done.
#[async_trait]
pub trait Errands: Send + Sync + fmt::Debug {
    /// Has a task done by an agent of this name, or by one without a name. Dropping the future stops it.
    ///
    /// # Errors
    /// Why nothing came of it.
    async fn delegate(&self, name: &str, task: &str) -> Result<Brought, ToolFault>;

    /// The steps do not run: a fault that also tells of a step that was running before.
    fn broken_off(&self, why: String) -> ToolFault;

    /// Runs the steps of a skill with inputs that fit, from where they were before. Dropping the future stops it.
    ///
    /// # Errors
    /// Why nothing came of it, or that it waits for somebody.
    async fn run_steps(
        &self,
        template: &Template,
        inputs: &Map<String, Value>,
    ) -> Result<Brought, ToolFault>;
}
