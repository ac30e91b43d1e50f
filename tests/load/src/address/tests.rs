use super::{free, loopback, socket_url, web_url};

#[test]
fn addresses_of_this_machine_are_taken() {
    for text in [
        "127.0.0.1:6199",
        "127.8.9.1:1",
        "[::1]:6199",
        "localhost:80",
    ] {
        assert!(loopback(text).is_ok(), "{text}");
    }
    assert!(free().unwrap().ip().is_loopback());
}

#[test]
fn foreign_addresses_are_refused() {
    let foreign = [
        "192.0.2.1:6199",
        "0.0.0.0:6199",
        "[::]:6199",
        "[2001:db8::1]:80",
        "example.com:80",
        "localhost.example.com:80",
        "localhost:80@example.com",
        "127.0.0.1",
        "",
    ];
    for text in foreign {
        assert!(loopback(text).is_err(), "{text}");
        assert!(socket_url(&format!("ws://{text}/")).is_err(), "{text}");
        assert!(web_url(&format!("http://{text}/v1")).is_err(), "{text}");
    }
    for text in [
        "wss://127.0.0.1:1/",
        "127.0.0.1:1",
        "ws://127.0.0.1:1@192.0.2.1:2/",
    ] {
        assert!(socket_url(text).is_err(), "{text}");
    }
}

#[test]
fn the_path_is_kept() {
    let path = |text| socket_url(text).unwrap().path;
    assert_eq!(path("ws://127.0.0.1:1"), "/");
    assert_eq!(path("ws://127.0.0.1:1/onebot/v11?a=b"), "/onebot/v11?a=b");
}
