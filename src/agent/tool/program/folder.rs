//! The folder of tools: which programs are in it, at the start and whenever that changes.
//!
//! Owns the look at the folder. A program that is broken, or whose name is taken, is left out and reported; the
//! others stay. It runs none of them.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::manifest;
use crate::agent::{
    tool::registry::Entry,
    watched::{self, Watched},
};

/// The name of a manifest.
const MANIFEST: &str = "module.json";
/// Most programs.
const MAX_PROGRAMS: usize = 256;

/// The programs of a folder, as they are now.
#[derive(Debug)]
pub struct Programs(Watched<Found>);

/// What is in a folder.
#[derive(Debug, Default)]
pub struct Found {
    /// The programs that can be used.
    pub entries: Arc<Vec<Arc<Entry>>>,
    /// Those that are left out, and why.
    pub left_out: Vec<(String, String)>,
}

impl Programs {
    /// Looks into the folder, now and again. Names of `taken` cannot be had. Without a runtime it looks once.
    #[must_use]
    pub fn of(folder: PathBuf, taken: Vec<String>) -> Self {
        let stamped = folder.clone();
        Self(Watched::of(
            "tools",
            move || stamp(&stamped),
            move || look(&folder, &taken),
        ))
    }

    /// The programs.
    #[must_use]
    pub fn all(&self) -> Arc<Vec<Arc<Entry>>> {
        Arc::clone(&self.0.get().entries)
    }

    /// The programs, and what is left out.
    #[must_use]
    pub fn found(&self) -> Arc<Found> {
        self.0.get()
    }
}

/// What tells one state of the folder from another: each program's name, and the state of its manifest.
fn stamp(folder: &Path) -> Vec<(String, Option<[i64; 4]>)> {
    watched::stamps(folder, watched::folders(folder, MAX_PROGRAMS), MANIFEST)
}

fn look(folder: &Path, taken: &[String]) -> Found {
    let (mut entries, mut left_out) = (Vec::new(), Vec::new());
    for name in watched::folders(folder, MAX_PROGRAMS) {
        match program(&folder.join(&name), &name, taken) {
            Ok(entry) => entries.push(Arc::new(entry)),
            Err(what) => {
                tracing::warn!(
                    tool = name,
                    what,
                    "a program in the folder of tools is left out"
                );
                left_out.push((name, what));
            }
        }
    }
    Found {
        entries: Arc::new(entries),
        left_out,
    }
}

fn program(folder: &Path, name: &str, taken: &[String]) -> Result<Entry, String> {
    let path = folder.join(MANIFEST);
    let size = fs::metadata(&path)
        .map_err(|error| format!("{MANIFEST}: {error}"))?
        .len();
    if size > u64::try_from(manifest::MAX_BYTES).unwrap_or(u64::MAX) {
        return Err(format!("{MANIFEST} is too large"));
    }
    let text = fs::read_to_string(&path).map_err(|error| format!("{MANIFEST}: {error}"))?;
    let program = manifest::read(folder, name, &text)?;
    if taken.iter().any(|taken| taken == name) {
        return Err("another tool has this name".to_owned());
    }
    Entry::new(Arc::new(program)).map_err(|unfit| unfit.what)
}
