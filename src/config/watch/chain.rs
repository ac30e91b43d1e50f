//! Which names decide what a path leads to: the links on the way, and the file at its end.
//!
//! Reads links only. Bounded: a path of more links than the system follows is cut there.

use std::{
    collections::{BTreeSet, VecDeque},
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

/// Most links on one path, as the system has it.
const MAX_LINKS: usize = 40;

/// The full names of all links on the way, and of the file at the end, there or not.
pub(super) fn chain(path: &Path) -> BTreeSet<PathBuf> {
    let mut names = BTreeSet::new();
    let mut left = steps(path);
    let mut at = PathBuf::from("/");
    let mut links = 0;
    while let Some(step) = left.pop_front() {
        if step == ".." {
            at.pop();
            continue;
        }
        let here = at.join(&step);
        match fs::read_link(&here) {
            Ok(target) if links < MAX_LINKS => {
                links += 1;
                names.insert(here);
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                for step in steps(&target).into_iter().rev() {
                    left.push_front(step);
                }
            }
            _ => {
                if left.is_empty() {
                    names.insert(here.clone());
                }
                at = here;
            }
        }
    }
    names
}

fn steps(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
        })
        .collect()
}
