//! Tests of the joined configuration, and the helpers that its parts' tests share.

mod models;
mod rights;
mod sections;
mod shipped;
mod source;
mod summary;

use weirgate_sdk::settings::{Problem, Severity};

use super::{
    Config, KnownPlatform,
    load::{from_tree, problems, tree},
    render_problems,
};

/// The platforms of the tests; the first knows one key.
pub(super) const PLATFORMS: [KnownPlatform; 4] = [
    KnownPlatform {
        name: "qq",
        serves: false,
        check: |setting| {
            let mut fields = setting.fields();
            for (_, account) in fields.map("accounts") {
                let mut account = account.fields();
                account.required_text("url");
                account.secret("access_token");
                account.finish();
            }
            fields.finish();
        },
    },
    KnownPlatform {
        name: "webchat",
        serves: false,
        check: |_| {},
    },
    KnownPlatform {
        name: "telegram",
        serves: false,
        check: |_| {},
    },
    KnownPlatform {
        name: "interop",
        serves: true,
        check: |setting| {
            let mut fields = setting.fields();
            for (_, account) in fields.map("accounts") {
                let mut account = account.fields();
                let mut acp = account.section("acp");
                acp.optional_text("address");
                acp.secret("token");
                acp.finish();
                account.section("a2a").finish();
                account.finish();
            }
            fields.finish();
        },
    },
];

/// The environment of the tests.
pub(super) fn env(name: &str) -> Option<String> {
    match name {
        "HOME" => Some("/home/bot".to_owned()),
        "TOKEN" => Some("tok-0123456789".to_owned()),
        "EMPTY" => Some(String::new()),
        "PORT" => Some("9000".to_owned()),
        _ => None,
    }
}

/// What a text says, and all problems.
fn read_all(text: &str) -> (Option<Config>, Vec<Problem>) {
    let problems = problems(None);
    let config =
        tree(text, &env, &problems).map(|tree| from_tree(&tree, &env, &PLATFORMS, &problems));
    (config, problems.take())
}

/// What a text says that has neither errors nor warnings.
fn read(text: &str) -> Config {
    let (config, problems) = read_all(text);
    assert_eq!(render_problems("t", &problems), "");
    config.unwrap()
}

/// The problems of a text, rendered one a line (with the hint after a bar).
fn complaints(text: &str) -> Vec<String> {
    let (_, problems) = read_all(text);
    problems
        .iter()
        .map(|p| render_problems("t", std::slice::from_ref(p)).replace("\n  hint: ", " | "))
        .collect()
}

/// The paths of the errors and of the warnings.
fn paths(text: &str, severity: Severity) -> Vec<String> {
    let (_, problems) = read_all(text);
    problems
        .into_iter()
        .filter(|p| p.severity == severity)
        .map(|p| p.path)
        .collect()
}

#[test]
fn every_fault_is_told_in_one_go_with_its_place() {
    let text = "\
input_buffer:
  max_queue_size: many
  overflow_strategy: drop_oldst
flow_control:
  auto:
    api_rpm_limt: 60
    safety_margin: 1.5
output:
  segmented:
    split_regex: \"[a\"
    random_interval: \"2,1\"
colour: red
input_buffer: {}
";
    assert_eq!(
        complaints(text),
        [
            "t:2:19: input_buffer.max_queue_size: expected a whole number, found \"many\"",
            "t:3:22: input_buffer.overflow_strategy: \"drop_oldst\" is none of drop_oldest, drop_newest, \
         block | did you mean drop_oldest?",
            "t:6:5: flow_control.auto.api_rpm_limt: unknown key | did you mean api_rpm_limit?",
            "t:7:20: flow_control.auto.safety_margin: \"1.5\" is not between 0.01 and 1",
            "t:10:18: output.segmented.split_regex: not a regular expression: unclosed character class",
            "t:11:22: output.segmented.random_interval: the shortest pause is longer than the longest \
         | write the shortest and the longest pause, such as \"0.5,2.0\"",
            "t:12:1: colour: unknown key | known here: output, providers, models, input_buffer, \
         flow_control, context, memory, tools, tool_calling, agent_collaboration, error_recovery, permissions, limits, security, media, storage, http, observability, language, \
         timezone, platforms",
            "t:13:1: input_buffer: the key stands here for the second time (first in line 1)",
        ]
    );
}

