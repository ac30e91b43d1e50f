//! SKILL.md: a front matter in YAML between lines of `---`, and behind it what the model reads.
//!
//! Owns the keys that count here and their limits. Others are let be: skills are written for many programs. Pure.

use std::{path::Path, sync::Arc};

use serde_json::{Map, Value};

use super::{Fault, Rights, Skill};
use crate::permission::{Capability, Level};

/// Largest front matter, in bytes.
const MAX_FRONT: usize = 16 * 1024;
/// Longest name, in characters.
const MAX_NAME: usize = 64;
/// Longest description, in characters.
const MAX_DESCRIPTION: usize = 1_024;
/// Most tools that a skill may need, and the longest name of one.
const MAX_TOOLS: usize = 64;
/// Longest text that people are shown of the rest, in characters.
const MAX_ABOUT: usize = 200;
/// What people are shown beside name and description.
const ABOUT: [&str; 3] = ["version", "license", "compatibility"];

/// Reads a SKILL.md that lies in `folder`, or came along.
///
/// # Errors
/// Why the skill is left out.
pub(super) fn read(folder: Option<&Path>, folder_name: &str, text: &str) -> Result<Skill, Fault> {
    let (front, body) = parts(text).ok_or(Fault::NoFrontMatter)?;
    if front.len() > MAX_FRONT {
        return Err(Fault::TooLarge { most: MAX_FRONT });
    }
    let front = yaml(front)?;
    let name = name(&front)?;
    if name != folder_name {
        let name = name.chars().take(MAX_NAME).collect();
        return Err(Fault::OtherName { name });
    }
    let body = body.trim();
    if body.is_empty() {
        return Err(Fault::Empty);
    }
    Ok(Skill {
        name: name.to_owned(),
        description: description(&front)?,
        tools: tools(&front)?,
        rights: rights(front.get("rights"))?,
        about: about(&front),
        body: Arc::from(body),
        folder: folder.map(Path::to_owned),
    })
}

/// The front matter and what stands behind it.
fn parts(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---\n")?;
    if let Some(rest) = rest.strip_prefix("---\n") {
        return Some(("", rest));
    }
    let (front, rest) = rest.split_once("\n---")?;
    // The line that ends it holds nothing else.
    let (end, body) = rest.split_once('\n').unwrap_or((rest, ""));
    end.trim().is_empty().then_some((front, body))
}

fn yaml(front: &str) -> Result<Map<String, Value>, Fault> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: 2_000,
            max_aliases: 0,
            max_anchors: 0,
            max_depth: 16,
            max_documents: 1,
        },
        strict_booleans: true,
        with_snippet: false,
    };
    let read = serde_saphyr::from_str_with_options(front, options);
    read.map_err(|error| {
        let error = error.to_string();
        let line = error.split_whitespace().collect::<Vec<_>>().join(" ");
        Fault::Yaml {
            error: line.chars().take(300).collect(),
        }
    })
}

fn name(front: &Map<String, Value>) -> Result<&str, Fault> {
    let wanted = Fault::Key {
        key: "name",
        wanted: "letters, digits, - and _, at most 64",
    };
    let Some(name) = front.get("name").and_then(Value::as_str) else {
        return Err(wanted);
    };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(fits) {
        Ok(name)
    } else {
        Err(wanted)
    }
}

fn description(front: &Map<String, Value>) -> Result<String, Fault> {
    let text = front.get("description").and_then(Value::as_str);
    let words: Vec<&str> = text.unwrap_or_default().split_whitespace().collect();
    let line = words.join(" ");
    if (1..=MAX_DESCRIPTION).contains(&line.chars().count()) {
        Ok(line)
    } else {
        Err(Fault::Key {
            key: "description",
            wanted: "a text of at most 1024 characters",
        })
    }
}

/// The names of tools, as a list or as words.
fn tools(front: &Map<String, Value>) -> Result<Vec<String>, Fault> {
    let wanted = || Fault::Key {
        key: "tools",
        wanted: "at most 64 names of tools",
    };
    let names: Vec<String> = match front.get("tools") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::String(names)) => names
            .split([',', ' '])
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
        Some(Value::Array(names)) => {
            let names = names.iter().map(|name| name.as_str().map(str::to_owned));
            names.collect::<Option<_>>().ok_or_else(wanted)?
        }
        Some(_) => return Err(wanted()),
    };
    let fits = |name: &String| (1..=MAX_TOOLS).contains(&name.len());
    if names.len() <= MAX_TOOLS && names.iter().all(fits) {
        Ok(names)
    } else {
        Err(wanted())
    }
}

