//! Finds the file, reads it, and gives the configuration or everything that is wrong with it.
//!
//! Owns the order of the search and the limits on what is read. It writes nothing.

use std::{
    fmt, fs,
    io::Read,
    path::{Path, PathBuf},
};

use weirgate_sdk::settings::{Kind, Node, Place, Problem, Problems, Severity, Value};

use super::{
    Config, Environment, KnownPlatform,
    expand::{self, expand, expand_text},
    overrides::Overrides,
    parse::{MAX_BYTES, parse},
    reload::Written,
    report::render_problems,
};
use crate::store::config::Storage;

/// The exit code for a configuration that cannot be used, as in sysexits.h.
pub const EXIT_CONFIG: u8 = 78;

/// The variable that names the file.
const CONFIG_VARIABLE: &str = "WEIRGATE_CONFIG";
/// The file that is looked for in the working directory.
pub const CONFIG_FILE: &str = "agent.yaml";
/// What stands for the file's name when there is none.
pub(super) const BUILT_IN: &str = "built-in defaults";
/// Largest file that a `*_file` key may name, in bytes.
const MAX_SECRET_BYTES: usize = 64 * 1024;

/// Largest file with words, in bytes.
const MAX_LIST_BYTES: usize = 8 << 20;

/// Why a configuration cannot be used: everything that is wrong with it, warnings included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// The file, as it was named.
    pub file: String,
    /// In the order of the file; at least one is an error.
    pub problems: Vec<Problem>,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render_problems(&self.file, &self.problems))
    }
}

impl std::error::Error for LoadError {}

/// A configuration with what belongs to its reading.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What it says.
    pub config: Config,
    /// What is odd about it.
    pub warnings: Vec<Problem>,
    /// What is written in the file, key by key.
    pub written: Written,
}

/// Loads the configuration: the file at `path`, else the one that `WEIRGATE_CONFIG` names, else
/// `agent.yaml` in the working directory, else the built-in defaults. `platforms` are those of this
/// build. Gives the configuration and the warnings.
///
/// # Errors
/// Everything that is wrong, in one go.
pub fn load(
    path: Option<&Path>,
    env: &Environment<'_>,
    platforms: &[KnownPlatform],
) -> Result<(Config, Vec<Problem>), LoadError> {
    load_whole(path, env, platforms).map(|loaded| (loaded.config, loaded.warnings))
}

/// Like [`load()`], with everything that a later reload is compared with.
///
/// # Errors
/// Everything that is wrong, in one go.
pub fn load_whole(
    path: Option<&Path>,
    env: &Environment<'_>,
    platforms: &[KnownPlatform],
) -> Result<Loaded, LoadError> {
    let file = find(path, env, Path::new(CONFIG_FILE));
    read_whole(file, env, platforms, None)
}

/// Loads the configuration of a running gateway again: from the `file` that it has, or, if it runs with the
/// built-in defaults, from where one may stand meanwhile. An empty file is refused: as a rule it is one that
/// is being written. What was set at run time lies on top of it.
///
/// # Errors
/// Everything that is wrong, in one go.
pub fn load_again(
    file: Option<&Path>,
    overrides: &Overrides,
    env: &Environment<'_>,
    platforms: &[KnownPlatform],
) -> Result<Loaded, LoadError> {
    let file = find(file, env, Path::new(CONFIG_FILE));
    if let Some(file) = &file
        && fs::metadata(file).is_ok_and(|known| !known.is_file())
    {
        let kind = Kind::Invalid("is not a file that can be read twice".to_owned());
        return Err(LoadError {
            file: file_name(Some(file)),
            problems: vec![Problem::error("", None, kind)],
        });
    }
    read_whole(file, env, platforms, Some(overrides))
}

fn read_whole(
    file: Option<PathBuf>,
    env: &Environment<'_>,
    platforms: &[KnownPlatform],
    again: Option<&Overrides>,
) -> Result<Loaded, LoadError> {
    let problems = problems(file.as_deref());
    let root = match &file {
        Some(file) => read_file(file, MAX_BYTES)
            .map_err(|problem| problems.push(*problem))
            .ok()
            .and_then(|text| tree(&text, env, &problems)),
        None => Some(Node::new(Value::Null)),
    };
    let empty = |root: &Node| file.is_some() && root.value == Value::Null;
    if again.is_some() && root.as_ref().is_some_and(empty) {
        let kind = Kind::Invalid("the file is empty".to_owned());
        let hint = "write at least one key, such as language: auto";
        problems.push(Problem::error("", Some(Place::START), kind).hint(hint));
    }
    let config = root.map(|mut root| {
        if let Some(overrides) = again {
            overrides.apply(&mut root, &problems);
        }
        let mut config = from_tree(&root, env, platforms, &problems);
        read_lists(&mut config, file.as_deref(), &problems);
        let written = Written::new(&root, &config.secrets);
        (config, written)
    });
    let failed = problems.has_errors();
    let found = problems.take();
    match config {
        Some((config, written)) if !failed => Ok(Loaded {
            config: Config { file, ..config },
            warnings: found,
            written,
        }),
        _ => Err(LoadError {
            file: file_name(file.as_deref()),
            problems: found,
        }),
    }
}