#[test]
fn the_sources_block_of_permissions_loads_as_it_stands() {
    let text = r#"
permissions:
  default_role: "member"
  roles:
    owner: {capabilities: 0o700, inherits: ["admin"]}
    admin: {capabilities: 0o600, inherits: ["member"]}
    member: {capabilities: 0o400, inherits: ["guest"]}
    guest: {capabilities: 0o100, inherits: []}
    blocked: {capabilities: 0o000, inherits: []}
  commands:
    public: ["/help", "/status", "/ping"]
    member: ["/search", "/weather", "/translate"]
    admin: ["/kick", "/ban", "/mute", "/warn", "/config"]
    owner: ["/transfer", "/delete", "/backup", "/reload"]
  inheritance:
    enabled: true
    max_depth: 5
"#;
    let read = read_all(text).0.expect("it loads").permissions;
    let shipped = Config::default().permissions;
    assert_eq!(
        (read.roles, read.default_role),
        (shipped.roles, shipped.default_role)
    );
    let warned = paths(text, Severity::Warning);
    let of_commands = |path: &String| path.starts_with("permissions.commands");
    assert!(!warned.iter().any(of_commands), "{warned:?}");
}

#[test]
fn a_trusted_proxy_is_an_address_or_a_network() {
    let text = "http: {trusted_proxies: [127.0.0.1, 10.0.0.0/8, \"::1\", nginx, 10.0.0.0/99]}";
    let wrong = ["http.trusted_proxies[3]", "http.trusted_proxies[4]"];
    assert_eq!(paths(text, Severity::Error), wrong);
}

#[test]
fn a_platform_is_read_by_its_adapter_in_the_same_go() {
    let text = "\
platforms:
  qq:
    accounts:
      main: {acces_token: x}
  matrix: {}
";
    assert_eq!(
        complaints(text),
        [
            "t:4:13: platforms.qq.accounts.main.url: a value is missing",
            "t:4:14: platforms.qq.accounts.main.acces_token: unknown key | did you mean access_token?",
            "t:5:11: platforms.matrix: this version has no such platform | known here: qq, webchat, telegram, interop",
        ]
    );
    assert!(complaints("platforms: {webcat: {}}")[0].ends_with("did you mean webchat?"));
}

#[test]
fn where_agents_call_is_an_account_of_the_platform_that_serves_them() {
    let listen =
        "agent_collaboration: {acp: {listen: {address: \"a:1\", token: tok-0123456789}}}\n";
    let config = read(listen);
    let accounts = config.platforms["interop"].get("accounts");
    let acp = accounts.and_then(|all| all.get("default")?.get("acp"));
    assert!(acp.is_some_and(|acp| acp.get("address").is_some()));
    assert_eq!(
        config.secrets[0].0,
        "platforms.interop.accounts.default.acp.token"
    );
    assert!(config.platforms.contains_key("webchat"), "the others stay");
    let off = read("agent_collaboration: {acp: {enabled: false, listen: {}}}\n");
    assert!(!off.platforms.contains_key("interop"));
    assert!(!read("{}\n").platforms.contains_key("interop"));
    let odd = "agent_collaboration: {acp: {listen: {adress: x}}}\n";
    assert_eq!(
        complaints(odd),
        [
            "t:1:38: platforms.interop.accounts.default.acp.adress: unknown key | did you mean address?"
        ]
    );
    let beside = "platforms: {interop: {accounts: {other: {}}}}\n";
    let both = read(&format!("{listen}{beside}"));
    let accounts = both.platforms["interop"].get("accounts").unwrap();
    assert!(accounts.get("other").is_some() && accounts.get("default").is_some());
    let twice = "platforms: {interop: {accounts: {default: {}}}}\n";
    assert_eq!(
        paths(&format!("{listen}{twice}"), Severity::Error),
        ["agent_collaboration"]
    );
}

