//! `platforms`: which adapters have a section.
//!
//! Owns which names are known and what is shipped for them in agent.yaml. It never looks into a
//! platform's section: its adapter does.

use std::{collections::BTreeMap, fmt, sync::OnceLock};

use weirgate_sdk::settings::{
    Entry, Fields, Kind, Node, Place, Problem, Problems, Setting, Value, nearest,
};

use crate::{agent::terms::Terms, outbound::config::PlatformAdaptation, permission::Roles};

/// A platform of this build.
#[derive(Clone, Copy)]
pub struct KnownPlatform {
    /// Its name in agent.yaml.
    pub name: &'static str,
    /// Programs speak through it with the gateway as with an agent: what `agent_collaboration` says of where it listens
    /// is an account of it.
    pub serves: bool,
    /// Reads the platform's section and reports what is wrong in it.
    pub check: fn(&Setting<'_>),
}

/// The account that `agent_collaboration` makes.
const ACCOUNT: &str = "default";

impl fmt::Debug for KnownPlatform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Checks the name of a platform; an unknown one is an error of `setting`.
#[must_use]
pub fn platform_name(name: &str, setting: &Setting<'_>, known: &[&str]) -> bool {
    if known.contains(&name) {
        return true;
    }
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("known here: {}", known.join(", ")),
    };
    setting.invalid("this version has no such platform", Some(&hint));
    false
}

/// The sections of all platforms, each checked by its adapter. Without the key, what is shipped. `listens` is where
/// programs find the gateway, by protocol.
pub(super) fn read(
    top: &mut Fields<'_>,
    known: &[KnownPlatform],
    listens: Vec<(&'static str, Node)>,
) -> BTreeMap<String, Node> {
    let mut nodes = written(top, known);
    let serves = known.iter().find(|platform| platform.serves);
    if let Some(platform) = serves.filter(|_| !listens.is_empty()) {
        serve(top.problems(), &mut nodes, platform, listens);
    }
    nodes
}

/// Adds an account to the section of a platform.
fn serve(
    problems: &Problems,
    nodes: &mut BTreeMap<String, Node>,
    platform: &KnownPlatform,
    listens: Vec<(&'static str, Node)>,
) {
    let place = listens.first().map_or(Place::START, |(_, node)| node.place);
    let map = |entries| Node {
        place,
        value: Value::Map(entries),
    };
    let entry = |key: &str, node| Entry {
        key: key.to_owned(),
        place,
        node,
    };
    let listens = listens.into_iter().map(|(key, node)| entry(key, node));
    let account = entry(ACCOUNT, map(listens.collect()));
    let section = nodes.get(platform.name);
    let accounts = section.and_then(|section| section.get("accounts"));
    let mut accounts = match accounts.map(|accounts| &accounts.value) {
        Some(Value::Map(accounts)) => accounts.clone(),
        _ => Vec::new(),
    };
    let path = format!("platforms.{}", platform.name);
    if accounts.iter().any(|other| other.key == ACCOUNT) {
        let what = format!("{path}.accounts.{ACCOUNT} is there: write there where it listens");
        let kind = Kind::Invalid(what);
        problems.push(Problem::error("agent_collaboration", Some(place), kind));
        return;
    }
    let alone = map(vec![entry("accounts", map(vec![account.clone()]))]);
    (platform.check)(&Setting::new(&alone, path, problems));
    accounts.push(account);
    let section = map(vec![entry("accounts", map(accounts))]);
    nodes.insert(platform.name.to_owned(), section);
}

fn written(top: &mut Fields<'_>, known: &[KnownPlatform]) -> BTreeMap<String, Node> {
    let names: Vec<&str> = known.iter().map(|platform| platform.name).collect();
    let Some(all) = top.get("platforms") else {
        let shipped = shipped().platforms.iter();
        let here = shipped.filter(|(name, _)| names.contains(&name.as_str()));
        return here
            .map(|(name, node)| (name.clone(), node.clone()))
            .collect();
    };
    let mut nodes = BTreeMap::new();
    for (name, setting) in all.map_of(&names).unwrap_or_default() {
        if !platform_name(name, &setting, &names) {
            continue;
        }
        for platform in known.iter().filter(|platform| platform.name == name) {
            (platform.check)(&setting);
        }
        nodes.insert(name.to_owned(), setting.node().clone());
    }
    nodes
}

/// Whether the roles that accounts give to whoever has no other are roles.
pub(super) fn check_roles(platforms: &BTreeMap<String, Node>, roles: &Roles, problems: &Problems) {
    for (name, node) in platforms {
        let Some(Value::Map(accounts)) = node.get("accounts").map(|node| &node.value) else {
            continue;
        };
        for account in accounts {
            let Some(role) = account.node.get(Terms::ROLE) else {
                continue;
            };
            let path = format!("platforms.{name}.accounts.{}.{}", account.key, Terms::ROLE);
            let setting = Setting::new(role, path, problems);
            if setting.word().is_some_and(|word| roles.get(word).is_none()) {
                setting.invalid("there is no such role", None);
            }
        }
    }
}

/// What the shipped agent.yaml says of single platforms.
#[derive(Debug, Default)]
pub(super) struct Shipped {
    /// `output.platform_adaptation`.
    pub(super) adaptation: PlatformAdaptation,
    /// `platforms`.
    pub(super) platforms: BTreeMap<String, Node>,
}

/// Read once. The file is part of the program; a test shows that it parses.
pub(super) fn shipped() -> &'static Shipped {
    static SHIPPED: OnceLock<Shipped> = OnceLock::new();
    SHIPPED.get_or_init(|| {
        let problems = Problems::new();
        let Some(root) = super::parse::parse(super::DEFAULT_FILE, &problems) else {
            return Shipped::default();
        };
        let adaptation = root
            .get("output")
            .and_then(|output| output.get("platform_adaptation"))
            .map(|node| Fields::new(node, "", &problems))
            .map(|fields| PlatformAdaptation::read(fields, &[], PlatformAdaptation::default()));
        let platforms = match root.get("platforms").map(|node| &node.value) {
            Some(Value::Map(entries)) => entries
                .iter()
                .map(|entry| (entry.key.clone(), entry.node.clone()))
                .collect(),
            _ => BTreeMap::new(),
        };
        Shipped {
            adaptation: adaptation.unwrap_or_default(),
            platforms,
        }
    })
}
