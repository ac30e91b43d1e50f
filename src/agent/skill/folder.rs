//! The folder of skills: which are in it, at the start and whenever that changes.
//!
//! Owns the look at the folder. A skill that is broken is left out and reported; the others stay.

use std::{path::Path, sync::Arc};

use super::{
    Fault, Found, LeftOut, Skill, front, reach,
    template::{self, STEPS},
};
use crate::{
    agent::{shelf::Piece as _, watched},
    security::paths::PathGuard,
};

/// The file that makes a folder a skill, if [`STEPS`] does not.
pub(super) const SKILL: &str = "SKILL.md";
/// Largest of such files, in bytes.
const MAX_BYTES: usize = 128 * 1024;
/// Most skills that are read.
const MAX_SKILLS: usize = 100;
/// Most folders that are looked at.
const MAX_FOLDERS: usize = 1_000;

/// Those that come along, which a folder of the same name replaces.
const SHIPPED: [(&str, &str); 2] = [
    (
        "office-documents",
        include_str!("shipped/office-documents.md"),
    ),
    ("web-pages", include_str!("shipped/web-pages.md")),
];

/// The states of the files of one kind, each with the name of its skill.
type Stamps = Vec<(String, Option<[i64; 4]>)>;

/// What tells one state of the folder from another: each skill's name, and the state of its files.
pub(super) fn stamp(folder: &Path) -> [Stamps; 2] {
    let names = watched::folders(folder, MAX_FOLDERS);
    [SKILL, STEPS].map(|file| watched::stamps(folder, names.clone(), file))
}

/// Reads what is there, but for those of `disabled`.
pub(super) fn look(folder: &Path, disabled: &[String], guard: &PathGuard) -> Found {
    let mut found = Found::default();
    let names = watched::folders(folder, MAX_FOLDERS);
    for (name, text) in SHIPPED {
        if disabled.iter().chain(&names).any(|other| other == name) {
            continue;
        }
        // A test reads them all.
        if let Ok(skill) = front::read(None, name, text) {
            found.all.push(Arc::new(skill));
        }
    }
    for name in names {
        if disabled.contains(&name) {
            continue;
        }
        let read = if found.all.len() >= MAX_SKILLS {
            Err(Fault::TooMany { most: MAX_SKILLS })
        } else {
            skill(&folder.join(&name), &name, guard)
        };
        match read {
            Ok(skill) => found.all.push(Arc::new(skill)),
            Err(fault) => {
                Skill::left_out(&name, &fault);
                found.left_out.push(LeftOut { name, fault });
            }
        }
    }
    found.all.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

fn skill(folder: &Path, name: &str, guard: &PathGuard) -> Result<Skill, Fault> {
    let text = |file: &str| {
        reach::read(folder, file, MAX_BYTES, guard).map_err(|error| match error {
            reach::Error::TooLarge => Fault::TooLarge { most: MAX_BYTES },
            error => Fault::Unreadable {
                error: format!("{file}: {error}"),
            },
        })
    };
    if folder.join(STEPS).symlink_metadata().is_err() {
        return front::read(Some(folder), name, &text(SKILL)?);
    }
    if folder.join(SKILL).symlink_metadata().is_ok() {
        return Err(Fault::BothForms);
    }
    template::read(Some(folder), name, &text(STEPS)?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn those_that_come_along_can_be_read_replaced_and_switched_off() {
        let guard = PathGuard::new::<&str>(&[]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let names = |disabled: &[String]| -> Vec<String> {
            let found = look(folder.path(), disabled, &guard);
            found.all.iter().map(|skill| skill.name.clone()).collect()
        };
        assert_eq!(names(&[]), SHIPPED.map(|(name, _)| name));
        assert_eq!(names(&["web-pages".to_owned()]), ["office-documents"]);
        let own = folder.path().join("web-pages");
        fs::create_dir(&own).unwrap();
        fs::write(
            own.join(SKILL),
            "---\nname: web-pages\ndescription: Own.\n---\nOwn.",
        )
        .unwrap();
        let found = look(folder.path(), &[], &guard);
        assert_eq!(found.all.len(), 2);
        assert_eq!(found.all[1].description, "Own.");
        fs::write(own.join(SKILL), "broken").unwrap();
        assert_eq!(
            names(&[]),
            ["office-documents"],
            "what replaces it counts, also if it is broken"
        );
    }
}
