use weirgate_sdk::settings::{Fields, Problems};

use super::{ContentFilter, Mode, Reaction, Security};
use crate::{
    config::{DEFAULT_FILE, parse_for_tests},
    security::{
        injection::Severity,
        words::{Entry, Level},
    },
};

fn read(text: &str) -> (Security, Vec<String>) {
    let problems = Problems::new();
    let node = parse_for_tests(text, &problems);
    let read = Security::read(Fields::new(&node, "security", &problems));
    let told = problems.take();
    let told = told
        .iter()
        .map(|problem| format!("{}: {}", problem.path, problem.kind));
    (read, told.collect())
}

#[test]
fn the_shipped_section_is_the_default() {
    let problems = Problems::new();
    let root = parse_for_tests(DEFAULT_FILE, &problems);
    let section = root.get("security").unwrap();
    let read = Security::read(Fields::new(section, "security", &problems));
    assert_eq!(read, Security::default());
    assert!(!problems.has_errors());
}

#[test]
fn every_key_has_its_value() {
    let (read, told) = read(
        "injection:\n  enable: false\n  mode: permissive\n  on_detect: block\n  log_detections: false\n  \
         patterns:\n    - {name: one, regex: \"a+b\", severity: low}\n    - {name: two, regex: c}\n\
         content_filter: {replacement: \"***\"}\n",
    );
    assert_eq!(told, [""; 0]);
    let injection = &read.injection;
    assert!(!injection.enable && !injection.log_detections);
    assert_eq!(
        (injection.mode, injection.on_detect),
        (Mode::Permissive, Reaction::Block)
    );
    let patterns: Vec<_> = injection
        .patterns
        .iter()
        .map(|one| (&*one.0.name, one.0.severity))
        .collect();
    assert_eq!(patterns, [("one", Severity::Low), ("two", Severity::High)]);
    assert!(injection.patterns[0].0.regex.is_match("AAB"));
    assert_eq!(read.content_filter.replacement, "***");
}

#[test]
fn a_bad_expression_is_told_with_its_place() {
    for (item, path, told) in [
        (
            "{name: a, regex: \"(\"}",
            "regex",
            "the expression is not valid",
        ),
        (
            "{name: a, regex: \"(a{1000}){1000}\"}",
            "regex",
            "the expression is not valid",
        ),
        (
            "{name: a, regex: \"x*\"}",
            "regex",
            "the expression is not valid: it matches an empty text",
        ),
        ("{name: a}", "regex", "a value is missing"),
        ("{regex: a}", "name", "a value is missing"),
        (
            "{name: a, regex: a, severity: huge}",
            "severity",
            "\"huge\" is none of",
        ),
    ] {
        let (_, complaints) = read(&format!("injection: {{patterns: [{item}]}}"));
        let expected = format!("security.injection.patterns[0].{path}: {told}");
        assert!(
            complaints.iter().any(|each| each.starts_with(&expected)),
            "{complaints:?}"
        );
    }
    let (_, complaints) = read("injection: {patterns: [{name: a, regex: a}, {name: a, regex: b}]}");
    assert_eq!(
        complaints,
        ["security.injection.patterns[1]: there are two patterns of the name a"]
    );
}

#[test]
fn the_blocklist_takes_words_expressions_and_files() {
    let (read, told) = read(
        "content_filter:\n  enable: true\n  level: strict\n  blocklist: [word, \"/a+b/\", \"!fine\", list.txt, ./more, \"file:rest\"]\n",
    );
    assert_eq!(told, [""; 0]);
    let filter = &read.content_filter;
    assert_eq!((filter.enable, filter.level), (true, Level::Strict));
    let entries: Vec<Entry> = ["word", "/a+b/", "!fine"].map(Entry::from).to_vec();
    assert_eq!(filter.blocklist, entries);
    let files: Vec<&str> = filter.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["list.txt", "./more", "rest"]);
    assert!(filter.words().unwrap().is_some());
    let off = ContentFilter {
        enable: false,
        ..filter.clone()
    };
    assert!(off.words().unwrap().is_none());
}

#[test]
fn an_entry_of_the_blocklist_may_have_a_severity() {
    let (read, told) = read(
        "content_filter:\n  blocklist:\n    - fine\n    - {entry: bad, severity: low}\n    - {entry: worst.txt, severity: high}\n    - {entry: \"!ok\"}\n",
    );
    assert_eq!(told, [""; 0]);
    let filter = &read.content_filter;
    let entries = filter.blocklist.iter();
    let entries: Vec<(&str, Severity)> = entries.map(|it| (&*it.text, it.severity)).collect();
    assert_eq!(
        entries,
        [
            ("fine", Severity::Medium),
            ("bad", Severity::Low),
            ("!ok", Severity::Medium)
        ]
    );
    assert_eq!(filter.files[0].severity, Severity::High);
    let answers = filter.words_of_answers().unwrap().unwrap();
    assert!(answers.find("bad").is_empty() && !answers.find("fine").is_empty());
    let (_, told) =
        self::read("content_filter: {blocklist: [{severity: high}, {entry: x, severity: worst}]}");
    assert_eq!(told.len(), 2, "{told:?}");
}

#[test]
fn patterns_for_answers_are_checked_and_endless_ones_warned_about() {
    let (leaks, told) = read(
        "leakage_prevention: {blocked_output_patterns: [\"a{2,5}\", \"b+\"], known_formats: false, placeholder: x}",
    );
    let leaks = leaks.leakage_prevention;
    assert_eq!(leaks.blocked_output_patterns, ["a{2,5}", "b+"]);
    assert_eq!((leaks.known_formats, &*leaks.placeholder), (false, "x"));
    let [warning] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert!(warning.starts_with(
        "security.leakage_prevention.blocked_output_patterns[1]: matches have no longest"
    ));
    let (_, told) = read("leakage_prevention: {blocked_output_patterns: [\"(\"]}");
    assert!(
        told.iter().any(|each| each.contains("not valid")),
        "{told:?}"
    );
}
