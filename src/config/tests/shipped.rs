//! The shipped agent.yaml: it is the defaults, whole and commented.

use std::{collections::BTreeSet, path::Path};

use weirgate_sdk::settings::Severity;

use super::{super::load, Config, PLATFORMS, env, from_tree, problems, read, tree};
use crate::{config::DEFAULT_FILE, store::config::Database};

/// The defaults as they are after expansion in the environment of the tests.
fn defaults() -> Config {
    let mut config = Config::default();
    let folder = "/home/bot/.local/share";
    config.storage.database = Database::Sqlite(format!("{folder}/weirgate/weirgate.db").into());
    config
}

#[test]
fn it_loads_without_warnings_to_exactly_the_defaults() {
    assert_eq!(read(DEFAULT_FILE), defaults());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("agent.yaml");
    let (config, warnings) = load(Some(&file), &env, &PLATFORMS).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(
        Config {
            file: None,
            ..config
        },
        defaults()
    );
}

#[test]
fn a_file_that_says_nothing_of_a_section_gets_the_same() {
    assert_eq!(read("language: auto"), defaults());
    assert_eq!(
        read("input_buffer:\noutput:\n  segmented:\nlanguage: auto"),
        defaults()
    );
}

#[test]
fn it_has_every_key_that_can_be_set() {
    let collector = problems(None);
    // A provider of each kind, so that all keys of a provider are asked for.
    let text = format!("{DEFAULT_FILE}\n").replace("    models: {}\n", "    models: {m: {}}\n");
    let tree = tree(&text, &env, &collector).unwrap();
    let _ = from_tree(&tree, &env, &[], &collector);
    let in_text: BTreeSet<&str> = DEFAULT_FILE
        .lines()
        .map(|line| line.trim_start_matches([' ', '#', '-']))
        .filter_map(|line| line.split_once(':').map(|(key, _)| key))
        .collect();
    let known = collector.known_keys();
    assert!(known.len() > 80, "{}", known.len());
    for path in known {
        let key = path.rsplit('.').next().unwrap();
        assert!(in_text.contains(key), "{path} is not in agent.yaml");
    }
}

#[test]
fn every_key_has_a_comment() {
    let mut before = "";
    for line in DEFAULT_FILE.lines() {
        let trimmed = line.trim_start();
        let key = trimmed.split_once(':').is_some_and(|(key, _)| {
            key.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !key.is_empty()
        });
        if key {
            assert!(
                before.trim_start().starts_with('#'),
                "no comment above: {line}"
            );
        }
        before = line;
    }
}

#[test]
fn the_examples_in_its_comments_load_when_they_are_uncommented() {
    let mut text = String::new();
    let mut keep = false;
    for line in DEFAULT_FILE.lines() {
        // The example of a provider is the part from `# main:` to the next empty line.
        keep = (keep || line == "  # main:") && !line.is_empty();
        let example = line.replacen("# ", "", 1);
        if keep && !example.contains("api_key_file") {
            text.push_str(&example.replace("${MODEL_API_KEY}", "${TOKEN}"));
            text.push('\n');
        }
    }
    let config = read(&format!(
        "providers:\n{text}models: {{chat: [main/your-model]}}\n"
    ));
    let provider = &config.providers["main"];
    assert_eq!(provider.rpm, Some(60));
    assert_eq!(provider.models["your-model"].temperature, Some(0.7));
}

#[test]
fn a_build_without_a_platform_still_has_defaults() {
    let problems = problems(None);
    let tree = tree("language: en", &env, &problems).unwrap();
    let config = from_tree(&tree, &env, &[], &problems);
    assert!(config.platforms.is_empty());
    assert!(
        problems
            .take()
            .iter()
            .all(|p| p.severity == Severity::Warning)
    );
}
