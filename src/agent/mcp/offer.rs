//! What is offered of a server: its tools as the configuration takes them, and ways to its resources and prompts.
//!
//! Owns what a tool's own words mean here: what it changes, whether it may run twice, whether somebody is asked. A tool
//! that cannot be offered is left out and reported; the others stay.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    config::{Approval, Server},
    line::Line,
    name::offered,
    schema::repaired,
    tool::{Remote, What},
};
use crate::agent::tool::{Access, Spec, registry::Entry};

/// Longest description, in characters.
const MAX_DESCRIPTION: usize = 2_000;

/// What is offered, and how many tools are not.
pub(super) struct Offered {
    pub(super) entries: Vec<Arc<Entry>>,
    /// How many of the entries are tools of its own.
    pub(super) tools: usize,
    pub(super) left_out: usize,
}

/// What of a server is offered. `has`: it has resources, it has prompts.
pub(super) fn offered_of(
    server: &Server,
    line: &Arc<Line>,
    listed: &[Value],
    (resources, prompts): (bool, bool),
) -> Offered {
    let mut offered = Offered {
        entries: Vec::new(),
        tools: 0,
        left_out: 0,
    };
    for tool in listed {
        let name = tool["name"].as_str().unwrap_or_default();
        if !server.tools.is_empty() && !server.tools.iter().any(|taken| taken == name) {
            continue;
        }
        let full = offered.entries.len() >= server.max_tools;
        let spec = if full {
            Err(format!("there are more than {}", server.max_tools))
        } else {
            spec(server, name, tool)
        };
        let what = What::Tool {
            name: name.to_owned(),
            sends: server.send_files,
        };
        let added = spec.and_then(|spec| offered.add(spec, line, what));
        if let Err(why) = added {
            offered.left_out += 1;
            tracing::warn!(
                server = server.name,
                tool = name,
                why,
                "a tool of a server is left out"
            );
        }
    }
    offered.tools = offered.entries.len();
    let ways = [
        (resources && server.resources, &RESOURCES),
        (prompts && server.prompts, &PROMPTS),
    ];
    for way in ways
        .iter()
        .filter(|(has, _)| *has)
        .flat_map(|(_, ways)| ways.iter())
    {
        // A tool of the server's own that is called so goes first.
        let _ = offered.add(way.spec(server), line, (way.what)());
    }
    offered
}

impl Offered {
    fn add(&mut self, spec: Spec, line: &Arc<Line>, what: What) -> Result<(), String> {
        let taken = |entry: &Arc<Entry>| entry.tool.spec().name == spec.name;
        if self.entries.iter().any(taken) {
            return Err("another one has this name".to_owned());
        }
        let remote = Remote::new(spec, Arc::clone(line), what);
        let entry = Entry::new(Arc::new(remote)).map_err(|unfit| unfit.what)?;
        self.entries.push(Arc::new(entry));
        Ok(())
    }
}

/// What a tool declares, in the words of the gateway. What it does not say is the careful choice.
fn spec(server: &Server, name: &str, tool: &Value) -> Result<Spec, String> {
    if name.is_empty() {
        return Err("it has no name".to_owned());
    }
    let hint = |hint: &str| tool["annotations"][hint].as_bool();
    let reads = hint("readOnlyHint") == Some(true);
    let access = server.access.unwrap_or(if reads {
        Access::Read
    } else {
        Access::WriteShared
    });
    let destroys = hint("destructiveHint").unwrap_or(true);
    let description = tool["description"].as_str().unwrap_or_default();
    Ok(Spec {
        name: offered(&server.name, name),
        description: description.chars().take(MAX_DESCRIPTION).collect(),
        parameters: repaired(tool.get("inputSchema"))?,
        global: server.global,
        access,
        repeatable: access == Access::Read || hint("idempotentHint") == Some(true),
        approval: match server.approval {
            Approval::Always => true,
            Approval::Never => false,
            Approval::Auto => access != Access::Read && destroys,
        },
    })
}

/// A way to what a server has beside tools.
struct Way {
    name: &'static str,
    about: &'static str,
    parameters: fn() -> Value,
    what: fn() -> What,
}

const RESOURCES: [Way; 2] = [
    Way {
        name: "list_resources",
        about: "Lists the resources that can be read: address, name and kind. Of many one page; `cursor` is the next.",
        parameters: || json!({ "cursor": { "type": "string" } }),
        what: || What::ListResources,
    },
    Way {
        name: "read_resource",
        about: "Reads a resource by its address.",
        parameters: || json!({ "uri": { "type": "string" } }),
        what: || What::ReadResource,
    },
];

