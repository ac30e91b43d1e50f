//! That the documents lead somewhere: the paths of the map and the links of all of them.
//!
//! Owns these rules. It reads no file that is not in the list of the repository's.

use super::{FILES, File, check, everywhere, file, root};

#[test]
fn the_map_is_true() {
    let map = file("ARCHITECTURE.md");
    let rule = "A path in ARCHITECTURE.md exists.";
    assert!(
        paths(map).count() > 30,
        "ARCHITECTURE.md names too few paths to be a map"
    );
    check(rule, lost_paths(map));
}

#[test]
fn the_map_is_complete() {
    let map = file("ARCHITECTURE.md");
    let modules = file("src/lib.rs").text.lines().filter_map(|line| {
        let name = line.strip_prefix("pub mod ")?.strip_suffix(';')?;
        Some(format!("src/{name}"))
    });
    let crates = FILES
        .iter()
        .filter_map(|file| file.path.strip_suffix("/Cargo.toml"));
    let on_map = |path: &str| paths(map).any(|(_, on)| on == path || on == format!("{path}.rs"));
    let missing = modules
        .chain(crates.map(str::to_owned))
        .filter(|path| !on_map(path));
    check(
        "ARCHITECTURE.md has every module of src/lib.rs and every crate.",
        missing.collect(),
    );
}

/// What stands between back ticks and looks like a path, with its line.
fn paths(file: &File) -> impl Iterator<Item = (usize, &str)> {
    file.text.lines().enumerate().flat_map(|(index, line)| {
        let quoted = line.split('`').skip(1).step_by(2);
        quoted
            .filter(|text| is_path(text))
            .map(move |text| (index + 1, text.trim_end_matches('/')))
    })
}

fn is_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let file = [".rs", ".toml", ".md", ".yaml", ".sh"]
        .iter()
        .any(|end| text.ends_with(end));
    text.chars().all(plain) && !text.starts_with('/') && (text.contains('/') || file)
}

pub(super) fn lost_paths(file: &File) -> Vec<String> {
    let lost = paths(file).filter(|(_, path)| !root().join(path).exists());
    lost.map(|(line, path)| format!("{}:{line}: {path}", file.path))
        .collect()
}

#[test]
fn links_lead_somewhere() {
    check(
        "A relative link in a Markdown file leads to a file.",
        everywhere(dead_links),
    );
}

pub(super) fn dead_links(file: &File) -> Vec<String> {
    if !file.path.ends_with(".md") {
        return Vec::new();
    }
    let here = root().join(&file.path);
    let folder = here.parent().expect("a file is in a folder");
    file.offenders(|line| {
        let targets = line
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split([')', '#']).next());
        let mut local = targets.filter(|link| !link.is_empty() && !link.contains(':'));
        local
            .find(|link| !folder.join(link).exists())
            .map(|link| format!("no {link}"))
    })
}
