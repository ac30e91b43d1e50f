//! The system prompt of a turn, put together in one place.
//!
//! Owns the layers, their order and their built-in texts. The same settings give the same bytes, turn for turn, so that
//! what a provider keeps of a request's beginning is found again: nothing of what was said, remembered or found, and no
//! time of day, is ever part of it.

mod files;

use std::{borrow::Cow, collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

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
    /// How it does an errand.
    SubAgent,
    /// How it deals with what is remembered.
    Memory,
    /// How it deals with skills, and which there are.
    Skills,
    /// How it deals with tools.
    Tools,
}

impl Layer {
    /// All layers in order.
    pub const ALL: [Self; 7] = [
        Self::Soul,
        Self::Identity,
        Self::Agent,
        Self::SubAgent,
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
            Self::SubAgent => "SUB_AGENT.md",
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
            Self::SubAgent => include_str!("prompt/SUB_AGENT.md"),
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
    /// It is an errand: its limits, and what whoever does it is told; may be empty.
    pub errand: Option<(&'a Limits, &'a str)>,
}

/// What an errand may, as its layer says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most requests to the model.
    pub steps: usize,
    /// Most tokens of a request.
    pub tokens: usize,
    /// Most tokens of its answer.
    pub output: usize,
    /// Longest time.
    pub time: Duration,
}

impl Limits {
    /// A text with the limits in the place of their names in braces. Other braces stay.
    fn fill(&self, text: &str) -> String {
        text.replace("{max_steps}", &self.steps.to_string())
            .replace("{max_output}", &self.output.to_string())
            .replace("{budget}", &self.tokens.to_string())
            .replace("{timeout}", &self.time.as_secs().to_string())
    }
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
    let text = |layer: Layer| {
        let own = persona.and_then(|persona| persona.get(layer));
        let own = own.or_else(|| found.own.get(layer));
        own.unwrap_or_else(|| layer.built_in())
    };
    let filled = |(limits, _): (&Limits, _)| Cow::Owned(limits.fill(text(Layer::SubAgent)));
    let errand = wanted.errand.map(filled).unwrap_or_default();
    let mut parts: Vec<Cow<'_, str>> = match (wanted.instead, persona) {
        (Some(text), None) => vec![text.into(), errand],
        _ => {
            let layers = Layer::ALL.into_iter().filter(|layer| match layer {
                Layer::Memory => wanted.memory,
                Layer::Skills => !wanted.skills.is_empty(),
                Layer::Tools => wanted.tools,
                Layer::Soul | Layer::Identity | Layer::Agent | Layer::SubAgent => true,
            });
            let texts = layers.flat_map(|layer| match layer {
                Layer::SubAgent => [errand.clone(), "".into()],
                // Who leaves the layer out leaves out what it lists.
                Layer::Skills if !text(layer).trim().is_empty() => {
                    [text(layer).into(), wanted.skills.into()]
                }
                layer => [text(layer).into(), "".into()],
            });
            texts.collect()
        }
    };
    let own = wanted.errand.map_or("", |(_, own)| own);
    parts.extend([wanted.site, wanted.rules, own].map(Cow::from));
    let parts = parts
        .iter()
        .map(|part| part.trim())
        .filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests;