const PROMPTS: [Way; 2] = [
    Way {
        name: "list_prompts",
        about: "Lists prepared prompts with their arguments. Of many one page; `cursor` is the next.",
        parameters: || json!({ "cursor": { "type": "string" } }),
        what: || What::ListPrompts,
    },
    Way {
        name: "get_prompt",
        about: "Gives a prepared prompt by its name, filled in with arguments.",
        parameters: || json!({ "name": { "type": "string" }, "arguments": { "type": "object" } }),
        what: || What::GetPrompt,
    },
];

impl Way {
    fn spec(&self, server: &Server) -> Spec {
        let properties = (self.parameters)();
        let needed = ["uri", "name"]
            .into_iter()
            .filter(|key| properties.get(*key).is_some());
        let needed: Vec<&str> = needed.collect();
        let parameters = json!({ "type": "object", "properties": properties, "required": needed });
        let about = format!("{} (Server: {}.)", self.about, server.name);
        Spec {
            global: server.global,
            approval: server.approval == Approval::Always,
            ..Spec::reading(&offered(&server.name, self.name), &about, parameters)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::agent::mcp::config::Link;

    fn server() -> Server {
        Server {
            name: "s".into(),
            enabled: true,
            link: Link::Program {
                command: vec!["x".into()],
                env: Vec::new(),
            },
            required: false,
            tools: Vec::new(),
            max_tools: 3,
            access: None,
            global: false,
            approval: Approval::Auto,
            resources: true,
            prompts: true,
            send_files: true,
            start_timeout: std::time::Duration::from_secs(1),
            folder: None,
        }
    }

    fn specs(server: &Server, listed: &Value, has: (bool, bool)) -> (Vec<Spec>, usize) {
        let line = Arc::new(Line::new("s".into(), PathBuf::new()));
        let offered = offered_of(server, &line, listed.as_array().unwrap(), has);
        let specs = offered
            .entries
            .iter()
            .map(|entry| entry.tool.spec().clone());
        (specs.collect(), offered.left_out)
    }

    #[test]
    fn what_a_tool_does_not_say_is_the_careful_choice() {
        let listed = json!([
            {"name": "plain", "inputSchema": {}},
            {"name": "reads", "inputSchema": {}, "annotations": {"readOnlyHint": true}},
            {"name": "adds", "inputSchema": {}, "annotations": {"destructiveHint": false, "idempotentHint": true}},
        ]);
        let (found, _) = specs(&server(), &listed, (false, false));
        let told: Vec<_> = found
            .iter()
            .map(|spec| (spec.access, spec.repeatable, spec.approval))
            .collect();
        assert_eq!(
            told,
            [
                (Access::WriteShared, false, true),
                (Access::Read, true, false),
                (Access::WriteShared, true, false),
            ]
        );
        let trusted = Server {
            access: Some(Access::Read),
            global: true,
            ..server()
        };
        let (found, _) = specs(&trusted, &listed, (false, false));
        assert!(
            found
                .iter()
                .all(|spec| spec.global && spec.repeatable && !spec.approval)
        );
    }

    #[test]
    fn bad_ones_and_too_many_are_left_out_and_the_others_stay() {
        let listed = json!([
            {"name": "odd", "inputSchema": {"type": "string"}},
            {"inputSchema": {}},
            7,
            {"name": "a", "inputSchema": null},
            {"name": "a", "inputSchema": {}},
            {"name": "list_resources", "inputSchema": {}},
            {"name": "b", "inputSchema": {}},
            {"name": "c", "inputSchema": {}},
        ]);
        let (found, left_out) = specs(&server(), &listed, (true, true));
        let names: Vec<&str> = found.iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "s__a",
                "s__list_resources",
                "s__b",
                "s__read_resource",
                "s__list_prompts",
                "s__get_prompt"
            ]
        );
        assert_eq!(left_out, 5);
        let chosen = Server {
            tools: vec!["b".into()],
            resources: false,
            prompts: false,
            send_files: true,
            ..server()
        };
        let (found, left_out) = specs(&chosen, &listed, (true, true));
        assert_eq!((found.len(), left_out), (1, 0));
    }
}
