//! The tools of a configuration, by name, and which of them a request offers.
//!
//! Owns the list of built-in tools and the choice where there are more than a request takes. It runs nothing.

use std::{collections::BTreeSet, fmt, path::PathBuf, sync::Arc};

use super::{
    Spec, Tool, calculate, config, date, fetch, files, memory, program::folder::Programs,
    schema::Schema, search, weather,
};
use crate::agent::model::Offer;

/// The names of the built-in tools.
pub fn built_in_names() -> impl Iterator<Item = &'static str> {
    [
        date::NAME,
        calculate::NAME,
        fetch::NAME,
        search::NAME,
        weather::NAME,
        memory::NAME,
    ]
    .into_iter()
    .chain(files::NAMES)
}

/// What tools are made of beside their settings.
#[derive(Debug, Clone)]
pub struct Ground {
    /// Where the workspaces of conversations are.
    pub workspaces: PathBuf,
    /// Where programs are.
    pub programs: PathBuf,
    /// Patterns for files that are never opened.
    pub blocked: Vec<String>,
}

/// A tool with what is made of its declaration once.
pub struct Entry {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// Its schema.
    pub schema: Schema,
    offer: Offer,
    /// The words of its name and description.
    words: BTreeSet<String>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entry").field(&self.offer.name).finish()
    }
}

/// All tools of a configuration.
#[derive(Debug, Default)]
pub struct Registry {
    entries: Vec<Arc<Entry>>,
    /// Those that come and go.
    programs: Option<Programs>,
    /// The offers of all entries.
    all: Arc<[Offer]>,
    most: usize,
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

impl Registry {
    /// The tools that a configuration has.
    ///
    /// # Errors
    /// The first that does not fit.
    pub fn of(settings: &config::Tools, ground: Ground) -> Result<Self, Unfit> {
        let mut registry = Self {
            most: settings.internal.max_per_request,
            ..Self::default()
        };
        let programs = ground.programs.clone();
        for tool in built_in(settings, ground)? {
            registry.add(tool)?;
        }
        // Also those that are not offered keep their names: who adds a program must not wonder which one runs.
        let taken = built_in_names().map(str::to_owned).collect();
        registry.programs = Some(Programs::of(programs, taken));
        Ok(registry)
    }

    /// Takes a tool in.
    ///
    /// # Errors
    /// Its name is taken or cannot be sent to a model, or its schema is none.
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> Result<(), Unfit> {
        let entry = Entry::new(tool)?;
        if self.get(&entry.offer.name).is_some() {
            return Err(entry.unfit("another tool has this name"));
        }
        self.entries.push(Arc::new(entry));
        let offers = self.entries.iter().map(|entry| entry.offer.clone());
        self.all = offers.collect();
        Ok(())
    }

    /// The tool of this name, as it is now.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<Entry>> {
        let named = |entry: &&Arc<Entry>| entry.offer.name == name;
        let own = self.entries.iter().find(named).cloned();
        own.or_else(|| self.programs().iter().find(named).cloned())
    }

    fn programs(&self) -> Arc<Vec<Arc<Entry>>> {
        self.programs
            .as_ref()
            .map(Programs::all)
            .unwrap_or_default()
    }

    /// What a request offers: all that `may` be used, and if they are too many those that fit best to what was
    /// said and used before. In the order of the registry, so that the request begins as the one before did.
    #[must_use]
    pub fn offers(&self, may: impl Fn(&Spec) -> bool, said: &str, used: &[String]) -> Arc<[Offer]> {
        let programs = self.programs();
        let all = self.entries.iter().chain(programs.iter());
        let usable: Vec<&Arc<Entry>> = all.filter(|entry| may(entry.tool.spec())).collect();
        let own = programs.is_empty() && usable.len() == self.entries.len();
        if own && usable.len() <= self.most {
            return Arc::clone(&self.all);
        }
        let said = words(said);
        let mut order: Vec<usize> = (0..usable.len()).collect();
        let score = |place: &usize| usable.get(*place).map_or(0, |one| one.score(&said, used));
        order.sort_by_key(|place| std::cmp::Reverse(score(place)));
        order.truncate(self.most);
        order.sort_unstable();
        let chosen = order.iter().filter_map(|place| usable.get(*place));
        chosen.map(|entry| entry.offer.clone()).collect()
    }
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
        let words = words(&format!("{} {}", spec.name, spec.description));
        Ok(Self {
            schema,
            offer,
            words,
            tool,
        })
    }

    fn unfit(&self, what: &str) -> Unfit {
        Unfit {
            name: self.offer.name.clone(),
            what: what.to_owned(),
        }
    }

    /// How well it fits, in tenths: by its name, by the words of its description, by being used just now.
    fn score(&self, said: &BTreeSet<String>, used: &[String]) -> usize {
        let name = self.offer.name.to_lowercase();
        let named = said.iter().any(|word| name.contains(word.as_str()));
        let recent = used.contains(&self.offer.name);
        let shared = self.words.intersection(said).count();
        3 * usize::from(named) + shared + 2 * usize::from(recent)
    }
}

