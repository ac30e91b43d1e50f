//! What can be written and what is refused.

use weirgate_sdk::settings::{Node, Problems};

use super::*;

const TOKEN: &str = "MTAwMDE.TEST-x.secret_value";

fn read(node: &Node) -> (Settings, Vec<String>) {
    let problems = Problems::new();
    let mut fields = Fields::new(node, "account", &problems);
    let settings = Settings::read(&mut fields);
    fields.finish();
    let problems = problems.take().into_iter();
    let shown = problems.map(|problem| format!("{}: {:?}", problem.path, problem.kind));
    (settings, shown.collect())
}

fn with_token(token: &str) -> Settings {
    let (settings, problems) = read(&Node::map([("token", Node::text(token))]));
    assert_eq!(problems, Vec::<String>::new());
    settings
}

#[test]
fn a_token_is_all_that_is_needed() {
    let settings = with_token(TOKEN);
    let expected = Settings {
        token: settings.token.clone(),
        ..Settings::default()
    };
    assert_eq!(settings.token.as_ref().map(Secret::expose), Some(TOKEN));
    assert_eq!(settings, expected);
    let (_, problems) = read(&Node::map([]));
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("token"), "{problems:?}");
}

#[test]
fn everything_can_be_written() {
    let limits = [
        ("account_per_second", "0"),
        ("account_burst", "7"),
        ("conversation_interval", "2"),
        ("conversation_burst", "1"),
    ];
    let (settings, problems) = read(&Node::map([
        ("token", Node::text(TOKEN)),
        ("api_url", Node::text("http://127.0.0.1:8081/api/v10/")),
        ("message_content", Node::text("false")),
        ("catch_up", Node::text("0")),
        ("reconnect", Node::text("5")),
        ("call_timeout", Node::text("3")),
        ("reply", Node::text("none")),
        ("max_length", Node::text("800")),
        ("ignore", Node::list([Node::text("20009")])),
        (
            "limits",
            Node::map(limits.map(|(key, value)| (key, Node::text(value)))),
        ),
    ]));
    assert_eq!(problems, Vec::<String>::new());
    let expected = Settings {
        token: Some(Secret::new(TOKEN)),
        api_url: "http://127.0.0.1:8081/api/v10".into(),
        message_content: false,
        catch_up: Duration::ZERO,
        reconnect: Duration::from_secs(5),
        call_timeout: Duration::from_secs(3),
        reply: Reply::None,
        max_length: 800,
        rates: Rates {
            account: 0.0,
            account_burst: 7,
            conversation: 0.5,
            conversation_burst: 1,
        },
        ignore: HashSet::from(["20009".to_owned()]),
        ..Settings::default()
    };
    assert_eq!(settings, expected);
}

#[test]
fn what_cannot_work_is_refused_without_showing_the_token() {
    for (key, value) in [
        ("token", "Bot MTAwMDE.TEST-x.secret_value"),
        ("token", "0123456789abcdef0123456789abcdef"),
        ("token", "first..third_part"),
        ("api_url", "discord.com"),
        ("api_url", "ftp://example.com"),
        ("api_url", "https://name:secret_value@example.com"),
        ("max_length", "2001"),
        ("catch_up", "90000"),
        ("reply", "always"),
    ] {
        let mut keys = vec![(key, Node::text(value))];
        if key != "token" {
            keys.push(("token", Node::text(TOKEN)));
        }
        let (_, problems) = read(&Node::map(keys));
        assert_eq!(problems.len(), 1, "{key}: {value}: {problems:?}");
        assert!(!problems[0].contains("secret_value"), "{problems:?}");
    }
}

#[test]
fn one_bot_has_one_account() {
    let (one, again) = (with_token(TOKEN), with_token("MTAwMDE.OTHER.value_of_it"));
    let other = with_token("MTAwMDI.TEST.other_value");
    let problems = conflicts(&[("a", &one), ("b", &other), ("c", &again)]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("accounts a and c"), "{problems:?}");
    let elsewhere = Settings {
        api_url: "http://127.0.0.1:1".into(),
        ..again
    };
    assert_eq!(
        conflicts(&[("a", &one), ("c", &elsewhere)]),
        Vec::<String>::new()
    );
}
