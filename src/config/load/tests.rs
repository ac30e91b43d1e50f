//! Tests of the search for the file and of what is read beside it.

use std::{fs, path::Path};

use tempfile::TempDir;

use super::{LoadError, MAX_BYTES, find, load};
use crate::config::{
    Config,
    tests::{PLATFORMS, env},
};

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

fn loaded(path: &Path) -> Result<Config, LoadError> {
    load(Some(path), &env, &PLATFORMS).map(|(config, _)| config)
}

/// The message for a file of this content, without the file's name.
fn message(content: &[u8]) -> String {
    let folder = folder(&[("a.yaml", content)]);
    let error = loaded(&folder.path().join("a.yaml")).unwrap_err();
    let name = folder.path().join("a.yaml").display().to_string();
    error.to_string().replace(&name, "a.yaml")
}

#[test]
fn a_message_has_file_line_column_path_and_hint() {
    let text = "flow_control:\n  auto:\n    api_rpm_limt: 60\n";
    assert_eq!(
        message(text.as_bytes()),
        "a.yaml:3:5: flow_control.auto.api_rpm_limt: unknown key\n  hint: did you mean api_rpm_limit?"
    );
}

#[test]
fn a_named_file_wins_over_the_variable() {
    let folder = folder(&[
        ("a.yaml", b"language: en\n"),
        ("b.yaml", b"language: zh-CN\n"),
    ]);
    let (a, b) = (folder.path().join("a.yaml"), folder.path().join("b.yaml"));
    let variable = b.display().to_string();
    let env = |name: &str| match name {
        "WEIRGATE_CONFIG" => Some(variable.clone()),
        other => env(other),
    };
    let (config, _) = load(Some(&a), &env, &PLATFORMS).unwrap();
    assert_eq!(config.file.as_deref(), Some(a.as_path()));
    let (config, _) = load(None, &env, &PLATFORMS).unwrap();
    assert_eq!(config.file.as_deref(), Some(b.as_path()));
}

#[test]
fn the_file_in_the_working_directory_comes_before_the_defaults() {
    let folder = folder(&[("agent.yaml", b"language: en\n")]);
    let here = folder.path().join("agent.yaml");
    assert_eq!(find(None, &env, &here).as_deref(), Some(here.as_path()));
    assert_eq!(find(None, &env, &folder.path().join("other.yaml")), None);
    let empty = |name: &str| (name == "WEIRGATE_CONFIG").then(String::new);
    assert_eq!(find(None, &empty, &here).as_deref(), Some(here.as_path()));
}

#[test]
fn a_file_that_is_named_must_be_there() {
    let folder = folder(&[]);
    let error = loaded(&folder.path().join("gone.yaml")).unwrap_err();
    assert!(
        error.to_string().contains("gone.yaml: cannot be read: "),
        "{error}"
    );
    let error = loaded(folder.path()).unwrap_err();
    assert!(error.to_string().contains("cannot be read: "), "{error}");
}

#[test]
fn an_empty_file_is_the_defaults_with_a_warning() {
    let folder = folder(&[("a.yaml", b"# nothing\n")]);
    let (config, warnings) = load(Some(&folder.path().join("a.yaml")), &env, &PLATFORMS).unwrap();
    assert_eq!(
        config.input_buffer,
        crate::inbound::config::InputBuffer::default()
    );
    assert_eq!(warnings.len(), 1);
}

#[test]
fn files_that_are_no_text_or_too_large_are_refused() {
    assert_eq!(
        message(b"language: en\nx: \xff\n"),
        "a.yaml:2:1: is not UTF-8 text"
    );
    let large = vec![b'#'; MAX_BYTES + 1];
    assert_eq!(
        message(&large),
        format!("a.yaml: has more than {MAX_BYTES} bytes")
    );
}

#[test]
fn a_secret_file_is_found_beside_the_configuration() {
    let text = b"
providers:
  main: {kind: openai, base_url: \"https://a.example\", api_key_file: secrets/key}
models: {chat: [main/m]}
http: {admin_token_file: secrets/admin}
platforms: {qq: {accounts: {a: {url: \"ws://x\", access_token_file: secrets/qq}}}}
";
    let folder = folder(&[
        ("a.yaml", text),
        ("secrets/key", b"sk-0123456789\n"),
        ("secrets/admin", b"admin-0123456789"),
        ("secrets/qq", b"qq-0123456789\r\n"),
    ]);
    let config = loaded(&folder.path().join("a.yaml")).unwrap();
    let key = config.providers["main"].api_key.as_ref().unwrap();
    assert_eq!(key.expose(), "sk-0123456789");
    assert_eq!(
        config.http.admin_token.as_ref().unwrap().expose(),
        "admin-0123456789"
    );
    // An adapter reads its node later and finds the same file.
    let problems = config.problems();
    let account = config.platforms["qq"]
        .get("accounts")
        .and_then(|all| all.get("a"))
        .unwrap();
    let mut fields = weirgate_sdk::settings::Fields::new(account, "a", &problems);
    assert_eq!(
        fields.secret("access_token").unwrap().expose(),
        "qq-0123456789"
    );
    assert!(fields.required_text("url").is_some());
    fields.finish();
    assert_eq!(problems.take(), []);
}

#[test]
fn a_missing_secret_file_does_not_show_its_name() {
    // Somebody may have put the secret itself there.
    let text = b"http: {admin_token_file: \"sk-0123456789\"}\n";
    let told = message(text);
    assert!(
        told.starts_with("a.yaml:1:26: http.admin_token_file: the file cannot be read: "),
        "{told}"
    );
    assert!(!told.contains("0123456789"), "{told}");
}

#[test]
fn without_a_folder_for_data_the_database_must_be_named() {
    let nothing = |_: &str| None;
    let folder = folder(&[
        ("a.yaml", b"language: en\n"),
        ("b.yaml", b"storage: {url: \"sqlite:/data/weirgate.db\"}\n"),
    ]);
    let error = load(Some(&folder.path().join("a.yaml")), &nothing, &PLATFORMS).unwrap_err();
    assert_eq!(error.problems[0].path, "storage.url");
    assert_eq!(error.problems.len(), 1);
    assert!(load(Some(&folder.path().join("b.yaml")), &nothing, &PLATFORMS).is_ok());
}

#[test]
fn a_blocklist_is_read_from_files_beside_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.yaml");
    let load_with = |list: &str, words: &[u8]| {
        fs::write(folder.path().join("words.txt"), words).unwrap();
        fs::write(
            &file,
            format!("security: {{content_filter: {{blocklist: {list}}}}}"),
        )
        .unwrap();
        load(Some(&file), &env, &PLATFORMS)
    };
    let words =
        "\u{feff}\u{7f51}\u{7edc}\u{517c}\u{804c}\r\n\r\n  \r\n# comment\r\nfoo\r\n".as_bytes();
    let (config, _) = load_with("[inline, words.txt]", words).unwrap();
    let entries = config.security.content_filter.blocklist.iter();
    let entries: Vec<&str> = entries.map(|entry| &*entry.text).collect();
    assert_eq!(
        entries,
        ["inline", "\u{7f51}\u{7edc}\u{517c}\u{804c}", "foo"]
    );
    for (list, words, told) in [
        (
            "[missing.txt]",
            "",
            "security.content_filter.blocklist[0]: the file cannot be read",
        ),
        (
            "[a, words.txt]",
            "/(/",
            "security.content_filter.blocklist[1]: /(/: unclosed group",
        ),
        (
            "[/x*/]",
            "",
            "security.content_filter.blocklist[0]: the expression is not valid",
        ),
    ] {
        let error = load_with(list, words.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}
