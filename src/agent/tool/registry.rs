//! The tools of a configuration, by name, and which of them a request offers.
//!
//! Owns the list of built-in tools and the choice where there are more than a request takes. It runs nothing.

mod entry;
mod words;

use std::{collections::HashSet, path::PathBuf, sync::Arc};

pub use entry::{Entry, Unfit};
use words::words;

use super::{
    Spec, Tool, calculate, config, context, date, fetch, files, memory, moderate, office,
    program::folder::Programs, question, schedule, search, shell, translate, weather,
};
use crate::{
    agent::{
        context::estimate_tokens,
        mcp::{Pool, Servers},
        model::Offer,
        peer::Peers,
        skill::{self, Skills, Sorted},
        subagent::{self, Agents},
    },
    security::paths::PathGuard,
};

/// The names of the built-in tools.
pub fn built_in_names() -> impl Iterator<Item = &'static str> {
    [
        date::NAME,
        calculate::NAME,
        fetch::NAME,
        fetch::save::NAME,
        search::NAME,
        weather::NAME,
        translate::NAME,
        schedule::NAME,
        question::NAME,
        memory::NAME,
        context::NAME,
        moderate::NAME,
        skill::tool::NAME,
        skill::RUN,
        shell::NAME,
        subagent::tool::NAME,
    ]
    .into_iter()
    .chain(files::NAMES)
    .chain(office::NAMES)
}

/// The programs of a folder.
#[must_use]
pub fn programs_of(folder: PathBuf) -> Programs {
    // Also those that are not offered keep their names: who adds a program must not wonder which one runs.
    Programs::of(folder, built_in_names().map(str::to_owned).collect())
}

/// The names of the tools that a configuration has without its servers.
#[must_use]
pub fn names(settings: &config::Tools, ground: Ground) -> Vec<String> {
    let programs = Programs::of(ground.programs.clone(), Vec::new());
    let own = built_in(settings, ground).unwrap_or_default();
    let mut names: Vec<String> = own.iter().map(|tool| tool.spec().name.clone()).collect();
    let internal = &settings.internal;
    let apart = [
        memory::NAME,
        skill::tool::NAME,
        skill::RUN,
        subagent::tool::NAME,
    ];
    let wanted = apart.into_iter().filter(|name| {
        // Skills and errands are no tools of this section, though each tool can be named in it.
        (internal.enabled || *name != memory::NAME) && !internal.disables(name)
    });
    names.extend(wanted.map(str::to_owned));
    let programs = programs.all();
    names.extend(programs.iter().map(|entry| entry.offer.name.clone()));
    names
}

/// What tools are made of beside their settings.
#[derive(Debug, Clone)]
pub struct Ground {
    /// Where the workspaces of conversations are.
    pub workspaces: PathBuf,
    /// Where programs are.
    pub programs: PathBuf,
    /// Where servers have folders of their own.
    pub servers: PathBuf,
    /// Where skills are.
    pub skills: PathBuf,
    /// Where named agents are.
    pub agents: PathBuf,
    /// Patterns for files that are never opened.
    pub blocked: Vec<String>,
    /// Files and folders of the gateway that no program may see.
    pub private: Vec<PathBuf>,
}

/// All tools of a configuration.
#[derive(Debug, Default)]
pub struct Registry {
    entries: Vec<Arc<Entry>>,
    /// Those that come and go.
    programs: Option<Programs>,
    /// Those of servers.
    servers: Servers,
    /// Agents by others.
    peers: Peers,
    /// What tells how things are done with them.
    skills: Option<Arc<Skills>>,
    /// What runs those that have steps. It comes and goes with them.
    runs: Option<Arc<Entry>>,
    /// Who can be named for errands.
    agents: Option<Arc<Agents>>,
    /// The offers of all entries.
    all: Offers,
    most: usize,
    /// Names of tools of which each call needs a yes.
    approval: Vec<String>,
}

/// What a request offers.
#[derive(Debug, Clone, Default)]
pub struct Offers {
    /// The tools.
    pub tools: Arc<[Offer]>,
    /// Tokens that their declarations take.
    pub tokens: usize,
}

/// For whom and for what tools are chosen.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// What was said.
    pub said: &'a str,
    /// The tools that were used before.
    pub used: &'a [String],
    /// Most tokens that their declarations may take.
    pub tokens: usize,
}

