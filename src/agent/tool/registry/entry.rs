//! One tool of a registry, with what is made of its declaration once.
//!
//! Owns what a tool must be to be taken in, and how well one fits to what was said. It chooses nothing.

use std::{collections::BTreeSet, fmt, sync::Arc};

use super::words::{besides, words};
use crate::agent::{
    model::Offer,
    skill,
    tool::{Tool, schema::Schema},
};

/// A tool with what is made of its declaration once.
pub struct Entry {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// Its schema.
    pub schema: Schema,
    /// What a request offers of it.
    pub(super) offer: Offer,
    /// Tokens that its declaration takes.
    pub(super) tokens: usize,
    /// The words of its name and description.
    words: BTreeSet<String>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entry").field(&self.offer.name).finish()
    }
}

/// What is told of a tool that cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {what}")]
pub struct Unfit {
    /// Its name.
    pub name: String,
    /// What is wrong.
    pub what: String,
}

impl Entry {
    /// What is made of a tool's declaration.
    ///
    /// # Errors
    /// Its name cannot be sent to a model, or its schema is none.
    pub fn new(tool: Arc<dyn Tool>) -> Result<Self, Unfit> {
        let spec = tool.spec();
        let unfit = |what: &str| Unfit {
            name: spec.name.clone(),
            what: what.to_owned(),
        };
        if !is_name(&spec.name) {
            return Err(unfit(
                "a name has letters, digits, _ and -, at most 64 of them",
            ));
        }
        let schema = Schema::new(&spec.parameters).map_err(|what| unfit(&what))?;
        let offer = Offer {
            name: spec.name.clone(),
            description: spec.description.clone(),
            parameters: spec.parameters.clone(),
        };
        let words = words(&format!(
            "{} {} {}",
            spec.name,
            spec.description,
            besides(&spec.name)
        ));
        Ok(Self {
            schema,
            tokens: offer.tokens(),
            offer,
            words,
            tool,
        })
    }

    pub(super) fn unfit(&self, what: &str) -> Unfit {
        Unfit {
            name: self.offer.name.clone(),
            what: what.to_owned(),
        }
    }

    /// How well it fits, in tenths: by its name, by the words of its description, by being used just now.
    pub(super) fn score(&self, said: &BTreeSet<String>, used: &[String]) -> usize {
        if [skill::tool::NAME, skill::RUN].contains(&&*self.offer.name) {
            // The prompt lists what they read and run.
            return usize::MAX;
        }
        let name = self.offer.name.to_lowercase();
        let named = said.iter().any(|word| name.contains(word.as_str()));
        let recent = used.contains(&self.offer.name);
        let shared = self.words.intersection(said).count();
        3 * usize::from(named) + shared + 2 * usize::from(recent)
    }
}

/// Whether providers take a name.
fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
