//! What can be written and what is refused.

use weirgate_sdk::settings::{Node, Problems};

use super::*;

fn read(node: &Node) -> (Settings, Vec<String>) {
    let problems = Problems::new();
    let mut fields = Fields::new(node, "account", &problems);
    let settings = Settings::read(&mut fields);
    fields.finish();
    let problems = problems.take().into_iter();
    (
        settings,
        problems
            .map(|problem| format!("{}: {:?}", problem.path, problem.kind))
            .collect(),
    )
}

#[test]
fn nothing_written_is_a_working_account_on_loopback() {
    let (settings, problems) = read(&Node::map([]));
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(settings, Settings::default());
    assert_eq!(settings.listen.to_string(), "127.0.0.1:6199");
    assert_eq!(settings.max_bytes(), 4_500);
}

#[test]
fn everything_can_be_written() {
    let (settings, problems) = read(&Node::map([
        ("listen", Node::text("localhost:7000")),
        ("token", Node::text("a-long-token")),
        ("self_id", Node::text("10001")),
        ("reply", Node::text("mention")),
        ("call_timeout", Node::text("3")),
        ("heartbeat_timeout", Node::text("40")),
        ("max_length", Node::text("800")),
        (
            "ignore",
            Node::list([Node::text("20009"), Node::text("20010")]),
        ),
        (
            "limits",
            Node::map([
                ("account_per_minute", Node::text("120")),
                ("account_burst", Node::text("5")),
                ("conversation_interval", Node::text("2")),
                ("conversation_burst", Node::text("1")),
            ]),
        ),
    ]));
    assert_eq!(problems, Vec::<String>::new());
    let expected = Settings {
        listen: SocketAddr::from(([127, 0, 0, 1], 7000)),
        token: Some(Secret::new("a-long-token")),
        self_id: Some("10001".into()),
        reply: Reply::Mention,
        call_timeout: Duration::from_secs(3),
        heartbeat_timeout: Some(Duration::from_secs(40)),
        max_length: 800,
        rates: Rates {
            account: 2.0,
            account_burst: 5,
            conversation: 0.5,
            conversation_burst: 1,
        },
        ignore: HashSet::from(["20009".to_owned(), "20010".to_owned()]),
    };
    assert_eq!(settings, expected);
}

#[test]
fn limits_of_zero_are_no_limits() {
    let limits = Node::map([
        ("account_per_minute", Node::text("0")),
        ("conversation_interval", Node::text("0")),
    ]);
    let (settings, problems) = read(&Node::map([("limits", limits)]));
    assert!(problems.is_empty());
    assert_eq!(
        (settings.rates.account, settings.rates.conversation),
        (0.0, 0.0)
    );
}

#[test]
fn a_listener_beyond_loopback_needs_a_token() {
    for listen in ["0.0.0.0:6199", "[::]:6199", "192.168.1.5:6199"] {
        let (_, problems) = read(&Node::map([("listen", Node::text(listen))]));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("token"), "{problems:?}");
        let token = ("token", Node::text("a-long-token"));
        assert!(
            read(&Node::map([("listen", Node::text(listen)), token]))
                .1
                .is_empty()
        );
    }
}

#[test]
fn faults_are_told() {
    for (key, value) in [
        ("listen", "somewhere"),
        ("self_id", "bot"),
        ("reply", "shout"),
        ("call_timeout", "0"),
        ("max_length", "5"),
        ("heartbeat_timeout", "never"),
        ("lissten", "127.0.0.1:1"),
    ] {
        let (_, problems) = read(&Node::map([(key, Node::text(value))]));
        assert_eq!(problems.len(), 1, "{key}: {problems:?}");
        assert!(problems[0].contains(key), "{problems:?}");
    }
}
