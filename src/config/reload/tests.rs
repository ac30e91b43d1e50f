use super::*;
use crate::config::{
    load::{from_tree, problems, tree},
    tests::{PLATFORMS, env},
};

fn read(text: &str) -> (Config, Written) {
    let problems = problems(None);
    let root = tree(text, &env, &problems).unwrap();
    let config = from_tree(&root, &env, &PLATFORMS, &problems);
    assert_eq!(problems.take(), []);
    let written = Written::new(&root, &config.secrets);
    (config, written)
}

fn diff(old: &str, new: &str) -> Vec<String> {
    let changes = read(old).1.changes(&read(new).1);
    changes.iter().map(ToString::to_string).collect()
}

const PROVIDER: &str =
    "models: {chat: [p/m]}\nproviders:\n  p: {kind: openai, base_url: \"http://127.0.0.1/v1\", ";

#[test]
fn a_difference_names_each_key_and_shows_no_secret() {
    let old = format!("{PROVIDER}api_key: the-old-key-1}}\nlanguage: en\n");
    let new = format!(
        "{PROVIDER}api_key: \"${{TOKEN}}\", rpm: 5}}\ncontext: {{system_prompt: \"a\\nb\"}}\npermissions: {{owners: {{qq: [1, 2]}}}}"
    );
    assert_eq!(
        diff(&old, &new),
        [
            "context.system_prompt: not set -> a\\nb",
            "language: en -> not set",
            "permissions.owners.qq[0]: not set -> 1",
            "permissions.owners.qq[1]: not set -> 2",
            "providers.p.api_key: *** -> ***",
            "providers.p.rpm: not set -> 5",
        ]
    );
    assert_eq!(
        diff(
            "http: {listen: \"127.0.0.1:${PORT}\"}",
            "http: {listen: \"127.0.0.1:1\"}"
        ),
        ["http.listen: the value of ${PORT} -> 127.0.0.1:1"]
    );
    assert_eq!(
        diff(
            "context: {system_prompt: \"see http://a:b@c\"}",
            "context: {system_prompt: \"\"}"
        ),
        ["context.system_prompt: *** -> \"\""]
    );
    let long = format!("context: {{system_prompt: {}}}", "x".repeat(5_000));
    assert!(
        diff("language: en", &long)
            .iter()
            .all(|line| line.len() < 200)
    );
}

#[test]
fn what_means_the_same_is_the_same() {
    let one = read("# a\nflow_control: {turn_timeout: 300}\nplatforms: {webchat: {accounts: {default: {title: a}}}}").0;
    let other =
        read("platforms:\n  webchat:\n    accounts:\n      default:\n        title: 'a'\n").0;
    assert!(same(&one, &other));
    let third = read("platforms: {webchat: {accounts: {default: {title: b}}}}").0;
    assert!(!same(&one, &third));
}

#[test]
fn exactly_what_needs_a_restart_stays() {
    let running = read("language: en").0;
    let fixed = [
        ("storage.durability", "storage: {durability: full}"),
        ("storage.url", "storage: {url: \"sqlite:/x/y.db\"}"),
        (
            "storage.retention.inbox",
            "storage: {retention: {inbox: 1}}",
        ),
        ("http.listen", "http: {listen: \"127.0.0.1:1\"}"),
        (
            "input_buffer.per_user_queue",
            "input_buffer: {per_user_queue: false}",
        ),
        (
            "input_buffer.per_conversation_queue",
            "input_buffer: {per_conversation_queue: false}",
        ),
    ];
    for (key, text) in fixed {
        assert!(needs_restart(key), "{key}");
        let new = read(&format!("language: en\n{text}")).0;
        assert!(!same(&new, &running), "{text}");
        assert!(same(&keep_fixed(new, &running), &running), "{text}");
    }
    let live = [
        (
            "http.public_url",
            "http: {public_url: \"https://a.example\"}",
        ),
        ("input_buffer.max_total", "input_buffer: {max_total: 2000}"),
        ("observability.metrics", "observability: {metrics: false}"),
        (
            "error_recovery.max_backoff",
            "error_recovery: {max_backoff: 1}",
        ),
    ];
    for (key, text) in live {
        assert!(!needs_restart(key), "{key}");
        let new = read(&format!("language: en\n{text}")).0;
        assert!(same(&keep_fixed(new.clone(), &running), &new), "{text}");
        assert!(!same(&new, &running), "{text}");
    }
    assert!(!needs_restart("storages"));
}

#[test]
fn what_waits_for_a_restart_is_named_until_it_came() {
    let running = read("storage: {durability: process}\nlanguage: en").1;
    let new = read("storage: {durability: full}\nlanguage: auto").1;
    let kept = new.clone().keep_fixed(&running);
    let left: Vec<String> = kept.changes(&new).iter().map(ToString::to_string).collect();
    assert_eq!(left, ["storage.durability: process -> full"]);
}
