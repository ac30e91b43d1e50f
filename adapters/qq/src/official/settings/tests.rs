//! What can be written and what is refused.

use weirgate_sdk::settings::{Node, Problems};

use super::*;

fn read<const N: usize>(keys: [(&'static str, &str); N]) -> (Settings, Vec<String>) {
    let node = Node::map(keys.map(|(key, value)| (key, Node::text(value))));
    read_node(&node)
}

fn read_node(node: &Node) -> (Settings, Vec<String>) {
    let problems = Problems::new();
    let mut fields = Fields::new(node, "official", &problems);
    let settings = Settings::read(&mut fields);
    fields.finish();
    let problems = problems.take().into_iter();
    let told = problems.map(|problem| format!("{}: {:?}", problem.path, problem.kind));
    (settings, told.collect())
}

const APP: (&str, &str) = ("app_id", "102000001");
const SECRET: (&str, &str) = ("app_secret", "DG5g3B4j9X2KOErG");

#[test]
fn two_keys_are_enough() {
    let (settings, problems) = read([APP, SECRET]);
    assert_eq!(problems, Vec::<String>::new());
    let expected = Settings {
        app_id: "102000001".into(),
        app_secret: Some(Secret::new("DG5g3B4j9X2KOErG")),
        ..Settings::default()
    };
    assert_eq!(settings, expected);
    let intents = settings
        .events
        .iter()
        .fold(0, |all, kind| all | kind.intent());
    assert_eq!(intents, 1 << 25 | 1 << 30 | 1 << 12);
}

#[test]
fn what_cannot_work_is_refused() {
    for (key, value, said) in [
        ("app_id", "abc", "not an AppID"),
        ("api_url", "http://api.sgroup.qq.com", "not encrypted"),
        ("api_url", "nonsense", "not an address"),
        (
            "token_url",
            "https://a:b@example.com",
            "belongs into app_secret",
        ),
        ("replies", "9", "9"),
        ("max_length", "5000", "5000"),
        ("connection", "forward", "forward"),
    ] {
        let keys = if key == "app_id" {
            [("app_id", value), SECRET, ("markdown", "true")]
        } else {
            [APP, SECRET, (key, value)]
        };
        let (_, problems) = read(keys);
        assert!(
            problems.len() == 1 && problems[0].contains(said),
            "{key}: {problems:?}"
        );
    }
    assert!(
        read([APP, SECRET, ("api_url", "http://127.0.0.1:1/")])
            .1
            .is_empty()
    );
}

#[test]
fn what_is_heard_can_be_chosen_where_it_is_asked_for() {
    let events = |way: &str, kinds: &[&str]| {
        let kinds: Vec<Node> = kinds.iter().map(|kind| Node::text(kind)).collect();
        let keys = [
            ("app_id", Node::text("1")),
            ("app_secret", Node::text("DG5g3B4j9X2KOErG")),
            ("connection", Node::text(way)),
            ("events", Node::list(kinds)),
        ];
        read_node(&Node::map(keys))
    };
    let (settings, problems) = events("gateway", &["groups", "all_channels", "groups"]);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(settings.events, [Events::Groups, Events::AllChannels]);
    assert!(!events("gateway", &[]).1.is_empty());
    assert!(!events("gateway", &["everything"]).1.is_empty());
    assert!(!events("webhook", &["groups"]).1.is_empty());
}