/// Reads the files with words that a configuration names.
fn read_lists(config: &mut Config, file: Option<&Path>, problems: &Problems) {
    let folder = file.and_then(Path::parent).unwrap_or(Path::new(""));
    let filter = &mut config.security.content_filter;
    for list in filter.files.clone() {
        let read = read_file(&folder.join(&list.path), MAX_LIST_BYTES);
        let read = read.map_err(|problem| format!("the file cannot be read: {}", problem.kind));
        if let Err(fault) = read.and_then(|text| filter.take(&text, list.severity)) {
            let (path, place) = list.key;
            problems.push(Problem::error(path, Some(place), Kind::Invalid(fault)));
        }
    }
}

/// The name of the file for messages.
pub(super) fn file_name(file: Option<&Path>) -> String {
    file.map_or_else(|| BUILT_IN.to_owned(), |file| file.display().to_string())
}

/// The expanded tree of a file's text.
pub(super) fn tree(text: &str, env: &Environment<'_>, problems: &Problems) -> Option<Node> {
    let mut root = parse(text, problems)?;
    if root.value == Value::Null {
        let kind = Kind::Note("the file says nothing: the defaults hold".to_owned());
        problems.push(Problem::warning("", Some(Place::START), kind));
    }
    expand(&mut root, "", env, problems);
    Some(root)
}

/// The configuration of an expanded tree.
pub(super) fn from_tree(
    root: &Node,
    env: &Environment<'_>,
    platforms: &[KnownPlatform],
    problems: &Problems,
) -> Config {
    let written = root
        .get("storage")
        .and_then(|storage| storage.get("url").or_else(|| storage.get("url_file")))
        .is_some();
    let default_url = match expand_text(Storage::DEFAULT_URL, env) {
        Ok((url, _)) => url,
        Err(fault) => {
            if !written {
                expand::report(&fault, "storage.url", None, problems);
            }
            Storage::DEFAULT_URL.to_owned()
        }
    };
    Config::read(root, platforms, default_url, problems)
}

/// The file to read: `here` is the one in the working directory.
fn find(path: Option<&Path>, env: &Environment<'_>, here: &Path) -> Option<PathBuf> {
    if let Some(path) = path {
        return Some(path.to_owned());
    }
    if let Some(path) = env(CONFIG_VARIABLE).filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    // A file that cannot be looked at is reported when it is read, not passed over.
    here.try_exists().unwrap_or(true).then(|| here.to_owned())
}

/// A collector that reads files beside `config` (for a relative path) or wherever they are.
pub(super) fn problems(config: Option<&Path>) -> Problems {
    let folder = config
        .and_then(Path::parent)
        .map(Path::to_owned)
        .unwrap_or_default();
    Problems::with_files(move |name| {
        read_file(&folder.join(name), MAX_SECRET_BYTES).map_err(|problem| problem.kind.to_string())
    })
}

/// The text of a file of at most `most` bytes.
fn read_file(path: &Path, most: usize) -> Result<String, Box<Problem>> {
    let fault = |what: String, place| Box::new(Problem::error("", place, Kind::Invalid(what)));
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .map_err(|error| fault(format!("cannot be read: {error}"), None))?;
    if bytes.len() > most {
        return Err(fault(format!("has more than {most} bytes"), None));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let lines = error
            .as_bytes()
            .iter()
            .take(good)
            .filter(|byte| **byte == b'\n')
            .count();
        let line = u32::try_from(lines).unwrap_or(u32::MAX);
        let place = Place {
            line: line.saturating_add(1),
            column: 1,
        };
        fault("is not UTF-8 text".to_owned(), Some(place))
    })
}

/// How many problems are of a kind.
pub(super) fn count(problems: &[Problem], severity: Severity) -> usize {
    problems
        .iter()
        .filter(|problem| problem.severity == severity)
        .count()
}

#[cfg(test)]
mod tests;
