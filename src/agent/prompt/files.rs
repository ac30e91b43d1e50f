//! The files of the prompt's layers: what is in the folder, and when that has changed.
//!
//! Owns the names and limits of the files. A file that cannot be read is left out and reported; the layer then is what it
//! would be without.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Found, Layer, MAX_NAME, Texts};
use crate::agent::watched;

/// The folder of the personas in the folder of the layers.
const PERSONAS: &str = "personas";
/// Most personas.
const MAX_PERSONAS: usize = 256;
/// Most bytes of a layer.
const MAX_BYTES: u64 = 64 << 10;
/// The ending of a persona that is a single file.
const ENDING: &str = ".md";

/// What tells one state of the folder from another.
pub(super) type Stamp = Vec<(PathBuf, Option<[i64; 4]>)>;

/// The state of every file that counts.
pub(super) fn stamp(folder: &Path) -> Stamp {
    let own = layers(folder);
    let personas = personas(folder).into_iter().flat_map(|(_, path)| {
        // A persona that is a single file has no files in it.
        let mut files = layers(&path);
        files.push(path);
        files
    });
    let all = own.into_iter().chain(personas);
    all.map(|path| {
        let stamp = watched::stamp(&path);
        (path, stamp)
    })
    .collect()
}

fn layers(folder: &Path) -> Vec<PathBuf> {
    Layer::ALL.map(|layer| folder.join(layer.file())).to_vec()
}

/// The personas by name, with the folder or the file of each, in order.
fn personas(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder.join(PERSONAS));
    let mut found: Vec<(String, PathBuf)> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            let path = entry.path();
            let name = if path.is_dir() {
                Some(file.as_str())
            } else {
                file.strip_suffix(ENDING)
            };
            Some((name.filter(|name| is_name(name))?.to_owned(), path))
        })
        .collect();
    found.sort();
    found.dedup_by(|one, other| one.0 == other.0);
    found.truncate(MAX_PERSONAS);
    found
}

/// Whether somebody can type it.
fn is_name(name: &str) -> bool {
    let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    (1..=MAX_NAME).contains(&name.chars().count()) && name.chars().all(fits)
}

/// Reads everything.
pub(super) fn read(folder: &Path) -> Found {
    let personas = personas(folder).into_iter().map(|(name, path)| {
        let texts = if path.is_dir() {
            texts(&path)
        } else {
            let mut texts = Texts::default();
            if let Some(text) = text(&path) {
                texts.set(Layer::Identity, text);
            }
            texts
        };
        (name, texts)
    });
    Found {
        own: texts(folder),
        personas: personas.collect(),
    }
}

fn texts(folder: &Path) -> Texts {
    let mut texts = Texts::default();
    for layer in Layer::ALL {
        if let Some(text) = text(&folder.join(layer.file())) {
            texts.set(layer, text);
        }
    }
    texts
}

/// The text of a file; `None` if it is not there, or cannot be used.
fn text(path: &Path) -> Option<String> {
    let size = fs::metadata(path).ok()?.len();
    let read = if size > MAX_BYTES {
        Err(format!("it is larger than {MAX_BYTES} bytes"))
    } else {
        fs::read_to_string(path).map_err(|error| error.to_string())
    };
    match read {
        // As it is typed on one system or another: the prompt is the same.
        Ok(text) => Some(text.trim_start_matches('\u{feff}').replace("\r\n", "\n")),
        Err(error) => {
            tracing::warn!(file = %path.display(), error, "a layer of the prompt is left out");
            None
        }
    }
}
