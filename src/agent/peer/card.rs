//! What an agent by others says of itself, and what is offered of it.
//!
//! Owns the bounds of such a description and what its words mean here. An agent that cannot be offered is left out and
//! reported; the others stay. Pure.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{START, config::Endpoint, keep::Line, tool::Remote};
use crate::{
    agent::{
        mcp::name::offered_in,
        tool::{Spec, registry::Entry},
    },
    security::fence::label,
};

/// Longest name of an agent or an action, in characters.
const MAX_NAME: usize = 200;
/// Longest description, in characters.
const MAX_DESCRIPTION: usize = 1_500;
/// Most actions that are told.
const MAX_ACTIONS: usize = 32;
/// Longest description of an action, in characters.
const MAX_ACTION: usize = 200;
/// Longest task, in characters.
const MAX_TASK: usize = 32_000;

/// An agent, as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Card {
    /// Its own name.
    pub(super) name: String,
    /// What it is good for.
    pub(super) description: String,
    /// What it can be told to do, each with a description.
    pub(super) actions: Vec<(String, String)>,
}

impl Card {
    /// Reads a description; `None` if it names nobody.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let name = value["name"].as_str().filter(|name| {
            let length = name.chars().count();
            (1..=MAX_NAME).contains(&length)
        })?;
        let actions = value["actions"].as_array().map(Vec::as_slice);
        let action = |action: &Value| {
            let name = action.as_str().or_else(|| action["name"].as_str())?;
            let fits = (1..=MAX_NAME).contains(&name.chars().count());
            let about = action["description"].as_str().unwrap_or_default();
            fits.then(|| (name.to_owned(), begin(about, MAX_ACTION)))
        };
        Some(Self {
            name: name.to_owned(),
            description: begin(
                value["description"].as_str().unwrap_or_default(),
                MAX_DESCRIPTION,
            ),
            actions: actions
                .unwrap_or_default()
                .iter()
                .filter_map(action)
                .take(MAX_ACTIONS)
                .collect(),
        })
    }

    /// Reads an agent card of A2A, whose skills are told and cannot be chosen.
    pub(super) fn of_skills(value: &Value) -> Option<Self> {
        let mut card = Self::read(&json!({
            "name": value["name"], "description": value["description"],
        }))?;
        let skills = value["skills"].as_array().map(Vec::as_slice);
        for skill in skills.unwrap_or_default().iter().take(MAX_ACTIONS) {
            let text = |key: &str| skill[key].as_str().unwrap_or_default();
            let name = label(text("name"));
            if !name.is_empty() {
                let about = begin(text("description"), MAX_ACTION);
                card.description.push_str(&format!("\n- {name}: {about}"));
            }
        }
        Some(card)
    }

    /// What is declared of it here.
    fn spec(&self, endpoint: &Endpoint) -> Spec {
        let mut about = format!(
            "Gives a task to the agent {} by others and waits for its answer. It sees nothing of this conversation but \
             the task. {}",
            label(&self.name),
            self.description
        );
        let mut properties = json!({
            "task": { "type": "string", "minLength": 1, "maxLength": MAX_TASK,
                "description": "what it is to do, with everything it needs to know" },
            "args": { "type": "object", "description": "arguments that its description asks for" },
        });
        if let (Some((first, rest)), Some(properties)) =
            (self.actions.split_first(), properties.as_object_mut())
        {
            about.push_str("\nActions:");
            for (name, description) in [first].into_iter().chain(rest) {
                about.push_str(&format!("\n- {}: {description}", label(name)));
            }
            let names: Vec<&str> = self.actions.iter().map(|(name, _)| name.as_str()).collect();
            properties.insert("action".to_owned(), json!({ "enum": names }));
        }
        Spec {
            name: offered_in(START, &endpoint.name, &self.name),
            description: about,
            parameters: json!({
                "type": "object",
                "properties": properties,
                "required": ["task"],
                "additionalProperties": false,
            }),
            global: endpoint.global,
            access: endpoint.access,
            // Nobody knows what it does with a task.
            repeatable: false,
            approval: endpoint.approval,
        }
    }
}

