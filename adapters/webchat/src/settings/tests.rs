use weirgate_sdk::settings::{Node, Problems};

use super::*;
use crate::origin::{check_host, check_origin};

fn read(node: &Node) -> (Settings, Vec<String>) {
    let problems = Problems::new();
    let mut fields = Fields::new(node, "site", &problems);
    let settings = Settings::read(&mut fields);
    fields.finish();
    let found = problems
        .take()
        .into_iter()
        .map(|problem| problem.path)
        .collect();
    (settings, found)
}

#[test]
fn an_empty_account_is_a_site_with_the_defaults() {
    assert_eq!(read(&Node::map([])), (Settings::default(), vec![]));
}

#[test]
fn origins_and_hosts_are_brought_into_one_form() {
    let list = |items: &[&str]| Node::list(items.iter().map(|item| Node::text(item)));
    let (settings, problems) = read(&Node::map([
        (
            "origins",
            list(&["HTTPS://WWW.Example.com:443", "http://a.example:8080"]),
        ),
        (
            "hosts",
            list(&["Chat.Example.com:443", "c.example:80", "b.example:8443"]),
        ),
    ]));
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(
        settings.origins,
        ["https://www.example.com", "http://a.example:8080"]
    );
    assert_eq!(
        settings.hosts,
        ["chat.example.com", "c.example", "b.example:8443"]
    );
}

#[test]
fn the_public_address_is_served_and_its_page_may_open_the_socket() {
    for (public, host) in [
        ("https://chat.example.com", "chat.example.com"),
        ("https://chat.example.com:443", "chat.example.com"),
        ("https://chat.example.com:8443", "chat.example.com:8443"),
    ] {
        let mut settings = Settings::default();
        settings.publish(Some(public));
        assert_eq!(check_host(Some(host), &settings.hosts), Ok(()), "{public}");
        // A proxy in between may name the gateway's own address in Host.
        let origin = public.strip_suffix(":443").unwrap_or(public);
        for inner in [host, "127.0.0.1:8787"] {
            let verdict = check_origin(Some(origin), inner, &settings.origins);
            assert_eq!(verdict, Ok(()), "{public} {inner}");
        }
        let plain = origin.replace("https", "http");
        assert!(check_origin(Some(&plain), "127.0.0.1:8787", &settings.origins).is_err());
    }
    let mut settings = Settings::default();
    settings.publish(None);
    settings.publish(Some("nonsense"));
    assert_eq!(settings, Settings::default());
}

#[test]
fn what_cannot_be_an_origin_or_a_host_is_an_error_at_its_place() {
    let list = |items: &[&str]| Node::list(items.iter().map(|item| Node::text(item)));
    let (settings, problems) = read(&Node::map([
        (
            "origins",
            list(&["www.example.com", "https://a.example/page", "*", "null"]),
        ),
        ("hosts", list(&["https://a.example", "a b"])),
        ("max_sockets", Node::text("4")),
        (
            "limits",
            Node::map([("account", Node::text("-1")), ("burst", Node::text("2"))]),
        ),
    ]));
    assert_eq!(settings.origins, Vec::<String>::new());
    let mut problems = problems;
    problems.sort();
    assert_eq!(
        problems,
        [
            "site.hosts[0]",
            "site.hosts[1]",
            "site.limits.account",
            "site.limits.burst",
            "site.max_sockets_per_visitor",
            "site.origins[0]",
            "site.origins[1]",
            "site.origins[2]",
            "site.origins[3]",
        ]
    );
}
