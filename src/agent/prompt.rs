//! The system prompt of a turn, put together in one place.
//!
//! Owns the layers, their order and their built-in texts. The same settings give the same bytes, turn for turn, so that
//! what a provider keeps of a request's beginning is found again: nothing of what was said, remembered or found, and no
//! time of day, is ever part of it.

mod files;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use super::watched::Watched;

/// What an operator may call a persona: letters, digits, `_` and `-`.
pub const MAX_NAME: usize = 40;

/// A layer, in the order of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// What hardly ever changes: how it thinks and speaks.
    Soul,
    /// Who it is.
    Identity,
    /// How it works.
    Agent,
    /// How it deals with what is remembered.
    Memory,
    /// How it deals with skills, and which there are.
    Skills,
    /// How it deals with tools.
    Tools,
}

impl Layer {
    /// All layers in order.
    pub const ALL: [Self; 6] = [
        Self::Soul,
        Self::Identity,
        Self::Agent,
        Self::Memory,
        Self::Skills,
        Self::Tools,
    ];

    /// The file that replaces it.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Soul => "SOUL.md",
            Self::Identity => "IDENTITY.md",
            Self::Agent => "AGENT.md",
            Self::Memory => "MEMORY.md",
            Self::Skills => "SKILLS.md",
            Self::Tools => "TOOLS.md",
        }
    }

    fn built_in(self) -> &'static str {
        match self {
            Self::Soul => include_str!("prompt/SOUL.md"),
            Self::Identity => include_str!("prompt/IDENTITY.md"),
            Self::Agent => include_str!("prompt/AGENT.md"),
            Self::Memory => include_str!("prompt/MEMORY.md"),
            Self::Skills => include_str!("prompt/SKILLS.md"),
            Self::Tools => include_str!("prompt/TOOLS.md"),
        }
    }
}

/// The texts of some layers; of the others those of somebody else count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Texts([Option<Box<str>>; Layer::ALL.len()]);

impl Texts {
    fn get(&self, layer: Layer) -> Option<&str> {
        self.0.get(layer as usize)?.as_deref()
    }

    fn set(&mut self, layer: Layer, text: String) {
        if let Some(place) = self.0.get_mut(layer as usize) {
            *place = Some(text.into_boxed_str());
        }
    }
}

/// What a folder of layers holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Found {
    own: Texts,
    personas: BTreeMap<String, Texts>,
}

/// What a turn needs of the prompt.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The operator's text that stands for all layers, `context.system_prompt`, if he wrote one.
    pub instead: Option<&'a str>,
    /// The persona that the conversation chose.
    pub persona: Option<&'a str>,
    /// What the place where it was asked adds, in the operator's words; may be empty.
    pub site: &'a str,
    /// Standing rules of the conversation, one after the other; may be empty.
    pub rules: &'a str,
    /// The skills that may be used, a line each; empty if there are none.
    pub skills: &'a str,
    /// Things are remembered.
    pub memory: bool,
    /// There are tools on offer.
    pub tools: bool,
}

/// The layers of a configuration.
#[derive(Debug)]
pub struct Prompts(Watched<Found>);

impl Prompts {
    /// The layers of a folder, which need not be there. They follow it when it changes.
    #[must_use]
    pub fn of(folder: PathBuf) -> Self {
        let stamped = folder.clone();
        Self(Watched::of(
            "prompt",
            move || files::stamp(&stamped),
            move || files::read(&folder),
        ))
    }

    /// The names of the personas, in order.
    #[must_use]
    pub fn personas(&self) -> Vec<String> {
        self.0.get().personas.keys().cloned().collect()
    }

    /// The system prompt; empty if all of it is.
    #[must_use]
    pub fn system(&self, wanted: Wanted<'_>) -> String {
        assemble(&self.0.get(), wanted)
    }
}

/// Puts the layers together: those of the persona, else the operator's, else the built-in ones.
fn assemble(found: &Arc<Found>, wanted: Wanted<'_>) -> String {
    let persona = wanted.persona.and_then(|name| found.personas.get(name));
    let mut parts: Vec<&str> = match (wanted.instead, persona) {
        (Some(text), None) => vec![text],
        (_, persona) => Layer::ALL
            .into_iter()
            .filter(|layer| match layer {
                Layer::Memory => wanted.memory,
                Layer::Skills => !wanted.skills.is_empty(),
                Layer::Tools => wanted.tools,
                Layer::Soul | Layer::Identity | Layer::Agent => true,
            })
            .flat_map(|layer| {
                let own = persona.and_then(|persona| persona.get(layer));
                let own = own.or_else(|| found.own.get(layer));
                let text = own.unwrap_or_else(|| layer.built_in());
                // Who leaves the layer out leaves out what it lists.
                let list = layer == Layer::Skills && !text.trim().is_empty();
                [text, if list { wanted.skills } else { "" }]
            })
            .collect(),
    };
    parts.extend([wanted.site, wanted.rules]);
    let parts = parts
        .into_iter()
        .map(str::trim)
        .filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests;