impl Registry {
    /// The tools that a configuration has.
    ///
    /// # Errors
    /// The first that does not fit.
    pub fn of(settings: &config::Tools, ground: Ground, pool: &Pool) -> Result<Self, Unfit> {
        let mut registry = Self {
            most: settings.internal.max_per_request,
            approval: settings.approval.clone(),
            ..Self::default()
        };
        let programs = ground.programs.clone();
        let folders = ground.servers.clone();
        let skills = skills(settings, &ground)?;
        for tool in built_in(settings, ground)? {
            registry.add(tool)?;
        }
        if let Some(skills) = &skills {
            registry.add(Arc::new(skill::tool::SkillTool::new(Arc::clone(skills))))?;
            if !settings.internal.disables(skill::RUN) {
                let run = Entry::new(Arc::new(skill::Run::new(Arc::clone(skills))))?;
                registry.runs = Some(Arc::new(run));
            }
        }
        registry.skills = skills;
        registry.programs = Some(programs_of(programs));
        registry.servers = pool.servers(&settings.mcp, &folders);
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
        self.all = Offers::of(self.entries.iter());
        Ok(())
    }

    /// The tool of this name, as it is now.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<Entry>> {
        let named = |entry: &&Arc<Entry>| entry.offer.name == name;
        let own = self.entries.iter().chain(&self.runs).find(named).cloned();
        own.or_else(|| self.programs().iter().find(named).cloned())
            .or_else(|| self.remote().find(|entry| entry.offer.name == name))
    }

    /// The skills as they are with the tools that there are now.
    #[must_use]
    pub fn skills(&self) -> Sorted {
        let has = |tool: &str| self.get(tool).is_some();
        let skills = self.skills.as_ref();
        skills.map(|skills| skills.sorted(has)).unwrap_or_default()
    }

    /// Takes in the tool with which errands are given, to `agents` among others.
    ///
    /// # Errors
    /// Its name is taken.
    pub fn give_errands(
        &mut self,
        settings: &subagent::config::Subagents,
        agents: Option<Arc<Agents>>,
    ) -> Result<(), Unfit> {
        self.agents.clone_from(&agents);
        self.add(Arc::new(subagent::tool::Delegate::new(settings, agents)))
    }

    /// The agents that can be named, as they are with the tools that there are now.
    #[must_use]
    pub fn agents(&self) -> subagent::Sorted {
        let has = |tool: &str| self.get(tool).is_some();
        let agents = self.agents.as_ref();
        agents.map(|agents| agents.sorted(has)).unwrap_or_default()
    }

    /// The servers whose tools are among them.
    #[must_use]
    pub fn servers(&self) -> &Servers {
        &self.servers
    }

    /// Takes the agents of these endpoints in, as they come and go.
    pub fn take_peers(&mut self, peers: Peers) {
        self.peers = peers;
    }

    /// The endpoints whose agents are among them.
    #[must_use]
    pub fn peers(&self) -> &Peers {
        &self.peers
    }

    /// What is not of this machine, or need not be: tools of servers first, then agents.
    fn remote(&self) -> impl Iterator<Item = Arc<Entry>> {
        self.servers.entries().chain(self.peers.entries())
    }

    /// Whether somebody has to say yes to each call of a tool: it says so itself, or the configuration does.
    #[must_use]
    pub fn asks(&self, spec: &Spec) -> bool {
        let named = |pattern: &String| match pattern.strip_suffix('*') {
            Some(start) => spec.name.starts_with(start),
            None => spec.name == *pattern,
        };
        spec.approval || self.approval.iter().any(named)
    }

    fn programs(&self) -> Arc<Vec<Arc<Entry>>> {
        self.programs
            .as_ref()
            .map(Programs::all)
            .unwrap_or_default()
    }

    /// What a request offers: all that `may` be used, and if they are too many, or take too many tokens, those that
    /// fit best to what was said and used before. In the order of the registry, so that the request begins as the one
    /// before did.
    #[must_use]
    pub fn offers(&self, may: impl Fn(&Spec) -> bool, wanted: Wanted<'_>) -> Offers {
        let mut beside = self.beside();
        // Where there is nothing to run the request is the same as ever.
        let runs = self.runs.iter().filter(|entry| may(entry.tool.spec()));
        beside.splice(..0, runs.cloned());
        let all = self.entries.iter().chain(&beside);
        let usable: Vec<&Arc<Entry>> = all.filter(|entry| may(entry.tool.spec())).collect();
        let own = beside.is_empty() && usable.len() == self.entries.len();
        if own && usable.len() <= self.most && self.all.tokens <= wanted.tokens {
            return self.all.clone();
        }
        let said = words(wanted.said);
        let mut order: Vec<usize> = (0..usable.len()).collect();
        let score = |place: &usize| {
            let entry = usable.get(*place);
            entry.map_or(0, |one| one.score(&said, wanted.used))
        };
        order.sort_by_key(|place| std::cmp::Reverse(score(place)));
        let mut left = wanted.tokens;
        order.retain(|place| {
            let tokens = usable.get(*place).map_or(0, |entry| entry.tokens);
            let fits = tokens <= left;
            left -= if fits { tokens } else { 0 };
            fits
        });
        order.truncate(self.most);
        order.sort_unstable();
        Offers::of(order.iter().filter_map(|place| usable.get(*place).copied()))
    }

    /// The tools that come and go. Of two with one name the first is meant, as [`Registry::get`] finds it.
    fn beside(&self) -> Vec<Arc<Entry>> {
        let programs = self.programs();
        let mut beside: Vec<Arc<Entry>> = programs.iter().cloned().collect();
        let mut names: HashSet<String> = beside.iter().map(|one| one.offer.name.clone()).collect();
        for entry in self.remote() {
            if names.insert(entry.offer.name.clone()) {
                beside.push(entry);
            }
        }
        beside
    }
}