/// The built-in tools that are not disabled.
fn built_in(settings: &config::Tools, ground: Ground) -> Result<Vec<Arc<dyn Tool>>, Unfit> {
    let internal = &settings.internal;
    if !internal.enabled {
        return Ok(Vec::new());
    }
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(date::DateTimeTool::default()),
        Arc::new(calculate::Calculate::default()),
        Arc::new(fetch::FetchPage::new(&settings.fetch)),
    ];
    let search = search::WebSearch::new(&settings.search);
    tools.extend(search.map(|search| Arc::new(search) as Arc<dyn Tool>));
    let weather = weather::WeatherTool::new(&settings.weather);
    tools.extend(weather.map(|weather| Arc::new(weather) as Arc<dyn Tool>));
    let files = files::tools(ground.workspaces, &settings.files, &ground.blocked);
    tools.extend(files.map_err(|what| Unfit {
        name: "files".to_owned(),
        what,
    })?);
    tools.retain(|tool| !internal.disabled.contains(&tool.spec().name));
    Ok(tools)
}

/// Whether providers take a name.
fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The words of a text in lower case; of Chinese and the like each pair of neighbours.
fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let mut words = BTreeSet::new();
    for word in lower.split(|sign: char| !sign.is_alphanumeric()) {
        if word.is_ascii() {
            // Of two letters are words that say nothing.
            words.extend((word.len() > 2).then(|| word.to_owned()));
        } else {
            let signs: Vec<char> = word.chars().collect();
            words.extend(signs.windows(2).map(|pair| pair.iter().collect::<String>()));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use serde_json::json;

    use super::*;
    use crate::agent::tool::{Call, Fault, Given};

    struct Named(Spec);

    #[async_trait]
    impl Tool for Named {
        fn spec(&self) -> &Spec {
            &self.0
        }

        async fn run(&self, _: Call<'_>) -> Result<Given, Fault> {
            Ok(Given::own(""))
        }
    }

    fn tool(name: &str, about: &str) -> Arc<dyn Tool> {
        Arc::new(Named(Spec::reading(name, about, json!({"type": "object"}))))
    }

    #[test]
    fn names_and_schemas_that_no_provider_takes_are_refused() {
        let mut registry = Registry::of(
            &config::Tools::default(),
            Ground {
                workspaces: PathBuf::from("/nowhere"),
                programs: PathBuf::from("/nowhere"),
                blocked: Vec::new(),
            },
        )
        .unwrap();
        assert!(registry.add(tool("fine-1_a", "")).is_ok());
        for name in ["", "fine-1_a", "date_time", "a.b", "天气", &"x".repeat(65)] {
            assert!(registry.add(tool(name, "")).is_err(), "{name}");
        }
        let odd = Spec::reading("odd", "", json!({"type": "string"}));
        assert!(registry.add(Arc::new(Named(odd))).is_err());
    }

    #[test]
    fn of_too_many_those_that_fit_are_offered_in_their_order() {
        let mut registry = Registry {
            most: 2,
            ..Registry::default()
        };
        for (name, about) in [
            ("alpha", "tells the weather 天气预报"),
            ("beta", "draws a picture"),
            ("gamma", "finds a train"),
        ] {
            registry.add(tool(name, about)).unwrap();
        }
        let offered = |said: &str, used: &[String]| -> Vec<String> {
            let offers = registry.offers(|_| true, said, used);
            offers.iter().map(|offer| offer.name.clone()).collect()
        };
        assert_eq!(
            offered("which train has good weather?", &[]),
            ["alpha", "gamma"]
        );
        assert_eq!(
            offered("明天天气怎么样", &["gamma".into()]),
            ["alpha", "gamma"]
        );
        assert_eq!(offered("use beta", &["gamma".into()]), ["beta", "gamma"]);
        let none = registry.offers(|_| false, "train", &[]);
        assert!(none.is_empty());
    }
}
