//! What the section's own keys mean, and what they refuse.

use super::*;
use weirgate_sdk::settings::{Kind, Problems};

/// The section as read, and the paths of its problems.
fn read(text: &str, available: bool) -> (Option<Traces>, Option<LogFile>, Vec<String>) {
    let problems = Problems::default();
    let node = crate::config::parse_for_tests(text, &problems);
    let mut fields = Fields::new(&node, "observability", &problems);
    let file = LogFile::read(fields.section("log_file"));
    let traces = Traces::read(&mut fields, available);
    fields.finish();
    let found = problems.take();
    let shown = found.iter().map(|problem| match &problem.kind {
        Kind::NotAvailable(note) => format!("{}: {note}", problem.path),
        _ => problem.path.clone(),
    });
    (traces, file, shown.collect())
}

#[test]
fn a_build_without_traces_refuses_the_key_and_says_why() {
    let (traces, _, problems) = read("traces: {endpoint: \"http://c:4318\"}", false);
    assert!(traces.is_none());
    assert_eq!(
        problems,
        ["observability.traces: is not part of this build: build with the feature otel"]
    );
    assert!(
        read("traces: {endpoint: \"http://c:4318\"}", true)
            .2
            .is_empty()
    );
}

#[test]
fn traces_need_a_collector_and_a_ratio_that_is_one() {
    let problems = |text| read(text, true).2;
    assert!(read("{}", true).0.is_none());
    assert_eq!(
        problems("traces: {sample_ratio: 0.5}"),
        ["observability.traces.endpoint"]
    );
    assert_eq!(
        problems("traces: {endpoint: \"http://c:4318\", sample_ratio: 2}"),
        ["observability.traces.sample_ratio"]
    );
    assert_eq!(
        problems("traces: {endpoint: \"c:4318\"}"),
        ["observability.traces.endpoint"]
    );
    assert_eq!(
        problems("traces: {endpoint: \"http://c\", headers: {\"a b\": x}}"),
        ["observability.traces.headers.\"a b\""]
    );
}

#[test]
fn only_headers_that_are_secrets_are_kept_as_secrets() {
    let problems = Problems::default();
    let text = "traces: {endpoint: \"http://c/\", headers: {Authorization: Bearer 0123456789, X-Scope-OrgID: production}}";
    let node = crate::config::parse_for_tests(text, &problems);
    let mut fields = Fields::new(&node, "", &problems);
    let traces = Traces::read(&mut fields, true).unwrap();
    assert_eq!(traces.endpoint, "http://c");
    assert_eq!(traces.headers.len(), 2);
    let secrets: Vec<String> = problems
        .secrets()
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    assert_eq!(secrets, ["traces.headers.Authorization"]);
}

#[test]
fn a_log_file_needs_a_path_and_has_limits() {
    let (_, file, problems) = read("log_file: {path: a.log}", true);
    assert!(problems.is_empty());
    let file = file.unwrap();
    assert_eq!((file.max_size, file.keep), (10 * 1024 * 1024, 5));
    let problems = |text| read(text, true).2;
    assert_eq!(
        problems("log_file: {keep: 2}"),
        ["observability.log_file.path"]
    );
    assert_eq!(
        problems("log_file: {path: a.log, max_size: 10, keep: 0}"),
        [
            "observability.log_file.max_size",
            "observability.log_file.keep"
        ]
    );
}
