//! The folder of named agents: which are in it, at the start and whenever that changes.
//!
//! Owns the files and their keys. One that is broken is left out and reported; the others stay.

use std::{path::Path, sync::Arc};

use serde_json::Value;

use super::{Named, tool};
use crate::{
    agent::{
        front::{description, name, rights, split, tools},
        shelf::{Fault, Found, LeftOut, Piece as _},
        skill::reach,
        watched,
    },
    security::paths::PathGuard,
};

/// The ending of an agent's file.
const ENDING: &str = ".md";
/// Largest file, in bytes.
const MAX_BYTES: usize = 128 * 1024;
/// Most agents that are read.
const MAX_AGENTS: usize = 100;
/// Most files that are looked at.
const MAX_FILES: usize = 1_000;

/// What tells one state of the folder from another.
pub(super) fn stamp(folder: &Path) -> Vec<(String, Option<[i64; 4]>)> {
    let names = watched::files(folder, ENDING, MAX_FILES).into_iter();
    let stamped = names.map(|name| {
        let stamp = watched::stamp(&folder.join(&name));
        (name, stamp)
    });
    stamped.collect()
}

/// Reads what is there.
pub(super) fn look(folder: &Path, models: &[String], guard: &PathGuard) -> Found<Named> {
    let mut found = Found::default();
    for file in watched::files(folder, ENDING, MAX_FILES) {
        let read = if found.all.len() >= MAX_AGENTS {
            Err(Fault::TooMany { most: MAX_AGENTS })
        } else {
            text(folder, &file, guard).and_then(|text| agent(&file, &text, models))
        };
        match read {
            Ok(agent) => found.all.push(Arc::new(agent)),
            Err(fault) => {
                let name = file.trim_end_matches(ENDING).to_owned();
                Named::left_out(&name, &fault);
                found.left_out.push(LeftOut { name, fault });
            }
        }
    }
    found
}

fn text(folder: &Path, file: &str, guard: &PathGuard) -> Result<String, Fault> {
    reach::read(folder, file, MAX_BYTES, guard).map_err(|error| match error {
        reach::Error::TooLarge => Fault::TooLarge { most: MAX_BYTES },
        error => Fault::Unreadable {
            error: format!("{file}: {error}"),
        },
    })
}

/// What a file says.
fn agent(file: &str, text: &str, models: &[String]) -> Result<Named, Fault> {
    let (front, body) = split(text)?;
    let name = name(&front)?;
    if file.strip_suffix(ENDING) != Some(name) {
        let name = name.to_owned();
        return Err(Fault::OtherFile { name });
    }
    if body.is_empty() {
        return Err(Fault::Empty);
    }
    let tools = tools(&front)?;
    let gives = |tools: &Vec<String>| tools.iter().any(|name| name == tool::NAME);
    if tools.as_ref().is_some_and(gives) {
        return Err(Fault::Key {
            key: "tools",
            wanted: "names of tools without delegate: an errand gives no errands",
        });
    }
    Ok(Named {
        description: description(&front)?,
        tools: tools.map(Arc::from),
        model: model(front.get("model"), models)?,
        rights: rights(front.get("rights"))?,
        body: Arc::from(body),
        name: name.to_owned(),
    })
}

/// One of the models that there are.
fn model(written: Option<&Value>, models: &[String]) -> Result<Option<String>, Fault> {
    match written {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) if models.contains(name) => Ok(Some(name.clone())),
        Some(_) => Err(Fault::Key {
            key: "model",
            wanted: "one of models.chat or models.choices, as provider/model",
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn those_that_can_be_used_are_read_and_the_others_are_left_out_with_their_reasons() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
        let good = |name: &str, more: &str| {
            format!("---\nname: {name}\ndescription: Looks.\n{more}---\nLook well.\n")
        };
        write(
            "scout.md",
            &good(
                "scout",
                "tools: [calculate]\nmodel: main/a\nrights: admin\n",
            ),
        );
        write("plain.md", &good("plain", ""));
        write("none.md", &good("none", "tools: []\n"));
        write("other.md", &good("another", ""));
        write("gone.md", &good("gone", "model: main/none\n"));
        write("boss.md", &good("boss", "tools: [delegate]\n"));
        write("bare.md", "Look.");
        write("empty.md", "---\nname: empty\ndescription: d\n---\n");
        write("notes.txt", "no agent");
        write(".hidden.md", "no agent");
        let guard = PathGuard::new::<&str>(&[]).unwrap();
        let found = look(folder.path(), &["main/a".to_owned()], &guard);
        let names: Vec<&str> = found.all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["none", "plain", "scout"]);
        assert_eq!(found.all[0].tools.as_deref(), Some(&[][..]));
        assert_eq!(found.all[1].tools, None);
        assert_eq!(found.all[2].model.as_deref(), Some("main/a"));
        assert_eq!(&*found.all[2].body, "Look well.");
        let why: Vec<(&str, bool)> = found
            .left_out
            .iter()
            .map(|one| {
                let key = matches!(one.fault, Fault::Key { .. });
                (one.name.as_str(), key)
            })
            .collect();
        let expected = [
            ("bare", false),
            ("boss", true),
            ("empty", false),
            ("gone", true),
            ("other", false),
        ];
        assert_eq!(why, expected);
        assert!(matches!(&found.left_out[4].fault, Fault::OtherFile { name } if name == "another"));
        assert_eq!(stamp(folder.path()).len(), 8);
    }
}