impl Offers {
    fn of<'a>(entries: impl Iterator<Item = &'a Arc<Entry>> + Clone) -> Self {
        Self {
            tokens: entries.clone().map(|entry| entry.tokens).sum(),
            tools: entries.map(|entry| entry.offer.clone()).collect(),
        }
    }

    /// Whether a tool is on offer.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// The same, where the description of a tool ends with something more.
    #[must_use]
    pub fn about(mut self, name: &str, more: &str) -> Self {
        if more.is_empty() || !self.has(name) {
            return self;
        }
        self.tokens += estimate_tokens(more);
        let tools = self.tools.iter().cloned().map(|mut tool| {
            if tool.name == name {
                tool.description = format!("{}\n{more}", tool.description);
            }
            tool
        });
        self.tools = tools.collect();
        self
    }
}

/// The skills, if they and the tool that reads them are wanted.
fn skills(settings: &config::Tools, ground: &Ground) -> Result<Option<Arc<Skills>>, Unfit> {
    if !settings.skills.enabled || settings.internal.disables(skill::tool::NAME) {
        return Ok(None);
    }
    let guard = PathGuard::new(&ground.blocked).map_err(|what| Unfit {
        name: skill::tool::NAME.to_owned(),
        what,
    })?;
    let skills = Skills::of(&settings.skills, ground.skills.clone(), guard);
    Ok(Some(Arc::new(skills)))
}

/// The built-in tools that are not disabled.
fn built_in(settings: &config::Tools, ground: Ground) -> Result<Vec<Arc<dyn Tool>>, Unfit> {
    let internal = &settings.internal;
    if !internal.enabled {
        return Ok(Vec::new());
    }
    let unfit = |name: &'static str| {
        move |what| Unfit {
            name: name.to_owned(),
            what,
        }
    };
    let workspaces = files::workspaces(ground.workspaces, &settings.files, &ground.blocked);
    let workspaces = workspaces.map_err(unfit("files"))?;
    let pages = Arc::new(fetch::FetchPage::new(&settings.fetch));
    let save = fetch::save::SavePage::new(Arc::clone(&pages), Arc::clone(&workspaces));
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(date::DateTimeTool::default()),
        Arc::new(calculate::Calculate::default()),
        Arc::new(translate::Translate::default()),
        Arc::new(schedule::Schedule::default()),
        Arc::new(question::AskPerson::default()),
        Arc::new(context::ContextTool::default()),
        Arc::new(moderate::ModerateTool::default()),
        pages,
        Arc::new(save),
    ];
    let search = search::WebSearch::new(&settings.search);
    tools.extend(search.map(|search| Arc::new(search) as Arc<dyn Tool>));
    let weather = weather::WeatherTool::new(&settings.weather);
    tools.extend(weather.map(|weather| Arc::new(weather) as Arc<dyn Tool>));
    tools.extend(files::tools(&workspaces));
    tools.extend(office::tools(&workspaces));
    let shell = shell::Shell::new(&settings.shell, &workspaces, ground.private);
    let shell = shell.map_err(unfit(shell::NAME))?;
    tools.extend(shell.map(|shell| Arc::new(shell) as Arc<dyn Tool>));
    tools.retain(|tool| !internal.disables(&tool.spec().name));
    Ok(tools)
}

#[cfg(test)]
mod tests;