fn begin(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// What is offered of an endpoint, and how many of its agents are not.
pub(super) fn offered_of(
    endpoint: &Arc<Endpoint>,
    line: &Arc<Line>,
    cards: &[Card],
) -> (Vec<Arc<Entry>>, usize) {
    let (mut entries, mut left_out): (Vec<Arc<Entry>>, usize) = (Vec::new(), 0);
    for card in cards {
        if !endpoint.agents.is_empty() && !endpoint.agents.contains(&card.name) {
            continue;
        }
        let spec = card.spec(endpoint);
        let twice = entries
            .iter()
            .any(|other| other.tool.spec().name == spec.name);
        let entry = if entries.len() >= endpoint.max_agents {
            Err(format!("there are more than {}", endpoint.max_agents))
        } else if twice {
            Err("another one has this name".to_owned())
        } else {
            let remote = Remote::new(spec, card.name.clone(), endpoint, line);
            Entry::new(Arc::new(remote)).map_err(|unfit| unfit.what)
        };
        match entry {
            Ok(entry) => entries.push(Arc::new(entry)),
            Err(why) => {
                left_out += 1;
                let (endpoint, agent) = (&endpoint.name, &card.name);
                tracing::warn!(endpoint, agent, why, "an agent of an endpoint is left out");
            }
        }
    }
    (entries, left_out)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::agent::{peer::config::Link, tool::Access};

    fn endpoint(name: &str) -> Endpoint {
        Endpoint {
            name: name.to_owned(),
            enabled: true,
            link: Link::Unix("/x".into()),
            token: None,
            agents: Vec::new(),
            max_agents: 3,
            access: Access::Write,
            global: false,
            approval: false,
            connect_timeout: Duration::from_secs(1),
            timeout: Duration::from_secs(1),
            refresh: Duration::from_secs(1),
        }
    }

    fn offered(endpoint: Endpoint, listed: &Value) -> (Vec<Spec>, usize) {
        let cards: Vec<Card> = listed
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Card::read)
            .collect();
        let (entries, left_out) =
            offered_of(&Arc::new(endpoint), &Arc::new(Line::default()), &cards);
        let specs = entries.iter().map(|entry| entry.tool.spec().clone());
        (specs.collect(), left_out)
    }

    #[test]
    fn an_agent_is_a_tool_that_changes_something_and_is_not_run_twice() {
        let listed = json!([
            { "name": "helper", "description": "Helps.",
                "actions": [{ "name": "sum", "description": "Adds." }, "plain", 7] },
            { "name": "查天气" },
            { "description": "nameless" },
        ]);
        let (specs, left_out) = offered(endpoint("local"), &listed);
        assert_eq!((specs.len(), left_out), (2, 0));
        let helper = &specs[0];
        assert_eq!(helper.name, "agent__local__helper");
        assert!(!helper.repeatable && helper.access == Access::Write && !helper.approval);
        assert!(
            helper.description.contains("Helps.") && helper.description.contains("- sum: Adds."),
            "{}",
            helper.description
        );
        let actions = &helper.parameters["properties"]["action"]["enum"];
        assert_eq!(actions, &json!(["sum", "plain"]));
        assert!(specs[1].parameters["properties"].get("action").is_none());
        let (others, _) = offered(endpoint("far"), &listed);
        assert_ne!(others[0].name, helper.name, "the endpoint tells them apart");
    }

    #[test]
    fn too_many_and_equal_ones_are_left_out_and_the_others_stay() {
        let listed = json!([{"name": "a"}, {"name": "a"}, {"name": "b"}, {"name": "c"},
            {"name": "d"}]);
        let (specs, left_out) = offered(endpoint("e"), &listed);
        assert_eq!((specs.len(), left_out), (3, 2));
        let chosen = Endpoint {
            agents: vec!["d".into()],
            global: true,
            approval: true,
            access: Access::WriteShared,
            ..endpoint("e")
        };
        let (specs, left_out) = offered(chosen, &listed);
        assert_eq!((specs.len(), left_out), (1, 0));
        assert!(specs[0].global && specs[0].approval && specs[0].access == Access::WriteShared);
    }

    #[test]
    fn the_skills_of_a_card_are_told() {
        let card = json!({ "name": "cook", "description": "Cooks.",
            "skills": [{ "id": "s", "name": "Soup", "description": "Boils it." }, 7, {}] });
        let card = Card::of_skills(&card).unwrap();
        assert_eq!(card.description, "Cooks.\n- Soup: Boils it.");
        assert_eq!(Card::of_skills(&json!({ "skills": [] })), None);
    }

    #[test]
    fn long_descriptions_are_cut() {
        let long = "x".repeat(100_000);
        let listed = json!([{ "name": "a", "description": long,
            "actions": vec![json!({ "name": "b", "description": long }); 100] },
            { "name": long }]);
        let (specs, _) = offered(endpoint("e"), &listed);
        assert_eq!(specs.len(), 1);
        assert!(specs[0].description.len() < 10_000);
    }
}
