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
    assert_eq!(settings.transport, Transport::Reverse { listen: LISTEN });
    assert_eq!(LISTEN.to_string(), "127.0.0.1:6199");
    assert_eq!(settings.max_bytes(), 4_500);
}

#[test]
fn everything_can_be_written() {
    let (settings, problems) = read(&Node::map([
        ("listen", Node::text("localhost:7000")),
        ("token", Node::text("a-long-token")),
        ("self_id", Node::text("10001")),
        ("reply", Node::text("mention")),
        ("poke", Node::text("answer")),
        ("connection", Node::text("reverse")),
        ("reconnect", Node::text("5")),
        ("catch_up", Node::text("0")),
        ("call_timeout", Node::text("3")),
        ("heartbeat_timeout", Node::text("40")),
        ("max_length", Node::text("800")),
        ("requests", Node::map([("friend", Node::text("accept"))])),
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
        transport: Transport::Reverse {
            listen: SocketAddr::from(([127, 0, 0, 1], 7000)),
        },
        token: Some(Secret::new("a-long-token")),
        self_id: Some("10001".into()),
        reconnect: Duration::from_secs(5),
        catch_up: Duration::ZERO,
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
        requests: Requests {
            friend: OnRequest::Accept,
            ..Requests::default()
        },
        poke: OnPoke::Answer,
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
        ("connection", "sideways"),
        ("reconnect", "0"),
        ("catch_up", "-1"),
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

fn account(pairs: &[(&'static str, &'static str)]) -> (Settings, Vec<String>) {
    let pairs = pairs.iter().map(|(key, value)| (*key, Node::text(value)));
    read(&Node::map(pairs.collect::<Vec<_>>()))
}

#[test]
fn the_gateway_can_connect_by_itself() {
    for url in [
        "ws://127.0.0.1:3001",
        "wss://bot.example.com/onebot",
        "ws://[::1]:3001/",
    ] {
        let (settings, problems) = account(&[
            ("connection", "forward"),
            ("url", url),
            ("token", "a-long-token"),
        ]);
        assert_eq!(problems, Vec::<String>::new());
        let forward = Transport::Forward { url: url.into() };
        assert_eq!(settings.transport, forward);
        assert_eq!(settings.token, Some(Secret::new("a-long-token")));
    }
}

#[test]
fn calls_and_events_can_go_by_http() {
    let (settings, problems) = account(&[
        ("connection", "http"),
        ("url", "http://127.0.0.1:3000"),
        ("secret", "a-long-secret"),
    ]);
    assert_eq!(problems, Vec::<String>::new());
    let http = Transport::Http {
        url: "http://127.0.0.1:3000".into(),
        secret: Secret::new("a-long-secret"),
    };
    assert_eq!(settings.transport, http);
}

#[test]
fn what_a_connection_lacks_or_has_no_use_for_is_told() {
    const URL: (&str, &str) = ("url", "ws://127.0.0.1:3001");
    const FORWARD: (&str, &str) = ("connection", "forward");
    const HTTP: (&str, &str) = ("connection", "http");
    const CALLS: (&str, &str) = ("url", "http://127.0.0.1:3000");
    const SECRET: (&str, &str) = ("secret", "a-long-secret");
    for (pairs, key) in [
        (vec![FORWARD], "url"),
        (vec![FORWARD, ("url", "http://127.0.0.1:3001")], "url"),
        (vec![FORWARD, ("url", "127.0.0.1:3001")], "url"),
        (vec![FORWARD, ("url", "ws://")], "url"),
        (vec![FORWARD, ("url", "ws://me:pass@127.0.0.1/")], "url"),
        (
            vec![FORWARD, ("url", "ws://127.0.0.1/?access_token=x")],
            "url",
        ),
        (vec![FORWARD, URL, ("listen", "127.0.0.1:6199")], "listen"),
        (vec![FORWARD, URL, SECRET], "secret"),
        (vec![FORWARD, URL, ("token", "字字字字字字字字")], "token"),
        (vec![URL], "url"),
        (vec![SECRET], "secret"),
        (vec![HTTP, SECRET], "url"),
        (vec![HTTP, CALLS], "secret"),
        (vec![HTTP, URL, SECRET], "url"),
        (
            vec![HTTP, CALLS, SECRET, ("listen", "127.0.0.1:1")],
            "listen",
        ),
    ] {
        let (_, problems) = account(&pairs);
        assert_eq!(problems.len(), 1, "{pairs:?}: {problems:?}");
        assert!(problems[0].contains(key), "{pairs:?}: {problems:?}");
    }
}

#[test]
fn accounts_at_one_address_need_bots_of_their_own() {
    let at = |port: u16, bot: Option<&str>| Settings {
        transport: Transport::Reverse {
            listen: SocketAddr::from(([127, 0, 0, 1], port)),
        },
        self_id: bot.map(str::to_owned),
        ..Settings::default()
    };
    let forward = Settings {
        transport: Transport::Forward {
            url: "ws://127.0.0.1:6199".into(),
        },
        ..Settings::default()
    };
    let (one, two) = (at(6199, Some("1")), at(6199, Some("2")));
    let (nameless, elsewhere) = (at(6199, None), at(6200, None));
    for (accounts, faults) in [
        (vec![&one, &two, &elsewhere, &forward], 0),
        (vec![&one, &one], 1),
        (vec![&one, &nameless], 1),
        (vec![&nameless, &one, &two], 2),
    ] {
        let accounts: Vec<_> = accounts
            .into_iter()
            .map(|settings| ("main", settings))
            .collect();
        let found = conflicts(&accounts);
        assert_eq!(found.len(), faults, "{found:?}");
        assert!(found.iter().all(|text| text.contains("127.0.0.1:6199")));
    }
}
