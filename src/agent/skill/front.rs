//! SKILL.md: a front matter in YAML between lines of `---`, and behind it what the model reads.
//!
//! Owns the keys that count here and their limits. Others are let be: skills are written for many programs. Pure.

use std::{path::Path, sync::Arc};

use serde_json::{Map, Value};

use super::{Fault, Skill};
use crate::agent::front::{MAX_NAME, description, name, rights, split, tools};

/// Longest text that people are shown of the rest, in characters.
const MAX_ABOUT: usize = 200;
/// What people are shown beside name and description.
const ABOUT: [&str; 3] = ["version", "license", "compatibility"];

/// Reads a SKILL.md that lies in `folder`, or came along.
///
/// # Errors
/// Why the skill is left out.
pub(super) fn read(folder: Option<&Path>, folder_name: &str, text: &str) -> Result<Skill, Fault> {
    let (front, body) = split(text)?;
    let name = name(&front)?;
    if name != folder_name {
        let name = name.chars().take(MAX_NAME).collect();
        return Err(Fault::OtherName { name });
    }
    if body.is_empty() {
        return Err(Fault::Empty);
    }
    Ok(Skill {
        name: name.to_owned(),
        description: description(&front)?,
        tools: tools(&front)?.unwrap_or_default(),
        rights: rights(front.get("rights"))?,
        about: about(&front),
        body: Arc::from(body),
        folder: folder.map(Path::to_owned),
        steps: None,
    })
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
    use crate::{
        agent::{
            front::{MAX_DESCRIPTION, MAX_FRONT},
            skill::Rights,
        },
        permission::{Capability, Level},
    };

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
