//! Tests of the verdict.

use std::fs;

use super::{Checked, check};
use crate::{
    config::tests::{PLATFORMS, env},
    i18n::Language,
};

/// The verdict on a file of this content; the folder's name is cut off.
fn checked(content: &str) -> Checked {
    checked_in(Language::En, content)
}

fn checked_in(language: Language, content: &str) -> Checked {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.yaml");
    fs::write(&path, content).unwrap();
    let verdict = check(Some(&path), &env, &PLATFORMS, |_| language);
    let prefix = format!("{}/", folder.path().display());
    Checked {
        text: verdict.text.replace(&prefix, ""),
        ..verdict
    }
}

#[test]
fn a_good_file_is_ok() {
    let expected = Checked {
        text: "agent.yaml: ok".to_owned(),
        exit_code: 0,
    };
    assert_eq!(checked("language: en\n"), expected);
}

#[test]
fn warnings_do_not_fail_it() {
    let expected = "agent.yaml:1:35: warning: permissions.commands.member[0]: there is no command \
                    /teleport in this version\nagent.yaml: ok, 1 warning";
    let verdict = checked("permissions: {commands: {member: [/teleport]}}\n");
    assert_eq!((verdict.text.as_str(), verdict.exit_code), (expected, 0));
}

#[test]
fn errors_are_counted_and_fail_it() {
    let verdict = checked("langage: en\npermissions: {commands: {member: [/teleport]}}\nhttp: 7\n");
    let expected = "agent.yaml:1:1: langage: unknown key
  hint: did you mean language?
agent.yaml:2:35: warning: permissions.commands.member[0]: there is no command /teleport in this version
agent.yaml:3:7: http: expected a map, found a single value
agent.yaml: 2 errors, 1 warning";
    assert_eq!((verdict.text.as_str(), verdict.exit_code), (expected, 78));
}

#[test]
fn a_file_that_is_not_there_fails_it() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone.yaml");
    let verdict = check(Some(&gone), &env, &PLATFORMS, |config| {
        assert!(config.is_none());
        Language::En
    });
    assert_eq!(verdict.exit_code, 78);
    assert!(
        verdict.text.ends_with("gone.yaml: 1 error"),
        "{}",
        verdict.text
    );
}

#[test]
fn it_is_told_in_chinese_as_well() {
    let verdict = checked_in(Language::Zh, "langage: en\nhttp: 7\n");
    let expected = "agent.yaml:1:1: langage: 没有这个键
  提示：是不是 language？
agent.yaml:2:7: http: 应为映射，这里是单个值
agent.yaml：2 个错误";
    assert_eq!((verdict.text.as_str(), verdict.exit_code), (expected, 78));
}
