//! What can be written and what is refused.

use weirgate_sdk::settings::{Node, Problems};

use super::*;

const TOKEN: &str = "123456:TEST-secret_value_abcdef";

fn read(node: &Node) -> (Settings, Vec<String>) {
    let problems = Problems::new();
    let mut fields = Fields::new(node, "account", &problems);
    let settings = Settings::read(&mut fields);
    fields.finish();
    let problems = problems.take().into_iter();
    let shown = problems.map(|problem| format!("{}: {:?}", problem.path, problem.kind));
    (settings, shown.collect())
}

fn with_token() -> Settings {
    let (settings, problems) = read(&Node::map([("token", Node::text(TOKEN))]));
    assert_eq!(problems, Vec::<String>::new());
    settings
}

#[test]
fn a_token_is_all_that_is_needed() {
    let settings = with_token();
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
        ("group_interval", "0"),
        ("group_burst", "5"),
    ];
    let (settings, problems) = read(&Node::map([
        ("token", Node::text(TOKEN)),
        ("api_url", Node::text("http://127.0.0.1:8081/")),
        ("mode", Node::text("polling")),
        ("poll_timeout", Node::text("10")),
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
        token: settings.token.clone(),
        api_url: "http://127.0.0.1:8081".into(),
        mode: Mode::Polling,
        poll_timeout: Duration::from_secs(10),
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
        group: (0.0, 5),
        ignore: HashSet::from(["20009".to_owned()]),
    };
    assert_eq!(settings, expected);
}

#[test]
fn what_cannot_work_is_refused_without_showing_it() {
    for (key, value) in [
        ("token", "1234567890"),
        ("token", "123456789:"),
        ("token", ":abcdefghij"),
        ("token", "123456:abc/../def"),
        ("token", "bot123456:abc"),
        ("api_url", "api.telegram.org"),
        ("api_url", "ftp://127.0.0.1"),
        ("api_url", "http://user:pass@127.0.0.1"),
        ("api_url", "http://127.0.0.1/?token=1"),
        ("poll_timeout", "60"),
        ("max_length", "5000"),
    ] {
        let mut written = vec![(key, Node::text(value))];
        if key != "token" {
            written.push(("token", Node::text(TOKEN)));
        }
        let (_, problems) = read(&Node::map(written));
        assert_eq!(problems.len(), 1, "{key}: {value}: {problems:?}");
        assert!(
            problems[0].starts_with(&format!("account.{key}")),
            "{problems:?}"
        );
        assert!(
            key != "token" || !problems[0].contains(value),
            "{problems:?}"
        );
    }
}

#[test]
fn keys_of_the_other_mode_are_refused() {
    let webhook = [
        ("token", Node::text(TOKEN)),
        ("mode", Node::text("webhook")),
    ];
    let (settings, problems) = read(&Node::map(webhook.clone()));
    assert_eq!((settings.mode, problems.len()), (Mode::Webhook, 0));
    let polls = [("poll_timeout", Node::text("10"))];
    let (_, problems) = read(&Node::map(webhook.into_iter().chain(polls)));
    assert!(
        problems[0].starts_with("account.poll_timeout"),
        "{problems:?}"
    );
}

#[test]
fn one_bot_is_one_account() {
    let settings = with_token();
    let other = Settings {
        token: Some(Secret::new("654321:TEST".to_owned())),
        ..Settings::default()
    };
    assert_eq!(
        conflicts(&[("a", &settings), ("b", &other)]),
        Vec::<String>::new()
    );
    let found = conflicts(&[("a", &settings), ("b", &other), ("c", &settings)]);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("a and c"), "{found:?}");
    assert!(!found[0].contains("secret"), "{found:?}");
}
