//! Tests of addresses.

use weirgate_sdk::settings::{Node, Problems, Setting};

use super::{base_url, is_open};

fn read(text: &str) -> (Option<String>, usize) {
    let (node, problems) = (Node::text(text), Problems::new());
    let url = base_url(&Setting::new(&node, "url".to_owned(), &problems));
    let told = problems.take();
    assert!(
        told.iter().all(|p| !p.kind.to_string().contains("hunter2")),
        "it is shown"
    );
    (url, told.len())
}

#[test]
fn addresses_of_services_are_taken_without_their_last_slash() {
    let cases = [
        ("https://api.example.com/v1/", "https://api.example.com/v1"),
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("https://例子.example/", "https://例子.example"),
    ];
    for (text, url) in cases {
        assert_eq!(read(text), (Some(url.to_owned()), 0), "{text}");
    }
}

#[test]
fn what_is_no_address_is_one_problem() {
    for text in [
        "api.example.com/v1",
        "ftp://a.example",
        "https://",
        "https:///v1",
        "https://:443/v1",
        "https://a.example:70000",
        "https://a.example:x/",
        "https://[::1",
        "https://[::1]x",
        "https://a.example/v1?key=hunter2",
        "https://a.example/#x",
        "https://a b.example",
        "https://u:hunter2@a.example/v1",
        "https://${HOST}/v1",
    ] {
        assert_eq!(read(text), (None, 1), "{text}");
    }
}

#[test]
fn open_addresses_are_those_that_others_can_read() {
    for url in [
        "http://api.example.com/v1",
        "http://8.8.8.8",
        "http://[2001:4860::1]/v1",
    ] {
        assert!(is_open(url), "{url}");
    }
    for url in [
        "https://api.example.com/v1",
        "http://localhost:1",
        "http://127.0.0.1:1/v1",
        "http://192.168.1.5",
        "http://[::1]:8080",
        "http://ollama:11434",
        "http://model.local/v1",
    ] {
        assert!(!is_open(url), "{url}");
    }
}