#[test]
fn secrets_of_all_sections_are_gathered_and_never_shown() {
    let text = "\
providers:
  main: {kind: openai, base_url: \"https://a.example/v1\", api_key: \"sk-0123456789\"}
models: {chat: [main/m]}
platforms: {qq: {accounts: {a: {url: \"ws://x\", access_token: \"${TOKEN}\"}}}}
";
    let config = read(text);
    let secrets: Vec<_> = config
        .secrets
        .iter()
        .map(|(path, secret)| (path.as_str(), secret.expose()))
        .collect();
    assert_eq!(
        secrets,
        [
            ("providers.main.api_key", "sk-0123456789"),
            ("platforms.qq.accounts.a.access_token", "tok-0123456789"),
        ]
    );
    let shown = format!("{config:?}");
    assert!(
        !shown.contains("sk-0123456789") && !shown.contains("tok-0123456789"),
        "{shown}"
    );
}

#[test]
fn faults_beside_a_secret_do_not_show_it() {
    let text = "\
providers:
  main:
    kind: openai
    base_url: \"https://user:sk-0123456789@a.example/v1\"
    api_key: !tag sk-0123456789
    rpm: ${TOKEN}
    api_key: sk-0123456789
storage: {url: \"postgres://u:sk-0123456789@db/x\"}
";
    let told = complaints(text).join("\n");
    assert!(told.lines().count() >= 5, "{told}");
    assert!(
        !told.contains("sk-0123456789") && !told.contains("tok-0123456789"),
        "{told}"
    );
    assert!(
        told.contains("rpm: expected a whole number, found the value of ${TOKEN}"),
        "{told}"
    );
}

#[test]
fn an_unset_variable_and_an_empty_secret_name_the_key_and_the_variable() {
    let text = "\
providers:
  a: {kind: openai, base_url: \"https://a.example\", api_key: \"${NO_KEY}\"}
  b: {kind: openai, base_url: \"https://a.example\", api_key: \"${EMPTY}\"}
models: {chat: [a/m, b/m]}
";
    assert_eq!(
        complaints(text),
        [
            "t:2:61: providers.a.api_key: the variable NO_KEY is not set \
         | set NO_KEY, or write a default: ${NO_KEY:-...}",
            "t:3:61: providers.b.api_key: the value is empty because the variable EMPTY is | set EMPTY",
        ]
    );
}

#[test]
fn numbers_and_truth_values_are_read_after_expansion() {
    let text = "\
http: {listen: \"127.0.0.1:${PORT}\"}
input_buffer: {max_queue_size: \"${SIZE:-250}\", per_user_queue: \"${SPLIT:-false}\"}
";
    let config = read(text);
    assert_eq!(config.http.listen.port(), 9000);
    assert_eq!(config.input_buffer.max_queue_size, 250);
    assert!(!config.input_buffer.per_user_queue);
}

#[test]
fn owners_are_ids_without_loss_and_never_wildcards() {
    let text = "permissions: {owners: {qq: [1100000000000000123, \"1100000000000000124\"], webchat: [alice]}}";
    let owner = |platform: &str, id: &str| (platform.to_owned(), id.to_owned());
    assert_eq!(
        read(text).permissions.owners,
        [
            owner("qq", "1100000000000000123"),
            owner("qq", "1100000000000000124"),
            owner("webchat", "alice"),
        ]
    );
    for item in ["0123", "1e5", "12_345", "\"*\"", "\"\"", "[1]"] {
        let text = format!("permissions: {{owners: {{qq: [{item}]}}}}");
        assert_eq!(
            paths(&text, Severity::Error),
            ["permissions.owners.qq[0]"],
            "{item}"
        );
        assert_eq!(read_all(&text).0.unwrap().permissions.owners, []);
        let text = format!("permissions: {{blocked: {{qq: [{item}]}}}}");
        assert_eq!(
            paths(&text, Severity::Error),
            ["permissions.blocked.qq[0]"],
            "{item}"
        );
    }
    assert_eq!(
        read("permissions: {blocked: {qq: [7]}}")
            .permissions
            .blocked,
        [owner("qq", "7")]
    );
    assert_eq!(
        paths("permissions: {owners: {discord: [1]}}", Severity::Error),
        ["permissions.owners.discord"]
    );
}
