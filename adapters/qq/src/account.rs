//! An account of either kind: one that is reached through OneBot, or an official bot.
//!
//! Owns which of the two a section of agent.yaml means: with the key `official` it is an official bot.

use std::sync::Arc;

pub use crate::{PLATFORM, STARTER};
use axum::Router;
use weirgate_sdk::{Adapter, Setup, settings::Fields};

use crate::{Official, Qq, official, settings as onebot};

/// Settings of one account.
#[derive(Debug, Clone, PartialEq)]
pub enum Settings {
    /// Through OneBot.
    OneBot(onebot::Settings),
    /// An official bot.
    Official(official::settings::Settings),
}

impl Settings {
    /// Reads the settings of one account; faults are reported to the collector of `fields`. The keys of one kind are
    /// unknown to the other.
    #[must_use]
    pub fn read(fields: &mut Fields<'_>) -> Self {
        if let Some(setting) = fields.get("official") {
            let mut section = setting.fields();
            let settings = official::settings::Settings::read(&mut section);
            section.finish();
            // The reference tells of both.
            if !setting.describes() {
                return Self::Official(settings);
            }
        }
        Self::OneBot(onebot::Settings::read(fields))
    }
}

/// The adapter of one account of either kind.
pub trait Account: Adapter {
    /// The route to which events are posted, if they come so.
    fn router(&self) -> Option<Router>;
}

impl Account for Qq {
    fn router(&self) -> Option<Router> {
        Self::router(self)
    }
}

impl Account for Official {
    fn router(&self) -> Option<Router> {
        Self::router(self)
    }
}

/// The adapter of one account.
#[must_use]
pub fn build(setup: Setup, settings: Settings) -> Arc<dyn Account> {
    match settings {
        Settings::OneBot(settings) => crate::build(setup, settings),
        Settings::Official(settings) => official(&setup, settings),
    }
}

/// What is wrong between accounts: those that cannot be told apart.
pub fn conflicts(accounts: &[(&str, &Settings)]) -> Vec<String> {
    let mut onebot = Vec::new();
    let mut official: Vec<(&str, &str)> = Vec::new();
    let mut problems = Vec::new();
    for &(name, settings) in accounts {
        match settings {
            Settings::OneBot(settings) => onebot.push((name, settings)),
            Settings::Official(settings) => {
                let app_id = settings.app_id.as_str();
                if let Some((other, _)) = official.iter().find(|(_, known)| *known == app_id) {
                    problems.push(format!(
                        "the accounts {other} and {name} are one bot: {app_id}"
                    ));
                }
                official.push((name, app_id));
            }
        }
    }
    problems.extend(onebot::conflicts(&onebot));
    problems
}

#[cfg(test)]
mod tests {
    use weirgate_sdk::settings::{Node, Problems};

    use super::*;

    fn read(node: &Node) -> (Settings, Vec<String>) {
        let problems = Problems::new();
        let mut fields = Fields::new(node, "account", &problems);
        let settings = Settings::read(&mut fields);
        fields.finish();
        let problems = problems.take().into_iter();
        (settings, problems.map(|problem| problem.path).collect())
    }

    fn bot(app_id: &str) -> Node {
        let keys = [
            ("app_id", Node::text(app_id)),
            ("app_secret", Node::text("DG5g3B4j9X2KOErG")),
        ];
        Node::map([("official", Node::map(keys))])
    }

    #[test]
    fn the_key_official_makes_the_kind() {
        let (settings, problems) = read(&bot("102000001"));
        assert_eq!(problems, Vec::<String>::new());
        let Settings::Official(settings) = settings else {
            panic!("{settings:?}")
        };
        assert_eq!(settings.app_id, "102000001");
        assert!(matches!(read(&Node::map([])).0, Settings::OneBot(_)));
    }

    #[test]
    fn keys_of_one_kind_are_unknown_to_the_other() {
        let keys = [
            ("app_id", Node::text("102000001")),
            ("app_secret", Node::text("DG5g3B4j9X2KOErG")),
        ];
        let mixed = Node::map([
            ("official", Node::map(keys)),
            ("listen", Node::text("127.0.0.1:1")),
        ]);
        assert_eq!(read(&mixed).1, ["account.listen"]);
        assert_eq!(
            read(&Node::map([("app_id", Node::text("1"))])).1,
            ["account.app_id"]
        );
        let empty = read(&Node::map([("official", Node::map([]))])).1;
        assert_eq!(
            empty,
            ["account.official.app_id", "account.official.app_secret"]
        );
    }

    #[test]
    fn one_bot_is_one_account() {
        let (first, second) = (read(&bot("102000001")).0, read(&bot("102000002")).0);
        assert!(conflicts(&[("a", &first), ("b", &second)]).is_empty());
        assert_eq!(
            conflicts(&[("a", &first), ("b", &first)]),
            ["the accounts a and b are one bot: 102000001"]
        );
    }
}