/// A level, or capabilities by name; nobody needs more than any tool if nothing is said.
fn rights(written: Option<&Value>) -> Result<Rights, Fault> {
    let known = |name: &str| {
        let level = Level::ALL.into_iter().find(|level| level.name() == name);
        let capability = || Capability::from_name(name);
        level.map(Level::capability).or_else(capability)
    };
    let mut rights = Rights {
        capability: Capability::EXECUTE,
        global: false,
    };
    let names = match written {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(name)) => vec![Some(name.as_str())],
        Some(Value::Array(names)) => names.iter().map(Value::as_str).collect(),
        Some(_) => vec![None],
    };
    for name in names {
        match name {
            Some("global") => rights.global = true,
            Some(name) if known(name).is_some() => {
                rights.capability |= known(name).unwrap_or_default();
            }
            _ => {
                return Err(Fault::Key {
                    key: "rights",
                    wanted: "public, member, admin, owner, global, or names of capabilities",
                });
            }
        }
    }
    Ok(rights)
}

fn about(front: &Map<String, Value>) -> Vec<(&'static str, String)> {
    let metadata = front.get("metadata").and_then(Value::as_object);
    let of = |key: &'static str| {
        let value = front.get(key).or_else(|| metadata?.get(key))?;
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        let line = weirgate_sdk::text::line(&text, MAX_ABOUT);
        (!line.is_empty()).then_some((key, line))
    };
    ABOUT.into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(front: &str) -> Result<Skill, Fault> {
        read(None, "maps", &format!("---\n{front}\n---\nDo it.\n"))
    }

    const PLAIN: &str = "name: maps\ndescription: Reads maps.";

    #[test]
    fn what_the_ecosystem_writes_is_read_and_the_rest_is_let_be() {
        let skill = of(&format!(
            "{PLAIN}\nlicense: MIT\nallowed-tools: Bash(git:*) Read\nmetadata:\n  version: \"1.2\"\n  x: {{y: 1}}\n\
             tools: [fetch_page, files__read]\nrights: [admin, WRITE]"
        ))
        .unwrap();
        assert_eq!(skill.description, "Reads maps.");
        assert_eq!(skill.tools, ["fetch_page", "files__read"]);
        let about: Vec<String> = skill.about.iter().map(|(_, text)| text.clone()).collect();
        assert_eq!(about, ["1.2", "MIT"]);
        let admin = Level::Admin.capability() | Capability::WRITE | Capability::EXECUTE;
        assert_eq!(
            skill.rights,
            Rights {
                capability: admin,
                global: false
            }
        );
        assert_eq!(&*skill.body, "Do it.");
        let words = of(&format!("{PLAIN}\ntools: a, b c")).unwrap();
        assert_eq!(words.tools, ["a", "b", "c"]);
        assert!(
            of(&format!("{PLAIN}\nrights: global"))
                .unwrap()
                .rights
                .global
        );
        let folded = of("name: maps\ndescription: >\n  Reads\n  maps.\n").unwrap();
        assert_eq!(folded.description, "Reads maps.");
    }

    #[test]
    fn each_fault_is_named() {
        let long = "x".repeat(MAX_DESCRIPTION + 1);
        let key = |fault: Result<Skill, Fault>| match fault {
            Err(Fault::Key { key, .. }) => key,
            other => panic!("{other:?}"),
        };
        assert_eq!(key(of("description: d")), "name");
        assert_eq!(key(of("name: [maps]\ndescription: d")), "name");
        assert_eq!(key(of("name: a b\ndescription: d")), "name");
        assert_eq!(key(of("name: maps")), "description");
        assert_eq!(
            key(of(&format!("name: maps\ndescription: {long}"))),
            "description"
        );
        assert_eq!(key(of(&format!("{PLAIN}\ntools: {{a: b}}"))), "tools");
        assert_eq!(key(of(&format!("{PLAIN}\ntools: [1]"))), "tools");
        assert_eq!(key(of(&format!("{PLAIN}\nrights: king"))), "rights");
        assert!(
            matches!(of("name: charts\ndescription: d"), Err(Fault::OtherName { name }) if name == "charts")
        );
        assert!(matches!(
            of("name: maps\nname: maps"),
            Err(Fault::Yaml { .. })
        ));
        assert!(matches!(of("name: \"maps"), Err(Fault::Yaml { .. })));
        assert!(matches!(
            of(&format!("{PLAIN}\na: &x [1]\nb: *x")),
            Err(Fault::Yaml { .. })
        ));
        assert!(matches!(of("- a"), Err(Fault::Yaml { .. })));
        let raw = |text: &str| read(None, "maps", text);
        for text in ["", "# Maps", "---\nname: maps\n", "---\nname: maps\n---x\n"] {
            assert_eq!(raw(text), Err(Fault::NoFrontMatter), "{text}");
        }
        assert_eq!(raw(&format!("---\n{PLAIN}\n---\n \n")), Err(Fault::Empty));
        let large = format!("{PLAIN}\nx: {}", "y".repeat(MAX_FRONT));
        assert!(matches!(of(&large), Err(Fault::TooLarge { .. })));
    }
}
